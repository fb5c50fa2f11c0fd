#include "widgets/timeline/timeline_layout.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace widgets;

namespace {

struct Sums {
  std::int64_t busy_ns = 0;
  std::uint64_t count = 0;
};

/// What the definition says is in view, span by span.
Sums sums_in_view(const std::vector<TimelineSpan>& spans, const TimelineViewport& v) {
  const double low = std::floor(v.start_s * 1e9), high = std::ceil((v.start_s + v.duration_s) * 1e9);
  Sums sums;
  for (const auto& s : spans) {
    const auto start = static_cast<double>(s.start_ns), end = static_cast<double>(s.end_ns());
    if (start < high && (end > low || start >= low)) {
      sums.busy_ns += s.length_ns();
      ++sums.count;
    }
  }
  return sums;
}

Sums sums_of(const std::vector<TimelineBlock>& blocks) {
  Sums sums;
  for (const auto& b : blocks) {
    sums.busy_ns += b.busy_ns;
    sums.count += b.count;
  }
  return sums;
}

std::vector<TimelineSpan> random_row(std::mt19937_64& random, std::size_t count) {
  std::vector<TimelineSpan> spans;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // Lengths and gaps over six decades, so that every zoom has both folded and single spans.
    const auto decade = [&] {
      return static_cast<std::int64_t>(std::pow(10.0, std::uniform_real_distribution<>(0, 6)(random)));
    };
    at += random() % 3 == 0 ? decade() : 0;
    const std::int64_t length = random() % 16 == 0 ? 0 : decade();
    spans.push_back({at, length, static_cast<std::uint32_t>(i), 0, Tint::series(random() % 8)});
    at += length;
  }
  return spans;
}

std::vector<TimelineBlock> blocks_of(const std::vector<TimelineSpan>& spans, const TimelineViewport& v) {
  std::vector<TimelineBlock> blocks;
  const TimelineLaneIndex index = index_lane(spans);
  for (std::size_t r = 0; r < index.rows.size(); ++r) layout_timeline_row(spans, index, r, v, 0, blocks);
  return blocks;
}

constexpr std::int64_t us = 1000;

}  // namespace

TEST_CASE("a wide span keeps its own block and narrow neighbours fold into one") {
  // 1000 px over 1 ms: 1 us a pixel, so 100 us is 100 px wide and ten spans of 0.2 us lie within 2 px. 512 us is a
  // multiple of the bin (2048 ns), so all ten start in one.
  std::vector<TimelineSpan> spans{{0, 100 * us, 7}};
  for (int i = 0; i < 10; ++i) spans.push_back({512 * us + i * 200, 150, 1});
  const auto blocks = blocks_of(spans, {10, 1000, 0, 1e-3});
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].count == 1);
  CHECK(blocks[0].first == 0);
  CHECK(std::abs(blocks[0].x0 - 10) <= 0.01f);
  CHECK(std::abs(blocks[0].x1 - 110) <= 0.01f);
  CHECK(blocks[1].count == 10);
  CHECK(blocks[1].busy_ns == 1500);
  CHECK(std::abs(blocks[1].density() - 1500.0 / 1950.0) <= 1e-12);
}

TEST_CASE("short work between short waits folds into its share of the time, and not into one of the two") {
  // Fifteen spans of a level and more: 1 us of work in every 4 us, which is four tenths of a pixel.
  std::vector<TimelineSpan> spans;
  for (int i = 0; i < 2000; ++i) {
    spans.push_back({i * 4 * us, us, 0, 0, Meaning::forward});
    spans.push_back({i * 4 * us + us, 3 * us, 0, 0, Meaning::launch_bound, TimelineMark::hatched});
  }
  std::int64_t waits_ns = 0, all_ns = 0;
  for (const TimelineBlock& b : blocks_of(spans, {0, 800, 0, 8e-3})) {
    REQUIRE(b.count > 1);
    CHECK(b.tint == Tint(Meaning::forward));
    CHECK(b.wait_tint == Tint(Meaning::launch_bound));
    CHECK(std::abs(b.density() - 0.25) <= 0.15);  // a bin's edges need not be those of a pair
    CHECK(std::abs(b.density() + b.wait_share() - 1) <= 1e-12);
    waits_ns += b.wait_ns;
    all_ns += b.busy_ns;
  }
  CHECK(all_ns == 8'000'000);
  CHECK(waits_ns == 6'000'000);
  // One wait that is narrow stays what it is.
  const auto one = blocks_of({{0, us, 0, 0, Meaning::data_loading, TimelineMark::hatched}}, {0, 800, 0, 8e-3});
  REQUIRE(one.size() == 1);
  CHECK(one[0].tint == Tint(Meaning::data_loading));
  CHECK(one[0].mark == TimelineMark::hatched);
}

