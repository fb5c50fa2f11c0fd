#include <catch2/catch_test_macros.hpp>

#include "models/realtime/task_graph_stack.h"

using namespace models;

namespace {

constexpr std::array<std::int64_t, stack_resource_count> orin{4, 1, 2, 1};

std::int64_t latency_us(const StackChanges& changes, std::vector<StackTask> tasks = example_stack()) {
  const auto g = stack_graph(tasks, orin, changes);
  INFO(g.error);
  REQUIRE(g);
  return schedule_frames(*g, {})->makespan_ns / 1000;
}

}  // namespace

// A published example: 5 + 12 + 8 + 5 + 3 + 10 + 5 = 48 ms as found, 2 + 6 + 4 + 3 + 3 + 5 + 4 = 27 ms tuned.
TEST_CASE("the example stack takes 48 ms as found and 27 ms tuned; engines alone leave 31") {
  CHECK(latency_us({}) == 48000);
  CHECK(latency_us({.engine = true}) == 31000);      // the networks save 6 + 4 + 2 + 5
  CHECK(latency_us({.tuned_code = true}) == 44000);  // camera 3, planning 1
  CHECK(latency_us({.engine = true, .tuned_code = true}) == 27000);
}

TEST_CASE("each change acts on the graph or on the times of the tasks that it is about") {
  CHECK(latency_us({.shared_backbone = false}) == 60000);  // 12 ms more for the second head's encoder, on the same GPU
  CHECK(latency_us({.parallel_heads = true}) == 43000);    // 5 ms on the DLA under 8 ms on the GPU
  CHECK(latency_us({.temporal_fusion = true}) == 48000 - 2800 - 1750);  // 35 % of 8 and of 5 ms
  CHECK(latency_us({.sparse = true}) == 48000 - 3200 - 2000);
  CHECK(latency_us({.int8 = true, .int8_speedup = 2}) == 48000 - (12000 + 8000 + 5000 + 10000) / 2);
  // Heads side by side on one unit gain nothing.
  auto one_gpu = example_stack();
  one_gpu[3].resource = StackResource::gpu;
  CHECK(latency_us({.parallel_heads = true}, one_gpu) == 48000);
}

TEST_CASE("temporal fusion ties a head to its own last frame, and so limits pipelining") {
  const std::vector<StackTask> tasks = {{"Head", StackResource::gpu, StackRole::head, 10e-3, 10e-3, "", 0, false}};
  const StackChanges fused{.temporal_fusion = true, .temporal_saving = 0};
  const std::array<std::int64_t, stack_resource_count> two_queues{1, 2, 1, 1};
  CHECK(*sustained_rate_hz(*stack_graph(tasks, two_queues, {}), {.pipelined = true}) == 200);
  CHECK(*sustained_rate_hz(*stack_graph(tasks, two_queues, fused), {.pipelined = true}) == 100);
}

TEST_CASE("dependencies are read by name: all tasks of a name, unknown names and circles in one sentence") {
  auto tasks = example_stack();
  tasks[4].depends_on = "Detektion";
  CHECK(stack_graph(tasks, orin, {}).error ==
        "'Tracking' depends on 'Detektion', and no task has that name: write names of the table, separated by commas.");
  tasks[4].depends_on = " Detection ,, Segmentation,";
  CHECK(stack_graph(tasks, orin, {})->tasks[4].after == std::vector<std::size_t>{2, 3});
  tasks[3].name = "Detection";
  tasks[4].depends_on = "Detection";
  CHECK(stack_graph(tasks, orin, {})->tasks[4].after == std::vector<std::size_t>{2, 3});
  tasks[0].depends_on = "Planning";
  CHECK(stack_graph(tasks, orin, {}).error.find("a circle: take one dependency away.") != std::string::npos);
  // A head that an earlier one waits for stays before it when heads run one by one.
  auto backwards = example_stack();
  backwards[2].depends_on = "Backbone, Segmentation";
  CHECK(latency_us({}, backwards) == 48000);
}
