#pragma once
#include "models/realtime/task_graph.h"

/// A car's perception stack as a task graph: what is typed in a table, and what optimizations do to it.
namespace models {

enum class StackResource : std::uint8_t { cpu, gpu, dla, isp };
inline constexpr std::size_t stack_resource_count = 4;
inline constexpr std::array<std::string_view, stack_resource_count> stack_resource_names = {"CPU", "GPU", "DLA", "ISP"};

/// What a task is to the optimizations: `classic` code has no network in it.
enum class StackRole : std::uint8_t { classic, encoder, head, network };

struct StackTask {
  std::string name = "Task";
  StackResource resource = StackResource::cpu;
  StackRole role = StackRole::classic;
  double duration_s = 2e-3;
  double tuned_s = 2e-3;   ///< compiled as an engine (networks) or rewritten (classic code)
  std::string depends_on;  ///< names of tasks, separated by commas; a name that several tasks have means all of them
  std::int64_t priority = 0;
  bool carries_state = false;  ///< waits for its own result of the frame before
  std::string short_name{};    ///< for where the name has no room; empty: there is none
  bool operator==(const StackTask&) const = default;
};

/// Shares and speed-ups are assumptions of whoever sets them.
struct StackChanges {
  bool engine = false;           ///< networks take their tuned time
  bool tuned_code = false;       ///< classic code takes its tuned time
  bool shared_backbone = true;   ///< else every head but the first runs a copy of each encoder it depends on
  bool temporal_fusion = false;  ///< heads save `temporal_saving` and wait for their own result of the frame before
  bool sparse = false;           ///< heads save `sparse_saving` of what is left
  bool parallel_heads = false;   ///< else each head also waits for the head before it in the list
  bool int8 = false;             ///< networks on GPU and DLA are `int8_speedup` times as fast
  double temporal_saving = 0.35, sparse_saving = 0.4, int8_speedup = 1.5;
  bool operator==(const StackChanges&) const = default;
};

/// The graph of one frame. Infeasible: a dependency on a name that no task has, a time that is negative or not finite,
/// or a circle.
Result<TaskGraph> stack_graph(std::span<const StackTask> tasks,
                              const std::array<std::int64_t, stack_resource_count>& units, const StackChanges& changes);

/// Seven stages of a published example, 48 ms as found and 27 ms tuned, one after the other.
std::vector<StackTask> example_stack();

}  // namespace models
