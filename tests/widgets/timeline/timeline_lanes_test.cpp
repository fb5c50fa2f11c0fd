#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/widgets/prose/typeset_fixture.h"
#include "widgets/timeline/timeline.h"

using namespace widgets;

namespace {

constexpr std::int64_t lane_ms = 1'000'000;

std::string_view gap_name(const void*, std::uint32_t id) {
  constexpr std::string_view names[] = {"call", "gemm", "3 ms host wait"};
  return names[id % 3];
}

/// A process with two threads, the second with three frames around its work, and a device with a gap.
struct Lanes {
  std::vector<TimelineSpan> main{{0, 2 * lane_ms, 0, 0, Meaning::forward},
                                 {6 * lane_ms, 2 * lane_ms, 0, 0, Meaning::forward}};
  std::vector<TimelineSpan> deep{{0, 10 * lane_ms, 0, 0, {}},
                                 {0, 10 * lane_ms, 0, 1, {}},
                                 {0, 10 * lane_ms, 0, 2, {}},
                                 {2 * lane_ms, 3 * lane_ms, 1, 3, Meaning::backward},
                                 {6 * lane_ms, 1 * lane_ms, 1, 3, Meaning::backward}};
  std::vector<TimelineSpan> gaps{{3 * lane_ms, 3 * lane_ms, 2, 0, Meaning::idle, TimelineMark::hatched}};
  std::vector<TimelinePoint> points{{0, 1}, {5 * lane_ms, 4}};
  std::vector<TimelineCounter> counters{
      {.label = "memory", .unit = "B", .points = points, .tint = Meaning::kv_cache, .capacity = 80}};
  std::vector<TimelineLane> lanes{{.label = "process", .sublabel = "", .spans = main},
                                  {.label = "thread 2", .sublabel = "", .spans = deep, .indent = 1},
                                  {.label = "device", .sublabel = "", .spans = gaps},
                                  {.label = "memory", .sublabel = "", .spans = {}, .counters = counters}};
  std::vector<TimelineLink> links{{0, 0, 2, 0}, {0, 1, 1, 4}}, causes{{0, 1, 2, 0}};
  std::vector<TimelineStep> thread{{0, 0}, {1, 3}};
  TimelineOptions options{.label_px = 120};
  TimelineView view;
  support::UiDriver ui{typeset::in_window([this] { draw(); }), {900, 600}, typeset::set_up};

  TimelineData data() const {
    TimelineData d;
    d.lanes = lanes;
    d.links = links;
    d.name = gap_name;
    d.causes = causes;
    d.thread = thread;
    return d;
  }
  void draw() { draw_timeline("lanes", data(), view, options); }
};

std::size_t place_of_text(const Record& record, std::string_view text) {
  for (std::size_t i = 0; i < record.strokes.size(); ++i)
    if (record.strokes[i].kind == Stroke::Kind::text && record.strokes[i].text == text) return i;
  return record.strokes.size();
}

}  // namespace

TEST_CASE("a caret folds the lanes of a group and brings them back") {
  Lanes l;
  l.ui.frames(2);
  const float device = l.view.lane_rect(2).min.y, thread = l.view.lane_rect(1).height();
  CHECK(thread > 0);
  l.ui.click("fold process");
  l.ui.frames(1);
  CHECK(l.view.lane_rect(1).height() == 0);
  CHECK(l.view.scratch.lanes[1].hidden);
  CHECK(l.view.lane_rect(2).min.y < device - thread);
  for (const TimelineBlock& b : l.view.scratch.blocks) CHECK(b.lane != 1);
  l.ui.click("fold process");
  l.ui.frames(1);
  CHECK(l.view.lane_rect(2).min.y == device);
}

TEST_CASE("rows that one call fills from end to end fold into one, and open by their caret") {
  Lanes l;
  l.options.fold_wrappers = true;
  l.lanes[1].indent = 0;
  l.ui.frames(2);
  CHECK(l.view.index.lanes[1].wrappers == 3);
  const float folded = l.view.lane_rect(1).height();
  std::vector<std::uint16_t> rows;
  for (const TimelineBlock& b : l.view.scratch.blocks)
    if (b.lane == 1) rows.push_back(b.row);
  CHECK(rows == std::vector<std::uint16_t>{2, 3, 3});  // the innermost frame stands for all three
  l.ui.click("fold thread 2");
  l.ui.frames(1);
  CHECK(std::abs(l.view.lane_rect(1).height() - folded - 2 * theme().px(21)) <= 0.01f);
}

