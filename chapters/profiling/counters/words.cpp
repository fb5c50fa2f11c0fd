#include "chapters/profiling/counters/words.h"

#include <array>

namespace chapters::profiling::counters {
namespace {

using namespace models::gpu;

constexpr std::array<CauseWords, cause_count> all_causes{{
    {"not known", "Print more sections: `ncu --set full`, and compute and memory throughput first."},
    {"DRAM at its roof", "Move fewer bytes: fuse kernels, keep smaller types. No other change can help."},
    {"traffic to DRAM", "Read each byte once: fuse passes, and block for the caches."},
    {"uncoalesced accesses", "Let neighbouring threads touch neighbouring words, so that a request needs few sectors."},
    {"sectors in L1", "Let neighbouring threads touch neighbouring words; L1 moves whole sectors of 32 bytes."},
    {"L1 at its roof", "Reuse values in registers and shared memory, so that fewer loads reach L1."},
    {"the load and store pipe", "Issue fewer and wider loads, and keep values in registers."},
    {"the shared-memory pipe", "Keep more in registers: a larger tile per thread needs fewer shared loads."},
    {"bank conflicts", "Pad or swizzle the shared tile, so that the lanes of a warp hit different banks."},
    {"the MIO queue", "Issue fewer and wider shared loads, and keep values in registers."},
    {"the queue to L1", "Issue fewer and wider global loads; do not read a table where arithmetic would do."},
    {"registers spilled to memory", "Keep less per thread: tile the row, or allow more registers."},
    {"L2 without DRAM", "Find out where the data lies: managed pages on the host look like this."},
    {"the tensor pipe",
     "The work is where it should be: a smaller format or fewer FLOPs, or feed the pipe without gaps."},
    {"the FP64 pipe", "Look for a double constant or a call without the f: FP32 runs 2 to 64 times as fast."},
    {"the FMA pipe", "Use tensor cores, or fewer instructions for the same result."},
    {"issue slots", "Execute fewer instructions: wider loads, unrolled loops, cheaper addresses."},
    {"waits for global memory", "Load earlier and more at once: wide copies and stages; or more warps."},
    {"waits for shared memory", "Read shared memory earlier, or keep the values in registers."},
    {"waits at a barrier", "Make the part between barriers even, or give the waiting warps work of their own: stages."},
    {"waits for a math pipe", "A pipe is busy: use a faster one, or spread the instructions over more of them."},
    {"dependent instructions", "Give each thread several independent results to work on."},
    {"divergent or idle lanes", "Let all lanes of a warp take one path; retire whole warps, not every second thread."},
    {"the last wave", "Choose a grid of whole waves, or one block per SM that fetches its work (persistent)."},
    {"few warps: shared memory", "Take less shared memory per block, so that more blocks fit on an SM."},
    {"few warps: registers", "Take fewer registers per thread, so that more blocks fit on an SM."},
    {"too few blocks",
     "Split the work over more blocks: at least as many as the chip has SMs, better several times that."},
    {"uneven blocks", "Balance the work: split the longest block, or deal the work out in small pieces."},
}};
static_assert(all_causes[static_cast<std::size_t>(Cause::load_imbalance)].name == "uneven blocks");

constexpr std::array<StallWords, stall_reason_count> all_stalls{{
    {"global or local memory", "Waits for data from L1, L2 or DRAM.",
     "Load earlier, wider, and coalesced; more warps."},
    {"shared memory", "Waits for data from shared memory or a special function.",
     "Load earlier; avoid bank conflicts."},
    {"the MIO queue", "The queue to shared memory and special functions is full.", "Fewer and wider shared loads."},
    {"the queue to L1", "The queue for global and local memory is full.", "Fewer and wider global loads."},
    {"the texture queue", "The queue for textures is full.", "Fewer texture fetches."},
    {"a math pipe", "The pipe for this instruction is busy.", "A healthy sign near a roof; else another pipe."},
    {"a barrier", "Waits for the other warps of its block.", "Even work between barriers; smaller blocks."},
    {"a memory barrier", "Waits until its writes are seen.", "Fewer fences, at a narrower scope."},
    {"a fixed latency", "Waits for an earlier instruction of fixed length.", "More independent instructions."},
    {"not selected", "It could go, and another warp went.", "Nothing: there is work enough."},
    {"selected", "It is the one that goes.", "Nothing: this is the work."},
    {"a branch", "Waits for the target of a branch.", "Fewer branches, unrolled loops."},
    {"the next instruction", "Waits for instructions to be fetched.", "Smaller loops; less unrolling."},
    {"a constant", "Waits for the constant cache.", "The same constant for all lanes of a warp."},
    {"the dispatcher", "The dispatcher holds the instruction back.", "Fewer register-bank clashes."},
    {"writes to drain", "A warp that ends waits for its writes.", "Wider, coalesced stores at the end."},
    {"sleep", "The warp sleeps by itself.", "Less polling."},
    {"something else", "Another reason.", "Look at the source lines that wait."},
}};

constexpr std::array<std::string_view, sol_verdict_count> verdict_names{
    "not decided", "balanced", "neither", "grid too small", "memory heavier", "compute heavier", "near a roof"};

constexpr std::array<std::string_view, kernel_class_count> class_names{"not decided", "memory", "compute", "latency",
                                                                       "launch"};

constexpr std::array<std::string_view, evidence_count> evidence_names{{
    "nothing that is printed decides",
    "only occupancy is printed, and no resource holds it down: a weak sign",
    "fewer wavefronts than compute units",
    "wavefronts wait for room on a compute unit",
    "L1 or L2 are busy",
    "fewer blocks than SMs, or less than a wave, and nothing is busy",
    "SMs work for a far smaller part of the time than the grid would fill",
    "a pipe of arithmetic is at its roof",
    "DRAM is at its roof",
    "a memory unit other than DRAM is at its roof",
    "compute and memory print one figure, so one pipe of loads is both",
    "L1 is full while it works, and DRAM has little to do",
    "L2 is all of the memory figure, and DRAM is at nothing",
    "memory is the larger of the two",
    "compute is the larger of the two",
    "compute is high, and memory is not printed",
    "the last wave is partial, and nothing is near a roof",
    "neither is high, and one stall takes most of the waiting",
    "neither is high, and the issue slots are the busiest unit",
    "a pipe is high, and warps wait longer for data than for it",
    "neither is high, and few warps fit",
    "neither is high, and no stall is printed",
}};

}  // namespace

const CauseWords& cause_words(Cause cause) { return all_causes[static_cast<std::size_t>(cause)]; }
std::string_view next_words(const Diagnosis& said, bool amd) {
  if (said.evidence == Evidence::neither)
    return "Print the stalls first (`ncu --section WarpStateStats`); most often it is data from global memory.";
  if (said.evidence == Evidence::amd_no_fault)
    return "Print the tables of L1 and L2 before you change anything; most often accesses are not coalesced.";
  const Cause cause = said.cause;
  if (amd && cause == Cause::occupancy_shared)
    return "Take less LDS per workgroup, so that more of them fit on a compute unit.";
  if (amd && cause == Cause::occupancy_registers)
    return "Take fewer vector registers per wavefront, so that more of them fit on a compute unit.";
  return cause_words(cause).next;
}
const StallWords& stall_words(StallReason reason) { return all_stalls[static_cast<std::size_t>(reason)]; }
std::string_view verdict_words(SolVerdict verdict) { return verdict_names[static_cast<std::size_t>(verdict)]; }
std::string_view class_words(KernelClass bound) { return class_names[static_cast<std::size_t>(bound)]; }
std::string_view evidence_words(Evidence evidence) { return evidence_names[static_cast<std::size_t>(evidence)]; }

}  // namespace chapters::profiling::counters
