#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/transformer/transformer.h"

/// What an optimizer step reads and writes, pass by pass over the parameters.
namespace models {

enum class OptimizerKind : std::uint8_t { adamw, adamw_8bit, adafactor, lion, muon };
inline constexpr int optimizer_kind_count = 5;

enum class UpdateCode : std::uint8_t {
  looped,   ///< a kernel for each operation and tensor
  foreach,  ///< a kernel for each operation over lists of tensors
  fused     ///< as few passes as the algorithm allows, over lists of tensors
};
inline constexpr int update_code_count = 3;

enum class OptimizerRecipe : std::uint8_t {
  master,  ///< BF16 weights and gradients, FP32 master weights and moments
  fp32,    ///< everything FP32
  bf16     ///< everything BF16
};
inline constexpr int optimizer_recipe_count = 3;

enum class OptimizerTensor : std::uint8_t { weight, gradient, moment, variance, temporary, copy };
inline constexpr int optimizer_tensor_count = 6;

struct OptimizerAccess {
  OptimizerTensor tensor{};
  double bytes = 0;  ///< a parameter
  bool operator==(const OptimizerAccess&) const = default;
};

/// One operation over all parameters: each tensor once, from and to HBM.
struct OptimizerPass {
  std::string_view name;
  std::vector<OptimizerAccess> reads, writes;
  /// Products of Muon: FLOPs a parameter of a matrix of n rows and m columns, n <= m, are `per_side` n + `per_square`
  /// n^2 / m.
  double per_side = 0, per_square = 0;
  bool read_back = false;  ///< its result is a number that the host waits for, tensor by tensor (`.item()`)
  bool product() const { return per_side > 0 || per_square > 0; }
  double read_bytes() const;
  double write_bytes() const;
  double bytes() const { return read_bytes() + write_bytes(); }
};

/// The passes of one step. AdamW as PyTorch writes it (torch/optim/adam.py, single and multi tensor, v2.6): eight
/// operations; Adafactor as torch/optim/_adafactor.py of a matrix; Lion as published with it (Chen et al. 2023);
/// 8-bit AdamW as bitsandbytes, one kernel a tensor and a scale of 4 B for 256 elements of each moment; Muon as
/// torch/optim/_muon.py with five Newton-Schulz steps in BF16, traffic of square matrices.
std::vector<OptimizerPass> optimizer_passes(OptimizerKind kind, UpdateCode code, OptimizerRecipe recipe);

/// Bytes that a parameter of a matrix keeps between steps.
struct OptimizerStorage {
  double weight_bytes = 0, gradient_bytes = 0, master_bytes = 0, state_bytes = 0;
  double temporary_bytes = 0;  ///< at the peak of the step: lists of temporaries hold all parameters at once
  double total() const { return weight_bytes + gradient_bytes + master_bytes + state_bytes; }
};
OptimizerStorage optimizer_storage(OptimizerKind kind, UpdateCode code, OptimizerRecipe recipe);

/// Tensors of one size.
struct ParameterTensor {
  double elements = 0;
  double count = 0;
  double side = 0;  ///< the shorter one of a matrix inside a layer; 0: a vector, an embedding or an output
};
/// The parameters as tensors: one for each matrix, norm and bias. Queries, keys and values are one where the family's
/// checkpoints hold them as one (GPT-2, GPT-NeoX, BLOOM, MPT, Falcon, Phi-3). Their elements sum to the model's
/// parameters; what the list does not know by shape is one tensor a layer: routers, the biases of experts, the inner
/// norms of latent attention. The experts of a layer count as one tensor for each of their matrices.
std::vector<ParameterTensor> parameter_tensors(const Architecture& architecture);

/// Moments in bytes a parameter, as a mean over the tensors: Adafactor keeps a row and a column of each matrix and a
/// second moment of each vector, Muon leaves to AdamW what is no matrix inside a layer. `width`: the shorter side of
/// embedding and output.
double mean_state_bytes(OptimizerKind kind, OptimizerRecipe recipe, const std::vector<ParameterTensor>& tensors,
                        double width);

/// What the host takes, in launches, from a norm's kernel to the next that it launches when it has to read the norm:
/// the queue runs empty. From our own run on an H100 (assets/measured/h100-optimizers.json): Adafactor takes 56 ms in
/// FP32 and 43 in BF16 over 144 tensors where its bytes take 35 and 17, so that each of two reads per tensor costs 80
/// us.
inline constexpr double read_back_launches = 14;

struct OptimizerMachine {
  double bandwidth_bytes_per_s = 0;  ///< that kernels reach
  double matrix_flops_per_s = 0;     ///< that matrix products reach
  double launch_s = 0;               ///< CPU time of an operation: no kernel can follow its predecessor sooner
};

/// Where the code is found: "torch.optim", "bitsandbytes", "timm"; empty where no release of torch.optim (v2.9) has it
/// and the figures are what such code would need.
std::string_view optimizer_home(OptimizerKind kind, UpdateCode code);

/// A pass over all tensors of this chip, its time split by what each of its kernels waits for.
struct OptimizerPassTime {
  double traffic_s = 0, product_s = 0, launch_s = 0;
  double time_s() const { return traffic_s + product_s + launch_s; }
};

struct OptimizerTime {
  double time_s = 0;
  double traffic_s = 0;  ///< what its bytes alone take
  double launches = 0, bytes = 0, flops = 0;
};
/// The same with the time of each pass.
struct TimedOptimizer : OptimizerTime {
  /// In the order of optimizer_passes; of Muon, behind them, those of AdamW over what is no matrix inside a layer.
  std::vector<OptimizerPassTime> passes;
};
/// Time of a step over the tensors, each of which is split in `shards` parts of which this chip has one. A kernel takes
/// the longer of its traffic (or products) and `launch_s`; a number that is read back costs `read_back_launches` more.
/// Lists are cut as PyTorch cuts them: 320 chunks of 65,536 elements a kernel. Muon updates the matrices inside layers,
/// AdamW what is left; 8-bit AdamW is a kernel a tensor.
TimedOptimizer time_optimizer(OptimizerKind kind, UpdateCode code, OptimizerRecipe recipe,
                              const std::vector<ParameterTensor>& tensors, double shards,
                              const OptimizerMachine& machine);

}  // namespace models
