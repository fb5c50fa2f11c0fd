#pragma once
#include <cstdint>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/link_writer.h"
#include "models/training/launch_queue.h"
#include "models/transformer/layer_ops.h"

/// The host that launches kernels, as the inputs of labs have it.
namespace chapters {

/// Whose launches are used, in the order of models::recorded_launches; `own`: the times of the inputs.
enum class LaunchedBy : std::uint8_t { h100_qwen, h100_timesformer, a100, v100, own };

/// Inputs `host`, `launch_s`, `latency_s`, `between_s`, `graph_launch_s`, `graph_between_s` and `least_kernel_s`.
struct LaunchHostInputs {
  LaunchedBy host = LaunchedBy::h100_qwen;
  double launch_s = 8e-6, latency_s = 1.4e-6, between_s = 1.7e-6;  ///< where the host is one's own
  double graph_launch_s = 1e-5, graph_between_s = 1e-6, least_kernel_s = 1.5e-6;
  bool operator==(const LaunchHostInputs&) const = default;
};

/// The first four of them: who launches kernel by kernel, and how fast.
void describe_launch_host(Fields& fields, LaunchHostInputs& in);
/// The last three: launches of graphs, and the shortest kernel.
void describe_graph_launches(Fields& fields, LaunchHostInputs& in);
/// As the model takes it: recorded times where a recording is chosen.
models::LaunchHost host_of(const LaunchHostInputs& in);
/// All of them, for a lab that has the same inputs.
void link_launch_host(LinkWriter& link, const LaunchHostInputs& in);

/// The phases whose launches are counted. A training step is launched forward and backward: the step trace has it.
enum class LaunchedPhase : std::uint8_t { prefill, decode };
models::Phase phase_of(LaunchedPhase phase);
/// The input `phase`, the shared choice with these alone: what a lab cannot compute is not offered.
void describe_launched_phase(Fields& fields, LaunchedPhase& phase, std::string_view help);

}  // namespace chapters
