#include <algorithm>

#include "chapters/distributed/pipeline/lab.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::distributed::pipeline {
namespace {

using widgets::Type;

constexpr double no_room = std::numeric_limits<double>::quiet_NaN();

struct PipeNaming {
  const ScheduleLanes* schedule = nullptr;
  std::span<const std::size_t> ranks;  ///< the rank of each lane that is shown
  float px_per_ns = 0, letter_px = 1;
};

/// An operation's label where it has room.
std::string_view pipe_name(const void* context, std::uint32_t id) {
  const PipeNaming& n = *static_cast<const PipeNaming*>(context);
  if (id >= n.schedule->names.size()) return {};
  const OpName& name = n.schedule->names[id];
  const float room = static_cast<float>(name.duration_ns) * n.px_per_ns - widgets::theme().px(3);
  for (const std::string_view said : {std::string_view(name.said), std::string_view(name.brief)})
    if (static_cast<float>(said.size()) * n.letter_px <= room) return said;
  return {};
}
std::string_view pipe_info(const void* context, std::uint32_t lane, std::uint32_t span) {
  const PipeNaming& n = *static_cast<const PipeNaming*>(context);
  if (lane >= n.ranks.size() || span >= n.schedule->lanes[n.ranks[lane]].spans.size()) return {};
  const std::uint32_t id = n.schedule->lanes[n.ranks[lane]].spans[span].name;
  return id < n.schedule->names.size() ? std::string_view(n.schedule->names[id].info) : std::string_view();
}
std::string_view pipe_tint(const void*, widgets::Tint tint) {
  using widgets::Meaning;
  if (tint == widgets::Tint(Meaning::forward)) return "forward; strips: what is kept";
  if (tint == widgets::Tint(Meaning::backward)) return "input gradient, first part of B";
  if (tint == widgets::Tint(Meaning::weight_gradient)) return "weight gradient";
  if (tint == widgets::Tint(Meaning::idle)) return "idle";
  if (tint == widgets::Tint::series(2)) return "F and B overlapped";
  return {};
}

/// Which ranks have a lane where there is room for `most`: all, or some at even distances with the first and the last.
void choose_ranks(std::size_t ranks, std::size_t most, std::vector<std::size_t>& out) {
  out.clear();
  const std::size_t shown = std::min(ranks, std::max<std::size_t>(most, 2));
  for (std::size_t i = 0; i < shown; ++i) out.push_back(shown < 2 ? i : i * (ranks - 1) / (shown - 1));
}

/// `in`: of the schedule that can be edited, else null.
void draw_heading(const ScheduleLanes& schedule, ImVec2 size, Inputs* in) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto painter = widgets::Painter::window();
  const float name_px = painter.text(at, schedule.title, t.text, Type::body, widgets::Font::bold);
  const ImVec2 next{at.x + name_px + t.px(12), at.y};
  const std::string_view back = "take all moves back";
  const bool edited = in && !in->moves.empty();
  const float back_px = edited ? widgets::text_size(back, Type::body).x + t.px(12) : 0;
  widgets::fit_text(painter, next, schedule.subtitle, size.x - name_px - t.px(12) - back_px, t.muted, Type::body);
  if (edited) {
    ImGui::SetCursorScreenPos({at.x + size.x - back_px, at.y});
    if (widgets::press_area("take all moves back", {back_px, size.y})) in->moves.clear();
    painter.text({at.x + size.x - back_px + t.px(12), at.y}, back, t.accent, Type::body);
    ImGui::SetCursorScreenPos(at);
  }
  ImGui::Dummy(size);
}

/// Where in its rank's order a block would land that is let go at `time_s`: in front of the first block whose middle
/// lies later.
std::size_t place_at(const RankLane& lane, double time_s) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < lane.spans.size(); ++i) {
    if (lane.blocks[i] == no_block) continue;
    const auto& s = lane.spans[i];
    if (1e-9 * (static_cast<double>(s.start_ns) + 0.5 * static_cast<double>(s.duration_ns)) < time_s)
      place = std::max<std::size_t>(place, lane.blocks[i] + 1);
  }
  return place;
}

/// The pixel at which the block at `place` of an order begins, or the last one ends.
float edge_of(const widgets::TimelineView& view, const RankLane& lane, std::size_t place) {
  float x = view.x_pixel(0);
  for (std::size_t i = 0; i < lane.spans.size(); ++i) {
    if (lane.blocks[i] == no_block) continue;
    if (lane.blocks[i] >= place) return view.x_pixel(1e-9 * static_cast<double>(lane.spans[i].start_ns));
    x = view.x_pixel(1e-9 * static_cast<double>(lane.spans[i].end_ns()));
  }
  return x;
}