TEST_CASE("a gap says how long it is and why, on a plate, and a bracket leads to its cause") {
  Lanes l;
  l.ui.frames(2);
  const Record record = l.ui.record();
  const std::size_t name = place_of_text(record, "3 ms host wait");
  REQUIRE(name < record.strokes.size());
  const Stroke& plate = record.strokes[name - 1];
  CHECK(plate.kind == Stroke::Kind::rect);
  CHECK(plate.fill == theme().panel);
  const float x = record.strokes[name].points[0].x;
  CHECK(plate.points[0].x < x);
  CHECK(plate.points[1].x > x + record.strokes[name].points[1].x);
  const float left = l.view.x_pixel(0.003), right = l.view.x_pixel(0.006);
  const auto bracket = std::find_if(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
    return s.kind == Stroke::Kind::polyline && s.points.size() == 4 && std::abs(s.points[0].x - left) <= 1.5f &&
           std::abs(s.points[3].x - right) <= 1.5f;
  });
  CHECK(bracket != record.strokes.end());
  l.view.window = {0, 0.2};  // now the gap has room for its length at most, and no digit of it is cut
  l.ui.frames(1);
  const Record small = l.ui.record();
  for (const Stroke& s : small.strokes)
    if (s.kind == Stroke::Kind::text) CHECK(s.text.find("3\xE2\x80\xA6") == std::string::npos);
}

TEST_CASE("between a hairline of a gap and a wide one stands the name of the wide one") {
  Lanes l;
  constexpr std::int64_t us = 1000;
  l.gaps = {{2000 * us, 5 * us, 2, 0, Meaning::idle, TimelineMark::hatched},
            {5000 * us, 300 * us, 2, 0, Meaning::idle, TimelineMark::hatched},
            {5350 * us, 5 * us, 2, 0, Meaning::idle, TimelineMark::hatched},
            {5500 * us, 5 * us, 2, 0, Meaning::idle, TimelineMark::hatched}};
  l.lanes[2].spans = l.gaps;
  l.ui.frames(2);
  const Record record = l.ui.record();
  const float wide = l.view.x_pixel(0.005), hairline = l.view.x_pixel(0.002);
  std::size_t between = 0;
  for (const Stroke& s : record.strokes) {
    if (s.kind != Stroke::Kind::text || !s.text.starts_with("3 ms") || s.points[0].x >= wide) continue;
    ++between;
    CHECK(s.points[0].x > hairline + theme().px(20));
    CHECK(std::abs(s.points[0].x + s.points[1].x - (wide - theme().px(5))) <= theme().px(6));
  }
  CHECK(between == 1);
}

TEST_CASE("arrows are drawn for the selected span only, beneath the spans, unless all are asked for") {
  Lanes l;
  const auto curves = [&] {
    const Record record = l.ui.record();
    std::size_t n = 0, last = 0, first_name = record.strokes.size();
    for (std::size_t i = 0; i < record.strokes.size(); ++i) {
      const Stroke& s = record.strokes[i];
      if (s.kind == Stroke::Kind::polyline && s.points.size() == 13) {
        ++n;
        last = i;
      }
      if (s.kind == Stroke::Kind::text && s.text == "gemm") first_name = std::min(first_name, i);
    }
    if (n > 0) CHECK(last < first_name);
    return n;
  };
  l.ui.frames(2);
  CHECK(curves() == 0);
  l.view.selected = {0, 1};
  l.ui.frames(1);
  CHECK(curves() == 1);
  l.view.selected = {};
  l.options.arrows = TimelineArrows::all;
  l.ui.frames(1);
  CHECK(curves() == 2);
  l.options.arrows = TimelineArrows::none;
  l.view.selected = {0, 1};
  l.ui.frames(1);
  CHECK(curves() == 0);
}

