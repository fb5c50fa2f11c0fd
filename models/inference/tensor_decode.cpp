#include "models/inference/tensor_decode.h"

#include <algorithm>
#include <array>

#include "models/base/integer_math.h"
#include "models/inference/kv_cache.h"
#include "models/transformer/weight_storage.h"

namespace models::inference {
namespace {

PhaseSetup phase_setup(const DecodeGroup& g) {
  return {.machine = g.machine,
          .weight_bytes_each = g.weight_bytes_each,
          .kv_bytes_each = g.kv_bytes_each,
          .batch = g.batch,
          .context = g.context};
}

double head_bytes(const Architecture& a, const DecodeGroup& g) {
  return as_double(a.vocab) * as_double(a.hidden) * g.weight_bytes_each;
}

// Fitted by iterated least absolute relative error on every second run, in order of chips, users and lengths, of the
// tables in ai-dynamo/aiconfigurator; tests/models/inference/tensor_decode_test.cpp holds runs and errors.
constexpr std::array<LoadedFit, 3> loaded_table{{
    {"b200_sxm", "fp4", "TensorRT-LLM", "llama-3-70b", 4.778e-3, 1.390, 31.0e-6, 6.7e-6, 21, 0.015, 0.049},
    {"h200_sxm", "fp8", "TensorRT-LLM", "llama-3-70b", 3.700e-3, 1.077, 136.8e-6, 12.7e-6, 15, 0.007, 0.042},
    {"h100_sxm", "bf16", "TensorRT-LLM", "llama-3-8b", 2.081e-3, 1.010, 45.4e-6, 6.3e-6, 18, 0.049, 0.151},
}};

}  // namespace

std::string decode_cut_problem(const Architecture& a, std::int64_t chips) {
  if (a.heads % chips != 0)
    return std::to_string(a.heads) + " query heads cannot be dealt evenly to " + std::to_string(chips) + " chips.";
  if (!a.has_latent() && a.kv_heads % chips != 0 && chips % a.kv_heads != 0)
    return std::to_string(a.kv_heads) + " key and value heads cannot be dealt evenly to " + std::to_string(chips) +
           " chips.";
  return {};
}

DecodeSlab decode_slab(const Architecture& a, const DecodeGroup& g, std::int64_t chips) {
  const PhaseWork work = decode_step_work(a, phase_setup(g));
  const double n = as_double(chips);
  DecodeSlab s{.chips = chips};
  s.copies = kv_copies(a, {.chip = g.chip, .chips = chips});
  const double head = g.whole_head ? head_bytes(a, g) * (1 - 1 / n) : 0;
  s.weights_bytes = work.weight_bytes / n + head;
  s.cache_bytes = work.cache_bytes * s.copies / n;
  s.weights_s = s.weights_bytes / g.machine.bandwidth_bytes_per_s;
  s.cache_s = s.cache_bytes / g.machine.bandwidth_bytes_per_s;
  s.arithmetic_s = work.flops() / n / g.machine.peak_flops_per_s;
  if (chips > 1) {
    const AllReduceTime one =
        all_reduce_time(AllReduceAlgorithm::fastest, {.ranks = chips, .ranks_per_node = g.chips_per_node}, g.links,
                        as_double(g.batch) * as_double(a.hidden) * 2);
    const double calls = 2 * as_double(a.layers);
    s.latency_s = calls * one.latency_s;
    s.wire_s = calls * one.transfer_s;
  }
  s.step_s = std::max(s.read_s(), s.arithmetic_s) + s.talk_s();
  s.held_bytes = stored_weight_bytes(a, 8 * g.weight_bytes_each) / n + head + s.cache_bytes;
  s.fits = s.held_bytes <= g.memory_share * g.chip->memory_bytes;
  return s;
}

std::vector<std::int64_t> decode_cuts(const Architecture& a, std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t n = 1; n <= most; n *= 2)
    if (decode_cut_problem(a, n).empty()) out.push_back(n);
  return out;
}

double decode_pipeline_s(const Architecture& a, const DecodeGroup& g, std::int64_t chips) {
  const DecodeSlab one = decode_slab(a, g, 1);
  const double hop =
      g.links.inside_hop_s + g.links.base_s + as_double(g.batch) * as_double(a.hidden) * 2 / g.links.inside_bytes_per_s;
  return std::max(one.read_s(), one.arithmetic_s) + as_double(chips - 1) * hop;
}

std::span<const LoadedFit> loaded_fits() { return loaded_table; }

const LoadedFit* find_loaded_fit(std::string_view chip, std::string_view format, std::string_view model) {
  const auto at = std::find_if(loaded_table.begin(), loaded_table.end(), [&](const LoadedFit& f) {
    return f.chip == chip && f.format == format && f.model == model;
  });
  return at == loaded_table.end() ? nullptr : &*at;
}

}  // namespace models::inference