/// A block of the schedule below follows the pointer along its lane; a line shows where it would go.
void carry_block(Inputs& in, const Picture& picture, View& view, const widgets::TimelineEvents& events) {
  const widgets::TimelineView& own = view.timelines[1];
  const bool dropped = events.dropped.lane >= 0;
  const widgets::TimelineSelection held = dropped ? events.dropped : own.grabbed;
  if (held.lane < 0 || held.span < 0 || static_cast<std::size_t>(held.lane) >= view.ranks_shown.size()) return;
  const auto shown = static_cast<std::size_t>(held.lane), rank = view.ranks_shown[shown];
  const RankLane& lane = picture.schedules[1].lanes[rank];
  const Side& side = picture.run->now;
  const auto span = static_cast<std::size_t>(held.span);
  if (span >= lane.spans.size() || lane.blocks[span] == no_block) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const widgets::Rect row = own.lane_rect(shown), lanes = own.lanes_rect();
  const bool on_its_rank = mouse.y >= row.min.y && mouse.y < row.max.y;
  const std::size_t from = lane.blocks[span];
  const double at_s =
      static_cast<double>(mouse.x - own.x_pixel(0)) / static_cast<double>(own.x_pixel(1) - own.x_pixel(0));
  const std::size_t to = place_at(lane, at_s);
  if (dropped) {
    if (on_its_rank) move_block(in, side, rank, from, to);
    return;
  }
  if (!ImGui::IsMouseDragging(ImGuiMouseButton_Left)) return;
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const auto& order = side.plan.orders[rank];
  view.carried = label(side.plan, order[from]);
  if (!on_its_rank)
    view.carried += " stays on rank " + std::to_string(rank) + ": its weights lie there";
  else if (to != from && to != from + 1)
    view.carried += to < order.size() ? " in front of " + label(side.plan, order[to]) : " to the end";
  if (on_its_rank) {
    const float x = std::clamp(edge_of(own, lane, to), lanes.min.x, lanes.max.x);
    painter.rect({x - t.px(1.5f), row.min.y}, {x + t.px(1.5f), row.max.y}, t.accent);
  }
  widgets::tip(view.carried, {});
}

/// What is not idle after its makespan is simply over: the ground from there on is tinted, with a line at the end.
void draw_end(const widgets::TimelineView& view, double makespan_s, double last_s) {
  if (last_s - makespan_s <= 1e-9 * last_s) return;
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const widgets::Rect lanes = view.lanes_rect();
  const float from = std::clamp(view.x_pixel(makespan_s), lanes.min.x, lanes.max.x);
  const float to = std::clamp(view.x_pixel(last_s), lanes.min.x, lanes.max.x);
  if (to <= from) return;
  painter.rect({from, lanes.min.y}, {to, lanes.max.y}, widgets::with_alpha(t.accent, 0.10f));
  painter.line({from, lanes.min.y}, {from, lanes.max.y}, t.accent, t.px(1.5f));
}

widgets::TimelineEvents draw_timeline_of(const Picture& picture, View& view, std::size_t which, float each, ImVec2 size,
                                         bool legend) {
  const bool counters = each >= 36;
  const std::vector<std::size_t>& ranks = view.ranks_shown;
  const ScheduleLanes& schedule = picture.schedules[which];
  auto& lanes = view.lanes[which];
  lanes.clear();
  view.counters.clear();
  view.counters.reserve(schedule.lanes.size());
  for (const std::size_t rank : ranks) {
    const RankLane& lane = schedule.lanes[rank];
    widgets::TimelineLane shown{.label = lane.label, .spans = lane.spans};
    if (each >= 42) shown.sublabel = lane.sublabel;
    if (counters) {
      view.counters.push_back({.label = "kept",
                               .unit = "",
                               .points = lane.kept,
                               .tint = widgets::Meaning::forward,
                               .area = true,
                               .capacity = which == 1 ? picture.room : no_room,
                               .scale_to = picture.most_kept});
      shown.counters = std::span(&view.counters.back(), 1);
    }
    lanes.push_back(shown);
  }
  view.thread.clear();
  for (const widgets::TimelineStep& step : schedule.thread) {
    const auto lane = std::lower_bound(ranks.begin(), ranks.end(), step.lane);
    if (lane != ranks.end() && *lane == step.lane)
      view.thread.push_back({static_cast<std::uint32_t>(lane - ranks.begin()), step.span});
  }
  widgets::TimelineView& own = view.timelines[which];
  const PipeNaming naming{&schedule, ranks, (own.x_pixel(1) - own.x_pixel(0)) * 1e-9f,
                          widgets::text_size("0", Type::small, widgets::Font::mono).x};
  widgets::TimelineData data;
  data.lanes = lanes;
  data.context = &naming;
  data.name = pipe_name;
  data.info = pipe_info;
  data.tint_name = pipe_tint;
  data.thread = view.thread;
  data.revision = picture.version;
  // Around the rows of a lane lie 8 design pixels, and 6 more around its strip.
  const float fixed = counters ? 14.0f : 8.0f;
  const float row = std::clamp((each - fixed) * (counters ? 0.6f : 1.0f), 12.0f, 40.0f);
  return widgets::draw_timeline(which == 0 ? "above" : "below", data, own,
                                {.height = size.y,
                                 .row_px = row,
                                 .counter_px = std::clamp(each - fixed - row, 10.0f, 60.0f),
                                 .label_px = 132,
                                 .ruler = true,
                                 .legend = legend,
                                 .grabs = which == 1});
}

