#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "widgets/base/painter.h"

/// A lab's document that is Markdown, on paper: headings, paragraphs, lists and tables on A4 pages.
namespace app {

/// What LabInfo::document says of a document that can be printed.
inline constexpr std::string_view printed_document = "Markdown";

/// A4 pages of 794 by 1,123 pixels (96 an inch), black on white. A rule ("---") begins a new page. Each part between
/// rules is set in the largest type with which it fits on one page; one that does not fit in the smallest goes on over
/// further pages. No row and no word is left out: cells wrap, and a word that is longer than its column is split.
std::vector<widgets::Record> paper_pages(std::string_view markdown);

/// The text of the first heading; "Page" where there is none.
std::string paper_title(std::string_view markdown);

/// Writes a lab's document as the name's ending says: .pdf all pages; .svg a file a page, "sheet-1.svg", "sheet-2.svg";
/// else the text as it is. Gives the files, or a sentence that says what failed.
models::Result<std::vector<std::string>> write_document(const std::string& path, std::string_view document);

}  // namespace app
