#include <algorithm>
#include <cmath>

#include "chapters/distributed/pipeline/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::pipeline {
namespace {

using namespace models::parallel;
using widgets::format_text, widgets::Meaning, widgets::TimelineMark, widgets::Tint;

std::int64_t in_ns(double s) { return std::llround(s * 1e9); }

std::string_view words_of(PipeKind kind) {
  switch (kind) {
    case PipeKind::forward:
      return "forward";
    case PipeKind::backward:
      return "backward, both gradients";
    case PipeKind::input_gradient:
      return "input gradient";
    case PipeKind::weight_gradient:
      return "weight gradient";
    case PipeKind::pair:
      break;
  }
  return "a forward and a backward that overlap";
}
/// "F3" of any stage; "F3 B1" of a pair.
std::string brief_of(const PipeOp& op) {
  if (op.kind == PipeKind::pair)
    return "F" + std::to_string(op.micro_batch) + " B" + std::to_string(op.back_micro_batch);
  return std::string(1, "FBIW"[static_cast<std::size_t>(op.kind)]) + std::to_string(op.micro_batch);
}
/// A step in what is kept; one that changes nothing is no corner.
void add_kept(std::vector<widgets::TimelinePoint>& points, std::int64_t time_ns, double value) {
  if (!points.empty() && points.back().time_ns == time_ns) points.pop_back();
  if (points.empty() || points.back().value != value) points.push_back({time_ns, value});
}
Tint tint_of_kind(PipeKind kind) {
  switch (kind) {
    case PipeKind::forward:
      return Meaning::forward;
    case PipeKind::backward:
    case PipeKind::input_gradient:
      return Meaning::backward;
    case PipeKind::weight_gradient:
      return Meaning::weight_gradient;
    case PipeKind::pair:
      break;
  }
  return Tint::series(2);
}

struct LaneWriter {
  ScheduleLanes& to;
  RankLane& lane;
  bool named;
  std::uint32_t block = no_block;  ///< the place of what is added next

