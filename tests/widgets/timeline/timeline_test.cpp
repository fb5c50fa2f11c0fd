#include "widgets/timeline/timeline.h"

#include <imgui_internal.h>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "tests/support/ui/headless_frame.h"
#include "widgets/plot/plot_reference.h"

using namespace widgets;

namespace {

constexpr std::int64_t ms = 1'000'000;

std::string_view name_of(const void*, std::uint32_t id) { return id == 0 ? "F0" : "gemm_with_a_long_name"; }

/// Two ranks, 10 ms, and a counter; options without a label column put time 0 at the left of the canvas.
struct Scene {
  std::vector<TimelineSpan> first{{0, 4 * ms, 0, 0, Meaning::forward}, {6 * ms, 4 * ms, 1, 0, Meaning::backward}};
  std::vector<TimelineSpan> second{{4 * ms, 2 * ms, 1, 0, Meaning::communication}};
  std::vector<TimelinePoint> points{{0, 1}, {5 * ms, 3}};
  std::vector<TimelineCounter> counters{{"in flight", "", points, Meaning::kv_cache}};
  std::vector<TimelineLane> lanes{
      {"rank 0", "", first, {}}, {"rank 1", "compute", second, {}}, {"memory", "", {}, counters}};
  std::vector<TimelineLink> links{{0, 0, 1, 0}, {0, 99, 1, 0}};
  TimelineView view;
  TimelineEvents events;
  TimelineOptions options{.label_px = 0};

  void draw() { events = draw_timeline("schedule", {lanes, links, name_of, nullptr, nullptr}, view, options); }
  ImVec2 at(double time_s, float y) const {  // screen position on the canvas: the window's padding, then its width
    const float x = 12, width = ImGui::GetIO().DisplaySize.x - 24 - 1;
    return {x + static_cast<float>(time_s / 0.01) * width, y};
  }
};

void move(ImVec2 p) { ImGui::GetIO().AddMousePosEvent(p.x, p.y); }
void button(bool down) { ImGui::GetIO().AddMouseButtonEvent(0, down); }

}  // namespace

TEST_CASE("the tip on a span wraps a name that is longer than the screen is wide") {
  support::HeadlessFrame ui;
  Scene s;
  const auto frame = [&] {
    ui.frame([&] {
      const auto long_name = [](const void*, std::uint32_t) -> std::string_view {
        static const std::string name = "void " + std::string(600, 'k');
        return name;
      };
      s.events = draw_timeline("schedule", {s.lanes, s.links, long_name, nullptr, nullptr}, s.view, s.options);
    });
  };
  frame();
  move(s.at(0.008, 10 + 25 + 4 + 8));
  for (int i = 0; i < 4; ++i) frame();
  REQUIRE(s.events.hovered.span == 1);
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  REQUIRE(tip != nullptr);
  CHECK(tip->Size.x < ImGui::GetFontSize() * 38);
  CHECK(tip->Size.y > ImGui::GetFontSize() * 8);  // six hundred letters take at least eight lines of 36 em
}

TEST_CASE("a click selects the span under it and Escape lets go") {
  support::HeadlessFrame ui;
  Scene s;
  const auto frame = [&] { ui.frame([&] { s.draw(); }); };
  frame();
  const ImVec2 on_second = s.at(0.008, 10 + 25 + 4 + 8);
  move(on_second);
  frame();  // an item that others may overlap knows of the pointer one frame later
  frame();
  CHECK(s.events.hovered == TimelineSelection{0, 1});
  button(true);
  frame();
  button(false);
  frame();
  CHECK(s.events.clicked);
  CHECK(s.view.selected == TimelineSelection{0, 1});
  ImGui::GetIO().AddKeyEvent(ImGuiKey_Escape, true);
  frame();
  CHECK(s.view.selected == TimelineSelection{});
}

TEST_CASE("the wheel zooms about the pointer, dragging pans, and F fits again") {
  support::HeadlessFrame ui;
  Scene s;
  const auto frame = [&] { ui.frame([&] { s.draw(); }); };
  frame();
  move(s.at(0.005, 60));
  frame();
  ImGui::GetIO().AddMouseWheelEvent(0, 4);
  frame();
  const double zoomed_s = 0.01 / std::pow(1.25, 4);
  CHECK(std::abs(s.view.window.duration_s - zoomed_s) <= 1e-9);
  CHECK(std::abs(s.view.window.start_s + zoomed_s / 2 - 0.005) <= 1e-5);
  const double start_s = s.view.window.start_s;
  button(true);
  frame();
  const ImVec2 p = s.at(0.005, 60);
  move({p.x + 88, p.y});
  frame();
  button(false);
  frame();
  CHECK(std::abs(s.view.window.start_s - (start_s - zoomed_s * 88 / 875)) <= 1e-8);
  CHECK(s.view.selected == TimelineSelection{});
  ImGui::GetIO().AddKeyEvent(ImGuiKey_F, true);
  frame();
  CHECK(s.view.window.duration_s == 0);
}