TEST_CASE("the critical path is one line along the lower edges of its spans") {
  Lanes l;
  l.ui.frames(2);
  const Record record = l.ui.record();
  const auto thread = std::find_if(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
    return s.kind == Stroke::Kind::polyline && s.stroke == theme().text && s.width >= theme().px(3);
  });
  REQUIRE(thread != record.strokes.end());
  REQUIRE(thread->points.size() == 4);
  CHECK(std::abs(thread->points[0].x - l.view.x_pixel(0)) <= 0.5f);
  CHECK(std::abs(thread->points[1].x - l.view.x_pixel(0.002)) <= 0.5f);
  CHECK(std::abs(thread->points[3].x - l.view.x_pixel(0.005)) <= 0.5f);
  CHECK(thread->points[2].y > thread->points[1].y);
  CHECK(thread->points[0].y >= l.view.lane_rect(0).min.y + theme().px(19));
}

TEST_CASE("the critical path goes on in time: a span that began before the path came to it is not walked back") {
  Lanes l;
  l.thread.push_back({2, 0});  // began at 3 ms, and the path leaves the thread at 5 ms
  l.ui.frames(2);
  const Record record = l.ui.record();
  const auto thread = std::find_if(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
    return s.kind == Stroke::Kind::polyline && s.stroke == theme().text && s.width >= theme().px(3);
  });
  REQUIRE(thread != record.strokes.end());
  REQUIRE(thread->points.size() == 6);
  CHECK(std::abs(thread->points[4].x - l.view.x_pixel(0.005)) <= 0.5f);
  CHECK(std::abs(thread->points[5].x - l.view.x_pixel(0.006)) <= 0.5f);
  CHECK(std::is_sorted(thread->points.begin(), thread->points.end(), [](ImVec2 a, ImVec2 b) { return a.x < b.x; }));
}

TEST_CASE("a counter with a capacity is scaled to it and says so") {
  Lanes l;
  l.ui.frames(2);
  CHECK(l.view.index.scales[3].high == 80);
  const Record record = l.ui.record();
  CHECK(place_of_text(record, "capacity 80 B") < record.strokes.size());
  l.points[1].value = 100;  // over it: the scale follows the peak and the line stands below the top
  l.ui.frames(2);
  CHECK(l.view.index.scales[3].high == 100);
}

TEST_CASE("strips that share a scale reach equally far and name no ends") {
  Lanes l;
  l.counters[0].capacity = std::numeric_limits<double>::quiet_NaN();
  l.ui.frames(2);
  CHECK(l.view.index.scales[3].high == 4);
  CHECK(place_of_text(l.ui.record(), "4 B") < l.ui.record().strokes.size());
  l.counters[0].scale_to = 80;
  l.ui.frames(2);
  CHECK(l.view.index.scales[3].high == 80);
  const Record record = l.ui.record();
  CHECK(place_of_text(record, "80 B") == record.strokes.size());
  CHECK(place_of_text(record, "capacity 80 B") == record.strokes.size());
}

TEST_CASE("lanes sort by sort index, then by the numbers in their labels, groups under their heads") {
  const std::vector<TimelineLane> lanes{
      {.label = "stream 10"}, {.label = "thread 3", .indent = 1}, {.label = "thread 1", .indent = 1},
      {.label = "stream 2"},  {.label = "last", .sort_index = 5}, {.label = "z first", .sort_index = -1}};
  std::vector<std::uint32_t> order;
  timeline_order(lanes, order);
  CHECK(order == std::vector<std::uint32_t>{5, 3, 0, 2, 1, 4});
  Lanes l;
  l.lanes = {{.label = "stream 10", .spans = l.main}, {.label = "stream 2", .spans = l.main}};
  l.links.clear();
  l.causes.clear();
  l.thread.clear();
  l.options.sorted = true;
  l.ui.frames(2);
  CHECK(l.view.lane_rect(1).min.y < l.view.lane_rect(0).min.y);
}

TEST_CASE("labels without room lose what they share with their neighbour, then their middle") {
  Lanes l;
  l.lanes = {{.label = "train_cluster_node_17/stream 7", .spans = l.main},
             {.label = "train_cluster_node_17/stream 20", .spans = l.main},
             {.label = "a_lane_with_one_very_long_name_of_its_own", .spans = l.main}};
  l.links.clear();
  l.causes.clear();
  l.thread.clear();
  l.ui.frames(2);
  const Record record = l.ui.record();
  // The folder that both share goes; what is left still says what it is a number of.
  CHECK(place_of_text(record, "stream 7") < record.strokes.size());
  CHECK(place_of_text(record, "stream 20") < record.strokes.size());
  const auto cut = std::find_if(record.strokes.begin(), record.strokes.end(), [](const Stroke& s) {
    return s.text.starts_with("a_") && s.text.ends_with("own") && s.text.find("\xE2\x80\xA6") != std::string::npos;
  });
  CHECK(cut != record.strokes.end());
}

