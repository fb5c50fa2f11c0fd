#include <algorithm>
#include <array>

#include "chapters/distributed/pipeline/lab.h"
#include "widgets/base/arrow.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// The hero: two schedules over one time axis, under every rank what it keeps, and the time that the faster one wins.
namespace chapters::distributed::pipeline {
namespace {

using widgets::Meaning, widgets::Rect, widgets::Tint, widgets::Type;

constexpr float least_row = 12, least_strip = 7, around_lane = 14;  // design pixels
constexpr float label_column = 88, figure_column = 86;

struct PipeNaming {
  const ScheduleLanes* schedule = nullptr;
  std::span<const std::size_t> ranks;  ///< the rank of each lane that is shown; folded_ranks: those without one
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
  if (lane >= n.ranks.size() || n.ranks[lane] == folded_ranks) return {};
  if (span >= n.schedule->lanes[n.ranks[lane]].spans.size()) return {};
  const std::uint32_t id = n.schedule->lanes[n.ranks[lane]].spans[span].name;
  return id < n.schedule->names.size() ? std::string_view(n.schedule->names[id].info) : std::string_view();
}

/// How the lanes of both schedules stand, in design pixels.
struct LanePlan {
  bool both = true;  ///< else there is room for the one below alone
  bool strips = true, legend = true;
  std::size_t ranks = 0;  ///< lanes of ranks; where there are more ranks, one lane more names them
  float row = 0, strip = 0, heading = 0, ruler = 0;
};

LanePlan plan_lanes(std::size_t ranks, ImVec2 size) {
  const auto& t = widgets::theme();
  const float label = t.type(Type::body) / t.scale + 9, row_of_words = widgets::legend_row_px() / t.scale + 4;
  LanePlan plan{.heading = t.type(Type::body) / t.scale + 6, .ruler = t.type(Type::small) / t.scale + 20};
  const float least = std::max(least_row + least_strip + around_lane, label), height = size.y / t.scale;
  const auto each_has = [&] {
    const float pictures = plan.both ? 2.0f : 1.0f;
    return (height - plan.ruler - (plan.legend ? row_of_words : 0)) / pictures - plan.heading;
  };
  const float all = static_cast<float>(ranks) * least, some = std::min(all, 2 * least + label);
  // The legend goes before a lane does, lanes are folded before the schedule above goes, and strips go last.
  if (each_has() < all) plan.legend = false;
  if (each_has() < some) plan.both = false;
  if (each_has() < some) plan.strips = false;
  const float lane = plan.strips ? least : std::max(least_row + 8, label), room = each_has();
  plan.ranks = ranks;
  if (static_cast<float>(ranks) * lane > room)
    plan.ranks = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(0.0f, room - label) / lane), 2, ranks);
  const float folded = plan.ranks < ranks ? label : 0;
  const float each = (room - folded) / static_cast<float>(std::max<std::size_t>(plan.ranks, 1));
  plan.row = std::clamp(plan.strips ? 0.42f * (each - around_lane) : each - 8, least_row, 34.0f);
  plan.strip = std::clamp(each - around_lane - plan.row, least_strip, 40.0f);
  return plan;
}

