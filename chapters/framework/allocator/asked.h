#pragma once
#include <memory>
#include <vector>

#include "chapters/framework/allocator/lab.h"

/// What is put through the allocator.
namespace chapters::framework::allocator {

struct Asked {
  models::memory::AllocatorProgram program;
  std::vector<models::memory::InitialSegment> initial;
  std::vector<std::uint32_t> initial_owners;
  std::vector<std::uint64_t> placement;
  models::memory::AllocatorConfig config;
  std::shared_ptr<const models::memory::AllocatorSnapshot> snapshot;  ///< null: it is no recording of a state
};
/// The list that the inputs name, or a sentence why there is none.
models::Result<Asked> ask(const Inputs& in);

}  // namespace chapters::framework::allocator
