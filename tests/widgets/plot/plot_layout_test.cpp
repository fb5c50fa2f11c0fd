#include "widgets/plot/plot_layout.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "widgets/plot/plot_labels.h"

using namespace widgets;

namespace {

struct Column {
  double lo = HUGE_VAL, hi = -HUGE_VAL;
};

/// Lowest and highest value in each pixel column, computed the plain way.
std::vector<Column> extremes(const AxisMap& map, int columns, const auto& each) {
  std::vector<Column> out(static_cast<std::size_t>(columns));
  each([&](double x, double y) {
    const double c = std::floor((map.pixel(x) - map.start()) / (map.end() - map.start()) * columns);
    if (!(c >= 0 && c < columns) || !std::isfinite(y)) return;
    Column& column = out[static_cast<std::size_t>(c)];
    column.lo = std::min(column.lo, y);
    column.hi = std::max(column.hi, y);
  });
  return out;
}

}  // namespace

TEST_CASE("a million points become a few thousand with the same extremes in every column") {
  constexpr std::size_t n = 1'000'000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise;
  std::vector<double> xs(n), ys(n);
  for (std::size_t i = 0; i < n; ++i) {
    xs[i] = 1 + static_cast<double>(i);
    ys[i] = noise(random);
  }
  ys[123456] = 1e6;  // one spike that a plain stride would miss
  for (const AxisKind kind : {AxisKind::linear, AxisKind::log10}) {
    for (const Range range : {Range{1, 1e6}, Range{2e5, 3e5}}) {
      const AxisMap map(kind, range, 50, 850);
      std::vector<PlotPoint> kept;
      decimate(xs, ys, map, 800, kept);
      CHECK(kept.size() <= 802 * 4);
      const auto all = extremes(map, 800, [&](auto add) {
        for (std::size_t i = 0; i < n; ++i) add(xs[i], ys[i]);
      });
      const auto few = extremes(map, 800, [&](auto add) {
        for (const PlotPoint& p : kept) add(p.x, p.y);
      });
      for (std::size_t c = 0; c < 800; ++c) {
        INFO("column " << c);
        REQUIRE(all[c].lo == few[c].lo);
        REQUIRE(all[c].hi == few[c].hi);
      }
      CHECK(std::is_sorted(kept.begin(), kept.end(), [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; }));
      CHECK(kept.front().x == 1);
      CHECK(kept.back().x == 1e6);
    }
  }
}

TEST_CASE("few points are all kept, and a gap stays a gap") {
  const std::vector<double> xs{1, 2, 3, 4}, ys{5, std::nan(""), 7, 8};
  std::vector<PlotPoint> kept;
  decimate(xs, ys, AxisMap(AxisKind::linear, {0, 5}, 0, 100), 100, kept);
  REQUIRE(kept.size() == 4);
  CHECK(std::isnan(kept[1].y));
  std::vector<double> many(10000), values(10000, 1);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  values[5000] = HUGE_VAL;
  decimate(many, values, AxisMap(AxisKind::linear, {0, 10000}, 0, 100), 100, kept);
  CHECK(std::count_if(kept.begin(), kept.end(), [](const PlotPoint& p) { return std::isnan(p.y); }) == 1);
}

TEST_CASE("a decimated band keeps its outer edges") {
  std::vector<double> xs(10000), upper(10000, 2), lower(10000, 1);
  for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<double>(i);
  upper[4321] = 9;
  lower[4321] = -4;
  std::vector<PlotPoint> kept;
  decimate_band(xs, upper, lower, AxisMap(AxisKind::linear, {0, 10000}, 0, 100), 100, kept);
  CHECK(kept.size() <= 102);
  CHECK(std::any_of(kept.begin(), kept.end(), [](const PlotPoint& p) { return p.y == 9 && p.y2 == -4; }));
}

TEST_CASE("segments are cut exactly at the box") {
  const Box box{{0, 0}, {10, 10}};
  double ax = -10, ay = 5, bx = 20, by = 5;
  REQUIRE(clip_segment(ax, ay, bx, by, box));
  CHECK((ax == 0 && ay == 5 && bx == 10 && by == 5));
  ax = -1e300, ay = -1, bx = 1e300, by = -1;
  CHECK_FALSE(clip_segment(ax, ay, bx, by, box));
  ax = 0, ay = std::nan(""), bx = 5, by = 5;
  CHECK_FALSE(clip_segment(ax, ay, bx, by, box));
}