TEST_CASE("a selected span far below is scrolled into view once, as far as it needs") {
  support::HeadlessFrame ui;
  Scene s;
  std::vector<TimelineSpan> one{{0, ms, 0, 0, Meaning::forward}};
  s.lanes.assign(60, {"lane", "", one, {}});
  s.links.clear();
  s.options.height = 200;
  const auto frame = [&] { ui.frame([&] { s.draw(); }); };
  frame();
  CHECK(s.view.scroll_px == 0);
  s.view.selected = {50, 0};
  s.view.reveal = true;
  frame();
  const float far = s.view.scroll_px;
  CHECK(far > 500);
  CHECK_FALSE(s.view.reveal);
  s.view.scroll_px = far + 20;  // still in view: nothing moves
  s.view.reveal = true;
  frame();
  CHECK(s.view.scroll_px == far + 20);
  s.view.selected = {0, 0};
  s.view.reveal = true;
  frame();
  CHECK(s.view.scroll_px == 0);
  s.view.selected = {99, 7};  // names nothing
  s.view.reveal = true;
  frame();
  CHECK(s.view.scroll_px == 0);
}

TEST_CASE("shift-drag marks a range of time and leaves the window alone") {
  support::HeadlessFrame ui;
  Scene s;
  const auto frame = [&] { ui.frame([&] { s.draw(); }); };
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, true);
  frame();
  move(s.at(0.002, 60));
  frame();
  button(true);
  frame();
  move(s.at(0.007, 60));
  frame();
  button(false);
  frame();
  CHECK(std::abs(s.view.range_start_s - 0.002) <= 2e-5);
  CHECK(std::abs(s.view.range_end_s - 0.007) <= 2e-5);
  CHECK(s.view.window.duration_s == 0);
}

TEST_CASE("the cursor drags by its handle, stops at the ends, and plays to the end") {
  support::HeadlessFrame ui;
  Scene s;
  s.view.cursor_s = 0.003;
  const auto frame = [&] { ui.frame([&] { s.draw(); }); };
  frame();
  move(s.at(0.003, 16));
  frame();
  button(true);
  frame();
  move(s.at(0.006, 16));
  frame();
  CHECK(std::abs(s.view.cursor_s - 0.006) <= 2e-5);
  CHECK(s.events.cursor_moved);
  move(s.at(5.0, 16));
  frame();
  CHECK(s.view.cursor_s == 0.01);
  button(false);
  frame();
  s.view.cursor_s = 0;
  s.view.playing = true;
  CHECK(advance_playback(s.view, s.view.index, 5.0));  // the whole takes ten seconds
  CHECK(std::abs(s.view.cursor_s - 0.005) <= 1e-12);
  CHECK_FALSE(advance_playback(s.view, s.view.index, 6.0));
  CHECK(s.view.cursor_s == 0.01);
}

TEST_CASE("a selection is kept while it names a span of the data that is drawn") {
  support::HeadlessFrame ui;
  Scene s;
  s.view.selected = {0, 1};
  ui.frame([&] { s.draw(); });
  CHECK(s.view.selected == TimelineSelection{0, 1});
  s.first.pop_back();
  s.lanes[0].spans = s.first;
  s.links.clear();
  ui.frame([&] { s.draw(); });
  CHECK(s.view.selected == TimelineSelection{});
}

TEST_CASE("links that name no span are left out, and changed spans are indexed anew") {
  Scene s;
  const TimelineData data{s.lanes, s.links, name_of, nullptr, nullptr};
  const TimelineIndex index = index_timeline(data);
  REQUIRE(index.link_count == 1);
  CHECK(index.link_at(0) == 0);
  const auto times = link_times(data, s.links[0]);
  REQUIRE(times);
  CHECK((times->first_ns == 4 * ms && times->last_ns == 4 * ms));
  CHECK(index.last_s == 0.01);
  CHECK(index.scales[2].high == 3);
  s.first[1].duration_ns += 1;
  CHECK(timeline_fingerprint(data) != index.fingerprint);
}

TEST_CASE("links are found in order of the earlier of their ends, whatever order they come in") {
  Scene s;
  s.second = {{2 * ms, ms, 1}, {5 * ms, ms, 1}, {12 * ms, ms, 1}};
  s.lanes[1].spans = s.second;
  // The first span of rank 0 ends at 4 ms, the second at 10 ms: arrows begin at 10, 4, 2 and 5 ms.
  s.links = {{0, 1, 1, 2}, {0, 0, 1, 1}, {7, 0, 1, 0}, {0, 0, 1, 0}, {0, 1, 1, 1}};
  const TimelineIndex index = index_timeline({s.lanes, s.links});
  CHECK(index.link_order == std::vector<std::uint32_t>{3, 1, 4, 0});
  CHECK(index.longest_link_ns == 5 * ms);
  s.links = {{0, 0, 1, 0}, {0, 0, 1, 1}, {0, 1, 1, 1}, {0, 1, 1, 2}};
  const TimelineIndex sorted = index_timeline({s.lanes, s.links});
  CHECK(sorted.link_count == 4);
  CHECK(sorted.link_order.empty());  // nothing to keep for each of millions
}

