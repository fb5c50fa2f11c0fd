#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/ui/full_window.h"
#include "tests/support/ui/ui_driver.h"
#include "widgets/plot/callout.h"
#include "widgets/plot/plot.h"

using namespace widgets;
using support::full_window;
using support::UiDriver;

namespace {

void plain_theme() {
  set_theme(make_theme(Mode::dark, 1.0f, {}));
  apply_to_imgui(theme());
}

const Stroke* text_stroke(const Record& record, std::string_view text) {
  const auto found = std::find_if(record.strokes.begin(), record.strokes.end(),
                                  [&](const Stroke& s) { return s.kind == Stroke::Kind::text && s.text == text; });
  return found == record.strokes.end() ? nullptr : &*found;
}

Box box_of(const Stroke& s) { return {s.points[0], {s.points[0].x + s.points[1].x, s.points[0].y + s.points[1].y}}; }

constexpr std::array<double, 3> xs{1, 2, 3}, ys{1, 4, 9};

}  // namespace

TEST_CASE("a callout stands where nothing is, clear of its anchor and inside the area") {
  const Box area{{0, 0}, {600, 400}};
  Occupancy room;
  room.reset(area);
  room.block({{0, 0}, {600, 250}});  // everything above is taken
  const ImVec2 anchor{300, 260}, size{160, 48};
  const Box box = place_callout(room, anchor, area, size, 20);
  CHECK(box.width() == 160);
  CHECK(box.height() == 48);
  CHECK(room.taken_in(box) == 0);
  CHECK(box.max.x <= 600);
  CHECK(box.max.y <= 400);
  const ImVec2 near{std::clamp(anchor.x, box.min.x, box.max.x), std::clamp(anchor.y, box.min.y, box.max.y)};
  const float away = std::hypot(near.x - anchor.x, near.y - anchor.y);
  CHECK(away >= 20);
  CHECK(away <= 80);
  // Where all is taken it still has a place within the area.
  room.block(area);
  const Box anyway = place_callout(room, anchor, area, size, 20);
  CHECK(anyway.min.x >= 0);
  CHECK(anyway.max.y <= 400);
}

TEST_CASE("a leader crosses no line: the name is dropped instead") {
  const Box area{{0, 0}, {400, 300}};
  Occupancy room;
  room.reset(area);
  // The dot is walled in by lines on all sides, with room only beyond them.
  for (const float d : {20.0f, 26.0f, 32.0f}) {
    room.block_segment({200 - d, 150 - d}, {200 + d, 150 - d}, 1);
    room.block_segment({200 - d, 150 + d}, {200 + d, 150 + d}, 1);
    room.block_segment({200 - d, 150 - d}, {200 - d, 150 + d}, 1);
    room.block_segment({200 + d, 150 - d}, {200 + d, 150 + d}, 1);
  }
  const auto far = place_by_point(room, {200, 150}, 5, {60, 14});
  if (far) CHECK_FALSE(leader_needed({200, 150}, 5, *far).has_value());
}

TEST_CASE("two names on a line of text are at least twelve pixels apart") {
  Occupancy room;
  room.reset({{0, 0}, {400, 40}});
  const std::array<ImVec2, 2> level{ImVec2{0, 30}, ImVec2{400, 30}};
  std::vector<Box> boxes;
  while (const auto box = place_along_line(room, level, {50, 12}, 4)) boxes.push_back(*box);
  REQUIRE(boxes.size() >= 3);
  for (std::size_t i = 1; i < boxes.size(); ++i)
    if (boxes[i].min.y == boxes[i - 1].min.y) CHECK(boxes[i - 1].min.x - boxes[i].max.x >= 12);
}

TEST_CASE("names at line ends keep their order and a gap, and stay within the frame") {
  std::array<float, 4> at{100, 101, 102, 290};
  spread_labels(at, 12, 2, 0, 300);
  CHECK(at[0] == 100);
  CHECK(at[1] == 114);
  CHECK(at[2] == 128);
  CHECK(at[3] == 290);
  std::array<float, 3> low{292, 295, 299};
  spread_labels(low, 12, 2, 0, 300);
  CHECK(low[2] == 294);
  CHECK(low[1] == 280);
  CHECK(low[0] == 266);
}

