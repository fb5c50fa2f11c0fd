#pragma once
#include <string>

#include "app/shell/shell.h"

/// Exports that this program draws beside the window, in a second process of itself: pictures with more pixels than the
/// screen has, and a chapter for paper.
namespace app {

/// Is there a second process to be had, and is this one of its kinds?
bool is_drawn_beside(const Shell& shell, ExportKind kind);

/// Starts it; `document_job` is its job, and says how it went. What a question veils is not exported.
void export_beside(Shell& shell, ExportKind kind, const std::string& path);

/// The slug of the open lab's chapter.
std::string open_chapter_slug(const Shell& shell);

}  // namespace app