TEST_CASE("a timeline that brings its index makes none of its own") {
  support::HeadlessFrame ui;
  Scene s;
  TimelineData data{s.lanes, s.links, name_of, nullptr, nullptr};
  const TimelineIndex index = index_timeline(data);
  data.index = &index;
  TimelineView view;
  const int brought = ui.frame([&] { draw_timeline("schedule", data, view, {.height = 300}); });
  CHECK(view.index.lanes.empty());
  CHECK_FALSE(view.scratch.blocks.empty());
  TimelineView own;
  data.index = nullptr;
  CHECK(ui.frame([&] { draw_timeline("schedule", data, own, {.height = 300}); }) == brought);
  CHECK(own.index.lanes.size() == 3);
}

TEST_CASE("an export holds the spans in view with their times in seconds") {
  support::HeadlessFrame ui;
  Scene s;
  Record record{};
  ui.frame([&] {
    const Recording recording(record);
    s.draw();
  });
  REQUIRE(record.tables.size() == 2);
  CHECK(record.tables[0].name == "schedule");
  REQUIRE(record.tables[0].rows.size() == 3);
  CHECK(record.tables[0].rows[1] == std::vector<std::string>{"rank 0", "0", "gemm_with_a_long_name", "0.006", "0.004"});
  CHECK(record.tables[1].rows[1] == std::vector<std::string>{"0.005", "3"});
}

TEST_CASE("a timeline draws at any size with nothing, hostile and many spans, with vertices bounded by its pixels") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::vector<TimelineSpan> many, hostile{{-most, most, 0}, {most, most, 1, 9}, {0, -5, 2}};
  for (int i = 0; i < 300'000; ++i) many.push_back({i * 1000, 900, 0, 0, Tint::series(static_cast<std::uint64_t>(i))});
  const double nan = std::nan("");
  const std::vector<TimelinePoint> points{{-most, nan}, {0, std::numeric_limits<double>::infinity()}, {most, -1e300}};
  const std::vector<TimelineCounter> counters{{"bad", "B", points}};
  const std::vector<TimelineLane> lanes{
      {"", "", {}, {}}, {"hostile", "times", hostile, counters}, {"many", "", many, {}}};
  for (const ImVec2 size : {ImVec2{160, 90}, ImVec2{1280, 800}, ImVec2{3000, 1600}}) {
    support::HeadlessFrame ui(size);
    TimelineView view, none;
    none.cursor_s = nan;
    view.window = {0, 0.3};
    for (int i = 0; i < 3; ++i) {
      const int vertices = ui.frame([&] {
        draw_timeline("none", {}, none);
        draw_timeline("all", {lanes, {}, nullptr, nullptr, nullptr}, view);
      });
      CHECK(vertices <= 60 * static_cast<int>(size.x) + 6000);
    }
    CHECK(view.index.lanes.size() == 3);
  }
}

TEST_CASE("each lane that ends elsewhere in the scenario that was set aside has its end marked A") {
  support::HeadlessFrame ui;
  Scene a, b;
  a.second[0].duration_ns = 10 * ms;  // rank 1 ends at 14 ms, after all that b shows
  PlotReference reference;
  for (int i = 0; i < 2; ++i)
    ui.frame([&] {
      const GatherReference gather(reference);
      a.draw();
    });
  REQUIRE(reference.timelines.size() == 1);
  REQUIRE(reference.timelines.begin()->second.size() == 3);
  Record record{};
  for (int i = 0; i < 2; ++i)
    ui.frame([&] {
      const ShowReference show(&reference);
      record = {};
      const Recording recording(record);
      b.draw();
    });
  const auto marks = [&] {
    std::vector<ImVec2> out;
    for (const Stroke& s : record.strokes)
      if (s.text == "A") out.push_back(s.points[0]);
    return out;
  };
  REQUIRE(marks().size() == 1);  // rank 0 ends as it did, memory has no spans
  const Rect lane = b.view.lane_rect(1);
  CHECK((marks()[0].y >= lane.min.y && marks()[0].y < lane.max.y));
  CHECK(std::abs(marks()[0].x - b.view.x_pixel(0.014)) < 20);
  CHECK(b.view.x_pixel(0.014) <= b.view.lanes_rect().max.x);  // the first view shows it
  record = {};
  ui.frame([&] {
    const Recording recording(record);
    b.draw();
  });
  CHECK(marks().empty());
  CHECK(b.view.x_pixel(0.014) > b.view.lanes_rect().max.x);
}
