#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/train_time/lab.h"
#include "widgets/number/number.h"

namespace chapters::fleet::train_time {
namespace {

using models::fleet::RunStretch, models::fleet::SimulatedRun;
using widgets::Curve, widgets::format_text;

/// The unit in which people speak of a stretch of that length.
void choose_unit(const Outputs& out, Picture& p) {
  const bool days = out.shown_s > 3 * 86400;
  p.unit_s = days ? 86400 : 3600;
  p.unit = days ? "days" : "hours";
  p.window = out.shown_s / p.unit_s;
  p.clock_label = p.unit + " on the clock";
  p.work_label = p.unit + " of training that count";
}

/// Work over the clock, a fall at each failure.
void add_climb(const SimulatedRun& run, double unit_s, Curve& curve) {
  curve.add(0, 0);
  double at = 0, work = 0;
  for (const RunStretch& s : run.stretches) {
    if (s.work_from_s != work) curve.add(s.from_s / unit_s, s.work_from_s / unit_s);
    curve.add(s.to_s / unit_s, s.work_to_s / unit_s);
    at = s.to_s;
    work = s.work_to_s;
  }
  if (run.kept_s != work) curve.add(at / unit_s, run.kept_s / unit_s);
}

/// What failures undid: between the work and what the last checkpoint held, over the time in which it was done.
Curve redone_area(const SimulatedRun& run, double unit_s) {
  Curve area{.kind = Curve::Kind::area,
             .label = "done twice",
             .info = "work since the last checkpoint, which a failure undid",
             .tint = widgets::Tint::bad(),
             .alpha = 0.45f,
             .width = 0};
  for (const models::fleet::RunFailure& f : run.failures) {
    const double fell = f.fell_from_s - f.fell_to_s;
    if (fell <= 0) continue;
    // A save was under way where the clock and the work are not both at the failure; its own time is not work.
    const auto at_stretch =
        std::find_if(run.stretches.begin(), run.stretches.end(), [&](const RunStretch& s) { return s.to_s >= f.at_s; });
    const bool in_save = at_stretch != run.stretches.end() && at_stretch->kind == RunStretch::Kind::save;
    const double top_s = in_save ? at_stretch->from_s : f.at_s;
    const std::array<std::pair<double, double>, 3> upper{
        {{top_s - fell, f.fell_to_s}, {top_s, f.fell_from_s}, {f.at_s, f.fell_from_s}}};
    for (const auto& [at, work] : upper) {
      area.add(at / unit_s, work / unit_s);
      area.lower.push_back(f.fell_to_s / unit_s);
    }
    area.add(f.at_s / unit_s, f.fell_to_s / unit_s);
    area.lower.push_back(f.fell_to_s / unit_s);
  }
  return area;
}

/// The failures of your run; the one that undid most has words of its own.
Curve failure_marks(const SimulatedRun& run, Picture& p) {
  Curve failures{.kind = Curve::Kind::dots,
                 .label = "a failure",
                 .output = "shown_failures",
                 .tint = widgets::Tint::bad(),
                 .marker = widgets::Marker::triangle,
                 .given = true};
  double worst = 0;
  for (const auto& f : run.failures) {
    failures.add(f.at_s / p.unit_s, 0);
    if (f.fell_from_s - f.fell_to_s <= worst) continue;
    worst = f.fell_from_s - f.fell_to_s;
    p.worst_at = f.at_s / p.unit_s;
    p.worst_work = f.fell_from_s / p.unit_s;
  }
  if (worst > 0) p.lost_words = format_text(worst, "s", 2) + " of work, done twice";
  return failures;
}

/// The checkpoints that were written whole; the first is what a hand drags.
Curve save_marks(const Inputs& in, const Outputs& out, const SimulatedRun& run, Picture& p) {
  Curve saves{.kind = Curve::Kind::dots,
              .label = "a checkpoint",
              .tint = widgets::Tint::yours(),
              .marker = widgets::Marker::square,
              .radius = 3.5f};
  // Where turns are joined there is no room for single checkpoints, and those that are left would mislead.
  const bool single = std::none_of(run.stretches.begin(), run.stretches.end(),
                                   [](const RunStretch& s) { return s.kind == RunStretch::Kind::cycles; });
  for (const RunStretch& s : run.stretches) {
    if (!single || s.kind != RunStretch::Kind::save || s.to_s >= out.shown_s) continue;
    if (s.to_s - s.from_s < 0.999 * in.save_s) continue;  // a failure struck during this save
    saves.add(s.to_s / p.unit_s, s.work_to_s / p.unit_s);
  }
  if (!saves.x.empty()) {
    p.handle_at = saves.x.front();
    p.handle_work = saves.y.front();
  }
  return saves;
}

void arrange_climb(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  choose_unit(out, p);
  Curve ideal{.label = "nothing fails",
              .info = "every hour of the clock counts",
              .dashed = true,
              .named = false,
              .given = true,
              .x = {0, p.window},
              .y = {0, p.window}};
  Curve best{.label = "every " + format_text(out.exact_s, "s") + ": the best",
             .info = "the same failures",
             .output = "shown_best_kept",
             .tint = widgets::Tint::strong(),
             .named = false};
  Curve yours{.label = "every " + format_text(out.interval_used_s, "s") + ": yours",
              .output = "shown_kept",
              .tint = widgets::Tint::yours(),
              .width = 2.5f,
              .named = false};
  add_climb(run.best, p.unit_s, best);
  add_climb(run.yours, p.unit_s, yours);
  p.draw_words = "one draw: yours keeps " + format_text(out.shown_kept, "%", 2) + " here, " +
                 format_text(out.efficiency, "%", 2) + " on average";
  p.climb = {std::move(ideal), redone_area(run.yours, p.unit_s), std::move(best), std::move(yours),
             failure_marks(run.yours, p)};
  if (Curve saves = save_marks(in, out, run.yours, p); !saves.x.empty()) p.climb.push_back(std::move(saves));
  p.yours_end = run.yours.kept_s / p.unit_s;
  p.best_end = run.best.kept_s / p.unit_s;
  p.yours_words = format_text(p.yours_end, "", 3);
  p.best_words = format_text(p.best_end, "", 3);
}

/// The share of the clock that is lost over the interval: what saving takes of it, and all.
void arrange_losses(const Inputs& in, const Outputs& out, Picture& p) {
  const auto run = reliability(in);
  const double from = std::max(1e-3, std::min(out.exact_s / 30, out.interval_used_s / 2)),
               to = std::max(out.exact_s * 30, out.interval_used_s * 2);
  Curve saving{.kind = Curve::Kind::area,
               .label = "saving",
               .output = "share_saving",
               .tint = widgets::Meaning::data_loading,
               .alpha = 0.4f,
               .width = 0};
  Curve restarting{.kind = Curve::Kind::area,
                   .label = "restarting",
                   .output = "share_restarting",
                   .tint = widgets::Meaning::idle,
                   .alpha = 0.6f,
                   .width = 0};
  Curve falling{.kind = Curve::Kind::area,
                .label = "done twice",
                .output = "share_redone",
                .tint = widgets::Tint::bad(),
                .alpha = 0.4f,
                .width = 0};
  Curve all{.label = "lost", .tint = widgets::Tint::strong(), .named = false, .legend = false};
  constexpr int points = 90;
  double high = 0;
  for (int i = 0; i <= points; ++i) {
    const double at = from * std::pow(to / from, static_cast<double>(i) / points);
    const models::fleet::ClockShares s = models::fleet::clock_shares(run, at);
    saving.add(at, 100 * s.saving);
    falling.add(at, 100 * (s.saving + s.redone));
    falling.lower.push_back(100 * s.saving);
    restarting.add(at, 100 * (1 - s.kept));
    restarting.lower.push_back(100 * (s.saving + s.redone));
    all.add(at, 100 * (1 - s.kept));
    high = std::max(high, 100 * (1 - s.kept));
  }
  p.losses = {std::move(saving), std::move(falling), std::move(restarting), std::move(all)};
  p.least_interval = from;
  p.most_interval = to;
  p.most_lost = std::min(100.0, 1.08 * high);
  p.yours_lost = "yours " + format_text(100 - out.efficiency, "%", 2);
  p.best_lost = "best " + format_text(100 - out.best_efficiency, "%", 2);
}

/// The same job on fewer and more GPUs, each of which fails as often: at its own best interval, and at the one set.
void arrange_fleet(const Inputs& in, const Outputs& out, Picture& p) {
  auto run = reliability(in);
  const double per_gpu_s = in.mtbf_s * static_cast<double>(in.gpus);
  p.most_gpus = std::max(131'072.0, static_cast<double>(in.gpus));
  Curve best{.label = "at its best interval", .tint = widgets::Tint::strong()};
  Curve yours{.label = "at yours", .tint = widgets::Tint::yours(), .width = 2.5f};
  Curve here{.kind = Curve::Kind::dots,
             .label = "your run",
             .output = "efficiency",
             .tint = widgets::Tint::yours(),
             .radius = 6,
             .legend = false};
  for (double gpus = 1; gpus <= p.most_gpus * 1.001; gpus *= std::sqrt(2.0)) {
    run.mtbf_s = per_gpu_s / gpus;
    best.add(gpus, 100 * models::fleet::checkpoint_efficiency(run, models::fleet::exact_interval_s(run)));
    yours.add(gpus, 100 * models::fleet::checkpoint_efficiency(run, out.interval_used_s));
  }
  here.add(static_cast<double>(in.gpus), out.efficiency);
  p.fleet = {std::move(best), std::move(yours), std::move(here)};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(out);
  arrange_climb(in, out, run, p);
  arrange_losses(in, out, p);
  arrange_fleet(in, out, p);
  p.doors = doors_of(in, out);
  for (const auto& [shares, wall] : {std::pair{&out.shares, out.wall_s}, std::pair{&out.best, out.best_wall_s}})
    for (const double share : {shares->kept, shares->saving, shares->redone, shares->restarting})
      p.days.push_back(share / 100 * wall);
  return p;
}

}  // namespace chapters::fleet::train_time