TEST_CASE("random rows: at every zoom folding keeps count and busy time, order, the clip, and a bound by pixels") {
  std::mt19937_64 random(20240611);
  for (int round = 0; round < 12; ++round) {
    const auto spans = random_row(random, round < 6 ? 40 : 6000);
    const double whole_s = static_cast<double>(spans.back().end_ns()) * 1e-9;
    const TimelineLaneIndex index = index_lane(spans);
    for (double zoom = 1; zoom < 1e9; zoom *= 7) {
      const double at = std::uniform_real_distribution<>(-0.2, 1.0)(random);
      const TimelineViewport v{100, 640, at * whole_s, whole_s / zoom};
      std::vector<TimelineBlock> blocks;
      layout_timeline_row(spans, index, 0, v, 3, blocks);
      const Sums expected = sums_in_view(spans, v), got = sums_of(blocks);
      REQUIRE(got.count == expected.count);
      REQUIRE(got.busy_ns == expected.busy_ns);
      REQUIRE(blocks.size() <= static_cast<std::size_t>(2 * 640 / 2.0 + 2));
      REQUIRE(std::all_of(blocks.begin(), blocks.end(),
                          [](const auto& b) { return b.x0 >= 100 && b.x0 <= b.x1 && b.x1 <= 740 && b.lane == 3; }));
      REQUIRE(std::is_sorted(blocks.begin(), blocks.end(),
                             [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; }));
    }
  }
}

TEST_CASE("spans that are worked out when asked for lay out as an array of them does") {
  std::mt19937_64 random(7);
  auto spans = random_row(random, 3000);
  for (std::size_t i = 0; i < spans.size(); ++i) spans[i].depth = static_cast<std::uint16_t>(random() % 3);
  const TimelineSpans made(&spans, spans.size(), [](const void* context, std::size_t i) {
    TimelineSpan s = (*static_cast<const std::vector<TimelineSpan>*>(context))[i];
    s.name += 1'000'000;
    return s;
  });
  const TimelineLaneIndex index = index_lane(spans), of_made = index_lane(made);
  REQUIRE(of_made.rows.size() == 3);
  CHECK(of_made.order == index.order);
  CHECK(made[5].name == spans[5].name + 1'000'000);
  const double whole_s = static_cast<double>(spans.back().end_ns()) * 1e-9;
  for (double zoom = 1; zoom < 1e6; zoom *= 10)
    for (std::size_t row = 0; row < 3; ++row) {
      std::vector<TimelineBlock> expected, got;
      const TimelineViewport v{0, 640, 0.4 * whole_s, whole_s / zoom};
      layout_timeline_row(spans, index, row, v, 0, expected);
      layout_timeline_row(made, of_made, row, v, 0, got);
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        REQUIRE((got[i].first == expected[i].first && got[i].count == expected[i].count &&
                 got[i].busy_ns == expected[i].busy_ns && got[i].tint == expected[i].tint));
    }
}

