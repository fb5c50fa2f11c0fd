#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "app/platform/image.h"
#include "app/platform/ui_context.h"
#include "models/base/result.h"

namespace app {

/// Draws the interface into a picture without a display or a GPU: EGL (surfaceless, else a device, else the default
/// display), OpenGL 3.3 core, its own framebuffer. Time goes by in steps of 1/60 s, so the same calls give the same
/// pixels. Owns its Dear ImGui context. Several may live in one process; calls must come from one thread at a time.
class Headless {
 public:
  /// Sizes in pixels, 1 to what the driver allows (16384 with llvmpipe). One sentence when there is no usable EGL.
  static models::Result<std::unique_ptr<Headless>> create(int width, int height);
  ~Headless();
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  /// Keeps the old size when it fails. Call it between frames only.
  models::Status resize(int width, int height);
  /// Makes this instance's contexts current and begins a Dear ImGui frame.
  void begin_frame();
  /// Renders over the theme's background.
  void end_frame();
  /// The last rendered frame, RGBA, top row first, opaque.
  std::vector<std::uint8_t> pixels() const;
  Image image() const { return {width_, height_, pixels()}; }
  int width() const { return width_; }
  int height() const { return height_; }
  const widgets::Fonts& fonts() const { return ui_->fonts(); }
  /// The driver's name, for reports: "llvmpipe (LLVM 15.0.6, 256 bits)".
  std::string renderer() const;

 private:
  struct Gl;
  Headless();
  void make_current() const;

  std::unique_ptr<Gl> gl_;
  std::unique_ptr<UiContext> ui_;
  int width_ = 0, height_ = 0;
};

}  // namespace app
