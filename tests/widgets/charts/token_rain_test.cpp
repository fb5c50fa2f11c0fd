#include "widgets/charts/token_rain.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

namespace {

/// Four buckets in two groups: 30 kept and 10 spilled, none, 30 kept, 20 kept; the rim at 30.
struct SmallRain {
  std::vector<RainGrain> grains;
  TokenRain rain;

  SmallRain() {
    for (int i = 0; i < 90; ++i) grains.push_back({static_cast<std::uint8_t>(i % 2), static_cast<float>(i % 40) / 40});
    rain.sources = {{"one", "1", 0.75, Tint::series(0)}, {"two", "2", 0.25, Tint::series(1)}};
    rain.buckets = {{"0", 0, 0, 30, 10, 30, ""},
                    {"1", 0, 40, 0, 0, 30, ""},
                    {"2", 1, 40, 30, 0, 30, ""},
                    {"3", 1, 70, 20, 0, 30, ""}};
    rain.times_s = {1, 4, 1, 2};
    rain.groups = {{"0", 0, std::span(rain.times_s).subspan(0, 2), ""},
                   {"1", 0, std::span(rain.times_s).subspan(2, 2), ""}};
    rain.phases = {{"send", Meaning::communication, 0.5}, {"work", Meaning::forward, 0}};
    rain.grains = grains;
    rain.largest = 40;
    rain.mean = 22.5;
    rain.reference_s = 4;
    count_rain_flows(rain);
  }
};

}  // namespace

TEST_CASE("token rain: buckets of one width stand in their groups, the rim as high as the grains that it takes") {
  PlainTheme theme;
  const SmallRain s;
  TokenRainLayout l;
  layout_token_rain(s.rain, {{0, 0}, {800, 500}}, seven_px, l);
  REQUIRE(l.bucket.size() == 4);
  for (const Rect& b : l.bucket) CHECK(std::abs(b.width() - l.bucket[0].width()) < 0.01f);
  CHECK(l.bucket[1].min.x - l.bucket[0].max.x < l.bucket[2].min.x - l.bucket[1].max.x);
  CHECK(l.group[0].min.x == l.bucket[0].min.x);
  CHECK(l.group[0].max.x == l.bucket[1].max.x);
  // The 30th grain lies below the rim, the 31st above it; a full row at least apart.
  CHECK(l.grain(0, 29).max.y > l.bucket[0].min.y);
  CHECK(l.grain(0, 39).min.y >= l.buckets.min.y - 0.5f);
  CHECK(std::abs(l.bucket[0].height() - 30 * l.grains_px) < 0.5f);
  CHECK(l.mean_y > l.bucket[0].min.y);
  CHECK(std::abs(l.source[0].width() - 3 * l.source[1].width()) < 0.1f);
  CHECK(s.rain.flows == std::vector<float>{20, 20, 0, 0, 15, 15, 10, 10});
}

TEST_CASE("token rain: every phase begins when the slowest group has ended the one before") {
  PlainTheme theme;
  const SmallRain s;
  TokenRainLayout l;
  layout_token_rain(s.rain, {{0, 0}, {800, 500}}, seven_px, l);
  CHECK(l.total_s == 5.5);  // 1 + 0.5 + 4
  REQUIRE(l.bars.size() == 4);
  const float px = l.clock.height() / 5.5f;
  CHECK(std::abs(l.barriers[0] - (l.clock.min.y + 1.5f * px)) < 0.01f);
  CHECK(std::abs(l.barriers[1] - l.clock.max.y) < 0.01f);
  CHECK(std::abs(l.bars[3].at.min.y - l.barriers[0]) < 0.01f);
  CHECK(std::abs(l.bars[3].at.height() - 2 * px) < 0.01f);
  CHECK(std::abs(l.reference_y - (l.clock.min.y + 4 * px)) < 0.01f);
}

TEST_CASE("token rain: many buckets keep an order without overlap, and too many grains become layers") {
  PlainTheme theme;
  TokenRain rain;
  std::vector<RainGrain> grains(256 * 64);
  rain.grains = grains;
  rain.sources = {{"one", "1", 1, Tint::series(0)}};
  for (std::uint32_t b = 0; b < 256; ++b) {
    rain.buckets.push_back({"000", b / 4, b * 64, 64, 0, 0, ""});
    if (b % 4 == 0) rain.groups.push_back({"00", b / 32, {}, ""});
  }
  rain.largest = 64;
  TokenRainLayout l;
  layout_token_rain(rain, {{0, 0}, {700, 400}}, seven_px, l);
  CHECK(l.pitch == 0);
  CHECK(l.label_step > 1);
  for (std::size_t b = 1; b < 256; ++b) CHECK(l.bucket[b].min.x >= l.bucket[b - 1].max.x - 0.01f);
  CHECK(l.bucket.back().max.x <= l.buckets.max.x + 0.5f);
  CHECK(l.bucket[32].min.x - l.bucket[31].max.x >= 4.9f);  // from node to node
}

TEST_CASE("token rain: dragging a rim says how far, and a rain under way shows what has landed alone") {
  support::HeadlessFrame ui;
  const SmallRain s;
  TokenRainView view;
  double dragged = 0;
  const auto frame = [&](double progress) {
    ui.frame([&] { dragged = draw_token_rain("rain", s.rain, view, {.size = {700, 420}, .progress = progress}); });
  };
  frame(1);
  frame(1);
  const Rect rim = view.layout.bucket[0];
  ImGuiIO& io = ImGui::GetIO();
  io.AddMousePosEvent((rim.min.x + rim.max.x) / 2, rim.min.y);
  frame(1);
  io.AddMouseButtonEvent(0, true);
  frame(1);
  io.AddMousePosEvent((rim.min.x + rim.max.x) / 2, (rim.min.y + rim.max.y) / 2);
  frame(1);
  frame(1);
  CHECK(std::abs(dragged - 0.5) < 0.02);
  io.AddMouseButtonEvent(0, false);
  frame(1);
  CHECK(dragged == 0);
}
