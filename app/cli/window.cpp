#include <signal.h>

#include <new>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/kernel_runs/kernel_service.h"
#include "app/platform/ending.h"
#include "app/platform/image.h"
#include "app/platform/window.h"
#include "app/scenario/fields_json.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/scenario_files.h"
#include "app/shell/shell.h"
#include "app/shell/stage_area.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {

namespace {

/// What the command line asks to open.
struct AskedWindow {
  chapters::LabPtr lab;  ///< as it is to be set; null: none
  std::string link;      ///< one that names files; it comes from somebody else's page, so the window asks first
  std::string file;      ///< alone: for the lab that reads it
};

models::Result<AskedWindow> asked_of(const Arguments& a) {
  using Answer = models::Result<AskedWindow>;
  const bool sets = a.has("--set") || a.has("--preset");
  if (a.words.empty() && !a.has("--scenario")) {
    if (sets) return Answer::fail("--set and --preset need a lab before them: ridgeline LAB --set key=value.");
    return Answer::ok({});
  }
  if (!a.words.empty() && names_file(a.words[0])) {
    if (sets || a.has("--scenario"))
      return Answer::fail(
          "--set, --preset and --scenario need a lab before the file: ridgeline LAB FILE --set key=value.");
    auto opens = check_opens(a.words[0]);
    return opens ? Answer::ok({nullptr, {}, a.words[0]}) : Answer::fail(std::move(opens.error));
  }
  if (!a.words.empty() && !sets && !a.has("--scenario")) {
    const Link link = parse_link(a.words[0]);
    if (auto taken = take_handed_on(link.own); !taken) return Answer::fail(std::move(taken.error));
    const auto linked = link_inputs(link);
    if (!link.sets.empty() && linked && !named_files(chapters::make_lab_by_id(link.lab)->inputs(), *linked).empty())
      return Answer::ok({nullptr, a.words[0], {}});
  }
  auto made = make_set_lab(a);
  return made ? Answer::ok({std::move(*made), {}, {}}) : Answer::fail(std::move(made.error));
}

WindowPlace place_of(const store::Settings& settings) {
  WindowPlace place;
  place.width = static_cast<int>(settings.window_width);
  place.height = static_cast<int>(settings.window_height);
  place.x = static_cast<int>(settings.window_x);
  place.y = static_cast<int>(settings.window_y);
  place.maximized = settings.maximized;
  return place;
}

void note_place(store::Settings& settings, const WindowPlace& place) {
  settings.window_x = place.x;
  settings.window_y = place.y;
  settings.window_width = place.width;
  settings.window_height = place.height;
  settings.maximized = place.maximized;
}

Host host_of(Window& w, Workspace& workspace) {
  Host host;
  host.copy = [](const std::string& text) { ImGui::SetClipboardText(text.c_str()); };
  host.save_png = [&w, &workspace](ImVec2 min, ImVec2 max, const std::string& path) {
    w.capture_next([=, &workspace](Image image) {
      workspace.say_failure(write_png(path, crop(image, static_cast<int>(min.x), static_cast<int>(min.y),
                                                 static_cast<int>(max.x - min.x), static_cast<int>(max.y - min.y))));
    });
    return models::Status::ok();
  };
  host.quit = [&w] { w.close(); };  // and the window takes F11 itself
  host.choose_file = desktop_chooser(process_environment());
  host.show_folder = folder_shower(process_environment());
  host.program = "/proc/self/exe";
  host.animates = true;
  return host;
}

/// Draws frames until the window closes, and keeps what the person did, however it ends.
void run(Window& w, Shell& shell) {
  Workspace& workspace = shell.workspace;
  const auto& settings = workspace.settings;
  const auto keep_everything = [&] {
    note_place(workspace.settings, w.place());
    note_shell(shell);
    workspace.save();
  };
  w.on_display_lost(keep_everything);
  w.on_drop([&](std::vector<std::string> paths) { workspace.opening.open(std::move(paths)); });
  std::string title;
  const auto frame = [&] {
    const double chosen = settings.scale > 0 ? settings.scale : static_cast<double>(w.content_scale());
    const float scale = interface_scale(shell.presentation, chosen, static_cast<double>(ImGui::GetIO().DisplaySize.y));
    widgets::set_theme(
        widgets::make_theme(settings.light ? widgets::Mode::light : widgets::Mode::dark, scale, w.fonts()));
    widgets::apply_to_imgui(widgets::theme());
    draw_shell(shell);
    if (std::string now = window_title(shell); title != now) {
      title = std::move(now);
      w.set_title(title);
      workspace.save();
    }
  };
  const auto ask = [&] {  // asked at least once a second, asleep or not
    if (EndingSignals::received() != 0) w.close();
    note_place(workspace.settings, w.place());
    keep_place(shell, ImGui::GetTime());
    return shell.animating;
  };
  try {
    w.run(frame, ask);
  } catch (const std::bad_alloc&) {  // nothing more can be drawn, but what was done may still be kept
    keep_everything();
    throw;
  }
  workspace.jobs.cancel_all();
  keep_everything();
}

}  // namespace

int window(const Arguments& a, const Streams& s) {
  auto asked = asked_of(a);
  if (!asked) return complain(s, asked.error);
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  if (!display_available())
    return complain(s,
                    "There is no display to open a window on: `ridgeline tour -o DIR` and `ridgeline render LAB -o "
                    "F.png` work without one.");

  ::signal(SIGPIPE, SIG_IGN);  // whoever stops reading what is exported must not end the window
  const EndingSignals ending;
  Window* opened = nullptr;
  Workspace workspace(load_content(*assets), user_paths(), [&opened] {
    if (opened) opened->wake();
  });
  workspace.services.add("kernels", kernel_service());
  for (const auto& notice : chapters::catalog().notices) workspace.say(notice);
  workspace.keep_given();
  auto created = Window::create("Ridgeline", place_of(workspace.settings));
  if (!created) return complain(s, created.error);
  Window& w = **created;
  opened = &w;
  if (const auto& lab = asked->lab)
    workspace.say_failure(
        workspace.open_with(lab->info().id, fields_to_json(lab->inputs()), fields_to_json(lab->view())));
  if (!asked->link.empty()) workspace.say_failure(workspace.open_link(asked->link));
  Shell shell(workspace, host_of(w, workspace));
  shell.drawer_open = opens_drawer(workspace.settings, static_cast<float>(workspace.settings.window_height));
  resume_shell(shell);
  if (!asked->lab) go_home(shell);
  if (!asked->file.empty()) workspace.opening.open(asked->file);
  run(w, shell);
  opened = nullptr;
  constexpr int ended_by_signal = 128;  // as a shell reports it
  return EndingSignals::received() != 0 ? ended_by_signal + EndingSignals::received() : 0;
}

}  // namespace app::cli
