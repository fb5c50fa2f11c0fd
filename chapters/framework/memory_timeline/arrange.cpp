#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/memory_timeline/lab.h"
#include "widgets/number/number.h"

namespace chapters::framework::memory_timeline {
namespace {

using models::memory::LayerKeep, models::memory::MemoryOwner, models::memory::StepPhase, widgets::figure,
    widgets::format_text;

constexpr std::size_t max_points = 900, max_recorded = 3000;

/// The chosen points, each twice, so that the plot has steps. The last one ends at `end_s`.
Curve steps_of(const models::memory::StepTimeline& t, const std::vector<std::size_t>& chosen, double end_s) {
  Curve curve;
  const std::size_t count = 2 * chosen.size();
  curve.time_s.resize(count);
  curve.total.resize(count);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const models::memory::MemoryPoint& p = t.points[chosen[i]];
    curve.time_s[2 * i] = p.time_s;
    curve.time_s[2 * i + 1] = i + 1 < chosen.size() ? t.points[chosen[i + 1]].time_s : std::max(end_s, p.time_s);
    curve.total[2 * i] = curve.total[2 * i + 1] = p.held.total();
  }
  for (const MemoryOwner owner : stack_order) {
    const bool any =
        std::any_of(chosen.begin(), chosen.end(), [&](std::size_t i) { return t.points[i].held[owner] > 0; });
    if (!any) continue;
    curve.shown.push_back(owner);
    for (const std::size_t i : chosen)
      curve.owners.insert(curve.owners.end(), 2, std::max(0.0, t.points[i].held[owner]));
  }
  return curve;
}

/// At most `max_points` of the curve: of each stretch of time the fullest.
Curve curve_of(const models::memory::StepTimeline& t) {
  std::vector<std::size_t> chosen;
  const double end = t.points.back().time_s;
  const auto bucket = [&](std::size_t k) {
    return static_cast<std::size_t>(t.points[k].time_s / end * static_cast<double>(max_points));
  };
  for (std::size_t i = 0; i < t.points.size();) {
    std::size_t best = i, k = i + 1;
    for (; t.points.size() > max_points && k < t.points.size() && bucket(k) == bucket(i); ++k)
      if (t.points[k].held.total() > t.points[best].held.total()) best = k;
    chosen.push_back(best);
    i = k;
  }
  return steps_of(t, chosen, end);
}

/// The first loss, operation by operation, with the end of the forward pass before it and the first backward after it.
Curve loss_of(const models::memory::StepTimeline& t) {
  std::vector<std::size_t> chosen;
  double begin = -1, end = 0;
  for (const models::memory::StepSpan& span : t.spans)
    if (span.phase == StepPhase::loss && begin < 0) {
      begin = span.begin_s;
      end = span.end_s;
    }
  const double room = 0.06 * (end - begin);
  for (std::size_t i = 0; i < t.points.size(); ++i)
    if (t.points[i].time_s >= begin - room && t.points[i].time_s <= end + room) chosen.push_back(i);
  return steps_of(t, chosen, end + room);
}

std::string bytes_of(double bytes) { return figure(bytes, "B"); }

std::string where_of(const Outputs& out) {
  if (out.peak_phase == "loss") return "Memory peaks while the loss is computed: ";
  if (out.peak_phase == "again") return "Memory peaks while a layer is recomputed: ";
  if (out.peak_phase == "optimizer") return "Memory peaks in the optimizer step: ";
  return "Memory peaks in the " + out.peak_phase + " pass: ";
}
std::string by_limit(const Outputs& out) {
  return bytes_of(std::abs(out.free_bytes)) + (out.fits ? " under" : " over") + " the chip's " +
         bytes_of(out.chip_bytes);
}

/// What several steps in a row show; empty for one step.
std::string trend_answer(const Outputs& out) {
  using models::memory::MemoryTrend;
  const std::string peak = "The peak is " + bytes_of(out.peak_bytes) + ", " + by_limit(out) + ".";
  switch (out.trend.trend) {
    case MemoryTrend::leak:
      return "A leak: each step ends " + bytes_of(out.trend.growth_bytes) + " higher than it began, mostly " +
             out.trend_owner + "." +
             (out.trend.first_over > 0 ? " Step " + figure(out.trend.first_over, "") + " no longer fits." : "") + "\n" +
             peak;
    case MemoryTrend::plateau:
      return "No leak: only the first step ends higher than it began, by " + bytes_of(out.trend.growth_bytes) +
             (out.trend_owner == "optimizer" ? " of moments.\n" : " of " + out.trend_owner + ".\n") + peak;
    case MemoryTrend::sawtooth:
      return "No leak: every step climbs to its peak and ends where it began, at " + bytes_of(out.rest_bytes) + ".\n" +
             peak;
    case MemoryTrend::mixed:
      return "The steps differ, and show neither a leak nor a plateau.\n" + peak;
    case MemoryTrend::one_step:
      break;
  }
  return {};
}

std::string layers_words(double n) { return figure(n, "") + (n == 1 ? " layer" : " layers"); }

/// What made the peak what it is, or what would lower it.
std::string peak_help(const Outputs& out) {
  if (out.scores_bytes > 0.5 * out.held[MemoryOwner::activations])
    return "Attention scores are " + bytes_of(out.scores_bytes) + " of it; FlashAttention stores none of them.";
  if (out.micro_growth_bytes > 0.02 * out.peak_bytes)
    return "Gradients of the first micro-batch stay, so the last one peaks " + bytes_of(out.micro_growth_bytes) +
           " higher.";
  if (out.layers_again > 0) {
    const std::string does =
        "Recomputing " + layers_words(out.layers_again) +
        (out.saved_bytes > 1e-3 * out.peak_bytes ? " saves " + bytes_of(out.saved_bytes) + " at the peak and"
                                                 : std::string(" saves nothing at the peak and")) +
        " takes " + figure(out.again_share, "%", 2) + " more time";
    return does + (out.fits ? "." : std::isnan(out.layers_needed) ? "; even all of them are too few." : "; too few.");
  }
  if (out.fits) return "No layer needs to be recomputed.";
  if (std::isnan(out.layers_needed)) return "Even recomputing every layer would not make it fit.";
  return "Recomputing the first " + layers_words(out.layers_needed) + " would make it fit.";
}

std::string answer_of(const Outputs& out) {
  if (std::string trend = trend_answer(out); !trend.empty()) return trend;
  return where_of(out) + bytes_of(out.peak_bytes) + ", " + by_limit(out) + ".\n" + peak_help(out);
}

/// What stands at the summit, in plain words.
std::string summit_of(const Outputs& out) {
  const auto gb = [](double bytes) { return format_text(bytes, "B"); };
  if (out.peak_phase == "loss") return "the loss holds " + gb(out.held[MemoryOwner::logits]) + " of logits";
  if (out.peak_phase == "optimizer")
    return out.held[MemoryOwner::temporary] > 0 ? "the optimizer's copies: " + gb(out.held[MemoryOwner::temporary])
                                                : "the optimizer, with all gradients there";
  if (out.peak_phase == "again") return "a layer's forward pass is recomputed";
  const bool gradients = out.held[MemoryOwner::gradients] > out.held[MemoryOwner::activations];
  const MemoryOwner most = gradients ? MemoryOwner::gradients : MemoryOwner::activations;
  return out.peak_phase + " pass, " + gb(out.held[most]) + " of " + std::string(models::memory::owner_name(most));
}

void arrange_pillars(const Run& run, const Outputs& out, Picture& p) {
  if (run.costs.empty()) return;
  double most = 0;
  for (const auto& l : run.costs) most = std::max(most, l.saved);
  for (std::size_t i = 0; i < run.costs.size(); ++i) {
    const LayerKeep keep = run.layers[i];
    const auto& l = run.costs[i];
    const bool hollow = keep == LayerKeep::again || keep == LayerKeep::joined;
    const bool after = i > 0 && p.pillars.back().hollow;
    p.pillars.push_back({.kept = hollow ? 0 : (keep == LayerKeep::selective ? l.selective : l.saved) / most,
                         .hollow = hollow,
                         .joined = keep == LayerKeep::joined && after});
  }
  p.low_share = run.costs.front().checkpoint / most;
  p.full_words = format_text(most, "B");
  p.low_words = format_text(run.costs.front().checkpoint, "B");
  if (out.layers_needed > 0) {
    p.mark = static_cast<std::ptrdiff_t>(out.layers_needed) - 1;
    p.mark_words = out.layers_needed == 1 ? "the first alone would do"
                                          : "the first " + format_text(out.layers_needed, "") + " would do";
  }
  p.count_words = format_text(out.layers_again, "") + " of " + format_text(static_cast<double>(run.costs.size()), "") +
                  " recomputed; press or drag the pillars";
}

/// The recording, of each stretch of points the fullest, and the model, each on its own time.
void arrange_recording(const models::memory::RecordedCurve& recorded, const Outputs& out, Picture& p) {
  widgets::Curve curve{.kind = widgets::Curve::Kind::steps, .label = "recorded", .tint = widgets::Tint::strong()};
  const auto& points = recorded.points;
  const std::size_t step = std::max<std::size_t>(1, points.size() / max_recorded);
  for (std::size_t i = 0; i < points.size();) {
    std::size_t best = i;
    const std::size_t until = std::min(points.size(), i + step);
    for (std::size_t k = i; k < until; ++k)
      if (points[k].bytes > points[best].bytes) best = k;
    curve.add(points[i].time_s, points[best].bytes);
    i = until;
  }
  p.beside = {
      std::move(curve),
      {.label = "model", .tint = widgets::Tint::yours(), .dashed = true, .x = p.curve.time_s, .y = p.curve.total}};
  const double residual = out.recording.residual;
  p.recorded_words = recorded.kind + ": its peak is " + format_text(recorded.peak_bytes, "B") + "; the model's is " +
                     format_text(std::abs(residual), "%", 3) + (residual < 0 ? " lower." : " higher.");
}

/// A column of the plot: the upper edges of the owners, from the ground up.
struct ColumnPoint {
  double time_s = 0;
  std::array<double, models::memory::memory_owner_count> edges{};
};

ColumnPoint column_point(const models::memory::MemoryPoint& point, double time_s) {
  ColumnPoint out{.time_s = time_s, .edges = {}};
  double edge = 0;
  for (std::size_t k = 0; k < stack_order.size(); ++k) {
    edge += std::max(0.0, point.held[stack_order[k]]);
    out.edges[k] = edge;
  }
  return out;
}

/// The points without which straight lines would miss another by more than the tolerance. From each point kept the
/// slopes are remembered that pass all points since; the next one is kept where no such slope reaches further.
std::vector<std::size_t> needed_points(const std::vector<ColumnPoint>& all, double tolerance) {
  using Slopes = std::array<double, models::memory::memory_owner_count>;
  Slopes least{}, most{};
  std::vector<std::size_t> kept{0};
  const auto restart = [&] {
    least.fill(-HUGE_VAL);
    most.fill(HUGE_VAL);
  };
  restart();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto slope_to = [&](std::size_t k, double off) {
      const ColumnPoint& from = all[kept.back()];
      return (all[i].edges[k] + off - from.edges[k]) / (all[i].time_s - from.time_s);
    };
    bool reached = true;
    for (std::size_t k = 0; k < stack_order.size(); ++k)
      reached = reached && slope_to(k, 0) >= least[k] && slope_to(k, 0) <= most[k];
    if (!reached) {
      kept.push_back(i - 1);
      restart();
    }
    for (std::size_t k = 0; k < stack_order.size(); ++k) {
      least[k] = std::max(least[k], slope_to(k, -tolerance));
      most[k] = std::min(most[k], slope_to(k, tolerance));
    }
  }
  if (kept.back() + 1 < all.size()) kept.push_back(all.size() - 1);
  return kept;
}

}  // namespace

