#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/framework/memory_timeline/lab.h"
#include "chapters/mechanism/file_name.h"

namespace chapters::framework::memory_timeline {
namespace {

using models::memory::LayerKeep;
using models::memory::MemoryOwner;
using models::memory::StepPhase;
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

/// What becomes of each layer. Fails with a sentence where the letters of a plan are none.
models::Result<std::vector<LayerKeep>> keep_of(const Inputs& in, std::size_t layers) {
  using Out = models::Result<std::vector<LayerKeep>>;
  using models::memory::every_k;
  switch (in.which) {
    case Which::none:
      break;
    case Which::selective:
      return Out::ok(std::vector<LayerKeep>(layers, LayerKeep::selective));
    case Which::every_layer:
      return Out::ok(every_k(layers, 1));
    case Which::pieces:
      return Out::ok(every_k(layers, static_cast<std::size_t>(in.piece)));
    case Which::square_root:
      return Out::ok(every_k(layers, static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(layers))))));
    case Which::first:
      return Out::ok(models::memory::first_layers(layers, static_cast<std::size_t>(in.again)));
    case Which::drawn:
      return models::memory::plan_of_letters(in.letters, layers);
  }
  return Out::ok(std::vector<LayerKeep>(layers, LayerKeep::kept));
}

/// The file as a curve, read once; null where there is none. Fails with a sentence.
models::Result<RecordedPtr> recorded(const Inputs& in, const Progress& progress) {
  using Out = models::Result<RecordedPtr>;
  if (!in.file.bytes && in.file.text.empty()) return Out::ok(nullptr);
  const std::string name(file_name(in.file.path));
  std::string problem;
  models::trace::Progress reading;
  reading.cancelled = [&progress] { return progress.cancelled.load(); };
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

/// On one GPU nothing is communicated: what is called buffers are outputs that the program keeps.
std::string owner_words(const Inputs& in, MemoryOwner owner) {
  return owner == MemoryOwner::buffers && in.keep_outputs ? "kept outputs"
                                                          : std::string(models::memory::owner_name(owner));
}

/// The peak and what stands along the step.
void fill_peak(const models::memory::StepTimeline& t, Outputs& out) {
  const models::memory::MemoryPoint& peak = t.points[t.peak];
  out.held = peak.held;
  out.peak_bytes = t.peak_bytes;
  out.free_bytes = out.chip_bytes - out.peak_bytes;
  out.fits = out.free_bytes >= 0;
  out.step_s = t.step_s;
  out.peak_s = peak.time_s;
  out.peak_lasts_s = t.points[std::min(t.peak + 1, t.points.size() - 1)].time_s - peak.time_s;
  out.peak_phase = models::memory::phase_name(t.spans[peak.span].phase);
  out.peak_operation = t.operations[peak.operation];
  for (const auto& p : t.points) out.loss_spike_bytes = std::max(out.loss_spike_bytes, p.held[MemoryOwner::logits]);
  out.end_of_forward_bytes = t.end_of_forward_bytes;
  out.loss_peak_bytes = t.loss_peak_bytes;
  out.rest_bytes = t.rest_bytes;
  const auto loss =
      std::find_if(t.spans.begin(), t.spans.end(), [](const auto& span) { return span.phase == StepPhase::loss; });
  if (loss != t.spans.end()) out.loss_s = loss->end_s - loss->begin_s;
}

/// What running layers again costs and saves beside `before`, the steps with every layer kept.
void fill_again(const Setting& s, const models::memory::StepTimeline& t, double before_peak_bytes, Outputs& out) {
  out.again_s = t.recompute_s;
  out.again_share = 100 * t.recompute_s / (t.step_s - t.recompute_s);
  for (const LayerKeep keep : s.timeline.layers)
    out.layers_again += keep == LayerKeep::again || keep == LayerKeep::joined ? 1 : 0;
  out.before_peak_bytes = before_peak_bytes;
  out.saved_bytes = out.before_peak_bytes - out.peak_bytes;
  out.layers_needed = layers_needed(s, before_peak_bytes);
}

/// What several steps in a row show.
void fill_trend(const Inputs& in, const models::memory::StepTimeline& t, Outputs& out) {
  out.trend = models::memory::memory_trend(models::memory::step_levels(t), out.chip_bytes);
  constexpr std::array<const char*, models::memory::memory_trend_count> names{"one step", "sawtooth", "plateau", "leak",
                                                                              "mixed"};
  out.trend_name = names[static_cast<std::size_t>(out.trend.trend)];
  out.trend_owner = out.trend.growth_bytes > 0 ? owner_words(in, out.trend.grows) : "nothing";
  out.micro_growth_bytes = models::memory::micro_batch_growth(t);
}

/// What the peak would fall by, were the scores of kept layers dropped.
void fill_scores(const Setting& s, Outputs& out) {
  models::memory::TimelineSetting dropped = s.timeline;
  dropped.layers.resize(static_cast<std::size_t>(s.architecture.layers), LayerKeep::kept);
  for (LayerKeep& keep : dropped.layers)
    if (keep == LayerKeep::kept) keep = LayerKeep::selective;
  const auto without = models::memory::step_timeline(s.architecture, dropped, s.machine);
  if (without) out.scores_bytes = out.peak_bytes - without->peak_bytes;
}

void fill_recording(const models::memory::RecordedCurve* r, Outputs& out) {
  if (!r) {
    out.recording.kind = "none";
    out.recording.peak_bytes = out.recording.residual = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  out.recording = {.kind = r->kind,
                   .note = r->note,
                   .peak_bytes = r->peak_bytes,
                   .first_bytes = r->first_bytes,
                   .span_s = r->span_s,
                   .events = static_cast<double>(r->events),
                   .residual = 100 * (out.peak_bytes - r->peak_bytes) / r->peak_bytes};
}

/// Layers that are next to each other in one phase are one; a layer that runs again belongs to the backward pass.
std::vector<models::memory::StepSpan> phases_of(const models::memory::StepTimeline& t) {
  std::vector<models::memory::StepSpan> phases;
  for (const models::memory::StepSpan& span : t.spans) {
    const StepPhase phase = span.phase == StepPhase::again ? StepPhase::backward : span.phase;
    if (!phases.empty() && phases.back().phase == phase && phases.back().micro_batch == span.micro_batch &&
        phases.back().step == span.step)
      phases.back().end_s = span.end_s;
    else
      phases.push_back({span.begin_s, span.end_s, phase, -1, span.micro_batch, span.step});
  }
  return phases;
}

void fill_tables(const Inputs& in, const Setting& s, const Run& run, Outputs& out) {
  for (const models::memory::StepSpan& span : run.phases)
    out.phases.push_back({.name = std::string(models::memory::phase_name(span.phase)),
                          .step = span.step + 1,
                          .micro_batch = span.micro_batch + 1,
                          .begin_s = span.begin_s,
                          .takes_s = span.end_s - span.begin_s});
  std::size_t phase = 0;
  for (const models::memory::MemoryPoint& point : run.timeline.points) {
    while (phase + 1 < run.phases.size() && point.time_s >= run.phases[phase].end_s) ++phase;
    out.phases[phase].fullest_bytes = std::max(out.phases[phase].fullest_bytes, point.held.total());
  }
  for (models::memory::TensorRow& row : models::memory::largest_tensors(s.architecture, s.timeline, run.timeline))
    out.tensors.push_back({.name = std::move(row.name),
                           .owner = row.owner == MemoryOwner::buffers && in.keep_outputs
                                        ? "kept outputs"
                                        : std::string(owner_look(row.owner).name),
                           .each_bytes = row.each_bytes,
                           .count = row.count,
                           .total_bytes = row.total_bytes()});
}

}  // namespace

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
                     .sequence_parallel = in.sequence_parallel && in.tensor_parallel > 1,
                     .fused_attention = in.fused_attention,
                     .loss = in.loss};
  s.timeline.loop = in.loop;
  s.timeline.steps = in.steps;
  s.timeline.first_step = in.first_step;
  s.timeline.keep_gradients = in.keep_gradients;
  s.timeline.keep_outputs = in.keep_outputs;
  s.timeline.roof_share = in.roof_share;
  auto keep = keep_of(in, static_cast<std::size_t>(s.architecture.layers));
  if (!keep) return Out::fail(keep.error);
  s.timeline.layers = std::move(*keep);
  return Out::ok(std::move(s));
}

