#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/machine/roofline.h"
#include "models/transformer/transformer.h"

/// One request as two phases: its prompt in one pass (prefill), then its answer token by token (decode). Two prices
/// that are never mixed: the bound, at full peak and bandwidth, which no published plain run beats; and the expected,
/// with what an engine was seen to reach on the chip.
namespace models::inference {

struct PhaseSetup {
  Machine machine;               ///< one chip's peak and bandwidth
  std::int64_t chips = 1;        ///< they share every layer, and all bytes and arithmetic evenly
  double weight_bytes_each = 2;  ///< each weight's but for the input embedding, which is looked up and not read
  double kv_bytes_each = 2;      ///< a number's in the cache
  std::int64_t batch = 1;        ///< requests at once
  std::int64_t prompt = 8192;    ///< tokens of each prompt
  std::int64_t context = 8256;   ///< tokens in the cache of each request in a decode step
};

/// What a phase moves and computes, over all chips.
struct PhaseWork {
  double matmul_flops =
      0;  ///< with the weights: 2 for each weight and token, the output matrix among them, as published bounds count
  double attention_flops = 0;  ///< scores and values: the causal half of a prompt, or the new token against the cache
  double weight_bytes = 0;     ///< read once; of experts those that the tokens are expected to touch
  double cache_bytes = 0;      ///< read in decode; written in prefill
  double flops() const { return matmul_flops + attention_flops; }
  double bytes() const { return weight_bytes + cache_bytes; }
};

/// The bound of a phase. The bytes and the arithmetic with the weights run side by side, so the longer counts.
struct PhaseBound {
  double arithmetic_s = 0;  ///< matmul_flops / peak
  double bytes_s = 0;       ///< bytes / bandwidth
  double attention_s = 0;   ///< attention_flops / peak: comes on top in prefill, and hides under the bytes in decode
  double time_s = 0;  ///< max(arithmetic, bytes), as published bounds are counted: attention's arithmetic is left out
  bool computes() const { return arithmetic_s >= bytes_s; }
};

PhaseWork prefill_work(const Architecture& architecture, const PhaseSetup& setup);
/// One step: every request of the batch gets one token.
PhaseWork decode_step_work(const Architecture& architecture, const PhaseSetup& setup);
PhaseBound phase_bound(const PhaseWork& work, const PhaseSetup& setup);

/// FLOP per byte of a decode step, attention's among them, as on the roofline.
double phase_intensity(const PhaseWork& work);
/// Requests at which a decode step reaches the ridge, or a sentence that names the intensity it can never pass.
Result<double> phase_critical_batch(const Architecture& architecture, const PhaseSetup& setup);

/// What an engine was seen to take for one token of one request on a chip: t0 + bytes / (efficiency x bandwidth).
struct DecodeFit {
  std::string_view chip, engine;
  double start_s = 0;                        ///< t0: what each token costs besides bytes
  double efficiency = 1;                     ///< share of the bandwidth that bytes reach
  int runs = 0;                              ///< published runs behind it: every second sets the pair, the others judge
  double median_error = 0, worst_error = 0;  ///< relative, of the runs that judge
};
/// The pairs that exist, one a chip and engine.
std::span<const DecodeFit> decode_fits();
const DecodeFit* find_decode_fit(std::string_view chip);
/// Seconds of a step under a fit.
double expected_step_s(const DecodeFit& fit, const PhaseWork& step, const Machine& machine);

}  // namespace models::inference