/// All ranks, or the first and the last ones with those between them folded into one lane that names them.
void choose_ranks(std::size_t ranks, std::size_t shown, std::vector<std::size_t>& out, widgets::Line& folded) {
  out.clear();
  folded = {};
  const std::size_t first = shown >= ranks ? ranks : (shown + 1) / 2, last = shown >= ranks ? 0 : shown - first;
  for (std::size_t i = 0; i < first; ++i) out.push_back(i);
  if (first == ranks) return;
  out.push_back(folded_ranks);
  folded.add("\xE2\x80\xA6 ranks ").add_integer(static_cast<std::int64_t>(first));
  if (ranks - last - first > 1) folded.add("\xE2\x80\x93").add_integer(static_cast<std::int64_t>(ranks - last - 1));
  for (std::size_t i = ranks - last; i < ranks; ++i) out.push_back(i);
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
  if (rank == folded_ranks) return;
  const RankLane& lane = picture.schedules[1].lanes[rank];
  const Side& side = picture.run->now;
  const auto span = static_cast<std::size_t>(held.span);
  if (span >= lane.spans.size() || lane.blocks[span] == no_block) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Rect row = own.lane_rect(shown), lanes = own.lanes_rect();
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

/// Where a schedule ends stands its makespan. What the faster one wins is a ground of its own with an arrow back from
/// the other's end.
void draw_end(const Picture& picture, const widgets::TimelineView& view, const SideFigures& side, double last_s) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const Rect lanes = view.lanes_rect();
  const double makespan_s = side.totals.makespan_s;
  const float from = std::clamp(view.x_pixel(makespan_s), lanes.min.x, lanes.max.x);
  const float to = std::clamp(view.x_pixel(last_s), lanes.min.x, lanes.max.x);
  painter.line({from, lanes.min.y}, {from, lanes.max.y}, t.text, t.px(1.5f));

  if (last_s - makespan_s <= 1e-9 * last_s || to - from < t.px(3)) return;
  painter.rect({from, lanes.min.y}, {to, lanes.max.y}, widgets::with_alpha(t.accent, 0.14f));
  painter.dashed_line({to, lanes.min.y}, {to, lanes.max.y}, t.muted, t.px(1.5f));
  const float middle = (lanes.min.y + lanes.max.y) / 2;
  const ImVec2 way[] = {{to, middle}, {from, middle}};
  widgets::draw_arrow(painter, way, t.accent, t.px(2));
  // Over its arrow in the largest type that has room there, else at the left of the end.
  Type type = Type::title;
  const auto words_in = [&](Type of) { return widgets::text_size(picture.sooner, of, widgets::Font::bold); };
  for (const Type smaller : {Type::body, Type::small})
    if (words_in(type).x + t.px(8) > to - from) type = smaller;
  const ImVec2 words = words_in(type);
  const bool inside = words.x + t.px(8) <= to - from;
  const float x = inside ? (from + to - words.x) / 2 : from - words.x - t.px(8);
  const float y = middle - words.y - t.px(6);
  painter.rect({x - t.px(4), y - t.px(2)}, {x + words.x + t.px(4), y + words.y + t.px(2)},
               inside ? widgets::with_alpha(t.panel, 0.75f) : t.panel, t.px(4));
  painter.text({x, y}, picture.sooner, t.accent, type, widgets::Font::bold);
}

/// At the end of each lane its figures; over its strip, dashed, the peak that the other schedule has there.
void draw_figures(const Picture& picture, const View& view, std::size_t which, const LanePlan& plan) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const widgets::TimelineView& own = view.timelines[which];
  const ScheduleLanes &schedule = picture.schedules[which], &other = picture.schedules[1 - which];
  const Rect lanes = own.lanes_rect();
  for (std::size_t i = 0; i < view.ranks_shown.size() && i < own.drawn_lanes(); ++i) {
    const std::size_t rank = view.ranks_shown[i];
    if (rank == folded_ranks) continue;
    const RankLane& lane = schedule.lanes[rank];
    const Rect row = own.lane_rect(i);
    const float x = lanes.max.x + t.px(10), width = t.px(figure_column - 12);
    painter.text_fit({x, row.min.y + (t.px(plan.row) - t.type(Type::small)) / 2}, lane.idle_words, width, t.text,
                     Type::small);
    if (!plan.strips) continue;
    widgets::drew("memory strips");
    const float top = row.min.y + t.px(plan.row + 5), bottom = top + t.px(plan.strip);
    painter.text_fit({x, std::min(top + (t.px(plan.strip) - t.type(Type::small)) / 2, bottom - t.type(Type::small))},
                     lane.kept_words, width, t.text, Type::small);
    // In a strip of a few pixels the line would hide what it is held against; the figures stay.
    if (plan.strip < 10 || rank >= other.peaks.size() || rank >= schedule.peaks.size() ||
        other.peaks[rank] == schedule.peaks[rank])
      continue;
    const auto share = static_cast<float>(other.peaks[rank] / picture.most_kept);
    const float y = bottom - t.px(1) + share * (top + t.px(4) - bottom + t.px(1));
    painter.dashed_line({lanes.min.x, y}, {lanes.max.x, y}, t.text, t.px(1.5f), t.px(4));
  }
}

