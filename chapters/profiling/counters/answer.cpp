#include "chapters/profiling/counters/lab.h"
#include "chapters/profiling/counters/words.h"
#include "widgets/number/number.h"

/// The sentence that says what bounds the kernel, by the figures that decided.
namespace chapters::profiling::counters {
namespace {

using namespace models::gpu;
using widgets::figure;

std::string share(double percent) { return figure(percent, "%"); }
bool known(double value) { return !std::isnan(value); }

/// "memory (`49 %`) nor compute (`47.2 %`)", as far as both are printed.
std::string neither(const Outputs& out) {
  return "Neither memory (" + share(out.memory_percent) + ") nor compute (" + share(out.compute_percent) +
         ") is near a limit";
}

std::string count_words(double count, std::string_view one, std::string_view many) {
  return figure(count, "", 9) + " " + std::string(count == 1 ? one : many);
}

/// "; DRAM is at `5.26 %`", or nothing.
std::string dram_clause(const Outputs& out) {
  return known(out.dram_percent) ? "; DRAM is at " + share(out.dram_percent) : std::string();
}

std::string launch_answer(const Outputs& out) {
  std::string so;
  if (known(out.compute_percent)) so += "compute is at " + share(out.compute_percent);
  if (known(out.memory_percent)) so += (so.empty() ? "memory is at " : " and memory at ") + share(out.memory_percent);
  if (out.said.evidence == Evidence::idle_sms)
    return "The blocks are uneven: an SM works " + share(out.sm_active_percent) + " of the time, so " + so + ".";
  const double blocks = out.reported_blocks, sms = out.reported_sms;
  if (known(blocks) && known(sms) && blocks < sms)
    return "The launch is too small: " + count_words(blocks, "block", "blocks") + " for " + figure(sms, "", 9) +
           " SMs, so " + so + ".";
  if (known(blocks) && blocks < 60)
    return "The launch is too small: " + count_words(blocks, "block", "blocks") + " for the whole chip, so " + so + ".";
  return "The launch is too small: it fills less than a wave, so " + so + ".";
}

std::string memory_answer(const Outputs& out) {
  const std::string memory = share(out.memory_percent), dram = share(out.dram_percent);
  switch (out.said.evidence) {
    case Evidence::dram_roof:
      return "DRAM is the limit: it works at " + dram + " of its bandwidth" +
             (known(out.compute_percent) ? ", while compute is at " + share(out.compute_percent) : std::string()) + ".";
    case Evidence::shared_figure:
      return "Compute and memory both read " + memory + ": one pipe of loads is both, so memory is the limit" +
             dram_clause(out) + ".";
    case Evidence::l1_active:
      return "L1 is full: " + share(out.l1_percent) + " of the cycles in which it works" +
             (known(out.memory_percent) ? ", though memory reads " + memory : std::string()) +
             (known(out.dram_percent) ? ". DRAM is at " + dram : std::string()) + ".";
    case Evidence::l2_only:
      return "L2 is all of the memory figure, " + memory + ", and DRAM is at " + dram +
             ": the data may not lie in the chip's memory.";
    default:
      break;
  }
  if (!known(out.memory_percent)) return "Memory is the limit: DRAM works at " + dram + ".";
  if (out.memory_is_not_dram)
    return "Memory is the limit at " + memory + ", but not DRAM, which is at " + dram +
           (known(out.compute_percent) ? "; compute is at " + share(out.compute_percent) : std::string()) + ".";
  return "Memory is the limit at " + memory +
         (known(out.compute_percent) ? ", against " + share(out.compute_percent) + " for compute" : std::string()) +
         dram_clause(out) + ".";
}

std::string compute_answer(const Outputs& out) {
  if (known(out.pipe_percent))
    return "Compute is the limit: " + std::string(cause_words(out.said.cause).name) + " works " +
           share(out.pipe_percent) + " of the time" + dram_clause(out) + ".";
  if (known(out.memory_percent))
    return "Compute is the limit at " + share(out.compute_percent) + ", against " + share(out.memory_percent) +
           " for memory.";
  return "Compute is the limit at " + share(out.compute_percent) + "; what memory reads is not printed.";
}

std::string waiting_words(const Outputs& out) {
  return known(out.top_stall_percent) ? share(out.top_stall_percent) + " of it for " + out.top_stall
                                      : "most of all for " + out.top_stall;
}

std::string latency_answer(const Outputs& out) {
  const bool both = known(out.memory_percent) && known(out.compute_percent);
  switch (out.said.evidence) {
    case Evidence::last_wave: {
      if (known(out.reported.waves))
        return "The last of " + figure(out.reported.waves, "") + " waves is partial: the tail can cost " +
               share(out.reported.tail_pct) + " of the time, and nothing is near a roof.";
      return count_words(out.reported_blocks, "block", "blocks") + " on " + figure(out.reported_sms, "", 9) +
             " SMs: with one block per SM at a time the last round is partial, and SMs wait.";
    }
    case Evidence::data_before_pipe:
      return "The busiest pipe works " + share(out.pipe_percent) +
             " of the time: warps wait longer for data than for it.";
    case Evidence::issue_bound:
      return neither(out) + ", yet a warp goes in " + share(out.issue_slots_percent) +
             " of the cycles: many lanes idle.";
    case Evidence::low_occupancy:
      return neither(out) + ": only " + share(out.reported.theoretical_occupancy_pct) + " of the warps fit.";
    case Evidence::amd_resource:
      return "In " + share(out.no_room_percent) + " of the time a wavefront found no " +
             (out.said.cause == Cause::occupancy_shared ? "LDS" : "vector registers") + " free" +
             (known(out.room_percent) ? "; " + share(out.room_percent) + " of the places for wavefronts are taken"
                                      : std::string()) +
             ".";
    case Evidence::top_stall:
      return both ? neither(out) + ": warps wait, " + waiting_words(out) + "."
                  : "Warps wait, " + waiting_words(out) + "; compute or memory is not printed.";
    default:
      break;
  }
  return both ? neither(out) + ": warps wait, and for what is not printed."
              : "Warps wait, and for what is not printed.";
}

/// An author who states a class all the same saw more than is published.
std::string undecided_answer(const Outputs& out) {
  const std::string text = "What this report prints does not decide what bounds the kernel";
  if (!out.stated.ends_with("the author")) return text + ".";
  return text + "; its author saw more and says " + out.stated.substr(0, out.stated.find(',')) + ".";
}

std::string first_line(const Outputs& out) {
  switch (out.said.evidence) {
    case Evidence::nothing:
      return undecided_answer(out);
    case Evidence::amd_no_fault:
      return "Only occupancy is printed, and no resource holds it down: memory is the likeliest limit, and not proven.";
    case Evidence::amd_few_waves:
      return "The launch is too small: " +
             (known(out.wavefronts) ? count_words(out.wavefronts, "wavefront", "wavefronts")
                                    : count_words(out.reported_blocks, "workgroup", "workgroups")) +
             " for the whole chip.";
    case Evidence::amd_caches:
      return "The caches are the limit: L1 is busy " + share(out.l1_percent) + " and L2 " + share(out.l2_percent) +
             " of the time.";
    default:
      break;
  }
  switch (out.said.bound) {
    case KernelClass::launch:
      return launch_answer(out);
    case KernelClass::memory:
      return memory_answer(out);
    case KernelClass::compute:
      return compute_answer(out);
    case KernelClass::latency:
      return latency_answer(out);
    case KernelClass::undecided:
      break;
  }
  return undecided_answer(out);
}

}  // namespace

std::string answer_of(const Outputs& out) { return first_line(out) + "\n" + out.next_step; }

}  // namespace chapters::profiling::counters
