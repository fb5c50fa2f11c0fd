#pragma once
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include "app/workspace/workspace.h"
#include "tests/support/lab/lab_walk.h"

/// Many tests look at the same states of a lab: its defaults, its presets, the first random ones. Each state is
/// computed once in a process. That computing again would give the same is a test of its own (generic_inputs_test.cpp).
namespace support {

/// Computes the lab, or gives it the outputs of one that had the same inputs.
inline void compute_once(chapters::Lab& lab) {
  static std::map<std::string, chapters::LabPtr> computed;  // by the lab and its inputs
  // What takes less is computed again rather than kept.
  constexpr std::clock_t worth_keeping = CLOCKS_PER_SEC / 500;
  std::string key = std::string(lab.info().id) + '\n' + fingerprint(lab.inputs());
  if (const auto at = computed.find(key); at != computed.end()) {
    lab.take_outputs(std::move(*at->second->clone()));
    return;
  }
  const std::clock_t from = std::clock();
  lab.compute();
  if (std::clock() - from >= worth_keeping) computed.emplace(std::move(key), lab.clone());
}

/// The same of the lab that is open, whose inputs were just set.
inline void compute_once(app::Workspace& workspace) {
  const chapters::LabPtr computed = workspace.lab().clone();
  compute_once(*computed);
  workspace.current().adopt(std::move(*computed));
}

}  // namespace support
