#include <array>
#include <string>
#include <string_view>

#include "models/trace/builder/builder.h"

namespace models::trace {
namespace {

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool starts_like(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i)
    if (lower_letter(text[i]) != lower[i]) return false;
  return true;
}

/// The kernel's own name with its namespaces in lower case and without underscores: not its result, template arguments
/// or parameters, in which any word may stand.
std::string plain_name(std::string_view kernel) {
  constexpr std::string_view unnamed = "(anonymous namespace)::", result = "void ";
  if (kernel.starts_with(result)) kernel.remove_prefix(result.size());
  std::string out;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (kernel.substr(i).starts_with(unnamed)) {
      i += unnamed.size() - 1;
      continue;
    }
    if (kernel[i] == '<' || kernel[i] == '(') break;
    if (kernel[i] != '_') out += lower_letter(kernel[i]);
  }
  return out;
}

}  // namespace

bool is_communication(std::string_view kernel) {
  if (starts_like(kernel, "nccl") || starts_like(kernel, "rccl") || starts_like(kernel, "hccl") ||
      kernel.find("ncclKernel") != std::string_view::npos || kernel.find("ncclDevKernel") != std::string_view::npos)
    return true;
  // Inductor names a kernel after the operations it was made from, collectives beside it among them; it runs none.
  if (kernel.starts_with("triton_")) return false;
  const std::string name = plain_name(kernel);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  // DeepEP and mori send tokens to experts; working out where they go, "get_dispatch_layout", stays on the device.
  if (has("deepep::") || has("::epdispatch") || has("::epcombine"))
    return (has("dispatch") || has("combine")) && !has("layout");
  // Reductions among the threads of a block or of a warp.
  if (has("warpallreduce") || has("blockallreduce")) return false;
  // PyTorch's and vLLM's symmetric memory, TensorRT-LLM, aiter, SGLang, quick reduce, MSCCL++, NVSHMEM.
  constexpr std::array<std::string_view, 9> libraries{"allreduce",   "crossdevicereduce", "reducescatter",
                                                      "allgather",   "multimem",          "nvshmem",
                                                      "quickreduce", "mscclpp",           "mscclkernel"};
  for (const std::string_view part : libraries)
    if (has(part)) return true;
  return false;
}

EventClass class_of_work(std::string_view name) {
  if (starts_like(name, "memcpy") || starts_like(name, "memset") || starts_like(name, "hipmemcpy") ||
      starts_like(name, "hipmemset") || name.starts_with("dma") || name.starts_with("__amd_rocclr_copyBuffer") ||
      name.starts_with("__amd_rocclr_fillBuffer"))
    return EventClass::memory;  // the last two are ROCm's copies and fills, which run as kernels
  // Operations of XLA are named after the collective, and numbered.
  for (const std::string_view collective :
       {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast"})
    if (name.starts_with(collective)) return EventClass::communication;
  return is_communication(name) ? EventClass::communication : EventClass::computation;
}

}  // namespace models::trace