TEST_CASE("the legend names the tints in use and no others, under the lanes") {
  Lanes l;
  l.options.legend = true;
  l.ui.frames(2);
  const Record record = l.ui.record();
  const std::size_t forward = place_of_text(record, "forward");
  REQUIRE(forward < record.strokes.size());
  CHECK(record.strokes[forward].points[0].y >= l.view.lanes_rect().max.y);
  CHECK(place_of_text(record, "backward") < record.strokes.size());
  CHECK(place_of_text(record, "idle") < record.strokes.size());
  CHECK(place_of_text(record, "KV cache") < record.strokes.size());
  CHECK(place_of_text(record, "communication") == record.strokes.size());
}

TEST_CASE("the legend names no tint of a lane that is scrolled out of sight") {
  Lanes l;
  l.options.legend = true;
  l.options.height = 130;  // the first lanes and the legend
  l.ui.frames(3);
  REQUIRE(l.view.lane_rect(3).min.y > l.view.lanes_rect().max.y);
  CHECK(place_of_text(l.ui.record(), "forward") < l.ui.record().strokes.size());
  CHECK(place_of_text(l.ui.record(), "KV cache") == l.ui.record().strokes.size());
  l.options.height = 0;
  l.ui.frames(3);
  CHECK(place_of_text(l.ui.record(), "KV cache") < l.ui.record().strokes.size());
}

TEST_CASE("the axis names its unit once and can be shared with a plot") {
  Lanes l;
  l.ui.frames(2);
  const Record record = l.ui.record();
  std::size_t units = 0;
  for (const Stroke& s : record.strokes)
    if (s.kind == Stroke::Kind::text && s.points[0].y < l.view.lanes_rect().min.y)
      units += s.text.find("ms") != std::string::npos;
  CHECK(units == 1);
  const TimelineAxis axis = l.view.axis();
  CHECK(std::abs(axis.left_px - theme().px(120)) <= 0.01f);
  CHECK(axis.start_s == 0);
  CHECK(axis.duration_s == 0.01);
  l.options.axis_left_px = 77;
  l.options.axis_right_px = 33;
  l.ui.frames(1);
  CHECK(std::abs(l.view.axis().left_px - 77) <= 0.01f);
  CHECK(std::abs(l.view.axis().right_px - 33) <= 0.01f);
}

TEST_CASE("the edge between labels and lanes is dragged, and a double click gives it back") {
  Lanes l;
  l.ui.frames(2);
  const float before = l.view.lanes_rect().min.x;
  l.ui.drag_by("label column", {60, 0});
  l.ui.frames(1);
  CHECK(std::abs(l.view.lanes_rect().min.x - before - 60) <= 4);
  l.ui.drag_by("label column", {-4000, 0});
  CHECK(std::abs(l.view.label_px - 40) <= 1e-3f);
  l.ui.double_click("label column");
  l.ui.frames(2);
  CHECK(l.view.lanes_rect().min.x == before);
}

TEST_CASE("lanes that are shown whole end where a lane ends, and a line says that there are more") {
  constexpr std::string_view more = "More lanes below: hold Shift and turn the wheel, or enlarge the panel.";
  Lanes l;
  l.options.whole_lanes = true;
  l.options.height = 400;
  l.ui.frames(2);
  CHECK(l.view.scratch.area.height() == 400);  // all are seen
  Record record = l.ui.record();
  CHECK(place_of_text(record, more) == record.strokes.size());
  // Room for half of the last lane.
  const Rect last = l.view.lane_rect(3), device = l.view.lane_rect(2);
  l.options.height = (last.min.y + last.max.y) / 2 - l.view.scratch.area.min.y;
  l.ui.frames(1);
  CHECK(l.view.scratch.area.max.y == device.max.y);
  record = l.ui.record();
  REQUIRE(place_of_text(record, more) < record.strokes.size());
  CHECK(record.strokes[place_of_text(record, more)].points[0].y >= device.max.y);
}
