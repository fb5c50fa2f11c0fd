#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/framework/memory_timeline/lab.h"
#include "chapters/mechanism/file_name.h"

namespace chapters::framework::memory_timeline {
namespace {

using models::memory::LayerKeep;
using models::memory::MemoryOwner;
using RecordedPtr = std::shared_ptr<const models::memory::RecordedCurve>;

/// How many of the first layers must run again for the peak to be under the chip's memory, by halving the interval; NaN
/// where all are too few.
double layers_needed(const Setting& s, double with_none) {
  const auto fits = [&](std::size_t n) {
    models::memory::TimelineSetting setting = s.timeline;
    setting.layers = models::memory::first_layers(setting.layers.size(), n);
    const auto timeline = models::memory::step_timeline(s.architecture, setting, s.machine);
    return timeline && timeline->peak_bytes <= s.chip->memory_bytes;
  };
  if (with_none <= s.chip->memory_bytes) return 0;
  std::size_t low = 0, high = s.timeline.layers.size();
  if (!fits(high)) return std::numeric_limits<double>::quiet_NaN();
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return static_cast<double>(high);
}

}  // namespace

std::vector<LayerKeep> keep_of(const Inputs& in, std::size_t layers, std::string& problem) {
  using models::memory::every_k;
  switch (in.which) {
    case Which::none:
      break;
    case Which::selective:
      return std::vector<LayerKeep>(layers, LayerKeep::selective);
    case Which::every_layer:
      return every_k(layers, 1);
    case Which::pieces:
      return every_k(layers, static_cast<std::size_t>(in.piece));
    case Which::square_root:
      return every_k(layers, static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(layers)))));
    case Which::first:
      return models::memory::first_layers(layers, static_cast<std::size_t>(in.again));
    case Which::drawn: {
      const auto plan = models::memory::plan_of_letters(in.letters, layers);
      if (plan) return *plan;
      problem = plan.error;
      break;
    }
  }
  return std::vector<LayerKeep>(layers, LayerKeep::kept);
}

models::Result<Setting> read_setting(const Inputs& in) {
  using Out = models::Result<Setting>;
  auto on = trained_on(in.model, in.chip, in.recipe);
  if (!on) return Out::fail(on.error);
  Setting s{std::move(*on)};
  s.timeline.plan = {.recipe = in.recipe,
                     .optimizer = in.optimizer,
                     .batch = in.batch,
                     .sequence = in.sequence,
                     .micro_batches = in.micro_batches,
                     .tensor = in.tensor_parallel,
                     .sequence_parallel = in.tensor_parallel > 1,
                     .fused_attention = in.fused_attention,
                     .loss = in.loss};
  s.timeline.loop = in.loop;
  s.timeline.steps = in.steps;
  s.timeline.first_step = in.first_step;
  s.timeline.keep_gradients = in.keep_gradients;
  s.timeline.keep_outputs = in.keep_outputs;
  s.timeline.roof_share = in.roof_share;
  std::string problem;
  s.timeline.layers = keep_of(in, static_cast<std::size_t>(s.architecture.layers), problem);
  if (!problem.empty()) return Out::fail(problem);
  return Out::ok(std::move(s));
}

models::Result<RecordedPtr> recorded(const Inputs& in, const Progress* progress) {
  using Out = models::Result<RecordedPtr>;
  if (!in.file.bytes && in.file.text.empty()) return Out::ok(nullptr);
  const std::string name(file_name(in.file.path));
  std::string problem;
  models::trace::Progress reading;
  if (progress) reading.cancelled = [progress] { return progress->cancelled.load(); };
  const auto read = [&](const models::trace::Bytes& bytes) -> RecordedPtr {
    auto curve = models::memory::read_memory_curve(bytes, name.empty() ? "The file" : name, reading);
    problem = curve.error;
    return curve ? std::make_shared<const models::memory::RecordedCurve>(std::move(*curve)) : nullptr;
  };
  RecordedPtr curve;
  if (in.file.bytes) {
    const auto& file = *in.file.bytes;
    curve = file.made<models::memory::RecordedCurve>([&] { return read({file.size_bytes, file.read_at}); });
  } else {
    curve = read(models::trace::in_memory(in.file.text));
  }
  if (!curve) return Out::fail(problem.empty() ? name + ": The file cannot be read; choose another." : problem);
  return Out::ok(std::move(curve));
}

