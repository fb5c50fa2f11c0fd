#include <algorithm>
#include <cmath>

#include "chapters/training/data_loader/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::data_loader {
namespace {

using models::LoaderLevel, widgets::format_text, widgets::Meaning;

constexpr std::array<widgets::Tint, 3> stage_tints{widgets::Tint::series(3), widgets::Tint::series(0),
                                                   widgets::Tint::series(2)};

std::string rate_text(double samples_per_s) { return format_text(std::round(samples_per_s), "") + "/s"; }

/// The levels from `origin_ns` on, with what held before as the first.
std::vector<LoaderLevel> levels_from(const std::vector<LoaderLevel>& all, std::int64_t origin_ns,
                                     std::int64_t range_ns) {
  std::vector<LoaderLevel> out{{0, 0}};
  for (const LoaderLevel& l : all) {
    const std::int64_t at = l.time_ns - origin_ns;
    if (at > range_ns) break;
    if (at <= 0)
      out.front().count = l.count;
    else
      out.push_back({at, l.count});
  }
  return out;
}

std::vector<widgets::TimelinePoint> curve_of(const std::vector<LoaderLevel>& levels, std::int64_t range_ns) {
  std::vector<widgets::TimelinePoint> out;
  for (const LoaderLevel& l : levels) out.push_back({l.time_ns, static_cast<double>(l.count)});
  out.push_back({range_ns, out.back().value});
  return out;
}

using widgets::figure;

std::string per_s(double samples_per_s) { return figure(std::round(samples_per_s), ""); }
std::string workers_text(std::int64_t n) { return figure(std::to_string(n)) + (n == 1 ? " worker" : " workers"); }

/// Who gives how much of what the GPU could use.
std::string verdict_of(const Inputs& in, const Outputs& out, Bound narrowest) {
  const std::string could = per_s(out.ceilings[4]);
  if (out.starved < 0.5)
    return "The GPU never waits: " +
           (in.workers > 0 ? workers_text(in.workers) + (in.workers == 1 ? " keeps" : " keep")
                           : std::string("the training process keeps")) +
           " up with the " + could + " samples/s that it takes.";
  const std::string waits = "The GPU waits " + figure(out.starved, "%") + " of the time",
                    of = per_s(out.samples_per_s) + " samples/s; the GPU takes " + could + ".";
  if (in.workers == 0) return waits + ": without workers the training process loads " + of;
  switch (narrowest) {
    case Bound::gpu:
      return waits + ", though each part is fast enough on average: one late batch holds up those that follow.";
    case Bound::storage:
      return waits + ": storage gives " + workers_text(in.workers) + " " + of;
    case Bound::workers:
      return waits + ": " + workers_text(in.workers) + (in.workers == 1 ? " brings " : " bring ") + of;
    case Bound::cores:
      return waits + ": " + figure(std::to_string(in.cores)) + (in.cores == 1 ? " core decodes " : " cores decode ") +
             of;
    case Bound::pinning:
      return waits + ": the pinning thread copies " + of;
  }
  return {};
}

/// What would help, or that it is covered.
std::string help_of(const Inputs& in, const Outputs& out, Bound narrowest) {
  if (out.starved < 0.5) {
    if (in.workers == 0) return "While the GPU works on one batch, the process loads the next.";
    return figure(out.mean_queue, "") + " of at most " + figure(out.queue_room, "") +
           " batches are ready on average, so that a slow one is covered.";
  }
  if (in.workers == 0) return "Workers would load the next batch while the GPU works on this one.";
  const std::string twice = per_s(out.twice_per_s) + " samples/s";
  if (narrowest == Bound::gpu)
    return per_s(out.samples_per_s) +
           " samples/s arrive; twice the workers, or more batches ahead, would bring up to " + twice + ".";
  if (narrowest == Bound::workers) {
    if (out.worker_share[0] > 50)
      return "Each waits " + figure(out.worker_share[0], "%") +
             " of its time for first bytes: read shards, or double the workers for " + twice + ".";
    return "Twice the workers would bring " + twice + (out.twice_gain < 1 ? ": no more." : ".");
  }
  if (out.twice_gain >= 1) return "Twice the workers would bring " + twice + ".";
  if (narrowest == Bound::storage)
    return "More workers change nothing: storage is " + figure(out.storage_use, "%") +
           " busy. Smaller samples or faster storage would help.";
  if (narrowest == Bound::cores)
    return "More workers change nothing: the cores are " + figure(out.core_use, "%") +
           " busy. Cheaper decoding or more cores would help.";
  return "More workers change nothing: one thread copies every batch. Smaller batches or no pinning would help.";
}

/// Without workers: how the training process divides its time.
void show_process(const Outputs& out, const Run& run, std::int64_t origin_ns, std::int64_t range_ns, Picture& p) {
  constexpr std::array<std::string_view, 3> does{"asking", "reading", "decoding"};
  double rest = 100;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = 100 * run.process_s[i] / out.step_s;
    rest -= part;
    if (!(part > 0)) continue;
    p.worker_time.push_back(
        {.label = does[i], .value = part, .tint = stage_tints[i], .info = "share of the process' time"});
  }
  p.worker_time.push_back({.label = "the rest of the step",
                           .value = std::max(0.0, rest),
                           .tint = Meaning::idle,
                           .info = "launching, pinning, waiting for the GPU",
                           .hatched = true});
  for (const models::StepBlock& b : run.steps.blocks) {
    if (b.row != models::StepRow::host || b.work != models::StepWork::load) continue;
    const std::int64_t from = std::max<std::int64_t>(0, b.start_ns - origin_ns),
                       to = std::min(range_ns, b.end_ns - origin_ns);
    if (to > from) p.process.push_back({from, to - from, 2, 0, Meaning::data_loading});
  }
}

