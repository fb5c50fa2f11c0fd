#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/machine/all_reduce_time.h"
#include "models/machine/hardware.h"
#include "models/training/launch_queue.h"
#include "models/transformer/transformer.h"

/// One request, change by change: what each change does to its kernels, their launches, bytes and arithmetic. No change
/// has a multiplier; what it is worth comes out of the state that it meets.
namespace models::inference {

enum class RequestChange : std::uint8_t {
  flash_attention,    ///< attention in one kernel, scores never stored; else three kernels over the stored square
  fusion,             ///< neighbouring element-wise operations in one kernel
  graph,              ///< a step of decode is launched as one graph; prompts, whose shapes vary, are not
  eight_bit_weights,  ///< see EightBits
  four_bit_weights,   ///< weights alone, products in 16 bits; takes the place of 8-bit weights
  eight_bit_cache,    ///< keys and values in `cache_bits`
  speculative,        ///< a draft of some layers guesses, one pass checks
  tensor_parallel     ///< `chips` share every layer
};
inline constexpr std::size_t request_change_count = 8;

/// Which of them are there.
struct ChangeSet {
  std::uint16_t bits = 0;
  constexpr bool has(RequestChange c) const { return (bits >> static_cast<unsigned>(c) & 1u) != 0; }
  constexpr ChangeSet with(RequestChange c) const {
    return {static_cast<std::uint16_t>(bits | 1u << static_cast<unsigned>(c))};
  }
  constexpr ChangeSet without(RequestChange c) const {
    return {static_cast<std::uint16_t>(bits & ~(1u << static_cast<unsigned>(c)))};
  }
  bool operator==(const ChangeSet&) const = default;
};

/// int8_weights: products in 16 bits, weights widened on their way. int8, fp8: both operands, at that format's peak.
enum class EightBits : std::uint8_t { int8_weights, int8, fp8 };
inline constexpr std::size_t eight_bits_count = 3;

/// What kernels reach. Bandwidth by the width of weights that a product widens on their way; everything else as with 16
/// bits. The three and `all_reduce_s` were fitted on gpt-fast's published runs of Llama 2 70B, Llama 3 and Mixtral on
/// A100; those of Llama 2 7B judge them: tests/models/inference/optimize_test.cpp holds runs and errors.
struct KernelShares {
  double peak = 0.7;  ///< assumed
  double bits16 = 0.74, bits8 = 0.54, bits4 = 0.56;
};

struct RequestJob {
  const Architecture* architecture = nullptr;
  const Chip* chip = nullptr;
  std::int64_t prompt = 5, output = 200;  ///< tokens of each request, at least 1
  std::int64_t batch = 1;                 ///< requests that begin and run together
  EightBits eight_bits = EightBits::int8_weights;
  double four_bits = 5;   ///< bits of a weight, constants of its group counted
  double cache_bits = 8;  ///< a number of the cache takes so many where it is narrow, else 16
  std::int64_t draft_length = 4, draft_layers = 4;
  double acceptance = 0.7;  ///< chance that a drafted token is kept
  std::int64_t chips = 2;   ///< behind `tensor_parallel`
  AllReduceLinks links;     ///< between them
  bool whole_head = false;  ///< every chip reads the whole output matrix, as gpt-fast does
  LaunchHost host;          ///< times of the host; its queue is never full
  double least_kernel_s = 1.5e-6;
  KernelShares shares;
  double memory_share = 0.9;  ///< the share of a chip's memory that may be filled
};

/// One pass through the model, or a round of several. Work is one chip's.
struct RequestPass {
  double kernels = 0, launches = 0;
  double busy_s = 0;                      ///< kernels back to back, all-reduces among them
  double talk_s = 0;                      ///< all-reduces
  double product_s = 0, attention_s = 0;  ///< kernels that read weights; products of attention, which read caches
  double time_s = 0;  ///< from the end of the pass before to its own end, launches and the host's reading of it counted
  double flops = 0;   ///< all arithmetic
  double weight_bytes = 0, cache_bytes = 0, other_bytes = 0;  ///< other: activations, scores
  double bytes() const { return weight_bytes + cache_bytes + other_bytes; }
  double wait_s() const { return time_s - busy_s; }
  RequestPass& operator+=(const RequestPass& o);
};

/// The request with some changes made.
struct RequestState {
  RequestPass prefill;         ///< all prompts of the batch in one pass
  RequestPass decode;          ///< a step, or a round of drafts and check
  double tokens = 1;           ///< that a round yields for each request
  double ttft_s = 0;           ///< to the first token
  double tpot_s = 0;           ///< from token to token
  double request_s = 0;        ///< ttft + (output - 1) x tpot
  double tokens_per_s = 0;     ///< batch x output / request, as gpt-fast counts
  double bytes_per_token = 0;  ///< read by all chips in decode
  double held_bytes = 0;       ///< a chip's weights, caches at the end, draft, and stored scores of one layer
  double weights_held_bytes = 0, caches_held_bytes = 0, scores_held_bytes = 0;  ///< its parts, the draft's in them
  double peak_flops_per_s = 0;  ///< a chip's, in the format of its products
  std::int64_t chips = 1;
  bool fits = false;
};

/// Fails with a sentence: sizes out of range, a chip without the peak or the link that a change needs, a model that
/// cannot be cut, experts without a compiler (their loop's launches depend on the tokens).
Result<RequestState> price_request(const RequestJob& job, ChangeSet changes);

/// The same for many sets of changes of one job, which must outlive it: operations are listed once for all sets that
/// have the same.
class RequestPricer {
 public:
  explicit RequestPricer(const RequestJob& job);
  ~RequestPricer();
  RequestPricer(const RequestPricer&) = delete;
  RequestPricer& operator=(const RequestPricer&) = delete;
  Result<RequestState> price(ChangeSet changes);
  /// `new_tokens` of prompt of each of so many requests, behind `prefix` tokens that are cached, in one pass; the
  /// draft's too where there is one.
  Result<RequestPass> price_prompts(ChangeSet changes, std::int64_t requests, std::int64_t new_tokens,
                                    std::int64_t prefix);

