#include <filesystem>
#include <ostream>

#include "app/cli/cli.h"
#include "app/content/paper.h"
#include "app/platform/file.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {
namespace {

/// The labs whose document can be printed.
std::vector<std::string> printed_labs() {
  std::vector<std::string> ids;
  for (const chapters::LabEntry& entry : chapters::all_labs())
    if (chapters::make_lab_by_id(entry.id)->info().document == printed_document) ids.emplace_back(entry.id);
  return ids;
}

}  // namespace

int sheet(const Arguments& a, const Streams& s) {
  const std::filesystem::path path = a.value("-o");
  const auto ending = path.extension();
  if (ending != ".pdf" && ending != ".svg" && ending != ".md")
    return complain(s, "sheet needs -o FILE.pdf, FILE.svg or FILE.md.");
  if (const auto there = folder_exists(path); !there) return complain(s, there.error);
  const auto made = make_set_lab(a);
  if (!made) return complain(s, made.error);
  chapters::Lab& lab = **made;
  if (lab.info().document != printed_document)
    return complain(
        s, std::string(lab.info().id) + " has no page to print: take " + sentence_list(printed_labs(), 40) + ".");
  lab.compute();
  if (!lab.reason().empty()) return complain(s, lab.reason());
  const auto document = lab.document();
  if (!document) return complain(s, document.error);
  const auto written = write_document(path.string(), *document);
  if (!written) return complain(s, written.error);
  for (const std::string& name : *written.value) s.out << name << "\n";
  return 0;
}

}  // namespace app::cli
