#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/inference/optimize.h"
#include "models/machine/all_reduce_time.h"

/// What each technique moves, with it over without it, for one model on one chip: a page of factors of which each is
/// worked out by the model of its own subject.
namespace models::sheet {

/// What a technique can move. `gap` is the longest wait between two tokens while a prompt is read; `states` are
/// gradients, master weights and moments; `read` are bytes from main memory for a token; `sent` bytes over links.
enum class Moved : std::uint8_t {
  first_token,
  per_token,
  gap,
  throughput,
  weights,
  states,
  activations,
  cache,
  flops,
  read,
  sent,
  launches
};
inline constexpr std::size_t moved_count = 12;
/// More of it is better; of all others less is.
constexpr bool more_is_better(Moved m) { return m == Moved::throughput; }

enum class Technique : std::uint8_t {
  flash,
  fusion,
  graph,
  weights8,
  weights4,
  cache8,
  tensor,
  speculative,
  batch,
  grouped_heads,
  paged,
  prefix,
  continuous,
  chunked,
  parted,
  bf16,
  fp8_training,
  fused_update,
  overlap,
  zero1,
  zero3,
  adam8,
  checkpoint,
  accumulate,
  pipeline,
  packing
};
inline constexpr std::size_t technique_count = 26;
inline constexpr std::size_t serving_count = 15;  ///< they stand first; the others are of training

/// The case that the page is for.
struct WorkCase {
  inference::RequestJob request;  ///< model, chip, requests; `chips` > 1: they share every layer
  double reserved_tokens = 8192;  ///< that a cache without blocks keeps for every request
  double block_tokens = 16;
  double shared_tokens = 512;  ///< at the head of each prompt, known already
  double chunk_tokens = 512;
  double link_bytes_per_s = 50e9;  ///< between a machine that reads prompts and one that writes answers
  // Training.
  std::int64_t gpus = 64, gpus_per_node = 8;
  AllReduceLinks links;
  std::int64_t sequence = 4096, micro_batch = 1, pieces = 8, stages = 8;
  double document_tokens = 1024;  ///< mean length
};

struct TechniqueEffect {
  Technique technique{};
  /// With it over without it; 1: not moved; infinite: without it there is none; NaN: not known, as `why_not` says.
  std::array<double, moved_count> factor;
  std::string why_not;
  double of(Moved m) const { return factor[static_cast<std::size_t>(m)]; }
};

/// Every technique, alone, beside an engine that has FlashAttention, fused kernels, a graph and the case's chips, or a
/// training in BF16 with FlashAttention, a compiler, a fused update and overlapped exchange. In the order of Technique.
/// Launches that FlashAttention and fusion spare are counted without the graph, which is one launch whatever it holds.
std::vector<TechniqueEffect> technique_effects(const WorkCase& work);

/// Mean of the largest of `n` draws over the mean of one, where lengths are exponential: 1 + 1/2 + ... + 1/n. What a
/// batch waits for its longest answer.
double longest_of(std::int64_t n);
/// The share of padded rows of `sequence` tokens that holds tokens, where documents have exponential lengths of this
/// mean and are cut at the row's end: (mean / sequence) (1 - exp(-sequence / mean)).
double padded_fill(double document_tokens, double sequence);

/// One link of a chain: what is worth doing next, and what it makes of what is left.
struct PriorityStep {
  std::string name;
  double gain = 1;       ///< before over after
  bool reaches = false;  ///< with this step the goal is met: it fits, or nothing is exposed any more
};
struct Priorities {
  std::vector<PriorityStep> inference, training, memory, communication;
};
/// Each chain takes what gains most first, then what gains most of what is left, until nothing gains a hundredth.
/// inference: time of one request, from an engine that has nothing. training: time of a step, from FP32 on eager
/// kernels. memory: bytes of a training step on one GPU, from data parallelism alone, until it fits. communication:
/// exposed time of the gradients, from FP32 gradients in one ring after the backward pass.
Priorities priorities(const WorkCase& work);

}  // namespace models::sheet