void draw_schedules(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.schedules[0].lanes.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const bool one = size.y < t.px(250);  // too low for two: the one that the figures speak of
  const float least_lane_px = t.type(Type::body) + t.px(10);
  const float heading = t.type(Type::body) + t.px(6), ruler = t.type(Type::small) + t.px(20);
  // The legend goes before a lane does.
  const auto lanes = static_cast<float>(std::min<std::size_t>(picture.schedules[0].lanes.size(), 6));
  const float wanted = (one ? 1.0f : 2.0f) * (heading + ruler + lanes * least_lane_px);
  // Its height is that of the last time it was drawn, so that it does not come and go.
  if (view.timelines[1].scratch.legend_height > 0)
    view.legend_rows = view.timelines[1].scratch.legend_height / widgets::legend_row_px();
  const float row = view.legend_rows * widgets::legend_row_px() + t.px(2);
  const float legend = size.y >= wanted + row ? row : 0;
  const float share = (size.y - legend) / (one ? 1.0f : 2.0f);
  const double last_s = std::max(picture.run->now.reached_s, picture.run->beside.reached_s);
  if (one) {  // the one above, which is not drawn, follows
    view.timelines[0].window = view.timelines[1].window;
    view.timelines[0].cursor_s = view.timelines[1].cursor_s;
    view.timelines[0].label_px = view.timelines[1].label_px;
  }
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  for (std::size_t i = one ? 1 : 0; i < 2; ++i) {
    auto& own = view.timelines[i];
    auto& other = view.timelines[1 - i];
    const float height = share - heading + (i == 1 ? legend : 0);
    const float lanes_px = height - ruler - (i == 1 ? legend : 0);
    choose_ranks(picture.schedules[i].lanes.size(), static_cast<std::size_t>(std::max(0.0f, lanes_px) / least_lane_px),
                 view.ranks_shown);
    const float each = lanes_px / t.scale / static_cast<float>(view.ranks_shown.size());
    draw_heading(picture.schedules[i], {size.x, heading}, i == 1 ? &in : nullptr);
    own.window = other.window;
    own.cursor_s = other.cursor_s;
    own.label_px = other.label_px;
    const auto events = draw_timeline_of(picture, view, i, each, {size.x, height}, i == 1 && legend > 0);
    if (i == 1) carry_block(in, picture, view, events);
    other.window = own.window;
    other.cursor_s = own.cursor_s;
    other.label_px = own.label_px;
    if (out.now.stuck.empty()) draw_end(own, (i == 0 ? out.beside : out.now).totals.makespan_s, last_s);
  }
  ImGui::PopStyleVar();
}

void draw_kept(const Picture& picture, View& view, ImVec2 size) {
  view.rank_names.clear();
  for (const std::string& text : picture.rank_texts) view.rank_names.push_back(text);
  widgets::Plot plot("kept by rank", view.kept,
                     {.x = {.kind = widgets::AxisKind::category, .label = "rank", .categories = view.rank_names},
                      .y = {.lo = 0, .hi = 1.1 * picture.most_kept, .label = "micro-batches kept"},
                      .size = size});
  plot.curves(picture.kept);
}

void draw_idle(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto stages = static_cast<double>(in.stages);
  widgets::Plot plot(
      "idle against micro-batches", view.idle,
      {.x = {.kind = widgets::AxisKind::log2, .lo = stages, .hi = 32 * stages, .label = "micro-batches"},
       .y = {.lo = 0, .hi = std::min(100.0, 1.1 * picture.most_idle), .label = "idle / makespan", .unit = "%"},
       .size = size});
  if (picture.idle.empty()) return;
  plot.curves(picture.idle);
  const auto x = static_cast<double>(in.micro_batches), y = out.now.idle_percent;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
}

void draw_ranks(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 7> columns{{{.key = "rank"},
                                                           {.key = "busy_s", .priority = 1},
                                                           {.key = "wall_bubble_s", .bar = true},
                                                           {.key = "span_bubble_s"},
                                                           {.key = "keeps", .bar = true},
                                                           {.key = "beside_keeps", .priority = 1},
                                                           {.key = "versions"}}};
  view.ranks.draw("ranks", out.ranks, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("schedules", {.title = "Two schedules, one clock", .least = {620, 400}, .answers = true},
              [&](ImVec2 size) { draw_schedules(in, out, picture, view, size); });
  stage.panel("kept", {.title = "Kept by rank", .least = {340, 150}},
              [&](ImVec2 size) { draw_kept(picture, view, size); });
  stage.panel("idle", {.title = "Against micro-batches", .least = {340, 150}},
              [&](ImVec2 size) { draw_idle(in, out, picture, view, size); });
  stage.panel("ranks", {.title = "Ranks", .least = {400, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_ranks(out, view, size); });
}

}  // namespace chapters::distributed::pipeline
