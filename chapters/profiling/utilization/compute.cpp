#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "chapters/mechanism/catalog.h"
#include "chapters/profiling/trace_viewer/source.h"
#include "chapters/profiling/utilization/lab.h"
#include "models/trace/measure/products.h"
#include "models/trace/measure/window.h"
#include "models/transformer/step_time.h"
#include "widgets/number/number.h"

namespace chapters::profiling::utilization {
namespace {

using models::UtilizationLoss;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The job as the models take it.
struct Setting {
  const models::LanguageModel* model = nullptr;
  const models::Chip* chip = nullptr;
  models::Machine machine;
  models::Workload workload;
};

models::Workload workload_of(const Inputs& in) {
  models::Workload w;
  w.phase = in.job == Job::decoding ? models::Phase::decode : models::Phase::train;
  w.batch = in.batch;
  w.sequence = in.sequence;
  w.context = in.context;
  const bool wide = in.format == models::Format::fp32 || in.format == models::Format::tf32;
  w.activation_bytes = w.kv_bytes = wide ? 4 : 2;
  // Training reads 16-bit copies of its weights; of FP8 the products alone are faster.
  w.weight_bytes = in.job == Job::decoding ? models::format_bytes(in.format) : w.activation_bytes;
  w.other_weight_bytes = w.activation_bytes;
  w.fused_attention = in.fused_attention;
  w.fused_elementwise = in.fused_elementwise;
  if (in.job != Job::decoding) w.recompute = in.recompute;
  return w;
}

models::Result<Setting> setting_of(const Inputs& in) {
  using Outcome = models::Result<Setting>;
  Setting s;
  const auto chip = find_chip(in.chip);
  if (!chip) return Outcome::fail(chip.error);
  s.chip = *chip;
  const auto machine = models::machine_of(*s.chip, in.format);
  if (!machine) return Outcome::fail(machine.error);
  s.machine = *machine;
  if (in.job == Job::recording) return Outcome::ok(s);
  const auto model = find_model(in.model);
  if (!model) return Outcome::fail(model.error);
  s.model = *model;
  s.workload = workload_of(in);
  return Outcome::ok(s);
}

models::UtilizationRun run_of(const Inputs& in, const Setting& s) {
  models::UtilizationRun run;
  run.machine = s.machine;
  run.product_share = in.product_share;
  run.bandwidth_share = in.bandwidth_share;
  run.autocast = models::format_bytes(in.format) < 4;
  run.mode = in.mode;
  run.host.launch_s = in.launch_s;
  models::StepSetup& step = run.step;
  const auto parameters = static_cast<double>(models::count_parameters(s.model->architecture).total);
  const auto tokens = static_cast<double>(in.batch * in.sequence);
  step.loader.workers = in.workers;
  step.loader.samples = in.batch;
  step.loader.sample_bytes = 4 * static_cast<double>(in.sequence);
  step.loader.request_latency_s = 0;
  step.loader.storage_bytes_per_s = 1e12;
  step.loader.decode_s = in.load_s / static_cast<double>(in.batch);
  step.loader.cores = 64;
  step.loader.batch_bytes = 16 * tokens;  // tokens and labels, 8 bytes each
  step.loader.pinned = true;
  step.copy = models::BatchCopy::copy_stream;
  step.kernels_per_layer = in.kernels_per_layer;
  step.micro_batches = in.micro_batches;
  step.launch_s = in.launch_s;
  step.parameters = parameters;
  step.optimizer = in.optimizer;
  step.optimizer_bytes_per_s = in.bandwidth_share * s.machine.bandwidth_bytes_per_s;
  step.ranks = in.ranks;
  step.gradient_bytes = 4 * parameters;
  step.buckets = std::max<std::int64_t>(1, std::min<std::int64_t>(s.model->architecture.layers, 32));
  step.bus_bytes_per_s = in.bus_bytes_per_s;
  step.hop_latency_s = in.hop_latency_s;
  step.overlap = in.overlap;
  step.sync_every = in.sync_every;
  step.log_s = in.log_s;
  return run;
}

/// A sentence where the simulated job cannot be on the chip: its replica is whole there.
std::string memory_problem(const Inputs& in, const Setting& s) {
  if (in.job == Job::rate) return {};
  const double state_bytes = in.job == Job::training
                                 ? 16 * static_cast<double>(models::count_parameters(s.model->architecture).total)
                                 : models::resident_bytes(s.model->architecture, s.workload).total();
  if (state_bytes <= s.chip->memory_bytes) return {};
  const std::string what = in.job == Job::training
                               ? "Weights, gradients and AdamW's moments in FP32 (16 B per parameter) take "
                               : "Weights and cache take ";
  return what + widgets::format_text(state_bytes, "B") + " on each GPU, and the " + s.chip->name + " has " +
         widgets::format_text(s.chip->memory_bytes, "B") +
         (in.job == Job::training ? ": choose a smaller model, or type the rate of a run that was sharded."
                                  : ": choose a smaller model, batch or context.");
}

/// What of the model is trained, which a printed rate does not tell.
models::TrainedParts trained_of(const Inputs& in) {
  if (in.job != Job::rate) return {};
  return {.frozen = in.frozen, .mtp_layers = in.mtp_layers};
}

double reported_peak(const Inputs& in, const Setting& s) {
  if (in.peak == ReportedPeak::sparse) return 2 * s.machine.peak_flops_per_s;
  if (in.peak == ReportedPeak::format) return s.machine.peak_flops_per_s;
  return s.chip->peak_flops_per_s(models::Format::bf16).value_or(s.machine.peak_flops_per_s);
}

/// What the second says, whatever it came from.
void fill_second(const models::Utilization& u, Outputs& out) {
  out.second = u;
  out.busy = 100 * u.busy();
  out.needed = 100 * u.needed_share();
  out.issued = 100 * u.issued_share();
  out.products = 100 * u.product_s / u.wall_s;
  out.product_rate = u.product_s > 0 ? 100 * u.issued_flops() / (u.product_s * u.peak_flops_per_s) : unknown;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < u.loss.size(); ++i) {
    out.loss[i] = 100 * u.loss[i];
    if (u.loss[i] > u.loss[largest]) largest = i;
    if (u.loss[i] <= 0) continue;
    const LossLook& look = loss_look(static_cast<UtilizationLoss>(i));
    out.losses.push_back({std::string(look.name), std::string(look.cure), out.loss[i], u.loss[i] * u.wall_s});
  }
  std::stable_sort(out.losses.begin(), out.losses.end(),
                   [](const LossRow& a, const LossRow& b) { return a.share > b.share; });
  out.largest = loss_look(static_cast<UtilizationLoss>(largest)).name;
  out.largest_share = out.loss[largest];
}

/// Flops that a convention counts and no kernel multiplies: masked pairs that fused attention skips, a table that is
/// looked up, experts that see no token.
double never_run_flops(const models::Architecture& a, const models::Workload& w, const models::FlopConvention& c) {
  const double counted = models::counted_flops(a, w, c);
  models::FlopConvention half = c, multiplied = c;
  half.attention = models::CountedAttention::half;
  multiplied.weights = models::CountedWeights::multiplied;
  const bool skipped = c.attention == models::CountedAttention::full && w.fused_attention;
  return (skipped ? counted - models::counted_flops(a, w, half) : 0.0) +
         std::max(0.0, counted - models::counted_flops(a, w, multiplied));
}

/// What the convention reports of the job.
void fill_reported(const Inputs& in, const Setting& s, Outputs& out) {
  const models::Architecture& a = s.model->architecture;
  const bool train = in.job != Job::decoding;
  const double times = train ? static_cast<double>(in.micro_batches) : 1;
  const double at_peak = out.second.wall_s * reported_peak(in, s);
  const models::TrainedParts trained = trained_of(in);
  const auto counted = [&](const models::FlopConvention& c) { return times * models::counted_flops(a, s.workload, c); };
  const models::FlopConvention mine{.attention = in.attention,
                                    .weights = in.weights,
                                    .recompute = in.count_recompute,
                                    .frozen = trained.frozen,
                                    .extra_layers = trained.mtp_layers};
  models::FlopConvention hardware = mine;
  hardware.recompute = true;
  out.counted_flops = counted(mine);
  out.mfu = 100 * out.counted_flops / at_peak;
  out.hfu = 100 * counted(hardware) / at_peak;
  out.never_run = 100 * times * never_run_flops(a, s.workload, mine) / at_peak;
  out.recompute_ratio = out.counted_flops > 0 ? out.hfu / out.mfu : unknown;
  out.tokens = times * models::new_tokens(s.workload);
  out.tokens_per_s = out.tokens / out.second.wall_s;
  out.flops_per_token = out.counted_flops / out.tokens;
  out.reported_flops_per_s = out.counted_flops / out.second.wall_s;
  out.bytes = times * models::counted_bytes(a, s.workload, train ? models::CountedBytes::operands : in.bytes);
  out.mbu = 100 * out.bytes / (out.second.wall_s * s.machine.bandwidth_bytes_per_s);
  const bool mixture = a.moe.routed > 0;
  for (const models::NamedConvention& named : models::named_conventions()) {
    if (named.convention.weights == models::CountedWeights::all_experts && !mixture) continue;  // the last
    models::FlopConvention convention = named.convention;
    convention.frozen = trained.frozen;
    convention.extra_layers = trained.mtp_layers;
    const double reported = 100 * counted(convention) / at_peak, against = reported - out.needed;
    std::string name(named.name);
    if (trained.frozen && name.starts_with("6N")) name[0] = '4';
    // Two sums of the same flops in other orders differ in their last digit.
    out.conventions.push_back({std::move(name), std::string(named.who), reported,
                               std::abs(against) > 1e-9 * out.needed ? against : 0.0, convention});
  }
}

models::Result<models::Utilization> printed_rate(const Inputs& in, const Setting& s) {
  models::UtilizationFlops flops = models::flops_of(s.model->architecture, s.workload, trained_of(in));
  const auto times = static_cast<double>(in.micro_batches);
  for (double* f : {&flops.needed, &flops.recomputed, &flops.extra}) *f *= times;
  models::UtilizationTimes t{.wall_s = times * models::new_tokens(s.workload) / in.tokens_per_s};
  t.idle_s[static_cast<std::size_t>(UtilizationLoss::idle)] = (1 - 0.01 * in.busy_read) * t.wall_s;
  return models::utilization_of(t, flops, s.machine.peak_flops_per_s);
}

double seconds_of(std::int64_t ns) { return 1e-9 * static_cast<double>(ns); }

/// A part of a recording on its first device that computes: from its first work to its last, or one step.
struct RecordedPart {
  const models::trace::Trace* trace = nullptr;
  std::int32_t device = 0;
  models::trace::Extent extent;
};

models::Result<RecordedPart> recorded_part(const Inputs& in, const trace_viewer::Recording& recording) {
  const models::trace::DeviceMetrics* device = nullptr;
  for (const auto& d : recording.metrics.devices)
    if (!device && d.computations > 0) device = &d;
  if (!device)
    return models::Result<RecordedPart>::fail(
        "No kernel of a device is in this recording: record it with ProfilerActivity.CUDA.");
  RecordedPart part{&recording.trace, device->device, models::trace::device_extent(recording.trace, device->device)};
  const auto& steps = recording.metrics.steps;
  if (in.step > 0 && !steps.empty()) {
    const models::trace::Step& step = steps[std::min(static_cast<std::size_t>(in.step), steps.size()) - 1];
    part.extent = {step.start_ns, step.end_ns};
  }
  return models::Result<RecordedPart>::ok(part);
}

/// Where its time goes, as the model of a second takes it.
models::UtilizationTimes times_of(const RecordedPart& part, const models::trace::ProductWork& work) {
  const auto [first_ns, last_ns] = part.extent;
  const auto window = models::trace::measure_window(*part.trace, part.device, first_ns, last_ns);
  models::UtilizationTimes t{.wall_s = seconds_of(window.window_ns)};
  const auto idle = [&](UtilizationLoss loss) -> double& { return t.idle_s[static_cast<std::size_t>(loss)]; };
  idle(UtilizationLoss::launches) = seconds_of(window.idle.host_wait_ns + window.idle.kernel_wait_ns);
  idle(UtilizationLoss::idle) = seconds_of(window.idle.other_ns);
  idle(UtilizationLoss::copies) = seconds_of(window.exposed_mem_ns);
  t.communication_s = seconds_of(window.exposed_comm_ns);
  const std::int64_t other_ns = window.comp_ns - work.busy_ns - work.uncounted_ns;
  t.uncounted_s = seconds_of(work.uncounted_ns);
  const std::int64_t update_ns =
      std::min(other_ns, models::trace::optimizer_busy_ns(*part.trace, part.device, first_ns, last_ns));
  t.optimizer_s = seconds_of(update_ns);
  t.other_s = seconds_of(other_ns - update_ns);
  return t;
}

/// What the recording's products say, where it has shapes.
void fill_products(const Inputs& in, const Setting& s, const models::trace::ProductWork& work, Outputs& out) {
  const double against = s.machine.peak_flops_per_s / reported_peak(in, s);
  const bool shapes = work.calls > 0;
  out.mfu = shapes ? against * out.needed : unknown;
  // As by every convention of HFU: scores that attention's backward pass makes again are not in it.
  const double run_twice = 100 * out.second.recomputed_flops / (out.second.wall_s * out.second.peak_flops_per_s);
  out.hfu = shapes ? against * (out.needed + run_twice) : unknown;
  if (!shapes) out.issued = out.needed = out.products = unknown;
  out.mbu = out.tokens = out.tokens_per_s = out.flops_per_token = out.bytes = out.never_run = unknown;
  out.recompute_ratio = out.mfu > 0 ? out.hfu / out.mfu : unknown;
  out.counted_flops = work.needed_flops;
  out.reported_flops_per_s = work.needed_flops / out.second.wall_s;
  out.calls = static_cast<double>(work.calls);
  out.unknown_calls = static_cast<double>(work.unknown_calls);
  out.recomputed_calls = static_cast<double>(work.recomputed_calls);
  for (const auto& row : work.rows)
    out.product_rows.push_back({row.name, row.calls, row.flops, seconds_of(row.kernel_ns),
                                row.kernel_ns > 0 ? row.flops / seconds_of(row.kernel_ns) : 0});
}

void compute_recording(const Inputs& in, const Setting& s, Progress& progress, Outputs& out) {
  trace_viewer::RecordingPtr recording;
  if (in.file.path.empty()) {
    recording = trace_viewer::sample_recordings(in.sample).front();
  } else {
    auto read = trace_viewer::read_recording(in.file, progress);
    if (!read) {
      out.reason = read.error;
      return;
    }
    recording = std::move(*read);
  }
  const auto part = recorded_part(in, *recording);
  if (!part) {
    out.reason = part.error;
    return;
  }
  const auto work =
      models::trace::measure_products(*part->trace, part->device, part->extent.first_ns, part->extent.last_ns);
  const models::UtilizationTimes times = times_of(*part, work);
  progress.fraction = 0.98;
  const models::UtilizationFlops flops{.needed = work.needed_flops,
                                       .recomputed = work.recomputed_flops,
                                       .extra = work.issued_flops - work.needed_flops - work.recomputed_flops};
  const auto second = models::utilization_of(times, flops, s.machine.peak_flops_per_s);
  if (!second) {
    out.reason = second.error;
    return;
  }
  fill_second(*second, out);
  fill_products(in, s, work, out);
  const auto& names = recording->trace.device_names;
  const auto index = static_cast<std::size_t>(std::max(0, part->device));
  if (index < names.size()) out.device = names[index];
}

/// So many of 10,000 GPUs are free when MFU rises by one point and the work stays.
double gpus_of_a_point(double mfu) { return 10'000 / (mfu + 1); }

Outputs compute_job(const Inputs& in, Progress& progress) {
  const auto setting = setting_of(in);
  if (!setting) return {.reason = setting.error};
  Outputs out;
  out.bandwidth_bytes_per_s = setting->machine.bandwidth_bytes_per_s;
  if (in.job == Job::recording) {
    compute_recording(in, *setting, progress, out);
    return out;
  }
  if (out.reason = memory_problem(in, *setting); !out.reason.empty()) return out;
  const auto second = in.job == Job::rate ? printed_rate(in, *setting)
                                          : models::simulate_utilization(setting->model->architecture,
                                                                         setting->workload, run_of(in, *setting));
  if (!second) {
    out.reason = second.error;
    return out;
  }
  fill_second(*second, out);
  if (in.job == Job::rate) {
    out.products = unknown;
    out.product_rate = unknown;
    // What runs while the peak is not reached a rate does not tell.
    const std::string_view below = loss_look(UtilizationLoss::below_peak).name;
    for (LossRow& row : out.losses)
      if (row.name == below) {
        row.name = not_at_the_peak;
        row.cure = "A rate does not tell what runs: record a step.";
      }
    if (out.largest == below) out.largest = not_at_the_peak;
  }
  fill_reported(in, *setting, out);
  out.calls = out.unknown_calls = out.recomputed_calls = unknown;
  return out;
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs out = compute_job(in, progress);
  out.gpus_a_point = gpus_of_a_point(out.mfu);
  return out;
}

}  // namespace chapters::profiling::utilization
