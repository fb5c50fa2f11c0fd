#include <algorithm>
#include <cmath>

#include "chapters/profiling/step_trace/order.h"
#include "widgets/number/number.h"

namespace chapters::profiling::step_trace {
namespace {

using models::StepBlock, models::StepCause, models::StepRow, models::StepWork, widgets::figure, widgets::format_text,
    widgets::Meaning, widgets::TimelineMark, widgets::Tint;

constexpr std::int32_t shown_workers = 4;
constexpr Tint copy_tint = Tint::series(0), sync_tint = Tint::series(5);

double step_seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

Tint tint_of_cause(StepCause cause) {
  switch (cause) {
    case StepCause::data:
      return Meaning::data_loading;
    case StepCause::copy:
      return copy_tint;
    case StepCause::launch:
      return Meaning::launch_bound;
    case StepCause::sync:
      return sync_tint;
    case StepCause::communication:
      return Meaning::communication;
  }
  return {};
}

Tint tint_of_work(StepWork work) {
  switch (work) {
    case StepWork::load:
    case StepWork::read:
      return Meaning::data_loading;
    case StepWork::copy:
      return copy_tint;
    case StepWork::forward:
      return Meaning::forward;
    case StepWork::backward:
      return Meaning::backward;
    case StepWork::optimizer:
      return Meaning::optimizer;
    case StepWork::reduce:
      return Meaning::communication;
    case StepWork::sync:
    case StepWork::log:
      return sync_tint;
    default:
      return {};
  }
}

constexpr std::array<std::string_view, models::step_cause_count> gap_names{
    "waits for data", "waits for the copy", "waits for launches", "waits after .item()", "waits for the last bucket"};
constexpr std::array<std::string_view, models::step_cause_count> short_gaps{"data", "copy", "launch", "item", "bucket"};

/// What stands on a block, the longest first; `loads_itself`: there are no workers.
std::array<std::string, 3> words_of(const StepBlock& b, bool loads_itself) {
  switch (b.work) {
    case StepWork::load:
      if (b.row == StepRow::host && !loads_itself) return {"waits for a batch", "waits", "D"};
      return b.row == StepRow::host ? std::array<std::string, 3>{"loads the batch: reads and decodes", "loads", "D"}
                                    : std::array<std::string, 3>{"decodes", "dec", "D"};
    case StepWork::read:
      return {"reads", "read", ""};
    case StepWork::launch: {
      const StepWork p = b.phase;
      const char* of = p == StepWork::forward    ? "forward"
                       : p == StepWork::backward ? "backward"
                       : p == StepWork::reduce   ? "all-reduce"
                       : p == StepWork::copy     ? "copy"
                                                 : "optimizer";
      return {std::string("launches ") + of, "launches", ""};
    }
    case StepWork::copy:
      return {b.row == StepRow::pin ? "pins" : "copies the batch", "copy", ""};
    case StepWork::sync:
      return {"loss.item() waits for the GPU", ".item()", ""};
    case StepWork::log:
      return {"logs", "log", ""};
    case StepWork::ahead:
      return {"far enough ahead: the queue is full", "queue full", ""};
    case StepWork::forward:
      return {"forward", "fwd", "F"};
    case StepWork::backward:
      return {"backward", "bwd", "B"};
    case StepWork::optimizer:
      return {"optimizer", "opt", "O"};
    case StepWork::reduce:
      return {"all-reduce", "C", ""};
    case StepWork::idle:
      return {std::string(gap_names[static_cast<std::size_t>(b.cause)]),
              std::string(short_gaps[static_cast<std::size_t>(b.cause)]), ""};
  }
  return {};
}

/// The part of a run that is shown: from the end of a step on.
struct Shown {
  const models::StepRun* run = nullptr;
  std::int64_t origin_ns = 0, range_ns = 0;
  bool loads_itself = false;  ///< the main thread has no workers
};

/// The run ends with its last batch: what the main thread and the workers would have done ahead of it is not known.
/// `ahead`: batches that the workers make before they are asked for.
std::int64_t known_until_ns(const models::StepRun& run, std::int64_t ahead) {
  std::int64_t last_ns = 0;
  const auto unknown = static_cast<std::int64_t>(run.steps.size()) - ahead;
  for (const StepBlock& b : run.blocks) {
    if (b.row != StepRow::host) continue;
    if (ahead > 0 && b.step >= unknown) return b.start_ns;
    last_ns = b.end_ns;
  }
  return last_ns;
}

Shown shown_of(const models::StepRun& run, double period_s, double range_s, std::int64_t ahead) {
  const auto& steps = run.steps;
  Shown out{&run, 0, std::llround(range_s * 1e9)};
  if (run.blocks.empty()) return out;
  std::int64_t first_step = steps.back().end_ns > 0 ? static_cast<std::int64_t>(steps.size()) - 1 : 0;
  for (const StepBlock& b : run.blocks)
    if (b.row == StepRow::compute) first_step = std::min(first_step, b.step);
  const std::int64_t known_ns = known_until_ns(run, ahead), launched_ns = known_until_ns(run, 0);
  // From the end of a step that leaves room for the whole range: where as many steps end in it as on average, so that
  // a loader that brings batches in rounds is shown with its pauses. The latest of those that are known in full, or
  // else but for the workers.
  double best = -1;
  int best_known = 0;
  out.origin_ns = steps[static_cast<std::size_t>(first_step)].end_ns;
  for (std::size_t i = steps.size(); i-- > static_cast<std::size_t>(first_step);) {
    const std::int64_t origin_ns = steps[i].end_ns;
    if (steps.back().end_ns - origin_ns < out.range_ns) continue;
    const int known = known_ns - origin_ns >= out.range_ns ? 2 : launched_ns - origin_ns >= out.range_ns ? 1 : 0;
    std::size_t ends = 0;
    while (i + 1 + ends < steps.size() && steps[i + 1 + ends].end_ns - origin_ns <= out.range_ns) ++ends;
    const double off = std::abs(static_cast<double>(ends) * period_s - range_s);
    if (best >= 0 && best_known >= known && off >= best) continue;
    best = off;
    best_known = known;
    out.origin_ns = origin_ns;
  }
  return out;
}

std::uint32_t add_name(Picture& p, widgets::SpanName name) {
  p.names.push_back(std::move(name));
  return static_cast<std::uint32_t>(p.names.size() - 1);
}

void add_span(Picture& p, Lane& lane, const Shown& shown, std::int64_t start_ns, std::int64_t end_ns,
              std::array<std::string, 3> words, std::string info, std::uint16_t depth, Tint tint, TimelineMark mark) {
  const std::int64_t from = std::max<std::int64_t>(0, start_ns - shown.origin_ns),
                     to = std::min(shown.range_ns, end_ns - shown.origin_ns);
  if (to <= from) return;
  const std::string took = format_text(step_seconds(end_ns - start_ns), "s");
  widgets::SpanName name{{words[0] + ", " + took, words[0], words[1], words[2]}, to - from, std::move(info)};
  lane.spans.push_back({from, to - from, add_name(p, std::move(name)), depth, tint, mark});
}

Lane steps_lane(Picture& p, const Shown& shown, std::string label) {
  Lane lane{.label = std::move(label)};
  for (const models::StepLedger& l : shown.run->steps) {
    const std::string took = format_text(step_seconds(l.period_ns), "s");
    add_span(p, lane, shown, l.end_ns - l.period_ns, l.end_ns, {"one step", "step", ""},
             "from the end of one step on the GPU to the end of the next, " + took, 0, Tint(), TimelineMark::callout);
  }
  return lane;
}

/// What the host does in the large: launches that a full queue holds back are one stretch, and the launch of a bucket
/// belongs to the backward pass around it.
std::vector<StepBlock> host_in_the_large(const Shown& shown) {
  constexpr double brief = 0.06;
  const auto longest = static_cast<std::int64_t>(brief * static_cast<double>(shown.range_ns));
  std::vector<StepBlock> out;
  for (StepBlock b : shown.run->blocks) {
    if (b.row != StepRow::host) continue;
    const bool after = !out.empty() && out.back().end_ns == b.start_ns && out.back().work == StepWork::launch;
    if (after && ((b.work == StepWork::ahead && b.end_ns - b.start_ns < longest) || b.phase == StepWork::reduce)) {
      b.work = StepWork::launch;
      b.phase = out.back().phase;
    }
    if (after && b.work == StepWork::launch && b.phase == out.back().phase)
      out.back().end_ns = b.end_ns;
    else
      out.push_back(b);
  }
  return out;
}

Lane blocks_lane(Picture& p, const Shown& shown, StepRow row, std::string label, int spare = 0) {
  const bool loads_itself = shown.loads_itself;
  Lane lane{.label = std::move(label), .spare = spare};
  const std::vector<StepBlock> host = row == StepRow::host ? host_in_the_large(shown) : std::vector<StepBlock>();
  for (const StepBlock& b : row == StepRow::host ? host : shown.run->blocks) {
    if (b.row != row || (row == StepRow::worker && b.lane >= shown_workers)) continue;
    const bool idle = b.work == StepWork::idle;
    std::string info = idle                     ? "the compute stream has nothing to do"
                       : b.row == StepRow::host ? "the training process"
                                                : "";
    if (b.row == StepRow::worker)
      info = "worker " + std::to_string(b.lane + 1) + ", batch " + std::to_string(b.step + 1);
    add_span(p, lane, shown, b.start_ns, b.end_ns, words_of(b, loads_itself), std::move(info),
             static_cast<std::uint16_t>(row == StepRow::worker ? b.lane : 0),
             idle ? tint_of_cause(b.cause) : tint_of_work(b.work),
             idle                                                                  ? TimelineMark::hatched
             : b.work == StepWork::ahead || b.work == StepWork::sync               ? TimelineMark::callout
             : b.work == StepWork::load && b.row == StepRow::host && !loads_itself ? TimelineMark::callout
             : b.work == StepWork::read                                            ? TimelineMark::pale
                                                                                   : TimelineMark::solid);
  }
  return lane;
}

Lane memory_lane(const Shown& shown) {
  Lane lane{.label = "memory", .spare = 4};
  double before = 0;
  for (const models::StepMemory& m : shown.run->memory) {
    const std::int64_t at = m.time_ns - shown.origin_ns;
    if (at < 0) before = m.bytes;
    if (at < 0 || at > shown.range_ns) continue;
    if (lane.memory.empty() && at > 0 && before > 0) lane.memory.push_back({0, before});
    lane.memory.push_back({at, m.bytes});
  }
  if (!lane.memory.empty()) lane.memory.push_back({shown.range_ns, lane.memory.back().value});
  return lane;
}

std::vector<Lane> lanes_of(Picture& p, const models::StepRun& run, double period_s, double range_s, std::string label,
                           const Switches& as, const models::StepSetup* loader) {
  Shown shown = shown_of(run, period_s, range_s, as.workers * as.prefetch);
  shown.loads_itself = as.workers == 0;
  std::vector<Lane> out;
  out.push_back(steps_lane(p, shown, std::move(label)));
  const auto add = [&](Lane lane) {
    if (!lane.spans.empty() || !lane.memory.empty()) out.push_back(std::move(lane));
  };
  if (loader) {
    const std::int64_t n = loader->loader.workers;
    Lane workers = blocks_lane(p, shown, StepRow::worker, "workers", 1);
    if (n > shown_workers) workers.sublabel = "4 of " + std::to_string(n);
    add(std::move(workers));
    add(blocks_lane(p, shown, StepRow::pin, "pinning", 3));
  }
  add(blocks_lane(p, shown, StepRow::host, "main thread", 1));
  add(blocks_lane(p, shown, StepRow::copies, "copies", 3));
  add(blocks_lane(p, shown, StepRow::collectives, "all-reduce", 2));
  add(blocks_lane(p, shown, StepRow::compute, "compute"));
  if (loader) add(memory_lane(shown));
  return out;
}

Bar bar_of(std::string label, const std::array<double, part_count>& parts) {
  Bar bar{.label = std::move(label)};
  // Idle time first, then kernels: what goes away stands at the left.
  for (std::size_t c = 0; c < models::step_cause_count; ++c)
    bar.segments.push_back({.label = part_names[3 + c],
                            .value = parts[3 + c],
                            .tint = tint_of_part(3 + c),
                            .info = "the compute stream waits",
                            .hatched = true});
  for (std::size_t i = 0; i < 3; ++i)
    bar.segments.push_back(
        {.label = part_names[i], .value = parts[i], .tint = tint_of_part(i), .info = "kernels on the compute stream"});
  return bar;
}

/// A part of the step as the subject of a sentence.
std::string_view subject_of(std::size_t part) {
  constexpr std::array<std::string_view, part_count> subjects{
      "the forward pass",     "the backward pass",    "the optimizer",         "waiting for data",
      "waiting for the copy", "waiting for launches", "waiting after .item()", "waiting for the all-reduce"};
  return subjects[part];
}

/// What is largest now, and whether more workers would change it.
std::string next_words(const Outputs& out, const Run& run) {
  const std::size_t part = run.parts.largest;
  const std::string takes = figure(out.now.share[part], "%") + " of the step";
  if (part == 3 && std::isnan(out.workers_needed) && std::isfinite(out.ceiling_per_s))
    return "The GPU still waits for data, " + takes + ": only " + figure(out.ceiling_per_s, "") +
           " batches per second arrive, and more workers change nothing.";
  if (part == 3 && std::isfinite(out.workers_needed))
    return "The GPU still waits for data, " + takes + "; " + figure(out.workers_needed, "") +
           (out.workers_needed == 1 ? " worker" : " workers") + " would end that.";
  const bool same = part == run.found_parts.largest;
  return std::string("The largest part is ") + (same ? "still " : "now ") + std::string(subject_of(part)) + ", " +
         takes + ".";
}

std::string answer_of(const Outputs& out, const Run& run) {
  const double before_s = out.found.mean.period_s, after_s = out.now.mean.period_s;
  const std::size_t part = run.found_parts.largest;
  const std::string largest = std::string(subject_of(part)) + ", " + figure(out.found.share[part], "%") + " of it";
  if (out.fixes.empty()) {
    const std::string next = next_words(out, run);
    return "The step takes " + figure(before_s, "s") + " and no change is made.\n" + next;
  }
  constexpr std::array<std::string_view, 8> counts{"no",           "one change",   "two changes", "three changes",
                                                   "four changes", "five changes", "six changes", "seven changes"};
  const std::string with(counts[std::min(out.fixes.size(), counts.size() - 1)]);
  std::string head =
      "With " + with + " the step takes " + figure(after_s, "s") + " instead of " + figure(before_s, "s");
  if (after_s > before_s * (1 + 1e-9))
    head += ": longer.";
  else
    head += "; the largest part was " + largest + ".";
  return head + "\n" + next_words(out, run);
}

}  // namespace

widgets::Tint tint_of_part(std::size_t part) {
  static constexpr std::array<Meaning, 3> busy{Meaning::forward, Meaning::backward, Meaning::optimizer};
  return part < busy.size() ? Tint(busy[part]) : tint_of_cause(static_cast<StepCause>(part - busy.size()));
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.range_s = run.range_s;
  p.before = lanes_of(p, run.found, out.found.mean.period_s, p.range_s, "Before", in.found, nullptr);
  p.after = lanes_of(p, run.now, out.now.mean.period_s, p.range_s, "After", in.now, &run.setup);
  if (out.longest_step_s > 1.25 * out.now.mean.period_s)
    p.uneven_words = "batches come in rounds over " + std::to_string(in.now.workers) + " workers: a step takes " +
                     format_text(out.now.mean.period_s, "s") + " on average";
  p.order = order_of(in, out, run);
  p.bars.push_back(bar_of("as found", run.found_parts.s));
  for (std::size_t i = 0; i < out.fixes.size(); ++i)
    p.bars.push_back(bar_of("then " + p.order.rows[i].name, run.fix_parts[i].s));
  p.answer = answer_of(out, run);
  return p;
}

}  // namespace chapters::profiling::step_trace
