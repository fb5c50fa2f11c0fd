#include <vector>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/operation.h"
#include "kernels/sources.h"

namespace kernels::cpu {
namespace {

/// The ladders with their rungs, and each rung with its text.
struct Built {
  std::vector<std::vector<Rung>> rungs;
  std::vector<Ladder> ladders;

  Built() {
    for (const Operation* operation : operations()) {
      auto& list = rungs.emplace_back();
      for (const Version& v : operation->versions) {
        list.push_back(v.rung);
        list.back().source = embedded_source(v.rung.source);
      }
      ladders.push_back(operation->ladder);
      ladders.back().rungs = list;
    }
  }
};

}  // namespace

std::span<const Operation* const> operations() {
  static const Operation* const all[] = {
      &copy_operation(),         &triad_operation(),   &latency_operation(),    &read_sets_operation(),
      &latency_sets_operation(), &softmax_operation(), &layer_norm_operation(), &gemv_operation(),
      &sgemm_operation(),        &fma_operation(),     &sum_operation(),        &triad_threads_operation(),
      &sgemm_threads_operation()};
  return all;
}

std::span<const Ladder> ladders() {
  static const Built built;
  return built.ladders;
}

models::Status run(const Request& request, const Ladder& ladder, const Listener& listener) {
  for (const Operation* operation : operations())
    if (operation->ladder.id == ladder.id) return run(request, *operation, listener);
  return models::Status::fail("There is no CPU ladder " + std::string(ladder.id) + ".");
}

models::Status run_turns(const TurnsRequest& request, const Ladder& ladder, const TakeTurn& take) {
  for (const Operation* operation : operations())
    if (operation->ladder.id == ladder.id) return run_turns(request, *operation, take);
  return models::Status::fail("There is no CPU ladder " + std::string(ladder.id) + ".");
}

}  // namespace kernels::cpu
