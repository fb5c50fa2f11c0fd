#include "app/shell/program_export.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "app/kernel_runs/child.h"
#include "app/platform/temporary_file.h"
#include "app/scenario/hand_on.h"

namespace app {
namespace {

/// Runs the program with these arguments until it has ended. Returns why it failed; empty: it did not.
std::string run_program(const std::vector<std::string>& argv, chapters::Progress& progress) {
  ChildLimits limits;
  limits.silence_s = 600;  // it prints one line, at its end
  const ChildEnd end = run_child(
      argv, limits, [](std::string_view) { return models::Status::ok(); }, [&] { return progress.cancelled.load(); });
  return end.error_tail.empty() || end.why.empty() ? end.why : end.error_tail;
}

/// The size of the canvas in twice its design pixels, so that the picture has the proportions that it has on the
/// screen.
std::string picture_size(const Shell& shell) {
  const float scale = widgets::theme().scale;
  const auto pixels = [&](float from, float to, int least) {
    return std::to_string(std::clamp(static_cast<int>(std::lround(2 * (to - from) / scale)), least, 8192));
  };
  return pixels(shell.canvas_min.x, shell.canvas_max.x, 800) + "x" +
         pixels(shell.canvas_min.y, shell.canvas_max.y, 600);
}

}  // namespace

std::string open_chapter_slug(const Shell& shell) {
  const std::string_view id = shell.workspace.lab().info().id;
  return std::string(id.substr(0, id.find('/')));
}

bool is_drawn_beside(const Shell& shell, ExportKind kind) {
  const bool kinds =
      kind == ExportKind::picture_light || kind == ExportKind::picture_dark || kind == ExportKind::handout;
  return kinds && !shell.host.program.empty();
}

void export_beside(Shell& shell, ExportKind kind, const std::string& path) {
  Workspace& w = shell.workspace;
  std::vector<std::string> argv{shell.host.program};
  std::shared_ptr<const TemporaryFile> scenario;
  if (kind == ExportKind::handout) {
    argv.insert(argv.end(), {"handout", open_chapter_slug(shell), "-o", path});
  } else {
    if (question_open(shell)) return w.say("The picture is veiled until you commit to an answer.");
    if (!w.lab().reason().empty()) return w.say("There is no picture to export: " + w.lab().reason());
    std::error_code none;
    scenario = std::make_shared<const TemporaryFile>(
        scenario_to_hand_on(w.lab(), std::filesystem::temp_directory_path(none)).text);
    if (scenario->path().empty())
      return w.say_failure(models::Status::fail("No temporary file can be written: free some disk space."));
    argv.insert(argv.end(),
                {"render", "--scenario", scenario->path(), "-o", path, "--picture", "--scale", "2", "--size",
                 picture_size(shell), "--theme", kind == ExportKind::picture_light ? "light" : "dark"});
  }
  shell.document_said = std::make_shared<std::string>();
  shell.document_path = path;
  shell.document_job = w.jobs.submit(
      "document", [argv = std::move(argv), scenario, said = shell.document_said](chapters::Progress& p) mutable {
        *said = run_program(argv, p);
        scenario.reset();
      });
}

}  // namespace app
