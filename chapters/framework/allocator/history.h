#pragma once
#include "chapters/framework/allocator/asked.h"
#include "models/memory/allocator_replay.h"

/// The replay of a list, with what lay where meanwhile.
namespace chapters::framework::allocator {

/// Replays the list and writes its history into `run`.
models::memory::AllocatorRun replay_with_history(const Asked& asked, bool stop_at_failure, Run& run);

}  // namespace chapters::framework::allocator
