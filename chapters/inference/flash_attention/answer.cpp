#include <cmath>
#include <string>

#include "chapters/inference/flash_attention/lab.h"
#include "widgets/number/number.h"

namespace chapters::inference::flash_attention {
namespace {

using widgets::figure;

std::string flops_words(const Outputs& out) {
  if (std::abs(out.flops_more) < 1e-4) return "as many FLOPs";
  return figure(std::abs(out.flops_more), "%", 2) + (out.flops_more > 0 ? " more FLOPs" : " fewer FLOPs");
}

std::string counts_sentence(const Inputs& in, const Outputs& out) {
  const std::string name(schedule_name(in.schedule)), own = figure(out.tiled_time_s, "s"),
                                                      other = figure(out.square_time_s, "s");
  if (out.bytes_ratio < 1)
    return name + " moves " + figure(out.tiles.hbm_bytes, "B") + " where the square moves " +
           figure(out.square.hbm_bytes, "B") + ": at best " + own + " instead of " + other + ".";
  return name + (in.pass == FlashPass::backward ? " recomputes the square: " : " never writes the square: ") +
         figure(out.bytes_ratio, "×") + " fewer bytes, " + flops_words(out) + ", at best " + own +
         (out.speedup < 1 ? ", where the square takes " : " instead of ") + other + ".";
}

std::string error_sentence(const Inputs& in, const Outputs& out) {
  const std::string format = in.arithmetic == FlashArithmetic::fp32 ? "FP32" : "BF16";
  return "Tiles in " + format + " are off by " + figure(out.max_error, "", 2) +
         " of the largest exact number, the square by " + figure(out.square_error, "", 2) + ".";
}

/// Where what passes comes from.
std::string reads_sentence(const Inputs& in, const Outputs& out) {
  const bool queries = in.schedule == FlashSchedule::fa1 || in.pass == FlashPass::backward;
  const std::string what = queries ? "Queries come" : "Keys and values come";
  const std::string loads = what + " into shared memory " + figure(out.walk.rereads, "×");
  if (out.walk.fetches < 1.005)
    return loads + ", from main memory once: L2 must give " + figure(out.l2_rate, "B/s") + ".";
  return loads + " and from main memory " + figure(out.walk.fetches, "×") + ": L2 cannot hold them all.";
}

std::string limit_sentence(const Inputs& in, const Outputs& out) {
  const std::string reads = reads_sentence(in, out);
  if (!std::isfinite(out.tensor_busy) || in.pass != FlashPass::forward) return reads;
  if (in.schedule == FlashSchedule::fa1)
    return "Its warps hand each other parts of their results: tensor cores are busy for " +
           figure(out.tensor_busy, "%") + " of the time.";
  if (in.schedule == FlashSchedule::fa2 && out.tensor_busy < 90)
    return "Its warps wait for their own exponentials: tensor cores are busy for " + figure(out.tensor_busy, "%") +
           " of the time.";
  return reads;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.arithmetic != FlashArithmetic::fp64)
    return error_sentence(in, out) + "\nBoth round their sums, in another order: neither is the exact result.";
  return counts_sentence(in, out) + "\n" + limit_sentence(in, out);
}

}  // namespace chapters::inference::flash_attention