TEST_CASE("room for labels is never taken twice nor crossed by a line") {
  const Box area{{40, 20}, {840, 520}};
  std::mt19937 random(11);
  std::uniform_real_distribution<float> x(0, 900), y(0, 560);
  Occupancy room;
  std::size_t placed = 0;
  for (int round = 0; round < 20; ++round) {
    room.reset(area);
    std::vector<std::pair<ImVec2, ImVec2>> lines;
    for (int i = 0; i < 12; ++i) {
      lines.push_back({{x(random), y(random)}, {x(random), y(random)}});
      room.block_segment(lines.back().first, lines.back().second, 1);
    }
    std::vector<Box> dots, labels;
    for (int i = 0; i < 60; ++i) {
      const ImVec2 at{x(random), y(random)};
      dots.push_back({{at.x - 5, at.y - 5}, {at.x + 5, at.y + 5}});
      room.block(dots.back());
    }
    for (const Box& dot : dots)
      if (const auto box = place_by_point(room, {dot.min.x + 5, dot.min.y + 5}, 5, {70, 14})) labels.push_back(*box);
    for (const auto& [a, b] : lines) {
      const ImVec2 line[] = {a, b};
      if (const auto box = place_along_line(room, line, {90, 14}, 6)) labels.push_back(*box);
    }
    placed += labels.size();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const Box& label = labels[i];
      REQUIRE((label.min.x >= area.min.x && label.max.x <= area.max.x && label.min.y >= area.min.y &&
               label.max.y <= area.max.y));
      for (std::size_t k = 0; k < i; ++k) REQUIRE_FALSE(label.overlaps(labels[k]));
      for (const Box& dot : dots) REQUIRE_FALSE(label.overlaps(dot));
      for (const auto& [a, b] : lines) {
        double ax = static_cast<double>(a.x), ay = static_cast<double>(a.y), bx = static_cast<double>(b.x),
               by = static_cast<double>(b.y);
        REQUIRE_FALSE(clip_segment(ax, ay, bx, by, label));
      }
    }
  }
  CHECK(placed > 400);  // of 20 x 72: never crossing is easy for whoever places nothing
}

TEST_CASE("a line's name sits just above its right end when nothing is in the way") {
  const Box area{{0, 0}, {800, 400}};
  Occupancy room;
  room.reset(area);
  const ImVec2 roof[] = {{0, 390}, {400, 100}, {800, 100}};
  room.block_segment(roof[0], roof[1], 1);
  room.block_segment(roof[1], roof[2], 1);
  const auto box = place_along_line(room, roof, {120, 14}, 6);
  REQUIRE(box);
  CHECK(box->max.x > 780);
  CHECK(box->max.y == 94);
}

TEST_CASE("a steep line's name reads along it, beside it and not across it") {
  const Box area{{0, 0}, {600, 600}};
  Occupancy room;
  room.reset(area);
  const ImVec2 line[] = {{50, 550}, {350, 50}};
  room.block_segment(line[0], line[1], 1);
  CHECK_FALSE(place_along_line(room, line, {100, 14}, 6));
  const auto place = place_along_slope(room, line, {100, 14}, 6);
  REQUIRE(place);
  CHECK(std::abs(place->degrees + 59.04f) < 0.01f);  // atan(500 / 300), rising to the right
  const float turn = place->degrees * 3.14159265f / 180, c = std::cos(turn), s = std::sin(turn);
  for (float x = 0; x <= 100; x += 25) {
    // Bottom of the text: its distance to the line is the gap that was asked for.
    const ImVec2 p{place->at.x + c * x - s * 14, place->at.y + s * x + c * 14};
    ImVec2 on;
    CHECK(std::abs(std::sqrt(nearest_on_segment(p, line[0], line[1], on)) - 6) < 0.1f);
  }
}

TEST_CASE("a label far from its dot gets a leader that ends at it") {
  const Box beside{{20, -7}, {80, 7}}, far{{60, 40}, {120, 54}};
  CHECK_FALSE(leader_needed({0, 0}, 5, beside));
  const auto end = leader_needed({0, 0}, 5, far);
  REQUIRE(end);
  CHECK((end->x == 60 && end->y == 40));
}

TEST_CASE("a fingerprint sees one changed value wherever it is") {
  std::vector<double> values(10001, 1.5);
  const std::uint64_t before = fingerprint(values);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{5002}, std::size_t{10000}}) {
    values[at] = std::nextafter(1.5, 2.0);
    CHECK(fingerprint(values) != before);
    values[at] = 1.5;
  }
  CHECK(fingerprint(values) == before);
}
