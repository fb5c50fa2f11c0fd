// A file of any kind that is dropped on the window, under a name with each suffix that labs read: it is opened, or one
// sentence says why not and the open lab is as it was. The first byte chooses the suffix.
#include <filesystem>
#include <fstream>

#include "app/content/load_catalog.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/catalog.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"
#include "tests/support/base/paths.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static app::Workspace& workspace = *[] {
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    return new app::Workspace({}, models::Result<app::UserPaths>::fail("Nothing is kept."));  // for the whole process
  }();
  static const std::vector<std::string> suffixes = workspace.opening.suffixes();
  if (size == 0) return 0;
  (void)workspace.open("roofline/roofline");
  const auto path = fuzz::scratch_folder() / ("dropped" + suffixes[data[0] % suffixes.size()]);
  std::ofstream(path, std::ios::binary) << fuzz::text_of(data + 1, size - 1);
  const auto before = workspace.lab().clone();
  const auto opened = workspace.opening.open_and_wait(path.string());
  if (!opened) {
    fuzz::require_sentence(opened.error);
    fuzz::require(workspace.lab().info().id == "roofline/roofline" && workspace.lab().same_inputs(*before),
                  "a file that was refused changed the state", opened.error);
  }
  workspace.opening.answer(app::FilesAnswer::leave_out);
  workspace.opening.choose_reader(0);
  workspace.current().finish();
  workspace.jobs.cancel_all();
  workspace.content.lessons.clear();
  workspace.messages().clear();
  return 0;
}
