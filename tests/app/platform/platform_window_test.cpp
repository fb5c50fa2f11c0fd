#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "app/platform/window.h"
#include "tests/support/ui/headless_frame.h"

using Catch::Matchers::ContainsSubstring;

namespace {

/// Takes a variable out of the environment for a while.
struct Without {
  std::string name;
  std::optional<std::string> old;
  explicit Without(const char* variable) : name(variable) {
    if (const char* value = std::getenv(variable)) old = value;
    ::unsetenv(variable);
  }
  ~Without() {
    if (old) ::setenv(name.c_str(), old->c_str(), 1);
  }
};

}  // namespace

TEST_CASE("without a display, the window says so and names what works without one") {
  const Without x11("DISPLAY"), wayland("WAYLAND_DISPLAY");
  CHECK_FALSE(app::display_available());
  CHECK_THAT(app::Window::create("t").error, ContainsSubstring("there is no display") && ContainsSubstring("render"));
}

TEST_CASE("a chord is seen though its modifier is released in the frame that takes its key") {
  support::HeadlessFrame ui;
  ImGuiIO& io = ImGui::GetIO();
  int chords = 0, keys = 0;
  const auto frame = [&] {
    ui.frame([&] {
      chords += ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_K) ? 1 : 0;
      keys += ImGui::IsKeyPressed(ImGuiKey_K, false) ? 1 : 0;
    });
  };
  for (const bool parted : {false, true}) {
    io.AddKeyEvent(ImGuiMod_Ctrl, true);
    frame();
    io.AddKeyEvent(ImGuiKey_K, true);
    if (parted) app::part_input_frames();
    io.AddKeyEvent(ImGuiMod_Ctrl, false);
    for (int i = 0; i < 3; ++i) frame();
    io.AddKeyEvent(ImGuiKey_K, false);
    frame();
    CHECK(keys == (parted ? 2 : 1));
    CHECK(chords == (parted ? 1 : 0));
  }
}

TEST_CASE("window draws while something moves, then sleeps, and wakes for another thread") {
  if (!app::display_available()) SKIP("no display");
  auto made = app::Window::create("Ridgeline test", {
                                                        .x = 10,
                                                        .y = 10,
                                                        .width = 400,
                                                        .height = 300,
                                                    });
  INFO(made.error);
  REQUIRE(made);
  app::Window& window = **made;
  CHECK(window.content_scale() > 0);
  widgets::set_theme(widgets::make_theme(widgets::Mode::light, 1.0f, window.fonts()));
  int frames = 0;
  app::Image picture;
  window.capture_next([&](app::Image image) { picture = std::move(image); });
  std::thread closer;
  window.run(
      [&] {
        if (++frames == 5) closer = std::thread([&] { window.close(); });
      },
      [&] { return frames < 5; });
  closer.join();
  CHECK(frames >= 5);
  REQUIRE(picture.width == 400);
  CHECK(picture.rgba[0] == 0xf6);  // the light theme's background
  CHECK(window.place().width == 400);
  CHECK(window.place().height == 300);
}
