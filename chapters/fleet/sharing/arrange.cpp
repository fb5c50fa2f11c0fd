#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "chapters/fleet/sharing/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::fleet::sharing {

using namespace models::fleet;
using models::as_double;

namespace {

using widgets::Curve, widgets::format_text, widgets::Tint;

std::string counted(double n, std::string_view one) {
  return format_text(n, "") + " " + std::string(one) + (n == 1 ? "" : "s");
}

/// What stands inside a block: its size where it has room.
std::string block_label(const JobKind& kind) {
  if (!kind.profile.empty()) return std::string(kind.profile.substr(0, 2));
  const std::string places = std::to_string(kind.shape.places);
  return kind.shape.shelves > 1 ? places + " of " + std::to_string(kind.shape.total()) : places;
}

/// Runs of taken places of a stay as blocks, so that a job that lies in pieces is seen in pieces.
void add_blocks(const Run& run, const Stay& stay, std::vector<Block>& blocks) {
  const std::uint32_t kind = run.queue.jobs[stay.job].kind;
  for (int at = 0; at < shelf_places;) {
    int end = at;
    while (end < shelf_places && (stay.places >> end & 1) != 0) ++end;
    const JobKind& of = run.setup.mix.kinds[kind];
    if (end > at)
      blocks.push_back({.shelf = stay.shelf,
                        .job = stay.job,
                        .from = static_cast<std::uint8_t>(at),
                        .count = static_cast<std::uint8_t>(end - at),
                        .hue = static_cast<std::uint8_t>(kind),
                        .holds_up = stay.job == run.holds_up,
                        .label = end - at < of.shape.places
                                     ? std::to_string(end - at) + " of " + std::to_string(of.shape.total())
                                     : block_label(of)});
    at = std::max(end, at + 1);
  }
}

void arrange_shelves(const Inputs& in, const Run& run, Picture& p) {
  const FleetMoment& m = run.moment;
  const std::size_t drawn = std::min(m.taken.size(), max_drawn_shelves);
  const bool slices = in.mix == Mix::slices;
  p.shelves = static_cast<std::uint32_t>(drawn);
  p.hues = static_cast<std::uint32_t>(run.setup.mix.kinds.size());
  p.reserved = static_cast<std::uint32_t>(run.setup.reserved);
  for (std::size_t s = 0; s < drawn; ++s) {
    p.shelf_names.push_back(std::to_string(s + 1));
    for (int at = 0; at < shelf_places; ++at) {
      if ((m.taken[s] >> at & 1) != 0) continue;
      const FreeMark mark = m.waiting.empty()  ? FreeMark::idle
                            : m.wanted[s] != 0 ? FreeMark::held_back
                                               : FreeMark::stranded;
      p.free.push_back({static_cast<std::uint32_t>(s), static_cast<std::uint8_t>(at), mark});
    }
  }
  for (const Stay& stay : m.stays)
    if (stay.shelf < drawn) add_blocks(run, stay, p.blocks);
  for (const Stay& stay : run.ahead)
    if (stay.shelf < drawn) add_blocks(run, stay, p.ahead);
  const std::size_t shown = std::min(m.waiting.size(), max_drawn_queue);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::uint32_t job = m.waiting[i];
    const JobKind& kind = run.setup.mix.kinds[run.queue.jobs[job].kind];
    p.queue.push_back({.job = job,
                       .count = static_cast<std::uint8_t>(kind.shape.places),
                       .hue = static_cast<std::uint8_t>(run.queue.jobs[job].kind),
                       .label = kind.shape.shelves > 1 ? shape_words(kind) : block_label(kind)});
  }
  if (m.waiting.size() > shown)
    p.more_waiting = "and " + counted(static_cast<double>(m.waiting.size() - shown), "more job");
  p.shelves_title = slices ? "each row a GPU, eight slices" : "each row a node, eight GPUs";
  if (drawn < m.taken.size())
    p.shelves_title += ", " + std::to_string(drawn) + " of " + std::to_string(m.taken.size()) + " drawn";
}

/// What the first in line needs and lacks, and when it starts.
std::string first_words(const Outputs& out, const Run& run) {
  if (run.moment.waiting.empty()) return {};
  const JobKind& kind = run.setup.mix.kinds[run.queue.jobs[run.moment.waiting.front()].kind];
  std::string words = "The first needs ";
  if (!kind.profile.empty())
    words += "a " + std::string(kind.profile);
  else if (kind.shape.large())
    words += counted(kind.shape.shelves, "empty node") + ", finds " + format_text(out.empty_shelves, "");
  else
    words += shape_words(kind) + " on one node";
  return words + (run.holds_up != Run::nobody ? "; the red job ends in " : "; it starts in ") +
         format_text(out.first_starts_s, "s");
}

void arrange_words(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  p.queue_title = out.moment_waiting > 0 ? counted(out.moment_waiting, "job") + " waiting" : "nobody waits";
  p.moment_words = "shown: after " + format_text(out.moment_at_s, "s");
  p.free_words = format_text(out.moment_free, "") + " of " + format_text(out.places, "") +
                 (in.mix == Mix::slices ? " slices" : " GPUs") + " empty";
  if (out.moment_held_back > 0) p.free_words += ", " + format_text(out.moment_held_back, "") + " held back";
  if (out.moment_stranded > 0) p.free_words += ", " + format_text(out.moment_stranded, "") + " in holes";
  p.holes = out.moment_stranded > 0;
  p.first_words = first_words(out, run);
}