void sample_curve(const models::memory::StepTimeline& t, std::size_t columns, double tolerance_bytes, Curve& out) {
  columns = std::max<std::size_t>(columns, 2);
  const double end = t.points.back().time_s;
  std::vector<ColumnPoint> all;
  std::size_t next = 0;
  for (std::size_t k = 0; k < columns; ++k) {
    const double until = end * static_cast<double>(k + 1) / static_cast<double>(columns);
    std::size_t best = next > 0 ? next - 1 : 0;  // what still holds when the column begins
    for (; next < t.points.size() && (t.points[next].time_s < until || k + 1 == columns); ++next)
      if (t.points[next].held.total() > t.points[best].held.total()) best = next;
    all.push_back(column_point(t.points[best], end * static_cast<double>(k) / static_cast<double>(columns)));
  }
  all.push_back(all.back());
  all.back().time_s = end;
  const std::vector<std::size_t> kept = needed_points(all, tolerance_bytes);
  out = {};
  for (const std::size_t i : kept) {
    out.time_s.push_back(all[i].time_s);
    out.total.push_back(all[i].edges.back());
  }
  for (std::size_t k = 0; k < stack_order.size(); ++k) {
    const auto height = [k](const ColumnPoint& p) { return p.edges[k] - (k > 0 ? p.edges[k - 1] : 0.0); };
    if (std::none_of(all.begin(), all.end(), [&](const ColumnPoint& p) { return height(p) > 0; })) continue;
    out.shown.push_back(stack_order[k]);
    for (const std::size_t i : kept) out.owners.push_back(height(all[i]));
  }
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.timeline.points.empty()) return p;
  p.curve = curve_of(run.timeline);
  p.loss = loss_of(run.timeline);
  if (out.layers_again > 0) p.before_label = "all kept: " + format_text(out.before_peak_bytes, "B");
  p.answer = answer_of(out);
  p.kept_outputs = in.keep_outputs;
  p.letters = models::memory::plan_letters(run.layers);
  p.peak_bold = format_text(out.peak_bytes, "B");
  p.peak_words = summit_of(out);
  // Of several losses the lens would show one, and it would not say which.
  p.lens = out.peak_phase == "loss" && std::count_if(run.phases.begin(), run.phases.end(), [](const auto& span) {
                                         return span.phase == StepPhase::loss;
                                       }) == 1;
  p.lens_left = "the loss, " + format_text(out.loss_s, "s");
  p.lens_right = format_text(out.loss_peak_bytes, "B");
  if (out.peak_phase == "loss") p.lens_right += " for " + format_text(out.peak_lasts_s, "s");
  p.tensor_words = "What is there at the peak, " + format_text(out.peak_bytes, "B") +
                   ": the rows add up to it. Moments are those of one matrix together.";
  arrange_pillars(run, out, p);
  if (run.recorded) arrange_recording(*run.recorded, out, p);
  return p;
}

}  // namespace chapters::framework::memory_timeline
