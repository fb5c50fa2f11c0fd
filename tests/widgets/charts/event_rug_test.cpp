#include "widgets/charts/event_rug.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

namespace {

constexpr Rect strip{{0, 0}, {300, 80}};

std::vector<double> even_events(int n) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back((i + 0.5) / n);
  return out;
}

}  // namespace

TEST_CASE("a rug has a tick an event up to one a 3 px, and bars that hold them all beyond that") {
  PlainTheme theme;
  const EventRugOptions o{.lo = 0, .hi = 1, .axis = false};
  EventRugLayout l;
  layout_event_rug(even_events(90), o, strip, l);
  CHECK_FALSE(l.dense);
  REQUIRE(l.ticks.size() == 90);
  CHECK(std::abs(l.ticks[44] - 149) <= 2.0f);
  CHECK(l.bins.empty());
  layout_event_rug(even_events(110), o, strip, l);
  CHECK(l.dense);
  CHECK(l.ticks.empty());
  std::size_t sum = 0;
  for (const EventBin& b : l.bins) {
    sum += b.count;
    CHECK((b.top >= l.strip.min.y && b.top <= l.strip.max.y));
  }
  CHECK(sum == 110);
  CHECK(std::abs(l.bins.front().from - l.strip.min.x) <= 0.01f);
  CHECK(std::abs(l.bins.back().to - l.strip.max.x) <= 0.01f);
}

TEST_CASE("the expected rate is a line at its count a bin, and is counted over the whole range") {
  PlainTheme theme;
  EventRugLayout l;
  layout_event_rug(even_events(600), {.lo = 0, .hi = 1, .expected_per_unit = 300, .axis = false}, strip, l);
  CHECK(l.expected == 300);
  const double most = static_cast<double>(l.most), a_bin = 300 * l.bin_width;
  CHECK(std::abs(static_cast<double>(l.strip.max.y - l.expected_y) -
                 static_cast<double>(l.strip.height()) * a_bin / most) <= 0.5);
  // An expectation far above would flatten all bars: it is said, and not drawn.
  layout_event_rug(even_events(600), {.lo = 0, .hi = 1, .expected_per_unit = 1e6, .axis = false}, strip, l);
  CHECK(l.expected_y == 0);
  CHECK(l.bins[10].top < l.strip.max.y - 1);
}

TEST_CASE("events outside the range or not finite are not drawn; one event and none have a range of their own") {
  PlainTheme theme;
  const std::vector<double> mixed{-1, 0.5, 2, std::nan(""), INFINITY};
  EventRugLayout l;
  layout_event_rug(mixed, {.lo = 0, .hi = 1, .axis = false}, strip, l);
  CHECK((l.inside == 1 && l.outside == 2 && l.ticks.size() == 1));
  const std::vector<double> one{7};
  layout_event_rug(one, {}, strip, l);
  REQUIRE(l.ticks.size() == 1);
  CHECK((l.ticks[0] >= l.strip.min.x && l.ticks[0] <= l.strip.max.x));
  layout_event_rug({}, {}, strip, l);
  CHECK((l.inside == 0 && l.ticks.empty() && l.range.lo < l.range.hi));
}

TEST_CASE("a rug keeps the gutters of the plot above it") {
  PlainTheme theme;
  EventRugLayout l;
  layout_event_rug(even_events(3), {.lo = 0, .hi = 1, .left_px = 60, .right_px = 40}, strip, l);
  CHECK((l.strip.min.x == 60 && l.strip.max.x == 260));
}
