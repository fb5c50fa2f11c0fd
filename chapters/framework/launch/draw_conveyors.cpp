#include <algorithm>
#include <array>

#include "chapters/framework/launch/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::framework::launch {
namespace {

using widgets::Type;

constexpr std::size_t no_lane = static_cast<std::size_t>(-1);

std::string_view launch_tint(const void*, widgets::Tint tint) {
  if (tint == widgets::Tint::series(1)) return "norm, residual";
  if (tint == widgets::Tint::series(3)) return "attention";
  if (tint == widgets::Tint(widgets::Meaning::forward)) return "matmuls and the rest";
  if (tint == widgets::Tint(widgets::Meaning::launch_bound)) return "idle: not launched yet";
  if (tint == widgets::Tint()) return "launches, and kernels that wait in the queue";
  return {};
}

/// What a panel of some height has room for.
struct Parts {
  bool other_pool, groups, sums, legend;
};

void add_lane(View& view, std::size_t& place, const widgets::TimelineLane& lane) {
  place = view.lanes.size();
  view.lanes.push_back(lane);
}

/// The lanes from above: of each mode the host, the pool and the GPU. Under a veil they are empty.
void place_lanes(const Picture& picture, const Parts& parts, bool two, View& view) {
  view.lanes.clear();
  view.host_lanes = view.pool_lanes = view.device_lanes = view.sum_lanes = {no_lane, no_lane};
  const bool veiled = widgets::veiled();
  for (std::size_t i = 0; i < (two ? 2 : 1); ++i) {
    const Conveyors& c = picture.modes[i];
    const bool pool = i == 0 || parts.other_pool;
    std::size_t groups = no_lane;
    if (parts.groups && i == 0 && !c.groups.empty() && !veiled)
      add_lane(view, groups, {.label = "launches for", .spans = c.groups});
    if (pool) {
      view.counters[i] = {.label = "waiting", .points = c.queue, .tint = widgets::Tint(), .area = true};
      add_lane(view, view.host_lanes[i], {.label = c.lane, .sublabel = c.host_words, .spans = c.host});
      add_lane(view, view.pool_lanes[i],
               {.label = "queue", .sublabel = c.queue_words, .counters = std::span(&view.counters[i], 1), .indent = 1});
    }
    add_lane(view, view.device_lanes[i],
             {.label = pool ? std::string_view("GPU") : std::string_view(c.lane),
              .sublabel = i == 0 ? std::string_view("below: twice as fast") : std::string_view(c.dry_words),
              .spans = i == 0 ? picture.with_ghost : c.device,
              .indent = pool ? 1U : 0U});
    if (parts.sums && !c.dry.empty() && !veiled)
      add_lane(view, view.sum_lanes[i],
               {.label = "its gaps", .sublabel = c.dry_words, .spans = c.dry, .indent = pool ? 1U : 0U});
  }
  if (!veiled) return;
  for (widgets::TimelineLane& lane : view.lanes) {
    lane.sublabel = {};
    lane.spans = {};
    lane.counters = {};
  }
}

bool lane_shows(const View& view, std::size_t lane) {
  if (lane >= view.timeline.drawn_lanes()) return false;
  const widgets::Rect all = view.timeline.lanes_rect(), at = view.timeline.lane_rect(lane);
  return at.min.y >= all.min.y - 1 && at.max.y <= all.max.y + 1;
}

/// A line through a device's lane where each layer ends; the first of them reaches beyond the lane.
void mark_layers(const Conveyors& c, const View& view, std::size_t lane) {
  if (!lane_shows(view, lane)) return;
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const widgets::Rect all = view.timeline.lanes_rect(), at = view.timeline.lane_rect(lane);
  for (std::size_t i = 0; i < c.layer_ends_ns.size(); ++i) {
    const float x = view.timeline.x_pixel(static_cast<double>(c.layer_ends_ns[i]) * 1e-9),
                beyond = t.px(i == 0 ? 5 : 0);
    if (x < all.min.x || x > all.max.x) continue;
    p.line({x, at.min.y - beyond}, {x, at.max.y + beyond}, t.text, t.px(i == 0 ? 2.5f : 1.5f));
  }
}

/// What the queue is like, on a plate of its own.
void say_pool(const Conveyors& c, const View& view, std::size_t lane) {
  if (c.pool_words.empty() || !lane_shows(view, lane)) return;
  const auto& t = widgets::theme();
  const widgets::Rect at = view.timeline.lane_rect(lane);
  const ImVec2 size = widgets::text_size(c.pool_words, Type::body);
  const float left = at.min.x + 0.06f * (at.max.x - at.min.x), pad = t.px(4);
  if (size.y + 2 * pad > at.max.y - at.min.y || left + size.x > at.max.x) return;
  const ImVec2 from{left, 0.5f * (at.min.y + at.max.y - size.y)};
  const widgets::Painter p = widgets::Painter::window();
  p.rect({from.x - pad, from.y - pad}, {from.x + size.x + pad, from.y + size.y + pad}, t.panel, t.px(4));
  p.text(from, c.pool_words, c.is_dry ? t.of(widgets::Meaning::launch_bound) : t.text);
}

/// What the learner took for a step, at the lane that it is about: the first mode, the faster GPU, or the other mode.
void say_guess(const View& view, bool two) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  const std::size_t lane = guess->output == "step_s"           ? view.host_lanes[0]
                           : guess->output == "twice"          ? view.device_lanes[0]
                           : guess->output == "speedup" && two ? view.device_lanes[1]
                                                               : no_lane;
  if (lane == no_lane || !lane_shows(view, lane)) return;
  const auto& t = widgets::theme();
  const widgets::Rect at = view.timeline.lane_rect(lane);
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), false);
  const ImVec2 size = widgets::text_size(words.view(), Type::small);
  widgets::paint_guess_words(widgets::Painter::window(), {at.max.x - size.x - t.px(8), at.max.y - size.y - t.px(4)},
                             words.view());
}

