#include "chapters/described/step_choices.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/choices_in_order.h"
#include "models/machine/all_reduce_time.h"
#include "models/trace/writers/sample.h"
#include "models/training/launch_queue.h"
#include "models/training/step_simulation.h"

namespace chapters {

const Choices& launch_mode_choices() {
  static const Choices choices = choices_in_order<models::LaunchMode::compiled_graph>(
      {{"eager", "Eager", "A kernel for each operation that Python asks for."},
       {"compiled", "Compiled", "Element-wise operations fused into one kernel each."},
       {"graph", "Graph", "The eager kernels, captured once (a CUDA or HIP graph) and launched all at once."},
       {"compiled_graph", "Compiled, in a graph", "Fused kernels, launched all at once."}});
  return choices;
}

const Choices& optimizer_code_choices() {
  static const Choices choices = choices_in_order<models::OptimizerCode::fused>(
      {{"looped", "Looped", "One kernel an operation and tensor."},
       {"foreach", "Foreach", "One kernel an operation for many tensors: fewer launches, the same bytes."},
       {"fused", "Fused", "One pass over weights, gradients and both moments."}});
  return choices;
}

const Choices& all_reduce_choices() {
  static const Choices choices = choices_in_order<models::AllReduceAlgorithm::fastest>(
      {{"ring", "Ring", "One ring through all ranks, as many at once as a node has ports."},
       {"tree", "Tree", "A chain inside nodes, a double binary tree of nodes; pipelined."},
       {"hierarchical", "Hierarchical", "Reduce-scatter inside nodes, rings between them, all-gather inside."},
       {"fastest", "Fastest", "For each bucket the one of these that takes least."}});
  return choices;
}

const Choices& sample_fault_choices() {
  static const Choices choices = choices_in_order<models::SampleFault::straggler>(
      {{"none", "Healthy", "Nothing planted: computation is the limit."},
       {"hidden_sync", "Hidden sync", "The loss is read back in the middle of each step."},
       {"data_starved", "Starved loader", "Each batch arrives late."},
       {"launch_bound", "Launch-bound", "Kernels are shorter than the host takes to launch them."},
       {"exposed_communication", "Exposed comms", "All-reduces take longer than the backward pass can hide."},
       {"straggler", "A straggler", "Rank 2 computes 21 % slower, and the others wait for it."}});
  return choices;
}

models::Result<const models::Chip*> find_launched_chip(std::string_view id) {
  const auto chip = find_chip(id);
  if (!chip) return chip;
  for (const std::string_view vendor : {"Google", "AWS", "Intel"})
    if ((*chip)->vendor == vendor)
      return models::Result<const models::Chip*>::fail(
          "The " + (*chip)->name +
          " runs programs that are compiled whole, and no kernels that a host launches one by one: choose an NVIDIA or "
          "an AMD GPU.");
  return chip;
}

void describe_inside_hop(Fields& f, double& hop_s, double hi_s) {
  f.real("inside_hop_s", hop_s, {"Hop inside a node", "s"},
         "Latency to a neighbour in the node; NCCL's table: 3.4 us for large messages, 0.6 for small.",
         {.range = {1e-8, hi_s, Scale::log}});
}
void describe_between_hop(Fields& f, double& hop_s, double hi_s) {
  f.real("between_hop_s", hop_s, {"Hop between nodes", "s"},
         "Latency to a neighbour in another node; NCCL's table: 14 us for large messages, 2.7 for small.",
         {.range = {1e-8, hi_s, Scale::log}});
}

}  // namespace chapters