 private:
  const RequestJob& job_;
  std::unique_ptr<class OperationLists> lists_;
};

/// One change in its place, and in all places it could have.
struct ChangeStage {
  RequestChange change{};
  RequestState after;
  double saved_s = 0, gain = 1;  ///< won of the request against the stage before; below 0 and 1 where it got slower
  double first_saved_s = 0, last_saved_s = 0;
  double first_gain = 1;                 ///< as the first, on the request as found
  double last_gain = 1;                  ///< when all others are there
  double least_gain = 1, most_gain = 1;  ///< over all orders
  double least_saved_s = 0, most_saved_s = 0;
  double average_saved_s = 0;  ///< over all orders: Shapley's value, "A value for n-person games", 1953
};

struct ChangeWalk {
  RequestState found;               ///< before any change
  std::vector<ChangeStage> stages;  ///< in order
  const RequestState& last() const { return stages.empty() ? found : stages.back().after; }
  double speedup() const { return found.request_s / last().request_s; }
};

/// Makes the changes of `order`, each at most once and none of those that were `found`, and every subset of them for
/// the other orders. Fails where one of the states does.
Result<ChangeWalk> walk_changes(const RequestJob& job, ChangeSet found, std::span<const RequestChange> order);

/// The changes from the one that saves most on the request as found, then the one that saves most of what is left, and
/// so on. Fails where walk_changes does.
Result<std::vector<RequestChange>> largest_first(const RequestJob& job, ChangeSet found,
                                                 std::span<const RequestChange> changes);

/// What somebody measured with some changes made, in tokens a second of one request.
struct MeasuredRung {
  ChangeSet changes;
  std::int64_t chips = 1;
  double tokens_per_s = 0;
};
/// gpt-fast: Llama 2 7B on A100-80GB at 330 W, five tokens of prompt, 200 new ones, one request; weights alone in INT8,
/// or in INT4 in groups of 32. The ladder of "Accelerating generative AI with PyTorch II" (2023-11-30), and the chips
/// of its README at commit 32971d3. INT8's 157.4 is the ladder's 202.1 over its stated gain of 1.284. Which draft the
/// last rung has is not stated.
std::span<const MeasuredRung> gpt_fast_rungs();
/// The rung of that job with these changes; null where the job is another, or nobody measured it.
const MeasuredRung* find_rung(const RequestJob& job, ChangeSet changes, std::string_view model_id);

}  // namespace models::inference