/// What the hues, the dashes and the bold line are; names of what is not in the picture are left out, and the last ones
/// where there is no room.
void draw_words(const Picture& picture, float width) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float middle = at.y + widgets::legend_row_px() / 2, end = at.x + width;
  float x = at.x + t.px(label_column);
  for (const LegendWord& word : picture.legend) {
    const float swatch = t.px(18), needed = swatch + t.px(5) + widgets::text_size(word.label, Type::small).x + t.px(14);
    if (x + needed > end) break;
    const ImU32 colour = word.plain ? t.text : widgets::colour(word.tint, t);
    if (word.kind == LegendWord::Kind::box)
      painter.rect({x + t.px(4), middle - t.px(5)}, {x + t.px(15), middle + t.px(5)}, colour, t.px(2));
    else if (word.kind == LegendWord::Kind::line)
      painter.line({x, middle}, {x + swatch - t.px(2), middle}, colour, t.px(3));
    else
      painter.dashed_line({x, middle}, {x + swatch - t.px(2), middle}, colour, t.px(1.5f), t.px(4));
    painter.text({x + swatch + t.px(5), middle - t.type(Type::small) / 2}, word.label, t.muted, Type::small);
    x += needed;
  }
}

/// The lanes of one schedule, its strips, and the critical path where its ranks are shown.
void fill_lanes(const Picture& picture, View& view, std::size_t which, const LanePlan& plan) {
  const ScheduleLanes& schedule = picture.schedules[which];
  const std::vector<std::size_t>& ranks = view.ranks_shown;
  auto& lanes = view.lanes[which];
  lanes.clear();
  view.counters.clear();
  view.counters.reserve(schedule.lanes.size());
  for (const std::size_t rank : ranks) {
    if (rank == folded_ranks) {
      lanes.push_back({.label = view.folded.view()});
      continue;
    }
    const RankLane& lane = schedule.lanes[rank];
    widgets::TimelineLane shown{.label = lane.label, .spans = lane.spans};
    if (plan.strips) {
      view.counters.push_back({.label = "kept",
                               .unit = "",
                               .points = lane.kept,
                               .tint = Tint(),
                               .area = true,
                               .capacity = which == 1 ? picture.room : std::numeric_limits<double>::quiet_NaN(),
                               .scale_to = picture.most_kept});
      shown.counters = std::span(&view.counters.back(), 1);
    }
    lanes.push_back(shown);
  }
  view.thread.clear();
  for (const widgets::TimelineStep& step : schedule.thread) {
    const auto lane = std::find(ranks.begin(), ranks.end(), step.lane);
    if (lane != ranks.end()) view.thread.push_back({static_cast<std::uint32_t>(lane - ranks.begin()), step.span});
  }
}

widgets::TimelineEvents draw_timeline_of(const Picture& picture, View& view, std::size_t which, const LanePlan& plan,
                                         float height) {
  const auto& t = widgets::theme();
  fill_lanes(picture, view, which, plan);
  widgets::TimelineView& own = view.timelines[which];
  const PipeNaming naming{&picture.schedules[which], view.ranks_shown, (own.x_pixel(1) - own.x_pixel(0)) * 1e-9f,
                          widgets::text_size("0", Type::small, widgets::Font::mono).x};
  widgets::TimelineData data;
  data.lanes = view.lanes[which];
  data.context = &naming;
  data.name = pipe_name;
  data.info = pipe_info;
  data.thread = view.thread;
  data.revision = picture.version;
  const bool ruler = which == 0 || !plan.both;
  widgets::drew("rank lanes");
  return widgets::draw_timeline(which == 0 ? "above" : "below", data, own,
                                {.height = height,
                                 .row_px = plan.row,
                                 .counter_px = plan.strip,
                                 .label_px = label_column,
                                 .cursor = ruler,
                                 .ruler = ruler,
                                 .grabs = which == 1,
                                 .axis_right_px = t.px(figure_column)});
}