TEST_CASE("lines that lie on each other share one name, which says so") {
  PlotView view;
  UiDriver ui(full_window([&] {
                Plot plot("twins", view, {.size = {700, 400}});
                plot.line("sequential", xs, ys);
                plot.line("pairwise", xs, ys);
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  const Record record = ui.record();
  const Stroke* both = text_stroke(record, "sequential = pairwise");
  REQUIRE(both);
  CHECK(view.data_area().contains(both->points[0]));
}

TEST_CASE("a shared name beside the ends that has no room says how many lines it stands for, without an ellipsis") {
  PlotView view;
  UiDriver ui(full_window([&] {
                Plot plot("twins", view, {.size = {340, 400}, .end_labels = true});
                plot.line("sequential", xs, ys);
                plot.line("pairwise in a tree", xs, ys);
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  const Record record = ui.record();
  CHECK(text_stroke(record, "sequential +1"));
}

TEST_CASE("the grip of a level stands at the frame's edge, clear of the data in the middle") {
  PlotView view;
  double level = 5;
  UiDriver ui(full_window([&] {
                Plot plot("level", view, {.x = {.lo = 0, .hi = 10}, .y = {.lo = 0, .hi = 10}, .size = {700, 400}});
                plot.drag_y("drag level", level, {});
              }),
              {800, 500}, plain_theme);
  ui.frames(4);
  const Record record = ui.record();
  const Box area = view.data_area();
  const float middle = (area.min.x + area.max.x) / 2, y = (area.min.y + area.max.y) / 2;
  bool at_edge = false, in_middle = false;
  for (const Stroke& s : record.strokes) {
    if (s.kind != Stroke::Kind::rect || s.points.size() < 2) continue;
    const ImVec2 a = s.points[0], b = s.points[1];
    if (!(b.y - a.y < 14 && b.x - a.x < 40 && a.y < y && y < b.y)) continue;
    at_edge = at_edge || b.x < area.min.x + 60;
    in_middle = in_middle || (a.x < middle && middle < b.x);
  }
  CHECK(at_edge);
  CHECK_FALSE(in_middle);
}

TEST_CASE("a dot beyond the scale stands at the edge as an arrow, with its name") {
  PlotView view;
  const std::array<double, 2> dx{2, 2.5}, dy{5, 5000};
  const std::array<std::string_view, 2> names{"inside", "far above"};
  UiDriver ui(full_window([&] {
                Plot plot("edge", view, {.x = {.lo = 1, .hi = 3}, .y = {.lo = 0, .hi = 10}, .size = {700, 400}});
                plot.scatter("dots", dx, dy, {.labels = names});
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  const Record record = ui.record();
  const Stroke* name = text_stroke(record, "far above");
  REQUIRE(name);
  CHECK(name->points[0].y <= view.data_area().min.y + 60);
  const auto arrow = std::find_if(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
    return s.kind == Stroke::Kind::polygon && s.points.size() == 3 &&
           std::abs(s.points[0].y - view.data_area().min.y) <= 0.5f;
  });
  REQUIRE(arrow != record.strokes.end());
  CHECK(std::abs(arrow->points[0].x - view.x_pixel(2.5)) <= 1);
}

TEST_CASE("a value tag stands on its axis and the tick that it would touch gives way") {
  PlotView view;
  UiDriver ui(full_window([&] {
                Plot plot("tags", view, {.x = {.lo = 0, .hi = 10}, .y = {.lo = 0, .hi = 10}, .size = {700, 400}});
                plot.line("line", xs, ys);
                plot.tag_y(4.05);
                plot.tag_x(6.02, "here");
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  const Record record = ui.record();
  const Stroke* tag = text_stroke(record, "4.05");
  REQUIRE(tag);
  CHECK(box_of(*tag).max.x <= view.data_area().min.x);
  REQUIRE(text_stroke(record, "here"));
  CHECK(text_stroke(record, "here")->points[0].y >= view.data_area().max.y);
  for (const Stroke& s : record.strokes)
    if (s.kind == Stroke::Kind::text && &s != tag) CHECK_FALSE(box_of(s).overlaps(box_of(*tag)));
  for (const Tick& tick : view.scratch.frame.y_ticks.major())
    CHECK((tick.label.length > 0) == (std::abs(tick.value - 4) > 0.1));
}

TEST_CASE("a dimension line and a callout say what could be gained") {
  PlotView view;
  UiDriver ui(full_window([&] {
                Plot plot("gain", view, {.x = {.lo = 0, .hi = 10}, .y = {.lo = 0, .hi = 10}, .size = {700, 400}});
                plot.bracket(1, 2, 8, "2.4×", "with more FLOP per byte");
                plot.callout(5, 5, "4× the work", "both read the same weights, once");
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  const Record record = ui.record();
  const Stroke* gain = text_stroke(record, "2.4×");
  REQUIRE(gain);
  CHECK(gain->points[0].x >= view.x_pixel(1));
  CHECK(std::abs(gain->points[0].y + gain->points[1].y / 2 - view.y_pixel(5)) <= 2);
  const Stroke *bold = text_stroke(record, "4× the work"),
               *words = text_stroke(record, "both read the same weights, once");
  REQUIRE(bold);
  REQUIRE(words);
  CHECK(words->points[0].y > bold->points[0].y);
  CHECK(view.data_area().contains(words->points[0]));
}

TEST_CASE("the state before stays as a ghost until the next change") {
  PlotView view;
  std::uint64_t version = 1;
  double top = 9;
  UiDriver ui(full_window([&] {
                const std::array<double, 3> now{1, 4, top};
                Plot plot("ghost", view, {.y = {.lo = 0, .hi = 20}, .size = {700, 400}});
                plot.line("line", xs, now, {.version = version});
                plot.line("still", xs, ys, {.version = version});
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  CHECK(view.scratch.caches[0].ghost.empty());
  top = 16;
  version = 2;
  ui.frames(3);
  REQUIRE(view.scratch.caches[0].ghost.size() == 3);
  CHECK(view.scratch.caches[0].ghost[2].y == 9);
  CHECK(view.scratch.caches[1].ghost.empty());  // nothing changed there
  const Record record = ui.record();
  CHECK(std::any_of(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
    return s.dash > 0 && s.points.size() == 3 && std::abs(s.points[2].y - view.y_pixel(9)) <= 1;
  }));
  top = 12;
  version = 3;
  ui.frames(1);
  CHECK(view.scratch.caches[0].ghost[2].y == 16);
}

TEST_CASE("a new state eases in while a person watches, and its ghost stands where it was") {
  PlotView view;
  std::uint64_t version = 1;
  double top = 9;
  bool watched = true;
  std::vector<double> dot{0.1};
  UiDriver ui(full_window([&] {
                begin_motion(watched, ImGui::IsAnyItemActive(), 1.0f / 60);
                const std::array<double, 3> now{1, 4, top};
                const double y[] = {top};
                Plot plot("ease", view, {.y = {.lo = 0, .hi = 20}, .size = {700, 400}});
                plot.line("line", xs, now, {.version = version});
                plot.scatter("copied", dot, y);
                plot.horizontal_mark(top, "level");
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  top = 16;
  version = 2;
  ui.frames(1);
  const auto line_end = [&] { return view.scratch.caches[0].points[2].y; };
  CHECK(line_end() > 9);
  CHECK(line_end() < 16);
  CHECK(view.scratch.caches[1].points[0].y > 9);
  CHECK(view.scratch.caches[1].points[0].y < 16);
  CHECK(view.scratch.marks[0].y > 9);
  CHECK(view.scratch.marks[0].y < 16);
  CHECK(view.scratch.caches[0].ghost[2].y == 9);
  ui.frames(9);
  CHECK_FALSE(motion().moving);
  CHECK(line_end() == 16);
  CHECK(view.scratch.caches[1].points[0].y == 16);
  CHECK(view.scratch.marks[0].y == 16);
  CHECK(view.scratch.caches[0].ghost[2].y == 9);
  top = 3;
  version = 3;
  ui.frames(1);
  top = 5;  // faster than an ease: drawn at once
  version = 4;
  ui.frames(1);
  CHECK(line_end() == 5);
  CHECK(view.scratch.caches[0].ghost[2].y == 3);
  watched = false;
  top = 8;
  version = 5;
  ui.frames(1);
  CHECK(line_end() == 8);
  begin_motion(false, false, 0);
}

TEST_CASE("a line whose number of points has changed moves up and down where it stands") {
  PlotView view;
  std::uint64_t version = 1;
  std::vector<double> x{1, 2, 4}, y{2, 2, 2};
  UiDriver ui(full_window([&] {
                begin_motion(true, false, 1.0f / 60);
                Plot plot("ease", view, {.x = {.lo = 1, .hi = 4}, .y = {.lo = 0, .hi = 20}, .size = {700, 400}});
                plot.line("line", x, y, {.version = version});
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  x = {1, 2, 3, 4};
  y = {10, 10, 10, 10};
  version = 2;
  ui.frames(1);
  REQUIRE(view.scratch.caches[0].points.size() == 4);
  for (const PlotPoint& p : view.scratch.caches[0].points) {
    CHECK(p.y > 2);
    CHECK(p.y < 10);
  }
  begin_motion(false, false, 0);
}

TEST_CASE("a scenario that was set aside is drawn dashed in the axes of the present one") {
  PlotView theirs, mine;
  PlotReference reference;
  double top = 40, x = 8, y = 30;
  bool gather = true;
  const auto body = [&](PlotView& view) {
    const std::array<double, 3> now{1, 4, top};
    const double bars[] = {top, 2, 1};
    Plot plot("compared", view, {.x = {.label = "x"}, .y = {.label = "y"}, .size = {700, 400}});
    plot.line("line", xs, now, {.version = static_cast<std::uint64_t>(top)});
    plot.bars("bars", xs, bars);
    plot.drag_point("dot", x, y);
  };
  UiDriver ui(full_window([&] {
                if (gather) {
                  const GatherReference into(reference);
                  return body(theirs);
                }
                const ShowReference shown(&reference);
                body(mine);
              }),
              {800, 500}, plain_theme);
  ui.frames(3);
  REQUIRE(reference.plots.size() == 1);
  CHECK(reference.clashes == 0);
  gather = false;
  top = 9;
  x = 2;
  y = 5;
  ui.frames(3);
  CHECK(mine.y_hi >= 40);  // there is room for both
  const Record record = ui.record();
  const auto dashed_at = [&](double value) {
    return std::any_of(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
      return s.dash > 0 && std::abs(s.points.back().y - mine.y_pixel(value)) <= 1;
    });
  };
  CHECK(dashed_at(40));
  CHECK_FALSE(dashed_at(9));
  CHECK(std::any_of(record.strokes.begin(), record.strokes.end(),
                    [&](const Stroke& s) { return s.text == "A" && std::abs(s.points[0].x - mine.x_pixel(8)) < 20; }));
}

TEST_CASE("linked plots share gutter, range and the lowest one's axis") {
  PlotView above, below;
  PlotLink link;
  const std::array<double, 3> large{1e6, 2e6, 3e6}, later{2, 4, 8};
  UiDriver ui(
      full_window([&] {
        {
          Plot plot("above", above, {.y = {.label = "many"}, .size = {700, 200}, .link = &link, .x_axis = false});
          plot.line("a", xs, large);
        }
        Plot plot("below", below, {.x = {.label = "step"}, .size = {700, 200}, .link = &link});
        plot.line("b", later, ys);
      }),
      {800, 500}, plain_theme);
  ui.frames(4);
  CHECK(above.data_area().min.x == below.data_area().min.x);
  CHECK(above.x_lo == below.x_lo);
  CHECK(above.x_hi == below.x_hi);
  CHECK(above.x_lo <= 1);
  CHECK(above.x_hi >= 8);
  CHECK(above.x_pixel(4) == below.x_pixel(4));
  const Record record = ui.record();
  CHECK(std::count_if(record.strokes.begin(), record.strokes.end(), [](const Stroke& s) { return s.text == "step"; }) ==
        1);
  for (const Stroke& s : record.strokes)
    if (s.kind == Stroke::Kind::text && s.points[0].y > above.data_area().max.y)
      CHECK(s.points[0].y >= below.data_area().min.y - 40);
}
