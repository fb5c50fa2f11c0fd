#include "models/platform/release.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/platform/release_parts.h"

namespace models::platform {
namespace {

constexpr double hour_s = 3600, day_s = 86400;
/// 1.960 of a two-sided test at 5 %, and 0.8416 of 80 % power.
constexpr double normal_quantiles = 1.959964 + 0.841621;

std::string refusal(const ReleaseSetup& s) {
  if (!s.chip || !s.recipe || !s.kv) return "A release needs a chip, a recipe and a cache.";
  if (s.gpus < 1 || s.batch < 1 || s.sequence < 1 || s.micro_batch < 1 || s.slots < 1 || s.replica_chips < 1 ||
      s.waves < 1)
    return "There is at least one GPU, one sample, one token, one slot and one wave.";
  if (!(s.prompt >= 1 && s.output >= 1 && s.rate_per_s > 0 && s.peak >= 1 && s.peak <= 2))
    return "A request has a prompt and an answer, some arrive, and the peak lies between 1 and 2 of the mean.";
  if (!(s.canary > 0 && s.canary <= 0.5 && s.good > 0 && s.good < 1 && s.change > 0 && s.may_wait > 0 &&
        s.may_wait < 1))
    return "A canary gets up to half of the requests, and shares lie between 0 and 1.";
  return {};
}

void set(Release& out, Part part, double time_s, double gpu_s, double usd_per_gpu_hour) {
  out.parts[static_cast<std::size_t>(part)] = {time_s, gpu_s / hour_s * usd_per_gpu_hour};
}

}  // namespace

std::string_view part_name(Part part) {
  constexpr std::array<std::string_view, part_count> names{
      "data", "training", "profiling", "compression", "inference engine", "serving", "monitoring"};
  return names[static_cast<std::size_t>(part)];
}

double canary_requests(double good, double change, double canary) {
  return normal_quantiles * normal_quantiles * good * (1 - good) / (change * change * (1 - canary));
}

Result<Release> estimate_release(const Architecture& a, const ReleaseSetup& s, const KnownHalves& known) {
  using Outcome = Result<Release>;
  if (std::string why = refusal(s); !why.empty()) return Outcome::fail(std::move(why));
  const auto run = known.run ? Result<RunFigures>::ok(*known.run) : estimate_run(a, s);
  if (!run) return Outcome::fail(run.error);
  const auto service = known.service ? Result<ServiceFigures>::ok(*known.service) : estimate_service(a, s);
  if (!service) return Outcome::fail(service.error);
  Release out;
  out.run = *run;
  out.service = *service;
  const double gpus = as_double(s.gpus), chips = as_double(s.replica_chips), price = s.usd_per_gpu_hour,
               served_s = s.days * day_s;

  set(out, Part::data, run->loader_s, run->loader_s * gpus, price);
  const double trained_s = run->kernels_s + run->network_s + run->host_s;
  set(out, Part::training, trained_s, trained_s * gpus, price);

  const double profiled = s.profile_one_node ? std::min(8.0, gpus) : gpus;
  const double profile_s = as_double(s.profile_runs) * (s.start_s + as_double(s.profile_steps) * run->profiled_step_s);
  set(out, Part::profiling, profile_s, profile_s * profiled, price);

  const bool quantized = s.recipe->weight_bits < 16, solved = s.recipe->weight_bits < 8;
  const double billions = static_cast<double>(count_parameters(a).total) / 1e9;
  const double candidate_s = (quantized ? s.calibration_prompts * service->prefill_s : 0) +
                             (solved ? s.solve_s_per_billion * billions : 0) + s.evaluation_requests / service->per_s;
  const double compress_s = as_double(s.recipes_tried) * candidate_s;
  set(out, Part::compression, compress_s, compress_s * chips, price);

  // Tuning is waited for; what the requests themselves take is paid for as long as the service runs.
  const double tune_s = as_double(s.trials) * (s.start_s + s.trial_requests / service->per_s);
  set(out, Part::engine, tune_s, tune_s * chips + service->busy_replicas * chips * served_s, price);

  // A wave waits for its start and for the weights, which all replicas pull through the storage.
  const double roll_s =
      as_double(s.waves) * s.start_s + service->replicas * service->weights_bytes / s.storage_bytes_per_s;
  const double spare = std::max(0.0, service->mean_replicas - service->busy_replicas);
  set(out, Part::serving, roll_s, spare * chips * served_s, price);

  out.canary_requests = canary_requests(s.good, s.change, s.canary);
  const double canary_s = out.canary_requests / (s.canary * s.rate_per_s);
  set(out, Part::monitoring, canary_s, s.shadow * s.rate_per_s * service->reference_gpu_s * served_s, price);

  for (std::size_t i = 0; i < part_count; ++i) {
    out.total.time_s += out.parts[i].time_s;
    out.total.usd += out.parts[i].usd;
    out.twice_saves_s[i] = out.parts[i].time_s / 2;
    if (out.parts[i].usd > out.parts[out.dearest].usd) out.dearest = i;
  }
  out.twice_saves_s[static_cast<std::size_t>(Part::data)] = std::max(0.0, run->time_s - run->twice_data_s);
  out.twice_saves_s[static_cast<std::size_t>(Part::training)] = std::max(0.0, run->time_s - run->twice_training_s);
  out.bottleneck = static_cast<std::size_t>(std::max_element(out.twice_saves_s.begin(), out.twice_saves_s.end()) -
                                            out.twice_saves_s.begin());
  if (!(out.total.time_s > 0 && std::isfinite(out.total.time_s) && std::isfinite(out.total.usd)))
    return Outcome::fail("The hours of this release are no finite number: make a part of it smaller.");
  out.compute_share = out.run.steps * (run->step.forward_s + run->step.backward_s) / out.total.time_s;
  return Outcome::ok(std::move(out));
}

}  // namespace models::platform