void arrange_strip(const Outputs& out, const Run& run, Picture& p) {
  double most = 1;
  for (const StripPoint& s : run.strip) most = std::max(most, s.waiting);
  for (const StripPoint& s : run.strip) {
    p.strip_used.push_back(static_cast<float>(s.used / std::max(out.places, 1.0)));
    p.strip_waiting.push_back(static_cast<float>(s.waiting / most));
  }
  p.strip_at = run.strip_at;
}

constexpr std::array<std::string_view, queue_order_count> order_words{"first in, first out", "backfill",
                                                                      "whoever fits"};
/// Shorter waits are drawn as none.
constexpr double least_wait_s = 1;

void arrange_loads(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto shown = [](double wait_s) { return wait_s < least_wait_s ? 0 : wait_s; };
  p.wait_s = shown(out.mean_wait_s);
  double most = std::max(60.0, out.mean_wait_s);
  for (std::size_t order = 0; order < queue_order_count; ++order) {
    const bool own = order == static_cast<std::size_t>(in.order);
    Curve wait{.label = std::string(order_words[order]),
               .output = own ? "mean_wait_s" : "",
               .tint = own ? Tint::yours() : Tint::series(order + 1),
               .width = own ? 3.0f : 2.0f,
               .named = false};
    Curve used = wait;
    used.output = own ? "used" : "";
    for (const LoadPoint& point : run.loads) {
      wait.add(point.load, shown(point.mean_wait_s[order]));
      used.add(point.load, point.used[order]);
      most = std::max(most, point.mean_wait_s[order]);
    }
    p.waits.push_back(std::move(wait));
    p.uses.push_back(std::move(used));
  }
  Curve asked{.label = "all that is asked for", .dashed = true, .named = false, .given = true};
  for (const LoadPoint& point : run.loads) asked.add(point.load, point.load);
  p.uses.push_back(std::move(asked));
  p.wait_hi_s = 2 * most;
  p.wait_label = format_text(out.mean_wait_s, "s");
  p.use_label = format_text(out.used, "%");
}

void arrange_tenants(const Inputs& in, const Outputs& out, Picture& p) {
  double longest = 0;
  for (const TenantRow& row : out.tenants) longest = std::max({longest, row.step_s, row.alone_s});
  for (const TenantRow& row : out.tenants) {
    p.tenant_words.push_back(row.tenant + ": " + format_text(row.step_s, "s") + ", " +
                             format_text(row.slowdown, widgets::times_unit));
    p.tenants.push_back({static_cast<float>(row.host_s / longest),
                         static_cast<float>((row.alone_s - row.host_s) / longest),
                         static_cast<float>(std::max(0.0, row.step_s - row.alone_s) / longest)});
  }
  p.cut = in.way == SharingWay::mig;
  if (out.unplaced > 0) p.unplaced_words = counted(as_double(out.unplaced), "job") + " without an instance";
}

constexpr std::array<std::string_view, sharing_way_count> way_words{"time slices", "MPS", "MIG, the widest that fit"};

void arrange_crowd(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  if (run.crowd.empty()) return;
  const CrowdPoint& now = run.crowd[static_cast<std::size_t>(in.tenants) - 1];
  const auto own_way = static_cast<std::size_t>(in.way);
  const bool cut = in.way == SharingWay::mig;
  p.slowdown = cut ? now.slowdown[own_way] : out.slowdown;
  p.done_now = cut ? now.done[own_way] : out.throughput;
  for (std::size_t way = 0; way < sharing_way_count; ++way) {
    const bool own = way == own_way;
    Curve slower{.label = std::string(way_words[way]),
                 .output = own && !cut ? "slowdown" : "",
                 .tint = own ? Tint::yours() : Tint::series(way + 1),
                 .width = own ? 3.0f : 2.0f,
                 .named = false};
    Curve done = slower;
    done.output = own && !cut ? "throughput" : "";
    for (std::size_t i = 0; i < run.crowd.size(); ++i) {
      slower.add(static_cast<double>(i + 1), run.crowd[i].slowdown[way]);
      done.add(static_cast<double>(i + 1), run.crowd[i].done[way]);
      p.slowdown_hi = std::max(p.slowdown_hi, 1.1 * run.crowd[i].slowdown[way]);
      p.done_hi = std::max(p.done_hi, 1.1 * run.crowd[i].done[way]);
    }
    p.slowdowns.push_back(std::move(slower));
    p.done.push_back(std::move(done));
  }
}

void arrange_lanes(const Run& run, Picture& p) {
  const double from = run.timeline_from_s, span = run.timeline.end_s - from;
  if (!(span > 0)) return;
  for (const TimelinePiece& piece : run.timeline.pieces) {
    if (piece.to_s <= from) continue;
    p.lanes.push_back({.lane = piece.job,
                       .state = piece.state,
                       .pace = static_cast<float>(piece.pace),
                       .from = static_cast<float>((std::max(piece.from_s, from) - from) / span),
                       .to = static_cast<float>((piece.to_s - from) / span)});
  }
  p.lanes_title = "the GPU during " + format_text(span, "s");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.moment.taken.empty()) return p;
  p.answer = answer_of(in, out);
  arrange_shelves(in, run, p);
  arrange_words(in, out, run, p);
  arrange_strip(out, run, p);
  arrange_loads(in, out, run, p);
  arrange_tenants(in, out, p);
  arrange_lanes(run, p);
  arrange_crowd(in, out, run, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::fleet::sharing