void say_what_was_drawn(const View& view, bool two) {
  if (lane_shows(view, view.host_lanes[0])) widgets::drew("launches");
  if (lane_shows(view, view.pool_lanes[0])) widgets::drew("pool");
  if (lane_shows(view, view.device_lanes[0])) {
    widgets::drew("device");
    widgets::drew("faster device");
  }
  if (!two || lane_shows(view, view.device_lanes[1])) widgets::drew("other device");
}

}  // namespace

void draw_conveyors(const Picture& picture, View& view, ImVec2 size) {
  if (picture.modes[0].device.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const bool two = picture.modes[0].label != picture.modes[1].label, veiled = widgets::veiled();
  const widgets::GivenMarks given;  // which conveyors there are; what runs on them is not drawn under a veil
  // A low panel keeps what answers: the first mode with the faster GPU under it, and of the other mode its device.
  const float room_px = size.y / t.scale, line = t.type(Type::body) / t.scale;
  const Parts parts{.other_pool = room_px >= 22 * line,
                    .groups = room_px >= 30 * line,
                    .sums = room_px >= 24 * line,
                    .legend = room_px >= 19 * line && !veiled};
  place_lanes(picture, parts, two, view);
  const widgets::SpanNames names = widgets::span_names(picture.names, view.lanes, view.timeline, t.px(3));
  widgets::TimelineData data;
  data.lanes = view.lanes;
  widgets::say_names(names, data);
  data.tint_name = launch_tint;
  // A lane is at least as high as its two lines of words; the pools share what the lanes leave.
  const float room = (size.y - t.px(parts.legend ? 84 : 36)) / t.scale;
  const float lines = (t.type(Type::body) + t.type(Type::small)) / t.scale + 3;
  const float pools = parts.other_pool && two ? 2 : 1;
  const auto rows = static_cast<float>(view.lanes.size()) + 1 - pools;  // the first device has two
  const float row = std::clamp(room * 0.72f / (rows + pools) - 8, 14.0f, 64.0f);
  const float taken = rows * (std::max(row + 2, lines) + 6);
  widgets::draw_timeline("conveyors", data, view.timeline,
                         {.height = size.y,
                          .row_px = row,
                          .counter_px = std::clamp((room - taken) / pools - 14, 18.0f, 220.0f),
                          .label_px = 150,
                          .cursor = !veiled,
                          .ruler = !veiled,
                          .legend = parts.legend});
  if (veiled) {
    const widgets::Painter p = widgets::Painter::window();
    for (std::size_t i = 0; i < view.timeline.drawn_lanes(); ++i) {
      const widgets::Rect at = view.timeline.lane_rect(i);
      p.rect(at.min, at.max, t.card, t.px(2));
    }
    return;
  }
  for (std::size_t i = 0; i < (two ? 2 : 1); ++i) {
    mark_layers(picture.modes[i], view, view.device_lanes[i]);
    say_pool(picture.modes[i], view, view.pool_lanes[i]);
  }
  say_guess(view, two);
  say_what_was_drawn(view, two);
}

}  // namespace chapters::framework::launch
