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

std::string answer_of(const Inputs& in, const Outputs& out, Bound narrowest) {
  const std::string rate = widgets::figure(std::round(out.samples_per_s), ""),
                    asked = widgets::figure(std::round(out.ceilings[4]), "");
  if (out.starved < 0.5)
    return "It does not starve: the loader could bring more than the " + asked +
           " samples a second that the GPU takes, and `" + format_text(out.mean_queue, "") + "` of " +
           std::to_string(in.workers * in.prefetch) + " batches are ready.";
  if (in.workers == 0)
    return "It starves `" + format_text(out.starved, "%") +
           "` of the time: the training process loads each batch itself, " + rate + " of " + asked +
           " samples a second.";
  const std::string twice =
      "Twice the workers bring `" + format_text(std::round(out.samples_per_s * (1 + out.twice_gain / 100)), "") + "`.";
  if (narrowest == Bound::gpu)
    return "It starves `" + format_text(out.starved, "%") +
           "` of the time: each part is fast enough on average, but one " +
           "late batch holds up those behind it, and " + rate + " of " + asked + " samples a second arrive. " + twice;
  return "It starves `" + format_text(out.starved, "%") + "` of the time: " + out.bound +
         (narrowest == Bound::workers || narrowest == Bound::cores ? " bring " : " brings ") + rate + " of the " +
         asked + " samples a second that it asks for. " + twice;
}

/// Without workers there is no queue, and what stands in the tanks is how the training process divides its time.
void show_process(const Outputs& out, const Run& run, std::int64_t origin_ns, std::int64_t range_ns, Picture& p) {
  const auto& [asking_s, reading_s, decoding_s] = run.process_s;
  const std::array<double, 2> share{(asking_s + reading_s) / out.step_s, decoding_s / out.step_s};
  for (std::size_t i = 0; i < 2; ++i) {
    p.tanks[i].share = share[i];
    p.tanks[i].inside = format_text(100 * share[i], "%");
    p.tanks[i].room_words = "of the process' time";
  }
  p.tanks[2].inside = "none";
  p.tanks[2].room_words = "no workers, no queue";
  constexpr std::array<std::string_view, 3> does{"asking", "reading", "decoding"};
  double rest = 100;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = 100 * run.process_s[i] / out.step_s;
    rest -= part;
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
  const std::array<std::string, 3> names{"at the storage", "at a core", "in the queue"};
  const auto workers = static_cast<double>(std::max<std::int64_t>(1, in.workers));
  const std::array<double, 3> rooms{workers, workers, std::max(1.0, out.queue_room)};
  const std::array<double, 3> flows{out.ceilings[0], out.ceilings[2], out.ceilings[1]};
  const std::array<const char*, 3> words{"storage ", in.workers > 0 ? "cores " : "one core ",
                                         in.workers > 0 ? "workers " : "itself "};
  const std::array<bool, 3> narrow{run.narrowest == Bound::storage, run.narrowest == Bound::cores,
                                   run.narrowest == Bound::workers || run.narrowest == Bound::pinning};
  for (std::size_t i = 0; i < 3; ++i) {
    Tank& tank = p.tanks[i];
    tank.name = names[i];
    tank.levels = levels_from(*of[i], origin_ns, range_ns);
    tank.room = rooms[i];
    const std::int64_t room = std::llround(rooms[i]);
    const std::string unit = i < 2 ? " worker" : " batch", plural = i < 2 ? "s" : "es";
    tank.room_words = "of " + std::to_string(room) + unit + (room == 1 ? "" : plural);
    tank.flow = std::isfinite(flows[i]) ? words[i] + rate_text(flows[i]) : "no limit";
    if (i == 2 && run.narrowest == Bound::pinning) tank.flow = "pinning " + rate_text(out.ceilings[3]);
    if (narrow[i]) tank.flow = "narrowest: " + tank.flow;
    tank.narrowest = narrow[i] && i < 2;
    p.curves[i] = curve_of(tank.levels, range_ns);
  }
  p.workers_narrowest = narrow[2];
  p.gpu_narrowest = run.narrowest == Bound::gpu && out.starved < 0.5;
  if (in.workers == 0) show_process(out, run, origin_ns, range_ns, p);
  p.gpu_flow =
      (run.narrowest == Bound::gpu ? out.starved < 0.5 ? "narrowest: GPU " : "on average narrowest: GPU " : "GPU ") +
      rate_text(out.ceilings[4]);
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
  constexpr std::array<std::string_view, 4> does{"asking", "reading", "decoding", "idle"};
  for (std::size_t i = 0; i < 4 && in.workers > 0; ++i)
    p.worker_time.push_back({.label = does[i],
                             .value = out.worker_share[i],
                             .tint = i == 3 ? widgets::Tint(Meaning::idle) : stage_tints[i],
                             .info = "share of a worker's time",
                             .hatched = i == 3});
  const auto wait =
      std::find_if(p.gpu.begin(), p.gpu.end(), [](const widgets::TimelineSpan& x) { return x.name == 1; });
  // Left of the middle, where the wait's name stands.
  if (wait != p.gpu.end() && out.starved >= 0.5)
    p.opening_s = 1e-9 * (static_cast<double>(wait->start_ns) + 0.3 * static_cast<double>(wait->duration_ns));
  p.answer = answer_of(in, out, run.narrowest);
  return p;
}

}  // namespace chapters::training::data_loader
