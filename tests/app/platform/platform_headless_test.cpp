#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>

#include "app/platform/headless.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"

using Catch::Matchers::ContainsSubstring;

namespace {

std::unique_ptr<app::Headless> headless(int width, int height) {
  auto made = app::Headless::create(width, height);
  INFO(made.error);
  REQUIRE(made);
  return std::move(*made);
}

void draw(app::Headless& on, int frames) {
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, on.fonts()));
  for (int i = 0; i < frames; ++i) {
    on.begin_frame();
    const widgets::Painter painter(ImGui::GetBackgroundDrawList());
    painter.rect({10, 20}, {30, 40}, IM_COL32(255, 0, 0, 255));
    painter.rect({50, 20}, {60, 40}, IM_COL32(0, 0, 255, 128));
    painter.text({70, 10}, "ridge 295 FLOP/B", IM_COL32_WHITE, widgets::Type::title, widgets::Font::bold);
    painter.text({70, 40}, "0.1 \xC2\xB5s", IM_COL32_WHITE, widgets::Type::small, widgets::Font::mono);
    ImGui::SetNextWindowPos({10, 60});
    ImGui::Begin("Fits its text", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
    ImGui::ProgressBar(-1.0f * static_cast<float>(ImGui::GetTime()), {100, 0});  // moves with time
    ImGui::End();
    on.end_frame();
  }
}

using Rgba = std::array<int, 4>;
Rgba at(const app::Image& image, int x, int y) {
  const auto i = 4 * static_cast<std::size_t>(y * image.width + x);
  return {image.rgba[i], image.rgba[i + 1], image.rgba[i + 2], image.rgba[i + 3]};
}

}  // namespace

TEST_CASE("headless draws shapes where they belong, top row first, opaque, over the theme's background") {
  const auto on = headless(320, 200);
  draw(*on, 1);
  const app::Image image = on->image();
  REQUIRE(image.rgba.size() == 4u * 320 * 200);
  CHECK(at(image, 5, 5) == Rgba{0x0f, 0x13, 0x18, 255});
  CHECK(at(image, 10, 20) == Rgba{255, 0, 0, 255});
  CHECK(at(image, 29, 39) == Rgba{255, 0, 0, 255});
  CHECK(at(image, 20, 45) == Rgba{0x0f, 0x13, 0x18, 255});
  const Rgba blended = at(image, 55, 30);  // half blue over the background
  CHECK(std::abs(blended[2] - (128 + 0x18 / 2)) <= 2);
  CHECK(blended[3] == 255);
}

TEST_CASE("headless gives the same pixels for the same frames, also in a second instance and after a resize") {
  app::Image first, resized, again;
  {
    const auto on = headless(320, 200);
    draw(*on, 3);
    first = on->image();
    CHECK(on->image() == first);
  }
  {
    const auto on = headless(64, 64);
    REQUIRE(on->resize(320, 200).error == "");
    draw(*on, 3);
    resized = on->image();
  }
  const auto one = headless(320, 200), other = headless(100, 100);
  draw(*one, 1);
  draw(*other, 1);
  draw(*one, 2);
  again = one->image();
  CHECK(resized == first);
  CHECK(again == first);
  draw(*one, 1);
  CHECK_FALSE(one->image() == first);  // the bar has moved on: the comparison sees small changes
}

TEST_CASE("headless survives being made and dropped many times") {
  for (int i = 0; i < 5; ++i) {
    const auto on = headless(32 + i, 16);
    draw(*on, 1);
    CHECK(on->image().width == 32 + i);
    CHECK(at(on->image(), 20, 5) == Rgba{0x0f, 0x13, 0x18, 255});
  }
}

TEST_CASE("headless says which sizes it can do, and keeps the one it has") {
  CHECK_THAT(app::Headless::create(0, 10).error,
             ContainsSubstring("0x10") && ContainsSubstring("each side must be 1 to"));
  const auto on = headless(40, 30);
  CHECK_THAT(on->resize(1 << 24, 30), ContainsSubstring("16777216x30"));
  CHECK(on->width() == 40);
  draw(*on, 1);
  CHECK(on->pixels().size() == 4u * 40 * 30);
}
