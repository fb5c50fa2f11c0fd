#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/kernel_runs/kernel_service.h"
#include "app/platform/image.h"
#include "app/platform/window.h"
#include "app/scenario/fields_json.h"
#include "app/shell/shell.h"
#include "chapters/mechanism/catalog.h"

namespace app::cli {

int window(const Arguments& a, const Streams& s) {
  chapters::LabPtr asked;
  if (!a.words.empty() || a.has("--scenario")) {
    auto made = make_set_lab(a);
    if (!made) return complain(s, made.error);
    asked = std::move(*made);
  } else if (a.has("--set")) {
    return complain(s, "--set needs a lab before it: ridgeline LAB --set key=value.");
  }
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  if (!display_available())
    return complain(s,
                    "There is no display to open a window on: `ridgeline tour -o DIR` and `ridgeline render LAB -o "
                    "F.png` work without one.");

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
  place.maximized = settings.maximized;
  auto created = Window::create("Ridgeline", place);
  if (!created) return complain(s, created.error);
  Window& w = **created;
  opened = &w;
  if (asked)
    workspace.say_failure(
        workspace.open_with(asked->info().id, fields_to_json(asked->inputs()), fields_to_json(asked->view())));

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
                             .animates = true,
                         });
  shell.drawer_open = settings.drawer_open;
  w.on_drop([&](std::vector<std::string> paths) {
    for (const auto& path : paths) workspace.say_failure(workspace.drop_file(path));
  });
  std::string title;
  w.run(
      [&] {
        const double chosen = settings.scale > 0 ? settings.scale : static_cast<double>(w.content_scale());
        widgets::set_theme(widgets::make_theme(settings.light ? widgets::Mode::light : widgets::Mode::dark,
                                               static_cast<float>(chosen * (shell.presentation ? 2.0 : 1.0)),
                                               w.fonts()));
        widgets::apply_to_imgui(widgets::theme());
        draw_shell(shell);
        const std::string_view now = workspace.lab().info().title;
        if (title != now) {
          title = now;
          w.set_title("Ridgeline: " + title);
          workspace.save();
        }
      },
      [&] { return shell.animating; });
  const WindowPlace last = w.place();
  workspace.settings.window_width = last.width;
  workspace.settings.window_height = last.height;
  workspace.settings.maximized = last.maximized;
  workspace.settings.drawer_open = shell.drawer_open;
  workspace.save();
  workspace.jobs.cancel_all();
  opened = nullptr;
  return 0;
}

}  // namespace app::cli
