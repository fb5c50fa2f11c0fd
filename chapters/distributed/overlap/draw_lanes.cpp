#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/overlap/lab.h"
#include "chapters/distributed/shared/guess_marks.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"

namespace chapters::distributed::overlap {
namespace {

using widgets::Rect;
using widgets::Type;

struct LaneNaming {
  const Picture* picture = nullptr;
  float px_per_ns = 0, letter_px = 1;
};

/// A span's name where it has room for all of it.
std::string_view lane_name(const void* context, std::uint32_t id) {
  const LaneNaming& n = *static_cast<const LaneNaming*>(context);
  if (id >= n.picture->names.size()) return {};
  const float room = static_cast<float>(n.picture->durations_ns[id]) * n.px_per_ns - widgets::theme().px(6);
  const std::string_view name = n.picture->names[id];
  return static_cast<float>(name.size()) * n.letter_px <= room ? name : std::string_view();
}
std::string_view lane_info(const void* context, std::uint32_t lane, std::uint32_t span) {
  const Picture& p = *static_cast<const LaneNaming*>(context)->picture;
  const auto& spans = lane == 0 ? p.compute : p.network;
  if (lane == 1 || span >= spans.size() || spans[span].name >= p.infos.size()) return {};
  return p.infos[spans[span].name];
}

/// Between the lanes: each bucket from where its gradients appeared down to where it is sent, each gathered weight up.
void paint_falls(const widgets::Painter& painter, const Picture& picture, const widgets::TimelineView& view, float top,
                 float bottom) {
  const auto& t = widgets::theme();
  for (const Fall& fall : picture.falls) {
    const ImU32 colour = widgets::colour(fall.tint, t);
    const float a = view.x_pixel(fall.from_s), b = std::max(view.x_pixel(fall.to_s), a + t.px(1));
    const float c = view.x_pixel(fall.start_s), d = std::max(view.x_pixel(fall.end_s), c + t.px(1));
    if (fall.up) {
      const float middle = (c + d) / 2;
      painter.line({middle, bottom}, {a, top}, widgets::with_alpha(colour, 0.55f), t.px(1));
      continue;
    }
    // A sliver is a line: as a filled polygon its smoothed sides would cross and leave dots.
    const ImVec2 from{(a + b) / 2, top}, to{(c + d) / 2, bottom};
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    const float across = length > 0 ? std::max(b - a, d - c) * (bottom - top) / length : 0;
    if (across < t.px(3)) {
      painter.line(from, to, widgets::with_alpha(colour, 0.38f * std::min(1.0f, across)), std::max(1.0f, across));
      continue;
    }
    const std::array<ImVec2, 4> shape{{{a, top}, {b, top}, {d, bottom}, {c, bottom}}};
    const bool wedge = b - a <= t.px(2);  // the sides meet at the top
    if (wedge) {
      const std::array<ImVec2, 3> sides{{{(a + b) / 2, top}, {d, bottom}, {c, bottom}}};
      painter.polygon(sides, widgets::with_alpha(colour, 0.38f));
      continue;
    }
    painter.polygon(shape, widgets::with_alpha(colour, 0.38f));
  }
}

/// A word in red on a ground of its own, so that it reads over whatever falls behind it.
void red_text(const widgets::Painter& painter, ImVec2 at, std::string_view said, Type type, widgets::Font font) {
  const auto& t = widgets::theme();
  const ImVec2 room = widgets::text_size(said, type, font);
  painter.rect({at.x - t.px(3), at.y - t.px(1)}, {at.x + room.x + t.px(3), at.y + room.y + t.px(1)}, t.panel, t.px(3));
  painter.text(at, said, t.bad, type, font);
}

/// What waits is red on the compute lane; the tail is red over both, with its length between two ticks.
void paint_waits(const widgets::Painter& painter, const Picture& picture, const widgets::TimelineView& view,
                 float row_px) {
  const auto& t = widgets::theme();
  const Rect lanes = view.lanes_rect(), compute = view.lane_rect(0), network = view.lane_rect(2);
  for (const Wait& wait : picture.waits) {
    const float from = std::max(view.x_pixel(wait.start_s), lanes.min.x);
    const float to = std::min(std::max(view.x_pixel(wait.end_s), from + t.px(1)), lanes.max.x);
    if (to <= from) continue;
    const Rect box{{from, compute.min.y + t.px(4)}, {to, compute.max.y - t.px(4)}};
    painter.rect(box.min, box.max, widgets::with_alpha(t.bad, 0.22f));
    if (to - from > t.px(8)) widgets::hatch(painter, box, widgets::with_alpha(t.bad, 0.8f));
    const float said = widgets::text_size(wait.said, Type::small, widgets::Font::bold).x;
    if (wait.end_s < picture.last_s && said + t.px(12) < to - from)
      red_text(painter, {(from + to - said) / 2, (box.min.y + box.max.y - t.type(Type::small)) / 2}, wait.said,
               Type::small, widgets::Font::bold);
  }
  if (!picture.waits_said.empty())
    red_text(painter, {lanes.min.x + t.px(10), compute.max.y + t.px(20)}, picture.waits_said, Type::title,
             widgets::Font::bold);
  if (picture.tail_said.empty()) return;
  const float from = std::clamp(view.x_pixel(picture.backward_end_s), lanes.min.x, lanes.max.x);
  const float to = std::clamp(view.x_pixel(picture.last_s), lanes.min.x, lanes.max.x);
  if (to <= from) return;
  const float bottom = network.min.y + row_px + t.px(picture.held.empty() ? 8.0f : 0.0f);  // clear of memory's figures
  painter.rect({from, compute.max.y - t.px(4)}, {to, bottom}, widgets::with_alpha(t.bad, 0.10f));
  for (const float x : {from, to}) painter.line({x, compute.min.y}, {x, bottom}, t.bad, t.px(1.5f));
  const float y = compute.max.y + t.px(14);
  painter.line({from, y}, {to, y}, t.bad, t.px(1.5f));
  for (const float x : {from, to}) painter.line({x, y - t.px(4)}, {x, y + t.px(4)}, t.bad, t.px(1.5f));
  const float whole = widgets::text_size(picture.tail_said, Type::title, widgets::Font::bold).x;
  // Under its line, or beside it where the tail is short: left of it, since the eye comes from there.
  float x = (from + to - whole) / 2;
  if (to - from < whole + t.px(8)) x = from - whole - t.px(8);
  if (x < lanes.min.x + t.px(4)) x = std::min(to + t.px(8), lanes.max.x - whole - t.px(4));
  red_text(painter, {x, y + t.px(6)}, picture.tail_said, Type::title, widgets::Font::bold);
}

/// How long the learner said that the step is, that its tail is, or that it waits in all.
void mark_guess(const Outputs& out, const Picture& picture, const widgets::TimelineView& view) {
  const Rect lanes = view.lanes_rect();
  const float low = view.lane_rect(2).min.y - widgets::theme().px(12);  // over the network, clear of the tail's words
  if (const auto* guess = guess_about({"step_s"})) mark_guess_down(*guess, lanes, view.x_pixel(guess->value));
  if (const auto* guess = guess_about({"tail_s"}))
    mark_guess_along(*guess, lanes, view.x_pixel(picture.backward_end_s),
                     view.x_pixel(picture.backward_end_s + guess->value), low);
  if (const auto* guess = guess_about({"exposed_s"}))
    mark_guess_along(*guess, lanes, view.x_pixel(out.step.makespan_s), view.x_pixel(out.step.makespan_s - guess->value),
                     low);
}

/// While a question is open: the two streams with their names.
void draw_empty_lanes(ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos(), at{corner.x + t.px(12), corner.y + t.px(8)};
  size = {size.x - t.px(24), size.y - t.px(16)};
  const float lane = size.y / 3;
  for (const auto& [name, top] : {std::pair<std::string_view, float>{"compute", 0.0f}, {"network", 2 * lane}}) {
    painter.text({at.x, at.y + top + t.px(4)}, name, t.text, Type::body);
    painter.frame({at.x + t.px(150), at.y + top}, {at.x + size.x, at.y + top + lane - t.px(8)}, t.line, t.px(1),
                  t.px(4));
  }
}

}  // namespace

void draw_lanes(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.compute.empty() || widgets::veiled()) {
    if (widgets::veiled()) draw_empty_lanes(size);
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  widgets::drew("compute");
  widgets::drew("network");
  const bool ddp = in.method == models::parallel::OverlapMethod::ddp;
  const float ruler = t.type(Type::small) + t.px(20);
  const bool held = !picture.held.empty() && size.y > t.px(240);
  const float counter = held ? std::clamp(size.y / t.scale * 0.2f, 34.0f, 80.0f) : 0;
  const float each = ((size.y - ruler) / t.scale - (held ? counter + 15 : 0)) / 3 - 9;
  const float row = std::clamp(each, 12.0f, 240.0f);
  view.counters.clear();
  if (held)
    view.counters.push_back({.label = "gathered",
                             .unit = "B",
                             .points = picture.held,
                             .tint = widgets::Meaning::communication,
                             .area = true});
  view.lanes.clear();
  view.lanes.push_back({.label = "compute", .sublabel = picture.compute_words, .spans = picture.compute});
  view.lanes.push_back({.label = ddp ? "gradients" : "between", .sublabel = picture.held_words});
  view.lanes.push_back({.label = "network", .sublabel = picture.network_words, .spans = picture.network});
  if (held) view.lanes.push_back({.label = "memory", .sublabel = "beyond the states", .counters = view.counters});
  widgets::TimelineData data;
  data.lanes = view.lanes;
  const LaneNaming naming{&picture, (view.timeline.x_pixel(1) - view.timeline.x_pixel(0)) * 1e-9f,
                          widgets::text_size("0", Type::small, widgets::Font::mono).x};
  data.context = &naming;
  data.name = lane_name;
  data.info = lane_info;
  data.revision = picture.version;
  widgets::draw_timeline("lanes", data, view.timeline,
                         {.height = size.y, .row_px = row, .counter_px = counter, .label_px = 150, .ruler = true});
  if (view.timeline.drawn_lanes() < 3) return;
  const auto painter = widgets::Painter::window();
  const Rect lanes = view.timeline.lanes_rect();
  painter.clip(lanes.min, lanes.max);
  paint_falls(painter, picture, view.timeline, view.timeline.lane_rect(0).max.y - t.px(4),
              view.timeline.lane_rect(2).min.y + t.px(4));
  paint_waits(painter, picture, view.timeline, t.px(row));
  widgets::drew("waiting");
  painter.unclip();
  mark_guess(out, picture, view.timeline);
}

}  // namespace chapters::distributed::overlap