/// Names of schedules and ranks over empty lanes: what is known while a question is open.
void draw_empty_lanes(const Picture& picture, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  ImVec2 at = ImGui::GetCursorScreenPos();
  at = {at.x + t.px(12), at.y + t.px(8)};
  size = {size.x - t.px(24), size.y - t.px(16)};
  const float end = at.x + size.x, heading = t.type(Type::body) + t.px(6);
  std::size_t ranks = 0;
  for (const ScheduleLanes& schedule : picture.schedules) ranks += schedule.lanes.size();
  const float lane = (size.y - 2 * heading) / static_cast<float>(std::max<std::size_t>(ranks, 1));
  for (const ScheduleLanes& schedule : picture.schedules) {
    painter.text(at, schedule.title, t.text, Type::body, widgets::Font::bold);
    at.y += heading;
    for (const RankLane& rank : schedule.lanes) {
      if (lane >= t.type(Type::small)) painter.text({at.x, at.y}, rank.label, t.text, Type::small);
      painter.frame({at.x + t.px(label_column), at.y}, {end, at.y + std::max(t.px(2), lane - t.px(8))}, t.line, t.px(1),
                    t.px(3));
      at.y += lane;
    }
  }
}

}  // namespace

void draw_schedules(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.schedules[0].lanes.empty() || widgets::veiled()) {
    if (widgets::veiled()) draw_empty_lanes(picture, size);
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const std::size_t ranks = std::max(picture.schedules[0].lanes.size(), picture.schedules[1].lanes.size());
  const LanePlan plan = plan_lanes(ranks, size);
  const double last_s = std::max(picture.run->now.reached_s, picture.run->beside.reached_s);
  const float legend = plan.legend ? widgets::legend_row_px() + t.px(4) : 0;
  const float ruler = t.px(plan.ruler), heading = t.px(plan.heading), pictures = plan.both ? 2.0f : 1.0f;
  const float lanes_px = (size.y - legend - ruler) / pictures - heading;
  if (!plan.both) {  // the one above, which is not drawn, follows
    view.timelines[0].window = view.timelines[1].window;
    view.timelines[0].cursor_s = view.timelines[1].cursor_s;
    view.timelines[0].label_px = view.timelines[1].label_px;
  }
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  for (std::size_t i = plan.both ? 0 : 1; i < 2; ++i) {
    auto &own = view.timelines[i], &other = view.timelines[1 - i];
    choose_ranks(picture.schedules[i].lanes.size(), plan.ranks, view.ranks_shown, view.folded);
    draw_heading(picture.schedules[i], {size.x, heading}, i == 1 ? &in : nullptr);
    own.window = other.window;
    own.cursor_s = other.cursor_s;
    own.label_px = other.label_px;
    const bool ruled = i == 0 || !plan.both;
    const auto events = draw_timeline_of(picture, view, i, plan, lanes_px + (ruled ? ruler : 0));
    if (i == 1) carry_block(in, picture, view, events);
    other.window = own.window;
    other.cursor_s = own.cursor_s;
    other.label_px = own.label_px;
    draw_figures(picture, view, i, plan);
    if (out.now.stuck.empty()) draw_end(picture, own, i == 0 ? out.beside : out.now, last_s);
    if (i == 1) draw_guess(picture, view, out.now.totals.makespan_s, plan.row, plan.strips ? plan.strip : 0);
    if (!ruled) {  // the cursor of the one axis
      const Rect lanes = own.lanes_rect();
      const float x = own.x_pixel(own.cursor_s);
      if (x >= lanes.min.x && x <= lanes.max.x)
        widgets::Painter::window().line({x, lanes.min.y}, {x, lanes.max.y}, t.accent, t.px(1));
    }
  }
  if (plan.legend) {
    ImGui::SetCursorScreenPos({corner.x, corner.y + size.y - legend + t.px(4)});
    draw_words(picture, size.x);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
  ImGui::PopStyleVar();
}

}  // namespace chapters::distributed::pipeline
