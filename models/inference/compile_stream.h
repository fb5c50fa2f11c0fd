#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/inference/compiled_call.h"
#include "models/inference/guard_cache.h"

/// A stream of calls through a compiler: what compiling costs, what the calls win, and from which call on it is ahead.
namespace models::inference {

/// eager; torch.compile as it stands, as "reduce-overhead" (CUDA graphs) and as "max-autotune" (CUDA graphs and tuned
/// products); XLA; a TensorRT engine; fused kernels written by hand in Triton and called from eager code.
enum class CompileWay : std::uint8_t { eager, standard, reduce_overhead, max_autotune, xla, tensorrt, by_hand };
inline constexpr std::size_t compile_way_count = 7;

/// What is taken for the seconds of compiling.
struct CompileSeconds {
  double standard_s = 25.2;  ///< a graph of torch.compile
  double autotune_s = 66.5;  ///< a graph of max-autotune
  double xla_s = 40;         ///< an executable of XLA
  double tensorrt_s = 300;   ///< an engine
  double by_hand_s = 5;      ///< every kernel of the model for one kind of length
  double capture_s = 0.29;   ///< a CUDA graph
  double break_s = 1;        ///< more for each graph break: one more graph to trace and to lower
  double of(CompileWay way) const;
};

struct CompileSetup {
  GuardRules rules;
  CompileSeconds seconds;
  double products_faster = 0.008, kernels_slower = 0.03;
  double guard_s = 3e-5;  ///< to check the guards of one graph, or of one piece between breaks
  std::int64_t breaks = 0;
};

/// The shapes' rules as the way has them. XLA knows no dynamic lengths: what would be one graph for any length is a
/// graph for each, without a limit. A TensorRT engine takes a range of lengths from the beginning. Neither has a limit.
/// Kernels by hand follow Triton's own specialization and never pad.
GuardRules rules_of(CompileWay way, const GuardRules& chosen);
/// How a call of the way runs once it is compiled.
CallStyle style_of(CompileWay way, const CompileSetup& setup, bool dynamic);

struct StreamTotals {
  std::int64_t graphs = 0, recompilations = 0, captures = 0, eager_calls = 0;
  double compile_s = 0;         ///< graphs and captures
  double run_s = 0;             ///< calls alone, guards among it
  double eager_s = 0;           ///< the same calls, all eager
  double padding = 0;           ///< share of the tokens that were run and nobody asked for
  double guards_s = 0;          ///< a call, in the mean
  std::int64_t ahead_from = 0;  ///< from this call on (from 1) it stays ahead of eager; 0: not at the end
  double total_s() const { return compile_s + run_s; }
  double won_s() const { return eager_s - total_s(); }
  double saving_s(double calls) const { return (eager_s - run_s) / calls; }
};

struct StreamRun {
  StreamTotals totals;
  GuardRun guards;
  std::vector<double> lead_s;     ///< after each call: how far eager is behind; below 0: ahead
  std::vector<double> compile_s;  ///< that each call waited for: its graph, its capture
};

/// Prices of calls by length, each worked out once.
class CallPrices {
 public:
  explicit CallPrices(const CallPricer& pricer, std::int64_t longest);
  double call_s(std::size_t style, const CallStyle& how, std::int64_t length);
  static constexpr std::size_t styles = 2 * compile_way_count;

 private:
  const CallPricer& pricer_;
  std::array<std::vector<double>, styles> known_;  ///< 0: not yet
};

/// `lengths` one after the other. With CUDA graphs the first call of a length in a graph runs without, the second is
/// captured, and from the third on it is replayed (cudagraph trees), in a dynamic graph for every length anew.
StreamRun run_stream(std::span<const std::uint32_t> lengths, CompileWay way, const CompileSetup& setup,
                     CallPrices& prices);

}  // namespace models::inference
