#pragma once
#include "models/serving/engine/serving_cost.h"

/// The best that a machine could do at full peak and bandwidth, which no engine can beat: what published serving runs
/// are held against.
namespace models {

struct ServingBound {
  double sequences = 0;     ///< in the batch: as many as asked for, or as memory holds
  double tpot_s = 0;        ///< one decode step of them
  double ttft_s = 0;        ///< one prompt alone
  double tokens_per_s = 0;  ///< output tokens, prompts computed as well
};

/// Bound for `sequences` at once whose lengths are `prompt` and `output` tokens. Every weight but the input embedding
/// is read in each step (of experts those that one token is routed to, so that the bound holds for any batch), and the
/// cache of prompt and half of the output of each sequence. Arithmetic is two operations a parameter and token;
/// attention's own is left out. Tokens a second: the lesser of what the steps give and what the arithmetic of prompt
/// and output gives; where `batch_waits`, all prompts of a batch first and then its steps, as static batches go. The
/// roof_share, overhead, link latency and memory share of the machine are not used: roofs are taken in full.
/// Infeasible: a chip without peak in the format.
Result<ServingBound> serving_bound(const Architecture& architecture, const ServingMachine& machine, double sequences,
                                   double prompt, double output, bool batch_waits = false);

}  // namespace models
