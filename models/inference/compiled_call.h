#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/training/launch_queue.h"
#include "models/transformer/step_time.h"

/// What one call of a model costs eager and compiled, at any length: the kernels of launch_queue.h under the roofline,
/// launched by Python, by a compiled host program, or as CUDA graphs.
namespace models::inference {

enum class LaunchedBy : std::uint8_t { python, native, graph };

/// How a call is run.
struct CallStyle {
  bool compiled = false;  ///< element-wise operations fused
  LaunchedBy launched = LaunchedBy::python;
  double products_faster = 0;  ///< how much faster tuned products are, 0.01: one percent
  double kernels_slower = 0;   ///< what kernels for any length lose to kernels for one, likewise
  std::int64_t breaks = 0;     ///< graph breaks: each cuts one fused kernel and one CUDA graph in two
};

struct CallPrice {
  double kernels = 0, launches = 0;
  double bytes = 0;     ///< all kernels, main memory
  double host_s = 0;    ///< launches and graph breaks
  double device_s = 0;  ///< kernels and the gaps between them, with a host that is never late
  double call_s = 0;    ///< from the end of a call on the device to the end of the next; the host reads each result
};

struct CallSetup {
  const Architecture* architecture = nullptr;
  Machine machine{};    ///< as much of peak and bandwidth as kernels reach
  Workload workload{};  ///< prefill: `sequence` is the length of a call; decode: `batch` is
  LaunchHost host{};
  double native_launch_s = 4.1e-6;  ///< between launches of a compiled host program
  double least_kernel_s = 1.5e-6;
  double break_s = 3e-5;  ///< a graph break's Python between two graphs
  std::int64_t longest = 2048;
};

/// Prices calls of any length from 1 to the longest. Operations whose work is a polynomial of second degree in the
/// length, as that of every dense transformer without a window is, are priced from three lengths, exactly; others are
/// counted anew at each length.
class CallPricer {
 public:
  /// Fails, in one sentence: training, a model with experts (an eager layer of those is a loop that is not counted), a
  /// workload out of range, a machine without peak or bandwidth.
  static Result<CallPricer> make(const CallSetup& setup);
  CallPrice price(const CallStyle& style, std::int64_t length) const;
  bool polynomial() const { return polynomial_; }

 private:
  /// One operation; work over the length L is w[0] + w[1] L + w[2] L^2.
  struct Operation {
    std::int64_t kernels = 1, repeats = 1;
    int stretch = 0;  ///< operations of one stretch run one after the other, the whole of it `repeats` times
    double parts = 1;
    bool product = false;
    std::array<double, 3> flops{}, bytes{};
  };
  using Operations = std::vector<Operation>;

  Operations counted(bool compiled, std::int64_t length) const;
  bool fit(bool compiled, Operations& out) const;

  CallSetup setup_;
  Operations eager_, compiled_;
  bool polynomial_ = false;
};

}  // namespace models::inference
