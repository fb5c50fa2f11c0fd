#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/integer_math.h"
#include "models/platform/release_parts.h"
#include "models/serving/arrivals/queueing.h"

namespace models::platform {
namespace {

constexpr double max_at_once = 1e6;
constexpr int hours = 24;

Deployment deployment_of(const ReleaseSetup& s, double chips, double slots, double context) {
  return {
      .chip = s.chip,
      .chips = chips,
      .batch = slots,
      .context = context,
      .prompt = s.prompt,
      .roof_share = s.serving_roof,
  };
}

/// One replica that is kept full: every slot decodes while prompts of the others take their turns.
struct FullReplica {
  double prefill_s = 0, decode_s = 0, request_s = 0, weights_bytes = 0, largest_batch = 0;
};
Result<FullReplica> full_replica(const Architecture& a, const ReleaseSetup& s, const Recipe& recipe, const KvRecipe& kv,
                                 double chips, double slots) {
  // Steps are timed at the mean length of a sequence, and memory must hold the longest.
  const auto mean = estimate_deployment(a, recipe, kv, deployment_of(s, chips, slots, s.prompt + s.output / 2));
  if (!mean) return Result<FullReplica>::fail(mean.error);
  const auto longest = estimate_deployment(a, recipe, kv, deployment_of(s, chips, slots, s.prompt + s.output));
  if (!longest) return Result<FullReplica>::fail(longest.error);
  return Result<FullReplica>::ok({
      .prefill_s = mean->prefill_s,
      .decode_s = mean->decode_s,
      // The prompt's pass gives the first token.
      .request_s = (s.output - 1) * mean->decode_s + slots * mean->prefill_s,
      .weights_bytes = mean->weights_bytes,
      .largest_batch = longest->largest_batch,
  });
}

/// The 16-bit model on as many chips as it needs, with as many slots as fit, up to those of the service.
Result<double> reference_gpu_s(const Architecture& a, const ReleaseSetup& s) {
  const Recipe& wide = deployment_recipes().front();
  const KvRecipe& kv = kv_recipes().front();
  for (double chips = as_double(s.replica_chips); chips <= 64; chips *= 2) {
    const auto one = full_replica(a, s, wide, kv, chips, 1);
    if (!one) return Result<double>::fail(one.error);
    const double slots = std::min(as_double(s.slots), one->largest_batch);
    if (!(slots >= 1)) continue;
    const auto full = full_replica(a, s, wide, kv, chips, slots);
    if (!full) return Result<double>::fail(full.error);
    return Result<double>::ok(chips * full->request_s / slots);
  }
  return Result<double>::fail("The 16-bit model, which a share of the requests is sent to, does not fit 64 chips.");
}

}  // namespace

double replicas_for(double rate_per_s, double request_s, std::int64_t slots, double may_wait) {
  const double erlangs = rate_per_s * request_s;
  if (!(erlangs > 1e-9)) return 1;  // a service that may be asked has a replica
  const auto enough = [&](std::int64_t replicas) {
    const auto waits = erlang_c(replicas * slots, erlangs);
    return waits && *waits <= may_wait;
  };
  std::int64_t low = static_cast<std::int64_t>(std::floor(erlangs / as_double(slots))), high = low + 1;
  while (high * slots < 100'000'000 && !enough(high)) high += high - low;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return as_double(high);
}

Result<ServiceFigures> estimate_service(const Architecture& a, const ReleaseSetup& s) {
  using Outcome = Result<ServiceFigures>;
  const auto full = full_replica(a, s, *s.recipe, *s.kv, as_double(s.replica_chips), as_double(s.slots));
  if (!full) return Outcome::fail(full.error);
  if (!(full->largest_batch >= as_double(s.slots)))
    return Outcome::fail("A replica has room for " + std::to_string(std::llround(full->largest_batch)) +
                         " sequences of this length next to its weights, and " + std::to_string(s.slots) +
                         " slots are asked for: take fewer slots, more chips or fewer bits.");
  const double peak_per_s = s.peak * s.rate_per_s;
  if (!(peak_per_s * full->request_s <= max_at_once))
    return Outcome::fail("More than a million requests would be in the system at once: lower the rate or the lengths.");
  ServiceFigures out;
  out.prefill_s = full->prefill_s;
  out.decode_s = full->decode_s;
  out.request_s = full->request_s;
  out.weights_bytes = full->weights_bytes;
  out.per_s = as_double(s.slots) / full->request_s;
  out.gpu_s_per_request = as_double(s.replica_chips) / out.per_s;
  out.busy_replicas = s.rate_per_s / out.per_s;
  out.replicas = replicas_for(peak_per_s, full->request_s, s.slots, s.may_wait);
  out.mean_replicas = out.replicas;
  if (s.autoscale) {
    // A day runs as a sine around its mean, up to the peak; each hour has the replicas of its own rate.
    double sum = 0;
    for (int h = 0; h < hours; ++h) {
      const double angle = 2 * std::numbers::pi * h / hours;
      sum += replicas_for(s.rate_per_s * (1 + (s.peak - 1) * std::sin(angle)), full->request_s, s.slots, s.may_wait);
    }
    out.mean_replicas = sum / hours;
  }
  const auto reference = reference_gpu_s(a, s);
  if (!reference) return Outcome::fail(reference.error);
  out.reference_gpu_s = *reference;
  return Outcome::ok(out);
}

}  // namespace models::platform
