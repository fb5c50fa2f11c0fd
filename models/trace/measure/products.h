#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/trace/trace.h"

/// Matrix products of a recording, counted from the shapes that PyTorch's profiler writes with record_shapes=True.
namespace models::trace {

/// What one call multiplies. A multiply-add is two flops.
struct ProductFlops {
  double issued = 0;  ///< by the kernels: of fused attention with a causal mask half of the square
  double needed = 0;  ///< the part that the mathematics asks for: without the scores that attention's backward repeats
};

/// Flops of one operation from its arguments "Input Dims" and "Concrete Inputs", both as written in the file. Known are
/// mm, addmm, bmm, baddbmm, _scaled_mm, _int_mm, aiter::gemm_a16w16, convolution and its backward (2 N K out C/g R S,
/// once for each gradient), and fused attention with its backward pass: 2 products forward, 4 and the repeated scores
/// backward (Dao et al. 2022, section 3.1 and appendix B.2). Empty: not such an operation, or its shapes or strides are
/// not written.
std::optional<ProductFlops> product_flops(std::string_view name, std::string_view dims, std::string_view concrete);

/// Whether product_flops knows an operation of this name.
bool is_product(std::string_view name);

/// All calls of one operation.
struct ProductRow {
  std::string name;
  std::int64_t calls = 0;
  double flops = 0;            ///< issued
  std::int64_t kernel_ns = 0;  ///< its kernels, one after the other
};

/// Products whose first kernel starts in a window on one device.
struct ProductWork {
  double issued_flops = 0, needed_flops = 0;  ///< needed: without what is recomputed and what attention repeats
  double recomputed_flops = 0;                ///< forward products that ran inside the backward pass
  std::int64_t calls = 0, recomputed_calls = 0;
  std::int64_t unknown_calls = 0;  ///< products with kernels there, whose shapes are not written
  std::int64_t busy_ns = 0;        ///< union of the kernels of the counted products, clipped to the window
  /// Time of other kernels that multiply, as their calls or names say (gemm, nvjet, flash, ...), while no counted
  /// product runs: in a CUDA graph, in a library that calls no ATen operation, or without shapes.
  std::int64_t uncounted_ns = 0;
  std::vector<ProductRow> rows;  ///< most flops first
};

/// Finds the products between two times. An operation's kernels are those that were launched inside it; of nested
/// products the outer one counts. Recomputed is what runs inside of autograd's engine under a forward call
/// (aten::linear, aten::conv2d, ...) or straight under a checkpoint's backward node. Operations inside of CUDA graphs
/// are not written by the profiler: their kernels are uncounted.
ProductWork measure_products(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns);

}  // namespace models::trace
