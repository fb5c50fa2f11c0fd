#include <array>
#include <cmath>

#include "chapters/kernels/async_pipeline/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::async_pipeline {
namespace {

using widgets::figure;

std::string count_of(double n) { return figure(n, ""); }
std::string count_of(std::int64_t n) { return figure(static_cast<double>(n), "", 12); }
std::string cycles(double n) { return figure(n, ""); }
std::string kib(double bytes) { return figure(bytes, "B", 3, widgets::Prefix::binary); }
std::string buffers(std::int64_t n) { return count_of(n) + (n == 1 ? " buffer" : " buffers"); }
std::string blocks(std::int64_t n) { return count_of(n) + (n == 1 ? " block" : " blocks"); }

std::string ordinal(std::int64_t n) {
  static constexpr std::array<std::string_view, 15> words{
      "first", "second", "third",    "fourth",  "fifth",      "sixth",      "seventh",  "eighth",
      "ninth", "tenth",  "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth"};
  return std::string(words[static_cast<std::size_t>(n - 1) % words.size()]);
}

std::string won(double n) { return n < 1e-6 ? "nothing" : cycles(n); }
/// "the fourth wins 3, the fifth nothing".
std::string wins_of(const Outputs& out) {
  const std::int64_t n = out.buffers;
  if (out.next_wins < 1e-6) return "the " + ordinal(n + 1) + " wins nothing";
  return "the " + ordinal(n + 1) + " wins " + won(out.next_wins) + ", the " + ordinal(n + 2) + " " + won(out.then_wins);
}

std::string verdict_of_ring(const Outputs& out) {
  if (out.buffers == 1) return "With one buffer a tile takes " + cycles(out.period) + " cycles; " + wins_of(out) + ".";
  if (out.last_won < 1 + 1e-9)
    return "With " + buffers(out.buffers) + " a tile takes " + cycles(out.period) + " cycles, as with one fewer; " +
           wins_of(out) + ".";
  return "The " + ordinal(out.buffers) + " buffer takes a tile from " + cycles(out.fewer_period) + " to " +
         cycles(out.period) + " cycles; " + wins_of(out) + ".";
}

std::string verdict_at_full_rate(const Outputs& out) {
  if (out.bound == PipelineBound::load)
    return "A tile takes " + cycles(static_cast<double>(out.load_cycles)) + " cycles to copy and " +
           cycles(static_cast<double>(out.compute_cycles)) +
           " to compute: copying is the limit, and no buffer more helps.";
  if (out.bound == PipelineBound::issue)
    return "The producer needs " + cycles(out.period) +
           " cycles to issue a copy and is the limit: a tile takes as long.";
  const std::string enough = count_of(out.stages_for_full_rate) + (out.stages_for_full_rate == 1 ? " is" : " are");
  if (out.spare_buffers == 1)
    return buffers(out.buffers) + ", and " + enough + " enough: the spare one wins nothing and takes " +
           kib(out.spare_bytes) + ".";
  if (out.spare_buffers > 1)
    return buffers(out.buffers) + ", and " + enough + " enough: the spare " + count_of(out.spare_buffers) +
           " win nothing and take " + kib(out.spare_bytes) + ".";
  return buffers(out.buffers) + (out.buffers == 1 ? " is" : " are") + " just enough: a tile takes " +
         cycles(out.period) + " cycles, and one more wins nothing.";
}

std::string price_of(const Outputs& out) {
  if (out.blocks_after == 0) {
    if (std::isfinite(out.blocks_leave_at))
      return "At most " + buffers(out.max_buffers) + " of " + kib(out.stage_bytes) +
             (out.max_buffers == 1 ? " fits" : " fit") + " a block's shared memory.";
    return {};
  }
  if (!std::isfinite(out.blocks_leave_at)) return "Shared memory is no limit here: the SM holds as many blocks.";
  return "With " + count_of(out.blocks_leave_at) + " or more buffers the SM holds " + blocks(out.blocks_after) +
         " instead of " + count_of(out.blocks) + ".";
}

std::string why_of_ring(const Outputs& out) {
  if (out.bound == PipelineBound::load)
    return "The tensor cores work in " + figure(out.steady_busy_percent, "%") +
           " of the time; a larger tile computes more per byte.";
  return price_of(out);
}

std::string answer_of_blocks(const Outputs& out) {
  if (out.blocks < out.blocks_before)
    return "The " + ordinal(out.buffers) + " buffer leaves " + blocks(out.blocks) + " on the SM, not " +
           count_of(out.blocks_before) + ": a tile takes " + cycles(out.sm_period) + " cycles instead of " +
           cycles(out.sm_fewer_period) + ".\n" + price_of(out);
  if (out.blocks == 1)
    return "Only one block with " + buffers(out.buffers) + " fits the SM: it takes " + cycles(out.period) +
           " cycles per tile.\nIts ring takes " + kib(out.shared_bytes) + " of the " + kib(out.capacity_bytes) +
           " that a block gets.";
  const std::string all = blocks(out.blocks) + " with " + buffers(out.buffers) + " each give a tile every ";
  const std::string price = "\n" + price_of(out);
  if (out.sharing_gain < 1.005) return all + cycles(out.sm_period) + " cycles, no faster than one block alone." + price;
  return all + cycles(out.sm_period) + " cycles, one block alone every " + cycles(out.period) + "." + price;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.compare == Compare::blocks) return answer_of_blocks(out);
  if (in.kind == PipelineKind::sync)
    return "One after the other a tile takes " + cycles(out.period) + " cycles, and the tensor cores work in " +
           figure(out.steady_busy_percent, "%") + " of them.\nCopied ahead into " + buffers(out.stages_for_full_rate) +
           ", a tile takes " + cycles(out.full_period) + " cycles at best.";
  if (in.jitter > 0)
    return "With jitter a tile takes " + cycles(out.period) + " cycles on average; " + wins_of(out) + ".\nWithout it " +
           buffers(out.stages_for_full_rate) + (out.stages_for_full_rate == 1 ? " is" : " are") + " enough for " +
           cycles(out.full_period) + " cycles per tile.";
  const bool waits = out.bound == PipelineBound::latency;
  return (waits ? verdict_of_ring(out) : verdict_at_full_rate(out)) + "\n" + why_of_ring(out);
}

}  // namespace chapters::kernels::async_pipeline