Computed compute(const Inputs& in, Progress& progress) {
  const auto fail = [](std::string reason) { return Computed{.facts = {.reason = std::move(reason)}}; };
  const auto setting = read_setting(in);
  if (!setting) return fail(setting.error);
  const Setting& s = *setting;
  const auto run = std::make_shared<Run>();
  auto timeline = models::memory::step_timeline(s.architecture, s.timeline, s.machine);
  if (!timeline) return fail(timeline.error);
  run->timeline = std::move(*timeline);
  double before_peak_bytes = run->timeline.peak_bytes;
  if (std::any_of(s.timeline.layers.begin(), s.timeline.layers.end(),
                  [](LayerKeep k) { return k != LayerKeep::kept; })) {
    models::memory::TimelineSetting all = s.timeline;
    all.layers.clear();
    auto before = models::memory::step_timeline(s.architecture, all, s.machine);
    if (!before) return fail(before.error);
    before_peak_bytes = before->peak_bytes;
    run->all_kept = std::move(*before);
  }
  auto curve = recorded(in, progress);
  if (!curve) return fail(curve.error);
  run->recorded = std::move(*curve);
  run->layers = s.timeline.layers;
  run->phases = phases_of(run->timeline);

  Outputs out;
  out.chip_bytes = s.chip->memory_bytes;
  fill_peak(run->timeline, out);
  fill_again(s, run->timeline, before_peak_bytes, out);
  fill_trend(in, run->timeline, out);
  if (!in.fused_attention) fill_scores(s, out);
  fill_recording(run->recorded.get(), out);
  fill_tables(in, s, *run, out);
  if (!progress.facts_alone)
    if (auto costs =
            models::memory::checkpoint_setting(s.architecture, s.timeline.plan, s.machine, s.timeline.roof_share, 0))
      run->costs = std::move(costs->layers);
  return {.facts = std::move(out), .run = run};
}

}  // namespace chapters::framework::memory_timeline
