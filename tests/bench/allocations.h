#pragma once
#include <cstdint>

namespace bench {

/// Heap allocations of this process so far: every operator new, and everything Dear ImGui asks for once `count_imgui`
/// was called. What C libraries take by malloc is not in.
std::uint64_t allocations();

/// Routes Dear ImGui's allocations through the counter. Before the first context is made.
void count_imgui();

}  // namespace bench
