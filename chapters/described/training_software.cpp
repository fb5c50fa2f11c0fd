#include "chapters/described/training_software.h"

#include "models/parallel/planner/planner_constants.h"

namespace chapters {

const Choices& training_format_choices() {
  static const Choices all = {{"bf16", "BF16", "All matmuls in 16 bits."},
                              {"fp8", "FP8", "Matmuls inside the layers in 8 bits; attention and logits stay in 16."},
                              {"fp4", "FP4", "Matmuls inside the layers in 4 bits; attention and logits stay in 16."}};
  return all;
}

const Choices& training_software_choices() {
  static const Choices all = {
      {"megatron_core", "Megatron Core", "2024 and later: flash attention, communication mostly hidden."},
      {"megatron_2022", "Megatron, 2022", "Sequence parallelism, unfused attention, gradients wait for the end."},
      {"megatron_2021", "Megatron, 2021", "Unfused attention, gradients wait for the end of the backward pass."},
      {"megatron_2020", "Megatron, 2020", "As of 2020: tensor and data parallelism alone."},
      {"megatron_deepspeed", "Megatron-DeepSpeed", "As it trained BLOOM in 2022."},
      {"megatron_golden", "Megatron Core, deterministic", "As its own tests run it."},
      {"deepspeed_zero3", "DeepSpeed ZeRO-3, 2021", "As Narayanan et al. measured it next to Megatron."},
      {"fsdp_eager", "PyTorch FSDP", "Without a compiler, as of 2023."},
      {"fsdp_compiled", "PyTorch FSDP2, compiled", "As torchtitan runs it."},
      {"internevo", "InternEvo", "As of 2023."},
      {"nanotron", "nanotron", "Version 0.5."},
      {"xla", "JAX with XLA", "As of 2024."},
      {"primus", "Primus", "On ROCm."},
      {"megatron_2023", "Megatron Core, no overlap", "Without overlapped tensor parallelism, as in 2023."},
      {"megatron_2026", "Megatron Core, 2026", "June 2026 and later: layers in CUDA graphs, faster grouped matmuls."},
      {"deepseek", "DeepSeek's own",
       "As the V3 report describes it: DualPipe, exchanges behind work, dispatch in FP8."},
      {"fsdp_compiled_2024", "PyTorch FSDP2, 2024",
       "As torchtitan ran it in 2024: its loss not compiled, and without a pipeline one micro-batch a step."}};
  static_assert(models::parallel::stack_count == 17);
  return all;
}

}  // namespace chapters
