#include "models/compression/deployment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/machine/roofline.h"
#include "models/transformer/step_time.h"
#include "models/transformer/weight_storage.h"

namespace models {
namespace {

// Bits: INT4 in groups of 128 with 16-bit scales; NVFP4 in blocks of 16 with 8-bit scales. A scale for each row is too
// little to count.
constexpr std::array<Recipe, 6> recipes{{
    {"bf16", "BF16", 16, Format::bf16, 0, 0, "the baseline"},
    {"w8a16", "W8A16", 8, Format::bf16, 0.2, 0.2,
     "INT8 weights alone: 68.69 to 68.54 on OpenLLM v1, Llama 3 8B Instruct (Neural Magic model card, 2024)"},
    {"w8a8", "W8A8 INT8", 8, Format::int8, 0.6, 3,
     "99.4 % of OpenLLM v1 kept by Llama 3.3 70B (Neural Magic model card, 2025); 1 to 3 % lost over the Llama 3.1 "
     "family (Kurtic et al. 2024, arXiv:2411.02355)"},
    {"fp8", "FP8", 8, Format::fp8, 0, 0,
     "no loss found in 500,000 evaluations of Llama 3.1 8B to 405B (Kurtic et al. 2024, arXiv:2411.02355)"},
    {"w4a16", "W4A16", 4.125, Format::bf16, 1.1, 1.1,
     "98.9 % of OpenLLM v1 kept by Llama 3.1 8B (Neural Magic model card, 2024)"},
    {"nvfp4", "NVFP4", 4.5, Format::fp4, 1.1, 6.2,
     "MMLU-Pro 78.3 to 77.4 with training in the loop (Nemotron 3 Nano); mean of four tasks 78.9 to 74.0 with plain "
     "rounding (Llama 3.1 8B, FP-Quant, arXiv:2509.23202)"},
}};
// INT4: groups of 64 with a 16-bit scale and a 4-bit zero. INT2: groups of 32 with scale and zero of 16 bits, as in
// KIVI.
constexpr std::array<KvRecipe, 4> kv{{
    {"bf16", "16-bit cache", 16, "the baseline"},
    {"fp8", "FP8 cache", 8, "no controlled figure is recorded here: measure it on your own task"},
    {"int4", "INT4 cache", 4.3125, "between FP8 and KIVI's 2 bits: measure it on your own task"},
    {"int2", "INT2 cache", 3,
     "KIVI (Liu et al. 2024, arXiv:2402.02750): almost the same quality on Llama 2, Falcon and Mistral"},
}};

bool is_matrix(OperationGroup group) {
  return group == OperationGroup::projection || group == OperationGroup::feed_forward ||
         group == OperationGroup::experts;
}

struct PhaseTime {
  double matrices_s = 0, attention_s = 0, rest_s = 0, memory_s = 0;
  double total() const { return matrices_s + attention_s + rest_s; }
};

/// Matrices from the quantized run, everything else from the run in 16 bits; both list the same operations.
PhaseTime merged(const StepTime& quantized, const StepTime& wide) {
  PhaseTime out;
  for (std::size_t i = 0; i < wide.operations.size(); ++i) {
    const OperationGroup group = wide.operations[i].operation.group;
    const TimedOperation& op = is_matrix(group) ? quantized.operations[i] : wide.operations[i];
    const double s = static_cast<double>(op.operation.count) * op.placement.time_s;
    (is_matrix(group) ? out.matrices_s : group == OperationGroup::attention ? out.attention_s : out.rest_s) += s;
    if (op.placement.regime == Regime::memory) out.memory_s += s;
  }
  return out;
}

Result<Machine> shared_machine(const Chip& chip, Format format, const Deployment& d) {
  auto one = machine_of(chip, format);
  if (!one && format == Format::bf16) one = machine_of(chip, Format::fp16);
  if (one) {
    one.value->peak_flops_per_s *= d.chips * d.roof_share;
    one.value->bandwidth_bytes_per_s *= d.chips * d.roof_share;
  }
  return one;
}

}  // namespace

std::span<const Recipe> deployment_recipes() { return recipes; }
std::span<const KvRecipe> kv_recipes() { return kv; }
const Recipe* find_recipe(std::string_view id) {
  const auto at = std::find_if(recipes.begin(), recipes.end(), [&](const Recipe& r) { return r.id == id; });
  return at == recipes.end() ? nullptr : &*at;
}
const KvRecipe* find_kv_recipe(std::string_view id) {
  const auto at = std::find_if(kv.begin(), kv.end(), [&](const KvRecipe& r) { return r.id == id; });
  return at == kv.end() ? nullptr : &*at;
}

double recipe_weight_bytes(const Architecture& a, const Recipe& recipe) {
  return stored_weight_bytes(a, recipe.weight_bits);
}

Result<DeploymentEstimate> estimate_deployment(const Architecture& a, const Recipe& recipe, const KvRecipe& cache,
                                               const Deployment& d) {
  using Outcome = Result<DeploymentEstimate>;
  const auto machine = shared_machine(*d.chip, recipe.product, d), wide = shared_machine(*d.chip, Format::bf16, d);
  if (!machine) return Outcome::fail(machine.error);
  if (!wide) return Outcome::fail(wide.error);
  DeploymentEstimate out;
  Workload w;
  w.kv_bytes = cache.bits / 8;
  w.batch = static_cast<std::int64_t>(std::llround(d.batch));
  w.context = static_cast<std::int64_t>(std::llround(d.context));
  const double sequence_bytes = kv_cache_bytes(a, d.context, w.kv_bytes);
  out.weights_bytes = recipe_weight_bytes(a, recipe);
  out.cache_bytes = d.batch * sequence_bytes;
  out.memory_bytes = d.memory_share * d.chips * d.chip->memory_bytes;
  out.fits = out.weights_bytes + out.cache_bytes <= out.memory_bytes;
  out.chips_needed = std::ceil((out.weights_bytes + out.cache_bytes) / (d.memory_share * d.chip->memory_bytes));
  out.largest_batch = std::max(0.0, std::floor((out.memory_bytes - out.weights_bytes) / sequence_bytes));

  double link_s = 0, link_s_per_token = 0;
  if (d.chips > 1) {
    const auto link = d.chip->interconnect.bytes_per_s_per_direction;
    if (!link)
      return Outcome::fail("Nobody states how fast " + d.chip->short_name +
                           " chips are linked: take one chip, or another kind.");
    // Ring: 2 (N - 1) / N of [tokens, hidden] in 2 bytes leaves each chip, twice a layer (Megatron-LM 2019), as in
    // serving_cost.
    const double layers = static_cast<double>(a.layers);
    link_s = 2 * layers * d.allreduce_s;
    link_s_per_token = 2 * layers * 2 * (d.chips - 1) / d.chips * 2 * static_cast<double>(a.hidden) / *link;
  }
  const auto run = [&](Phase phase) -> Result<PhaseTime> {
    Workload now = w;
    now.phase = phase;
    if (phase == Phase::prefill) now.batch = 1, now.sequence = static_cast<std::int64_t>(std::llround(d.prompt));
    const auto sixteen = time_step(a, now, *wide);
    if (!sixteen) return Result<PhaseTime>::fail(sixteen.error);
    now.weight_bytes = recipe.weight_bits / 8;
    const auto narrow = time_step(a, now, *machine);
    if (!narrow) return Result<PhaseTime>::fail(narrow.error);
    return Result<PhaseTime>::ok(merged(*narrow, *sixteen));
  };
  const auto prefill = run(Phase::prefill), decode = run(Phase::decode);
  if (!prefill) return Outcome::fail(prefill.error);
  if (!decode) return Outcome::fail(decode.error);
  out.prefill_s = prefill->total() + link_s + d.prompt * link_s_per_token;
  out.decode_weights_s = decode->matrices_s;
  out.decode_cache_s = decode->attention_s;
  out.decode_other_s = decode->rest_s + link_s + d.batch * link_s_per_token;
  out.decode_s = out.decode_weights_s + out.decode_cache_s + out.decode_other_s;
  out.decode_memory_share = out.decode_s > 0 ? decode->memory_s / out.decode_s : 0;
  return Outcome::ok(out);
}

}  // namespace models