/// What a worker does on average, part by part.
void show_workers(const Outputs& out, Picture& p) {
  constexpr std::array<std::string_view, 4> does{"asking", "reading", "decoding", "idle"};
  constexpr double least = 0.05;  // percent: less has no width, and its name in the legend would promise some
  for (std::size_t i = 0; i < 4; ++i)
    if (out.worker_share[i] >= least)
      p.worker_time.push_back({.label = does[i],
                               .value = out.worker_share[i],
                               .tint = i == 3 ? widgets::Tint(Meaning::idle) : stage_tints[i],
                               .info = "share of a worker's time",
                               .hatched = i == 3});
}

/// "`n` things" without backticks.
std::string plain_count(std::int64_t n, const char* one) { return std::to_string(n) + " " + one + (n == 1 ? "" : "s"); }

/// The parts as channels of a river, and its neck.
void arrange_river(const Inputs& in, const Outputs& out, Bound narrowest, Picture& p) {
  const models::LoaderSetup loader = setup_of(in, in.workers).loader;
  const auto add = [&](Bound part, std::string name, std::string note, double twice) {
    const double per_s = out.ceilings[static_cast<std::size_t>(part)];
    if (!std::isfinite(per_s)) return;
    if (part == narrowest && (part != Bound::gpu || out.starved < 0.5)) p.neck = p.stations.size();
    p.stations.push_back({.name = std::move(name),
                          .rate = rate_text(per_s),
                          .note = std::move(note),
                          .given_note = part != Bound::workers,
                          .per_s = per_s,
                          .twice_per_s = twice * per_s});
  };
  p.neck = 5;
  add(Bound::storage, "storage",
      format_text(in.sample_bytes, "B") + " each at " + format_text(loader.storage_bytes_per_s, "B/s"), 1);
  const double one = out.ceilings[1] / static_cast<double>(std::max<std::int64_t>(1, in.workers));
  add(Bound::workers, in.workers > 0 ? plain_count(in.workers, "worker") : "the process",
      in.workers > 0 ? "each " + rate_text(one) : "no workers", in.workers > 0 ? 2 : 1);
  add(Bound::cores, in.workers > 0 ? plain_count(in.cores, "core") : "one core",
      format_text(in.decode_s, "s") + " to decode one", 1);
  add(Bound::pinning, "pinned copy", "at " + format_text(in.host_copy_bytes_per_s, "B/s"), 1);
  add(Bound::gpu, "GPU", std::to_string(in.samples) + " in " + format_text(in.gpu_s, "s"), 1);
  p.neck = std::min(p.neck, p.stations.size());
  if (in.workers > 0) p.ghost_words = "with " + std::to_string(2 * in.workers) + " workers";
  p.flow = out.samples_per_s;
  const double gpu = out.ceilings[4];
  p.widest = 1.7 * std::max(gpu, std::min(out.samples_per_s, gpu));
  p.neck_words = rate_text(out.samples_per_s);
  if (out.starved >= 0.5) p.dry_words = format_text(out.starved, "%") + " dry";
  p.fed_words = rate_text(out.samples_per_s) + " arrive";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.steps.steps.size() < 4) return p;
  // Two rounds over the workers, or four batches where there are few, from the end of a step on.
  const auto& steps = run.steps.steps;
  const auto want = static_cast<std::size_t>(std::clamp<std::int64_t>(2 * in.workers, 4, 24));
  // The host takes batches ahead of the GPU, and the loader is known up to the last that was taken.
  const std::size_t last = steps.size() - 3, shown = std::min(want, last);
  const std::int64_t origin_ns = steps[last - shown].end_ns, range_ns = steps[last].end_ns - origin_ns;
  p.range_s = static_cast<double>(range_ns) * 1e-9;
  const std::array<const std::vector<LoaderLevel>*, 3> of{&run.steps.reading, &run.steps.decoding, &run.steps.ready};
  constexpr std::array<std::string_view, 3> names{"at the storage", "at a core", "in the queue"};
  const auto workers = static_cast<double>(std::max<std::int64_t>(1, in.workers));
  const std::array<double, 3> rooms{workers, workers, std::max(1.0, out.queue_room)};
  for (std::size_t i = 0; i < 3; ++i) {
    p.levels[i] = {names[i], levels_from(*of[i], origin_ns, range_ns), rooms[i]};
    p.curves[i] = curve_of(p.levels[i].levels, range_ns);
  }
  arrange_river(in, out, run.narrowest, p);
  if (in.workers == 0)
    show_process(out, run, origin_ns, range_ns, p);
  else
    show_workers(out, p);
  for (const models::StepBlock& b : run.steps.blocks) {
    if (b.row != models::StepRow::compute) continue;
    const std::int64_t from = std::max<std::int64_t>(0, b.start_ns - origin_ns),
                       to = std::min(range_ns, b.end_ns - origin_ns);
    if (to <= from) continue;
    const bool idle = b.work == models::StepWork::idle;
    // A launch between two batches that are there is no starving.
    if (idle && b.end_ns - b.start_ns < 1000) continue;
    // Forward and backward of a step are one piece of work here.
    if (!idle && !p.gpu.empty() && p.gpu.back().end_ns() == from && p.gpu.back().name == 0)
      p.gpu.back().duration_ns += to - from;
    else
      p.gpu.push_back({from, to - from, idle ? 1u : 0u, 0, idle ? Meaning::data_loading : Meaning::forward,
                       idle ? widgets::TimelineMark::hatched : widgets::TimelineMark::solid});
  }
  p.allowed = {.label = "what the narrowest part allows",
               .info = "min(storage, cores, workers, pinning, GPU)",
               .dashed = true,
               .named = false};
  p.simulated = {
      .label = "simulated", .info = "the whole row, batch by batch", .tint = widgets::Tint::yours(), .named = false};
  for (const WorkersPoint& point : run.by_workers) {
    p.allowed.add(static_cast<double>(point.workers), point.allowed);
    p.simulated.add(static_cast<double>(point.workers), point.simulated);
  }
  p.marks = {out.ceilings[0], static_cast<double>(in.cores) / in.decode_s, out.ceilings[4]};
  const auto wait =
      std::find_if(p.gpu.begin(), p.gpu.end(), [](const widgets::TimelineSpan& x) { return x.name == 1; });
  // Left of the middle, where the wait's name stands.
  if (wait != p.gpu.end() && out.starved >= 0.5)
    p.opening_s = 1e-9 * (static_cast<double>(wait->start_ns) + 0.3 * static_cast<double>(wait->duration_ns));
  p.answer = verdict_of(in, out, run.narrowest) + "\n" + help_of(in, out, run.narrowest);
  return p;
}

}  // namespace chapters::training::data_loader
