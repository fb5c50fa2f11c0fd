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
#include "app/scenario/scenario_files.h"
#include "app/shell/shell.h"
#include "app/shell/stage_area.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {

int window(const Arguments& a, const Streams& s) {
  chapters::LabPtr asked;
  // A link that names files comes from somebody else's page: the window asks before it touches them.
  const Link link = a.words.empty() ? Link() : parse_link(a.words[0]);
  const auto linked = link_inputs(link);
  const bool asks = !link.sets.empty() && linked && !a.has("--set") && !a.has("--preset") && !a.has("--scenario") &&
                    !named_files(chapters::make_lab_by_id(link.lab)->inputs(), *linked).empty();
  if (!asks && (!a.words.empty() || a.has("--scenario"))) {
    auto made = make_set_lab(a);
    if (!made) return complain(s, made.error);
    asked = std::move(*made);
  } else if (a.has("--set") || a.has("--preset")) {
    return complain(s, "--set and --preset need a lab before them: ridgeline LAB --set key=value.");
  }
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
  const auto& settings = workspace.settings;
  WindowPlace place;
  place.width = static_cast<int>(settings.window_width);
  place.height = static_cast<int>(settings.window_height);
  place.x = static_cast<int>(settings.window_x);
  place.y = static_cast<int>(settings.window_y);
  place.maximized = settings.maximized;
  auto created = Window::create("Ridgeline", place);
  if (!created) return complain(s, created.error);
  Window& w = **created;
  opened = &w;
  if (asked)
    workspace.say_failure(
        workspace.open_with(asked->info().id, fields_to_json(asked->inputs()), fields_to_json(asked->view())));

  if (asks) workspace.say_failure(workspace.open_link(a.words[0]));
  Shell shell(workspace, {
                             .copy = [](const std::string& text) { ImGui::SetClipboardText(text.c_str()); },
                             .save_png =
                                 [&w, &workspace](ImVec2 min, ImVec2 max, const std::string& path) {
                                   w.capture_next([=, &workspace](Image image) {
                                     workspace.say_failure(write_png(
                                         path, crop(image, static_cast<int>(min.x), static_cast<int>(min.y),
                                                    static_cast<int>(max.x - min.x), static_cast<int>(max.y - min.y))));
                                   });
                                   return models::Status::ok();
                                 },
                             .toggle_fullscreen = {},  // the window takes F11 itself
                             .quit = [&w] { w.close(); },
                             .choose_file = desktop_chooser(process_environment()),
                             .show_folder = folder_shower(process_environment()),
                             .animates = true,
                         });
  shell.drawer_open = opens_drawer(settings, static_cast<float>(settings.window_height));
  resume_shell(shell);
  if (!asked) go_home(shell);
  const auto remember_window = [&] {
    const WindowPlace last = w.place();
    workspace.settings.window_x = last.x;
    workspace.settings.window_y = last.y;
    workspace.settings.window_width = last.width;
    workspace.settings.window_height = last.height;
    workspace.settings.maximized = last.maximized;
  };
  const auto keep_everything = [&] {
    remember_window();
    note_shell(shell);
    workspace.save();
  };
  w.on_display_lost(keep_everything);
  w.on_drop([&](std::vector<std::string> paths) { workspace.opening.open(std::move(paths)); });
  std::string title;
  const auto frame = [&] {
    const double chosen = settings.scale > 0 ? settings.scale : static_cast<double>(w.content_scale());
    widgets::set_theme(widgets::make_theme(settings.light ? widgets::Mode::light : widgets::Mode::dark,
                                           static_cast<float>(chosen * (shell.presentation ? presentation_scale : 1.0)),
                                           w.fonts()));
    widgets::apply_to_imgui(widgets::theme());
    draw_shell(shell);
    const std::string_view now = workspace.lab().info().title;
    if (title != now) {
      title = now;
      w.set_title("Ridgeline: " + title);
      workspace.save();
    }
  };
  const auto ask = [&] {  // asked at least once a second, asleep or not
    if (EndingSignals::received() != 0) w.close();
    remember_window();
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
  opened = nullptr;
  constexpr int ended_by_signal = 128;  // as a shell reports it
  return EndingSignals::received() != 0 ? ended_by_signal + EndingSignals::received() : 0;
}

}  // namespace app::cli