Outputs compute(const Inputs& in, Progress& progress) {
  const auto setting = read_setting(in);
  if (!setting) return {.reason = setting.error};
  const Setting& s = *setting;
  const auto timeline = models::memory::step_timeline(s.architecture, s.timeline, s.machine);
  if (!timeline) return {.reason = timeline.error};
  models::memory::TimelineSetting all = s.timeline;
  all.layers.clear();
  const auto before = models::memory::step_timeline(s.architecture, all, s.machine);
  if (!before) return {.reason = before.error};
  const auto curve = recorded(in, &progress);
  if (!curve) return {.reason = curve.error};

  Outputs out;
  const models::memory::StepTimeline& t = *timeline;
  const models::memory::MemoryPoint& peak = t.points[t.peak];
  out.held = peak.held;
  out.peak_bytes = t.peak_bytes;
  out.chip_bytes = s.chip->memory_bytes;
  out.free_bytes = out.chip_bytes - out.peak_bytes;
  out.fits = out.free_bytes >= 0;
  out.step_s = t.step_s;
  out.peak_s = peak.time_s;
  out.peak_phase = models::memory::phase_name(t.spans[peak.span].phase);
  out.peak_operation = t.operations[peak.operation];
  for (const auto& p : t.points) out.loss_spike_bytes = std::max(out.loss_spike_bytes, p.held[MemoryOwner::logits]);
  out.end_of_forward_bytes = t.end_of_forward_bytes;
  out.loss_peak_bytes = t.loss_peak_bytes;
  out.rest_bytes = t.rest_bytes;
  out.again_s = t.recompute_s;
  out.again_share = 100 * t.recompute_s / (t.step_s - t.recompute_s);
  for (const LayerKeep keep : s.timeline.layers)
    out.layers_again += keep == LayerKeep::again || keep == LayerKeep::joined ? 1 : 0;
  out.before_peak_bytes = before->peak_bytes;
  out.saved_bytes = out.before_peak_bytes - out.peak_bytes;
  out.layers_needed = layers_needed(s, before->peak_bytes);
  out.trend = models::memory::memory_trend(models::memory::step_levels(t), out.chip_bytes);
  constexpr std::array<const char*, models::memory::memory_trend_count> names{"one step", "sawtooth", "plateau", "leak",
                                                                              "mixed"};
  out.trend_name = names[static_cast<std::size_t>(out.trend.trend)];
  out.trend_owner = out.trend.growth_bytes > 0 ? std::string(in.keep_outputs && out.trend.grows == MemoryOwner::buffers
                                                                 ? "kept outputs"
                                                                 : models::memory::owner_name(out.trend.grows))
                                               : "nothing";
  out.micro_growth_bytes = models::memory::micro_batch_growth(t);
  if (!in.fused_attention) {
    models::memory::TimelineSetting dropped = s.timeline;
    dropped.layers.resize(static_cast<std::size_t>(s.architecture.layers), LayerKeep::kept);
    for (LayerKeep& keep : dropped.layers)
      if (keep == LayerKeep::kept) keep = LayerKeep::selective;
    const auto without = models::memory::step_timeline(s.architecture, dropped, s.machine);
    if (without) out.scores_bytes = out.peak_bytes - without->peak_bytes;
  }
  if (*curve) {
    const models::memory::RecordedCurve& r = **curve;
    out.recording = {.kind = r.kind,
                     .note = r.note,
                     .peak_bytes = r.peak_bytes,
                     .first_bytes = r.first_bytes,
                     .span_s = r.span_s,
                     .events = static_cast<double>(r.events)};
    out.recording.residual = 100 * (out.peak_bytes - r.peak_bytes) / r.peak_bytes;
  } else {
    out.recording.kind = "none";
    out.recording.peak_bytes = out.recording.residual = std::numeric_limits<double>::quiet_NaN();
  }
  return out;
}

}  // namespace chapters::framework::memory_timeline