TEST_CASE("overlapping spans in one row are still bounded by pixels and none is lost") {
  std::vector<TimelineSpan> spans;
  for (int i = 0; i < 50'000; ++i) spans.push_back({i * 20, 400 * us, 0});  // 1 ms of starts, each 400 px long
  const TimelineViewport v{0, 1000, 0, 1e-3};
  const auto blocks = blocks_of(spans, v);
  CHECK(blocks.size() <= static_cast<std::size_t>(3 * 1000 / 2.0 + 3));
  CHECK(sums_of(blocks).count == 50'000);
}

TEST_CASE("folding bins stay put while one pans: the same spans fold together") {
  std::vector<TimelineSpan> spans;
  for (int i = 0; i < 20'000; ++i) spans.push_back({i * 1000, 700, 0});
  const auto starts = [&](double start_s) {
    std::vector<std::int64_t> result;
    for (const auto& b : blocks_of(spans, {0, 500, start_s, 5e-3}))
      if (b.start_ns > 8'000'000 && b.start_ns < 9'000'000) result.push_back(b.start_ns);
    return result;
  };
  const auto before = starts(5.0e-3);
  CHECK(before.size() > 20);
  CHECK(before == starts(5.00337e-3));
}

TEST_CASE("the index sorts unsorted spans into rows by depth") {
  const std::vector<TimelineSpan> spans{{50, 10, 0, 4}, {0, 100, 1, 0}, {10, 10, 2, 4}, {70, 5, 3, 2}};
  const TimelineLaneIndex index = index_lane(spans);
  REQUIRE(index.rows.size() == 3);
  CHECK(index.rows[2].depth == 4);
  CHECK(index.row_of(2) == 1);
  CHECK(index.order == std::vector<std::uint32_t>{1, 3, 2, 0});
  CHECK(index.last_ns == 100);
}

TEST_CASE("stacking puts a child under its parent and reuses a row that is free again") {
  std::vector<TimelineSpan> spans{{50, 10, 3}, {0, 100, 0}, {10, 20, 1}, {12, 5, 2}, {200, 10, 4}};
  CHECK(stack_depths(spans) == 3);
  std::vector<std::pair<std::uint32_t, std::uint16_t>> rows;
  for (const auto& s : spans) rows.emplace_back(s.name, s.depth);
  CHECK(rows == std::vector<std::pair<std::uint32_t, std::uint16_t>>{{0, 0}, {1, 1}, {2, 2}, {3, 1}, {4, 0}});
}

TEST_CASE("hostile times neither overflow nor leave the clip") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  const std::vector<TimelineSpan> spans{
      {least, most, 0}, {-5, -9, 1}, {0, most, 2, 1}, {most, most, 3, 2}, {most - 3, 1, 4, 3}};
  for (const double duration : {1e-9, 1.0, 1e10, 4e10}) {
    for (const auto& b : blocks_of(spans, {20, 300, -1e9, duration}))
      CHECK((b.x0 >= 20 && b.x1 <= 320 && b.x0 <= b.x1));
  }
  CHECK(blocks_of(spans, {20, 300, 0, std::nan("")}).empty());
  CHECK(blocks_of(spans, {20, 0, 0, 1}).empty());
  CHECK(spans[3].end_ns() == most);
}

TEST_CASE("a counter costs four vertices a column at most and keeps its peak") {
  std::vector<TimelinePoint> points;
  for (int i = 0; i < 200'000; ++i) points.push_back({i * 100, i == 123'456 ? 9.0 : static_cast<double>(i % 3)});
  std::vector<TimelineVertex> vertices;
  layout_counter(points, {0, 400, 0, 0.02}, {true, 0, 9, 10, 100}, vertices);
  CHECK(vertices.size() <= 5 * 401);
  CHECK(std::any_of(vertices.begin(), vertices.end(),
                    [](const auto& v) { return v.y == 10.0f && std::abs(v.x - 246.9f) <= 1.1f; }));
  CHECK(std::all_of(vertices.begin(), vertices.end(),
                    [](const auto& v) { return v.x >= 0 && v.x <= 400 && v.y >= 10 && v.y <= 100; }));
}

TEST_CASE("a counter drawn from its blocks has the very vertices of one read in full") {
  std::vector<TimelinePoint> points;
  std::uint32_t noise = 1;
  for (int i = 0; i < 30'011; ++i) {
    noise = noise * 1664525u + 1013904223u;
    const bool gone = noise % 97 == 0 || (i > 5000 && i < 5400);
    points.push_back(
        {i * 1000 + static_cast<int>(noise >> 25), gone ? std::nan("") : static_cast<double>(noise >> 20)});
  }
  const auto blocks = index_counter(points);
  CHECK(blocks.size() == (points.size() + counter_block - 1) / counter_block);
  CHECK(blocks[5120 / counter_block].low > blocks[5120 / counter_block].high);  // nothing finite there
  for (const double start_s : {0.0, 1e-3, 0.0123456})
    for (const double duration_s : {1.0, 0.03, 0.017, 1e-3, 1e-5})
      for (const bool steps : {true, false}) {
        INFO(start_s << " " << duration_s << " " << steps);
        std::vector<TimelineVertex> full, fast;
        layout_counter(points, {0, 300, start_s, duration_s}, {steps, 0, 4096, 10, 100}, full);
        layout_counter(points, {0, 300, start_s, duration_s}, {steps, 0, 4096, 10, 100}, fast, blocks);
        REQUIRE(full.size() == fast.size());
        CHECK(std::equal(full.begin(), full.end(), fast.begin(),
                         [](const auto& a, const auto& b) { return a.x == b.x && a.y == b.y; }));
      }
}

TEST_CASE("a step counter holds its value to the next point and to the right edge") {
  const std::vector<TimelinePoint> points{{0, 1}, {1000, std::nan("")}, {500'000, 3}};
  std::vector<TimelineVertex> v;
  layout_counter(points, {0, 1000, 0, 1e-3}, {true, 0, 4, 0, 80}, v);
  REQUIRE(v.size() == 4);
  CHECK((v[0].x == 0.0f && v[0].y == 60.0f));
  CHECK((v[1].x == 500.0f && v[1].y == 60.0f));
  CHECK((v[2].x == 500.0f && v[2].y == 20.0f));
  CHECK((v[3].x == 1000.0f && v[3].y == 20.0f));
}

TEST_CASE("zooming keeps the time under the pointer; limits are 1 ns and four times the data") {
  const TimelineWindow w = zoom_window({2, 4}, 8, 3);
  CHECK(w.duration_s == 0.5);
  CHECK((3 - w.start_s) / w.duration_s == (3 - 2) / 4.0);
  CHECK(limit_window({5, 1e-15}, 0, 10).duration_s == 1e-9);
  CHECK(limit_window({0, 1e9}, 0, 10).duration_s == 40);
  CHECK(limit_window({1e6, 2}, 0, 10).start_s == 10 - 0.2);
  CHECK(limit_window({std::nan(""), 2}, 0, 10).duration_s == 10);
}
