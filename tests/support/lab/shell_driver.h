#pragma once
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "app/shell/shell.h"
#include "tests/support/ui/ui_driver.h"

namespace support {

/// No folders: nothing is kept.
inline models::Result<app::UserPaths> nowhere() {
  return models::Result<app::UserPaths>::fail("Nothing is kept in a test.");
}

/// The whole interface under a driver: what a person does to it goes through real events, and tests look at the
/// workspace. Header only, so that the driver itself stays free of the app.
struct ShellDriver {
  explicit ShellDriver(app::Content content, models::Result<app::UserPaths> user = nowhere(),
                       ImVec2 display = {1280, 800})
      : workspace(std::move(content), std::move(user)),
        shell(workspace, {
                             .copy = [this](const std::string& text) { copied = text; },
                             .save_png = [](ImVec2, ImVec2, const std::string&) { return models::Status::ok(); },
                             .toggle_fullscreen = {},
                             .quit = [this] { quit = true; },
                         }),
        ui([this] { frame(); }, display) {}

  app::Workspace workspace;
  app::Shell shell;
  std::string copied;
  bool quit = false;
  UiDriver ui;

  const chapters::Field& input(const char* key) { return *workspace.lab().inputs().find(key); }
  const chapters::Field& output(const char* key) { return *workspace.lab().outputs().find(key); }
  std::string_view open_lab() { return workspace.lab().info().id; }
  /// Presses the figure that stands above a slider, types over it and presses Enter.
  void type_value(std::string_view label, std::string_view text) {
    const widgets::ProbedItem slider = ui.item(label);
    const widgets::ProbedItem* value = nullptr;
    for (const auto& item : ui.probe().all())
      if (item.label == "value" && item.window_id == slider.window_id && std::abs(item.max.y - slider.min.y) < 2)
        value = &item;
    if (!value) throw std::runtime_error("no figure stands above \"" + std::string(label) + "\"");
    ui.click_at(value->centre());
    ui.frames(2);
    ui.type(text);
    ui.key(ImGuiKey_Enter);
    ui.frames(2);
  }
  /// Opens the palette, types and takes the first hit.
  void command(std::string_view words) {
    ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
    ui.frames(2);
    ui.type(words);
    ui.key(ImGuiKey_Enter);
    ui.frames(2);
  }
  /// Is this part of the message on screen, or of one that waits its turn?
  bool was_said(std::string_view part) {
    if (shell.message.find(part) != std::string::npos) return true;
    for (const auto& sentence : workspace.messages())
      if (sentence.text.find(part) != std::string::npos) return true;
    return false;
  }
  /// By how much the canvas of the open lab is higher than what the window shows of it.
  float canvas_overflow_px() const {
    for (const ImGuiWindow* window : ui.context()->Windows)
      if (const std::string_view name = window->Name;
          window->WasActive && name.substr(std::min(name.rfind('/'), name.size())).starts_with("/canvas_"))
        return window->ScrollMax.y;
    throw std::runtime_error("no canvas is drawn");
  }
  /// Draws until nothing computes and no Explore job runs; false when that takes too many frames.
  bool settle() {
    ui.frames(3);  // what was asked for starts in the next frame
    for (int i = 0; i < 3000; ++i) {
      ui.frames(1);
      if (!workspace.current().computing() && !shell.explore.running && workspace.jobs.busy() == 0)
        return ui.frames(2), true;
    }
    return false;
  }

 private:
  /// As the window does it: theme and scale from the settings, then the shell.
  void frame() {
    const double scale = workspace.settings.scale > 0 ? workspace.settings.scale : 1.0;
    widgets::set_theme(widgets::make_theme(workspace.settings.light ? widgets::Mode::light : widgets::Mode::dark,
                                           static_cast<float>(scale * (shell.presentation ? 2.0 : 1.0)), {}));
    widgets::apply_to_imgui(widgets::theme());
    app::draw_shell(shell);
  }
};

}  // namespace support
