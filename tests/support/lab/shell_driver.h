#pragma once
#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "app/platform/fonts.h"
#include "app/shell/shell.h"
#include "app/shell/stage_area.h"
#include "tests/support/ui/ui_driver.h"

namespace support {

/// No folders: nothing is kept.
inline models::Result<app::UserPaths> nowhere() {
  return models::Result<app::UserPaths>::fail("Nothing is kept in a test.");
}

/// Presses the figure that stands beside or above the slider of this label, so that it can be typed over.
inline void press_value(UiDriver& ui, std::string_view label) {
  const widgets::ProbedItem slider = ui.item(label);
  const float mid = (slider.min.y + slider.max.y) / 2;
  for (const auto& item : ui.probe().all())
    if (item.label == "value" && item.window_id == slider.window_id &&
        ((item.min.y <= mid && mid <= item.max.y) || std::abs(item.max.y - slider.min.y) < 2)) {
      ui.click_at(item.centre());
      ui.frames(2);
      return;
    }
  throw std::runtime_error("no figure stands beside \"" + std::string(label) + "\"");
}

/// The whole interface under a driver: what a person does to it goes through real events, and tests look at the
/// workspace. Header only, so that the driver itself stays free of the app.
struct ShellDriver {
  explicit ShellDriver(app::Content content, models::Result<app::UserPaths> user = nowhere(),
                       ImVec2 display = {1280, 800}, bool real_fonts = false)
      : workspace(std::move(content), std::move(user)),
        shell(workspace, {
                             .copy = [this](const std::string& text) { copied = text; },
                             .save_png = [](ImVec2, ImVec2, const std::string&) { return models::Status::ok(); },
                             .toggle_fullscreen = {},
                             .quit = [this] { quit = true; },
                         }),
        ui([this] { frame(); }, display,
           [this, real_fonts] {
             if (real_fonts) fonts = app::load_fonts(*ImGui::GetIO().Fonts);
           }) {}

  app::Workspace workspace;
  app::Shell shell;
  std::string copied;
  bool quit = false;
  widgets::Fonts fonts{};  ///< Dear ImGui's own font unless the real ones were asked for
  UiDriver ui;

  const chapters::Field& input(const char* key) { return *workspace.lab().inputs().find(key); }
  const chapters::Field& output(const char* key) { return *workspace.lab().outputs().find(key); }
  std::string_view open_lab() { return workspace.lab().info().id; }
  /// Presses the figure that stands beside or above a slider, types over it and presses Enter.
  void type_value(std::string_view label, std::string_view text) {
    press_value(ui, label);
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
  /// Is this part of the message on screen, or of one that comes with the next frame?
  bool was_said(std::string_view part) {
    for (const auto& toast : shell.toasts.shown)
      if (toast.message.text.find(part) != std::string::npos) return true;
    for (const auto& message : workspace.messages())
      if (message.text.find(part) != std::string::npos) return true;
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
    ui.frames(3);   // what was asked for starts in the next frame
    int quiet = 0;  // frames in a row: what one job finds may ask for the next
    for (int i = 0; i < 20'000 && quiet < 4; ++i) {
      ui.frames(1);
      const bool idle = !workspace.current().computing() && !shell.explore.running && !shell.fixes.job &&
                        !workspace.opening.busy() && workspace.jobs.busy() == 0;
      quiet = idle ? quiet + 1 : 0;
      if (idle) continue;
      // A job is waited for, not drawn over: it has the core to itself, and its frames would all be the same.
      int waits = 0;
      do std::this_thread::sleep_for(std::chrono::microseconds(200));
      while (workspace.jobs.busy() > 0 && ++waits < 500);
    }
    return quiet >= 4;
  }

 private:
  /// As the window does it: theme and scale from the settings, then the shell.
  void frame() {
    const double scale = workspace.settings.scale > 0 ? workspace.settings.scale : 1.0;
    const auto height_px = static_cast<double>(ImGui::GetIO().DisplaySize.y);
    widgets::set_theme(widgets::make_theme(workspace.settings.light ? widgets::Mode::light : widgets::Mode::dark,
                                           app::interface_scale(shell.presentation, scale, height_px), fonts));
    widgets::apply_to_imgui(widgets::theme());
    app::draw_shell(shell);
  }
};

}  // namespace support
