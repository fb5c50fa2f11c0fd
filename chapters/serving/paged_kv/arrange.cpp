#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "chapters/serving/paged_kv/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::paged_kv {
namespace {

using models::PoolFrame, models::PoolSequence;
using widgets::Curve, widgets::format_text, widgets::Tint;

/// Rows of tables that are read at a glance.
constexpr std::int64_t best_rows = 10;

double seconds(std::int64_t us) { return static_cast<double>(us) / 1e6; }
std::string in_full(std::int64_t n) { return format_text(static_cast<double>(n), "", 9); }

/// The request whose tables show most: its blocks are few enough to be drawn, and it has several answers, where they
/// do.
std::int32_t follow_of(const PoolFrame& frame, std::int32_t wanted) {
  std::int32_t best = -1;
  std::int64_t best_gap = 0;
  for (const PoolSequence& one : frame.sequences) {
    if (one.request == wanted) return wanted;
    const std::int64_t gap = std::abs(one.count - best_rows);
    if (best >= 0 && gap >= best_gap) continue;
    best = one.request;
    best_gap = gap;
  }
  return best;
}

/// A copy in the middle of the run of a request whose table is short: what the picture begins with.
struct Split {
  std::int64_t time_us = -1;
  std::int32_t request = -1;
};
Split split_of(const Run& run, std::int64_t block_tokens) {
  Split best;
  double best_cost = 0;
  for (const models::PagedEvent& copy : run.paged.copied) {
    const auto frame = std::lower_bound(run.paged.frames.begin(), run.paged.frames.end(), copy.time_us,
                                        [](const PoolFrame& f, std::int64_t at) { return f.time_us < at; });
    if (frame == run.paged.frames.end() || frame->time_us != copy.time_us) continue;
    const std::int64_t blocks =
        (run.demand.requests[static_cast<std::size_t>(copy.request)].prompt_tokens + block_tokens - 1) / block_tokens;
    const double cost = std::abs(seconds(copy.time_us) / std::max(1e-9, seconds(run.shown_us)) - 0.6) +
                        0.1 * static_cast<double>(std::abs(blocks - best_rows));
    if (best.request >= 0 && cost >= best_cost) continue;
    best = {copy.time_us, copy.request};
    best_cost = cost;
  }
  return best;
}

/// The frame that is most like the average; where the pool stands still, the last one.
std::size_t typical_frame(const Outputs& out, const Run& run) {
  const auto& frames = run.paged.frames;
  if (frames.empty() || std::isfinite(out.stuck_s)) return frames.empty() ? 0 : frames.size() - 1;
  const std::int64_t filled_us = run.demand.requests[run.demand.requests.size() / 3].arrival_us;
  std::size_t best = 0;
  double best_gap = -1;
  for (std::size_t i = 0; i < frames.size() && i < run.reserved.frames.size(); ++i) {
    if (frames[i].time_us < filled_us && out.measured_s < out.shown_s) continue;
    const double slots = frames[i].used + frames[i].never + frames[i].stranded + frames[i].spare;
    const auto share = [&](double used) { return slots > 0 ? 100 * used / slots : 0; };
    const double gap = std::abs(share(frames[i].used) - out.paged.used) +
                       std::abs(share(run.reserved.frames[i].used) - out.reserved.used) +
                       std::abs(static_cast<double>(frames[i].running) - out.paged.running) +
                       std::abs(static_cast<double>(run.reserved.frames[i].running) - out.reserved.running);
    if (best_gap >= 0 && gap >= best_gap) continue;
    best = i;
    best_gap = gap;
  }
  return best;
}

/// How full each cell is: a shared block counts once.
std::vector<std::uint8_t> cells_of(const PoolFrame& frame, std::int64_t blocks, std::int64_t block_tokens) {
  const std::int64_t n = std::min(blocks, max_cells);
  std::vector<std::int32_t> filled(static_cast<std::size_t>(n));
  std::vector<bool> seen(static_cast<std::size_t>(blocks));
  for (const PoolSequence& one : frame.sequences)
    for (std::int64_t i = 0; i < one.count; ++i) {
      const auto block = static_cast<std::size_t>(frame.blocks[static_cast<std::size_t>(one.first + i)]);
      if (seen[block]) continue;
      seen[block] = true;
      filled[static_cast<std::size_t>(static_cast<std::int64_t>(block) * n / blocks)] +=
          static_cast<std::int32_t>(std::min(block_tokens, one.tokens - i * block_tokens));
    }
  const double cell = static_cast<double>(blocks * block_tokens) / static_cast<double>(n);
  std::vector<std::uint8_t> out;
  for (const std::int32_t tokens : filled)
    out.push_back(static_cast<std::uint8_t>(std::clamp(255.0 * tokens / cell, 0.0, 255.0)));
  return out;
}

void add_moments(const Outputs& out, const Inputs& in, Picture& picture, const Run& run) {
  const Split split = split_of(run, in.block_tokens);
  std::int32_t wanted = split.request;
  if (split.request >= 0) {
    picture.split_s = seconds(split.time_us);
    picture.before_split_s = seconds(split.time_us - 1);
    picture.split_request = split.request;
  }
  if (split.request >= 0 && !std::isfinite(out.stuck_s))
    picture.first_s = picture.split_s;
  else if (!run.paged.frames.empty())
    picture.first_s = seconds(run.paged.frames[typical_frame(out, run)].time_us);
  const auto runs_at = [](const PoolFrame& frame, std::int32_t request) {
    return std::any_of(frame.sequences.begin(), frame.sequences.end(),
                       [&](const PoolSequence& one) { return one.request == request; });
  };
  if (wanted < 0 && !run.paged.frames.empty()) wanted = follow_of(run.paged.frames[typical_frame(out, run)], -1);
  std::int32_t now = wanted;
  for (const PoolFrame& frame : run.paged.frames) {
    Moment& moment = picture.moments.emplace_back();
    // Stays with a request as long as it runs.
    now = follow_of(frame, runs_at(frame, wanted) ? wanted : now);
    moment.follow = now;
    if (run.cells) moment.cells = cells_of(frame, out.blocks, in.block_tokens);
  }
}

void add_history(Picture& picture, const Run& run, const Inputs& in) {
  const auto slots = static_cast<double>(in.pool_tokens);
  const auto add = [&](const models::PagedRun& pool, std::string name, Tint tint) {
    Curve used{.label = name, .info = "slots that hold a token / slots of the pool", .tint = tint};
    Curve running{.kind = Curve::Kind::steps, .label = name, .info = "requests that hold memory", .tint = tint};
    Curve waiting{.kind = Curve::Kind::steps, .label = name, .info = "requests in line", .tint = tint};
    for (const PoolFrame& frame : pool.frames) {
      used.add(seconds(frame.time_us), 100 * frame.used / slots);
      running.add(seconds(frame.time_us), static_cast<double>(frame.running));
      waiting.add(seconds(frame.time_us), static_cast<double>(frame.waiting));
      picture.most_running = std::max(picture.most_running, static_cast<double>(frame.running));
      picture.most_waiting = std::max(picture.most_waiting, static_cast<double>(frame.waiting));
    }
    picture.used.push_back(std::move(used));
    picture.running.push_back(std::move(running));
    picture.waiting.push_back(std::move(waiting));
  };
  add(run.paged, "in blocks", Tint::strong());
  add(run.reserved, "reserved ahead", Tint());
  picture.sent_back = {.kind = Curve::Kind::dots,
                       .label = "sent back",
                       .info = "a running request lost its blocks",
                       .tint = Tint::bad(),
                       .alpha = 0.6f,
                       .marker = widgets::Marker::triangle,
                       .radius = 3};
  for (const models::PagedEvent& event : run.paged.preempted) picture.sent_back.add(seconds(event.time_us), 0);
}

void add_sizes(Picture& picture, const Run& run) {
  Curve used{.label = "holds tokens",
             .info = "the same requests, simulated at each size",
             .output = "paged_used_share",
             .tint = Tint::strong()};
  Curve never{.label = "unfilled ends",
              .info = "slots behind the last token of blocks in use",
              .output = "paged_never_share",
              .tint = Tint::bad()};
  for (const SizeRow& row : run.sizes) {
    used.add(static_cast<double>(row.block_tokens), row.used);
    never.add(static_cast<double>(row.block_tokens), row.never);
  }
  picture.sizes.push_back(std::move(used));
  picture.sizes.push_back(std::move(never));
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (run.demand.requests.empty()) return picture;
  picture.answer = answer_of(in, out);
  picture.shown_s = std::max(1e-3, seconds(run.shown_us));
  add_moments(out, in, picture, run);
  add_history(picture, run, in);
  add_sizes(picture, run);
  picture.reserved_words = in.reserve_rule == models::ReserveRule::longest
                               ? "a run of " + in_full(in.reserve_tokens) + " slots each"
                           : in.reserve_rule == models::ReserveRule::exact ? "a run as long as it will need"
                                                                           : "a run of a power of two for the answer";
  picture.paged_words = "taken when needed, anywhere";
  picture.tables_words = in.kind == Answers::one ? "One prompt, one answer"
                                                 : "One prompt, " + in_full(in.answers) +
                                                       (in.kind == Answers::beams ? " beams" : " answers");
  return picture;
}

}  // namespace chapters::serving::paged_kv