  void add(double start_s, double end_s, std::string said, std::string brief, std::string info, Tint tint,
           TimelineMark mark) {
    const std::int64_t start_ns = in_ns(start_s), duration_ns = in_ns(end_s) - start_ns;
    if (duration_ns <= 0) return;
    lane.blocks.push_back(block);
    std::uint32_t name = UINT32_MAX;
    if (named) {
      name = static_cast<std::uint32_t>(to.names.size());
      to.names.push_back({std::move(said), std::move(brief), std::move(info), duration_ns});
    }
    lane.spans.push_back({start_ns, duration_ns, name, 0, tint, mark});
  }
  void gap(double start_s, double end_s) {
    if (!named || end_s - start_s <= 1e-9 * end_s) return;
    block = no_block;
    add(start_s, end_s, format_text(end_s - start_s, "s"), "", "idle", Meaning::idle, TimelineMark::callout);
  }
};

/// After what a rank did: idle time to the end of the step, or where ranks wait for each other for ever, all that it
/// never comes to, one block after the other, so that it can be taken hold of and put elsewhere.
void add_waiting(LaneWriter& writer, const Side& side, std::size_t rank, double free_s) {
  if (side.stuck.empty()) {
    writer.gap(free_s, side.run.makespan_s);
    return;
  }
  writer.gap(free_s, side.reached_s);
  double at_s = std::max(free_s, side.reached_s);
  const auto& order = side.plan.orders[rank];
  for (std::size_t i = side.run.start_s[rank].size(); i < order.size(); ++i) {
    const double end_s = at_s + duration_s(side.times, rank, order[i].kind);
    const std::string said = writer.named ? label(side.plan, order[i]) : std::string();
    writer.block = static_cast<std::uint32_t>(i);
    writer.add(at_s, end_s, said, writer.named ? brief_of(order[i]) : std::string(), said + ": never comes to its turn",
               tint_of_kind(order[i].kind), TimelineMark::pale);
    at_s = end_s;
  }
}

/// One rank's operations, its gaps, and what it keeps. `places` is filled with each operation's span.
RankLane lane_of(ScheduleLanes& to, const Side& side, std::size_t rank, bool named,
                 std::vector<std::uint32_t>& places) {
  RankLane lane;
  const PipelineRank& r = side.run.ranks[rank];
  lane.label = "rank " + std::to_string(rank);
  LaneWriter writer{to, lane, named};
  double free_s = 0;
  for (std::size_t i = 0; i < side.run.start_s[rank].size(); ++i) {
    const PipeOp& op = side.plan.orders[rank][i];
    const double start_s = side.run.start_s[rank][i], end_s = start_s + duration_s(side.times, rank, op.kind);
    writer.gap(free_s, start_s);
    writer.block = static_cast<std::uint32_t>(i);
    places.push_back(static_cast<std::uint32_t>(lane.spans.size()));
    const std::string said = named ? label(side.plan, op) : std::string();
    const std::string brief = named ? brief_of(op) : std::string();
    const std::string info = named ? said + ": " + std::string(words_of(op.kind)) : std::string();
    if (op.kind == PipeKind::backward) {
      // The same two parts that other schedules cut apart, so that equal work is seen to be equal.
      const double cut_s = start_s + duration_s(side.times, rank, PipeKind::input_gradient);
      writer.add(start_s, cut_s, said, brief, info, Meaning::backward, TimelineMark::solid);
      writer.add(cut_s, end_s, "", "", "the weight gradient's part of " + said, Meaning::weight_gradient,
                 TimelineMark::solid);
    } else {
      writer.add(start_s, end_s, said, brief, info, tint_of_kind(op.kind), TimelineMark::solid);
    }
    free_s = end_s;
  }
  add_waiting(writer, side, rank, free_s);
  const auto chunks = static_cast<double>(side.plan.chunks);
  double most = 0;
  if (rank < side.kept.size())
    for (const KeptActivations& k : side.kept[rank]) {
      most = std::max(most, k.kept / chunks);
      add_kept(lane.kept, in_ns(k.time_s), k.kept / chunks);
    }
  lane.kept_words = format_text(most, "") + " kept";
  const std::size_t left = side.plan.orders[rank].size() - side.run.start_s[rank].size();
  lane.idle_words =
      side.stuck.empty() ? format_text(r.wall_bubble_s, "s") + " idle" : std::to_string(left) + " not done";
  return lane;
}

ScheduleLanes lanes_of(const Side& side, const SideFigures& figures) {
  ScheduleLanes out;
  const bool named = operations_of(side.plan) <= max_named_operations;
  std::vector<std::vector<std::uint32_t>> places(side.plan.orders.size());
  for (std::size_t rank = 0; rank < side.plan.orders.size(); ++rank)
    out.lanes.push_back(lane_of(out, side, rank, named, places[rank]));
  for (const PipelinePlace& p : side.critical) {
    const std::uint32_t span = places[p.rank][p.index];
    const auto lane = static_cast<std::uint32_t>(p.rank);
    const bool whole = side.plan.orders[p.rank][p.index].kind == PipeKind::backward;
    for (std::uint32_t part = span; part < span + (whole ? 2 : 1); ++part)
      if (part < out.lanes[p.rank].spans.size()) out.thread.push_back({lane, part});
  }
  for (const double peak : figures.peaks) out.peaks.push_back(peak / static_cast<double>(side.plan.chunks));
  out.title = schedule_name(side.spec.schedule);
  if (side.plan.chunks > 1) out.title += ", " + std::to_string(side.plan.chunks) + " chunks per rank";
  if (!side.moves.empty()) out.title += ", edited";
  if (!side.stuck.empty()) {
    out.subtitle = side.stuck;
    return out;
  }
  out.subtitle = "takes " + format_text(side.run.makespan_s, "s") + ", ranks idle " +
                 format_text(figures.idle_percent, "%") + " of it";
  if (figures.weights > 1) out.subtitle += ", each with " + format_text(figures.weights, "") + " copies of its weights";
  return out;
}

/// Gives the first lane of the picture that ends sooner an empty span to the end of the other's, so that both axes
/// reach equally far.
void reach_equally(std::array<ScheduleLanes, 2>& schedules) {
  std::array<std::int64_t, 2> ends_ns{};
  for (std::size_t i = 0; i < 2; ++i)
    for (const RankLane& lane : schedules[i].lanes)
      if (!lane.spans.empty()) ends_ns[i] = std::max(ends_ns[i], lane.spans.back().end_ns());
  const std::size_t shorter = ends_ns[0] < ends_ns[1] ? 0 : 1;
  ScheduleLanes& lanes = schedules[shorter];
  if (lanes.lanes.empty() || lanes.lanes.front().spans.empty()) return;
  RankLane& lane = lanes.lanes.front();
  LaneWriter writer{lanes, lane, false};
  writer.add(1e-9 * static_cast<double>(lane.spans.back().end_ns()), 1e-9 * static_cast<double>(ends_ns[1 - shorter]),
             "", "", "", Meaning::idle, TimelineMark::callout);
}

/// What each rank keeps, and idle time against micro-batches, of both schedules.
void add_curves(const Run& run, Picture& p) {
  for (std::size_t i = 0; i < 2; ++i) {
    const ScheduleLanes& s = p.schedules[i];
    const widgets::Tint tint = i == 0 ? Tint::strong() : Tint::yours();
    widgets::Curve kept{.label = s.title,
                        .info = "most F begun without their W, in a rank's whole share",
                        .tint = tint,
                        .dashed = i == 0,
                        .named = false};
    for (std::size_t rank = 0; rank < s.peaks.size(); ++rank) kept.add(static_cast<double>(rank), s.peaks[rank]);
    widgets::Curve dots{.kind = widgets::Curve::Kind::dots,
                        .label = kept.label,
                        .tint = tint,
                        .radius = 4,
                        .legend = false,
                        .x = kept.x,
                        .y = kept.y};
    p.kept.push_back(std::move(kept));
    p.kept.push_back(std::move(dots));
    if (run.micro_batches.empty()) continue;
    p.idle.push_back({.label = s.title,
                      .info = "simulated; none where the schedule does not take so few",
                      .tint = tint,
                      .dashed = i == 0,
                      .named = false,
                      .x = run.micro_batches,
                      .y = run.idle_percent[i]});
    for (const double percent : run.idle_percent[i])
      if (percent > p.most_idle) p.most_idle = percent;
  }
}

/// The hues of the blocks by the letters that stand on them, then lines and strips.
std::vector<LegendWord> legend_of(const Picture& p, const Run& run) {
  std::array<bool, 5> kinds{};
  for (const Side* side : {&run.beside, &run.now})
    for (const auto& order : side->plan.orders)
      for (const PipeOp& op : order) kinds[static_cast<std::size_t>(op.kind)] = true;
  const auto has = [&](PipeKind kind) { return kinds[static_cast<std::size_t>(kind)]; };
  using Kind = LegendWord::Kind;
  std::vector<LegendWord> words;
  if (has(PipeKind::forward)) words.push_back({Kind::box, "F forward", Meaning::forward});
  const bool whole = has(PipeKind::backward), cut = has(PipeKind::input_gradient);
  if (whole || cut)
    words.push_back({Kind::box,
                     whole && cut ? "B, I input gradient"
                     : whole      ? "B input gradient"
                                  : "I input gradient",
                     Meaning::backward});
  if (whole || has(PipeKind::weight_gradient))
    words.push_back({Kind::box, cut ? "W weight gradient" : "its weight gradient", Meaning::weight_gradient});
  if (has(PipeKind::pair)) words.push_back({Kind::box, "F and B overlapped", Tint::series(2)});
  for (const ScheduleLanes& s : p.schedules)
    if (!s.thread.empty()) {
      words.push_back({Kind::line, "critical path", {}, true});
      break;
    }
  words.push_back({Kind::line, "micro-batches kept", Tint()});
  if (p.schedules[0].peaks != p.schedules[1].peaks)
    words.push_back({Kind::dashed, "the other schedule's peak", {}, true});
  words.push_back({Kind::box, "idle", Meaning::idle});
  return words;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.now.run.ranks.empty()) return p;
  p.schedules[0] = lanes_of(run.beside, out.beside);
  p.schedules[1] = lanes_of(run.now, out.now);
  reach_equally(p.schedules);
  if (run.now.stuck.empty() && std::abs(out.saved_s) > 1e-9 * out.beside.totals.makespan_s)
    p.sooner = format_text(std::abs(out.saved_s), "s") + " sooner";
  p.legend = legend_of(p, run);
  if (in.room > 0) p.room = static_cast<double>(in.room);
  p.most_kept = std::max(p.most_kept, static_cast<double>(in.room));
  for (const ScheduleLanes& s : p.schedules)
    for (const double peak : s.peaks) p.most_kept = std::max(p.most_kept, peak);
  for (std::size_t r = 0; r < out.ranks.size(); ++r) p.rank_texts.push_back(std::to_string(r));
  add_curves(run, p);
  p.answer = answer_of(in, out, run);
  return p;
}

}  // namespace chapters::distributed::pipeline
