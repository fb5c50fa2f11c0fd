#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/pipeline_schedule.h"
#include "models/transformer/layer_ops.h"

/// What a training step keeps in the memory of one GPU: the plan, and whose bytes are counted.
namespace models::memory {

/// What is kept of a parameter between steps, apart from the optimizer's own moments.
enum class StateRecipe : std::uint8_t {
  zero,        ///< weights 2, gradients 2, FP32 master 4: Rajbhandari et al. 2019 (ZeRO), section 3.1
  megatron,    ///< weights 2, FP32 gradients 4, master 4: Megatron-LM, theoretical_memory_usage.py
  accumulate,  ///< weights 2, gradients 2 and an FP32 sum of them 4, master 4: Ultra-Scale Playbook (nanotron)
  no_master,   ///< weights 2, gradients 2: the optimizer updates the 16-bit weights
  pure_bf16,   ///< weights 2, gradients 2, and moments of 16 bits too
  fp32,        ///< weights 4, gradients 4: no master is needed
};
inline constexpr std::size_t state_recipe_count = 6;

enum class OptimizerKind : std::uint8_t {
  adamw,         ///< two FP32 moments: 8 B
  adamw_8bit,    ///< two 8-bit moments and an FP32 scale for each block of 256: 2.03 B (bitsandbytes)
  adafactor,     ///< FP32 sums of rows and columns of a matrix's second moment (Shazeer & Stern 2018)
  lion,          ///< one moment: 4 B (Chen et al. 2023)
  muon,          ///< one moment of the matrices inside the layers, AdamW for the rest (Jordan 2024)
  sgd_momentum,  ///< one moment: 4 B
  sgd,           ///< nothing
  adamw_16bit    ///< two BF16 moments: 4 B (DeepSeek-V3 technical report, section 3.3.2)
};
inline constexpr std::size_t optimizer_kind_count = 8;

/// How the logits become a loss, which decides how often they exist at once.
enum class LossKind : std::uint8_t {
  eager,     ///< log-softmax, its gradient and that of the logits, each FP32 and whole: 12 B a logit (Transformers)
  parallel,  ///< the 16-bit logits beside one FP32 copy that is worked on in place: 6 B (Megatron-LM)
  fused,     ///< the gradient takes the place of the 16-bit logits: 2 B (Transformer Engine, Liger in place)
  chunked,   ///< an eighth of the rows at a time, each eagerly: 1.5 B
  /// Eager where tensor parallelism splits the words: log-softmax, the gradient of the loss, its exponentials and their
  /// sum, each FP32 and whole: 16 B a logit (PyTorch's loss_parallel, torch/distributed/tensor/parallel/loss.py)
  eager_sharded
};
inline constexpr std::size_t loss_kind_count = 5;
/// Bytes that live at once for each logit when the loss is at its fullest.
double loss_bytes_per_logit(LossKind kind);
inline constexpr double loss_chunks = 8;

/// What lies in the host's memory instead, each GPU's own part (ZeRO-Offload, Ren et al. 2021; ZeRO-Infinity).
enum class Offload : std::uint8_t {
  none,
  optimizer,  ///< master and moments, and from ZeRO-2 on the gradients, which leave through buckets
  parameters  ///< the weights too, which come unit by unit: ZeRO-3 alone
};
inline constexpr std::size_t offload_count = 3;

/// Matrices of the layers that get a pair of low-rank ones beside them (Hu et al. 2021, LoRA).
enum class AdapterTargets : std::uint8_t {
  query_value,  ///< queries and values, as in the paper of LoRA
  attention,    ///< queries, keys, values and output
  all_linear,   ///< every matrix of a layer but the router, as in the paper of QLoRA
};
inline constexpr std::size_t adapter_targets_count = 3;

/// Parts of a layer that Recompute::selective gives up and runs again, one bit each, as Megatron Core's
/// --recompute-modules names them.
enum class RecomputeModule : std::uint8_t {
  core_attention = 1,  ///< core_attn: scores, softmax and values; of fused attention nothing is there to give up
  norms = 2,           ///< layernorm: what norms write, which the products behind them would keep
  activation = 4,      ///< moe_act, and that of dense layers: what the activation function writes
  latent_up = 8,       ///< mla_up_proj: queries, keys and values, made again from their latents
  feed_forward = 16,   ///< mlp: all of a dense feed-forward but its input
  experts = 32         ///< moe: all of router, experts and shared experts but their input, the exchanges among it
};
inline constexpr std::size_t recompute_module_count = 6;
inline constexpr std::uint8_t bit(RecomputeModule module) { return static_cast<std::uint8_t>(module); }

/// Bytes of one parameter, before anything is split.
struct BytesPerParameter {
  double weights = 0, gradients = 0, master = 0, optimizer = 0;
  double total() const { return weights + gradients + master + optimizer; }
  bool operator==(const BytesPerParameter&) const = default;
};

inline constexpr double ddp_bucket_bytes = 25 * 1048576.0;  ///< DistributedDataParallel's bucket_cap_mb

/// A step of one micro-batch shape under a plan. Counts are of GPUs, sequences, tokens, layers.
struct TrainingPlan {
  StateRecipe recipe = StateRecipe::zero;
  OptimizerKind optimizer = OptimizerKind::adamw;
  std::int64_t batch = 1;  ///< sequences of one micro-batch
  std::int64_t sequence = 4096;
  std::int64_t micro_batches = 1;  ///< Micro-batches of a step: they limit what a pipeline holds at once.
  std::int64_t tensor = 1, pipeline = 1, virtual_pipeline = 1, data = 1, context = 1, expert = 1;
  /// GPUs that share every expert (Megatron Core's --expert-tensor-parallel-size), a divisor of `tensor`; 0: all of
  /// `tensor` where so many are there beside the experts' own.
  std::int64_t expert_tensor = 0;
  /// Plain and interleaved 1F1B are told apart by virtual_pipeline alone.
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  /// Micro-batches whose activations of the whole stage are held at once, as the schedule's own order has it
  /// (PlannerSchedules::in_flight of models/parallel); 0: what 1F1B, plain or interleaved, holds.
  double in_flight = 0;
  std::int64_t stage = 0;          ///< The pipeline's stage, 0-based, whose GPU is counted.
  bool sequence_parallel = false;  ///< norms and dropout between the tensor-parallel blocks are split as well
  std::int64_t zero_stage = 0;     ///< 1 splits optimizer and master over `data` x `context`, 2 gradients, 3 weights
  /// ZeRO splits states over so many neighbouring data-parallel ranks, and the groups are copies of each other (hybrid
  /// sharding); 0: over all of them.
  std::int64_t shard_group = 0;
  Recompute recompute = Recompute::none;
  std::uint8_t modules = bit(RecomputeModule::core_attention);  ///< what Recompute::selective runs again
  /// Selective recomputation keeps what every second product writes, and attention's result, and runs all else of the
  /// layer again, in place of `modules` (torchtitan's selective_ac_option "op").
  bool every_second_product = false;
  /// Bytes of an element of the inputs that products keep; 0: as activations. 8 bits with a scale for 32 elements are
  /// 1.03: Transformer Engine keeps the copy that the weight gradient's product reads.
  double kept_input_bytes = 0;
  /// Products keep the input that sequence parallelism gathered for them, whole, and gather nothing in the backward
  /// pass (PyTorch's DTensor; pytorch/pytorch, issue 146693); otherwise each GPU keeps its part (Megatron-LM).
  bool gathered_inputs = false;
  bool fused_attention = true;  ///< scores are never stored
  bool dropout = false;         ///< masks of a byte, and of attention its result once more
  LossKind loss = LossKind::eager;
  bool fused_gradients = false;  ///< weight gradients are added inside the product: no 16-bit one in between
  /// Transformer Engine's stand-in for a fused weight gradient: one 16-bit array a weight shape, kept for good.
  bool gradient_stand_ins = false;
  bool step_gradients = false;  ///< DeepSpeed's ZeRO-1 and 2: its part of the gradients once more in FP32 for the step
  /// Embedding and loss count as a layer each when layers are dealt to stages, and so does multi-token prediction:
  /// Megatron-LM's account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split.
  bool ends_take_slots = false;
  /// 0: as many as the architecture has. Otherwise a bare number, which has no shape: every GPU has an even part of it.
  double parameters = 0;
  BytesPerParameter own_bytes{};  ///< in place of the recipe's and the optimizer's, where their sum is above 0
  /// SiLU or GELU and the product with the other half are kernels of their own, as in eager PyTorch: the result of the
  /// first is kept too. Fused, they keep what they read.
  bool eager_gate = false;
  Offload offload = Offload::none;
  /// What the layers keep for the backward pass waits in the host's memory; two layers' worth stays on the GPU, that at
  /// work and the next on its way.
  bool host_activations = false;
  /// The model's own weights are not trained: `frozen_bytes` each inside the layers' matrices, 16 bits elsewhere,
  /// without gradients and states, which the adapters alone have.
  bool frozen = false;
  double frozen_bytes = 2;
  double adapter_rank = 0;  ///< Inner width of the pairs beside frozen matrices; 0: no pairs.
  AdapterTargets adapter_targets = AdapterTargets::query_value;
  std::int64_t gather_ahead = 1;  ///< ZeRO-3: units that are gathered before they are needed
  /// ZeRO-3: a unit's weights are given up after its forward pass and gathered again (FSDP's reshard_after_forward).
  bool reshard = true;
  /// ZeRO-3 under a pipeline: weights stay whole from the first micro-batch to the last, and gradients are summed whole
  /// in FP32 until then (the stages of torch.distributed.pipelining over fully_shard).
  bool whole_in_pipeline = false;
  /// Stages of a pipeline keep what every micro-batch's forward pass wrote at the end of each of their chunks, logits
  /// among them, until the step ends (torch.distributed.pipelining until May 2025: pytorch/pytorch, pull request
  /// 153383).
  bool kept_outputs = false;
  double reduce_bytes = 0;  ///< ZeRO-3: of an element where gradients are reduced; 0: as gradients are kept, 4 at most
  double bucket_bytes = ddp_bucket_bytes;  ///< through which sharded or offloaded gradients leave; two of them
  bool operator==(const TrainingPlan&) const = default;
};

/// One sentence when the plan is out of range or the architecture cannot be split so; nothing otherwise. Layers that do
/// not divide evenly over the stages of a plain pipeline are rounded up: the last stages have fewer, and none is empty.
/// Interleaving needs equal chunks and micro-batches in multiples of the stages (Narayanan et al. 2021), context
/// parallelism a sequence of two pieces a GPU (Megatron-LM's zig-zag), expert parallelism a divisor of the experts.
std::string plan_problem(const Architecture& architecture, const TrainingPlan& plan);

/// Slots that the ends take where they count as layers: embedding, loss, and each depth of multi-token prediction.
std::int64_t slots_of_ends(const Architecture& architecture);

/// Parts that the layers are cut into: a stage has one, `virtual_pipeline` where it interleaves, two where the schedule
/// is folded (ZB-V, DualPipe-V).
std::int64_t chunks_of_model(const TrainingPlan& plan);

/// Chunks of layers that the plan's stage holds, each [first, end). Of chunks that cannot be equal each has as many
/// layers as the rounded-up share while there are any; where that left one empty, the first ones have one more than the
/// rest. A folded schedule gives stage i the chunks i and 2p - 1 - i, DualPipe the stages i and p - 1 - i, one of each
/// direction.
std::vector<std::array<std::int64_t, 2>> stage_layers(const Architecture& architecture, const TrainingPlan& plan);

/// Whether the plan's stage holds the embedding, and the output matrix with the loss.
struct StageEnds {
  bool first = false, last = false;
};
StageEnds stage_ends(const TrainingPlan& plan);

/// The same architecture cut or repeated to `layers` layers; those that come on top are like the last one.
Architecture with_layers(const Architecture& architecture, std::int64_t layers);

/// The workload that models/transformer counts for this plan: a training step of one micro-batch without recomputation.
Workload workload_of(const TrainingPlan& plan);

/// Whose bytes they are. The order is that of the stack, from the ground up.
enum class MemoryOwner : std::uint8_t {
  weights,
  gradients,
  master,
  optimizer,
  activations,
  logits,
  temporary,
  buffers,
  slack
};
inline constexpr std::size_t memory_owner_count = 9;
std::string_view owner_name(MemoryOwner owner);  ///< "weights"

/// Bytes by owner.
struct HeldBytes {
  std::array<double, memory_owner_count> bytes{};

  double& operator[](MemoryOwner owner) { return bytes[static_cast<std::size_t>(owner)]; }
  double operator[](MemoryOwner owner) const { return bytes[static_cast<std::size_t>(owner)]; }
  double total() const {
    double sum = 0;
    for (const double b : bytes) sum += b;
    return sum;
  }
  /// Weights, gradients, master and moments: what is there between two steps, or would be but for their gradients.
  double states() const {
    return (*this)[MemoryOwner::weights] + (*this)[MemoryOwner::gradients] + (*this)[MemoryOwner::master] +
           (*this)[MemoryOwner::optimizer];
  }
  bool operator==(const HeldBytes&) const = default;
};

}  // namespace models::memory
