#include <algorithm>

#include "chapters/driving/jitter/lab.h"
#include "widgets/number/number.h"

namespace chapters::driving::jitter {
namespace {

using widgets::format_text;

constexpr std::size_t max_stretches = 1200;

std::string verdict_of(const Outputs& out) {
  return "P50 " + format_text(out.summary.p50_s, "s") + ", P99 " + format_text(out.summary.p99_s, "s") + ": " +
         format_text(out.tail_ratio, "") + " times the median" + (out.tail_held ? ", within 1.2" : ", above 1.2") +
         "; due in " + format_text(out.deadline_s, "s");
}

std::string story_of(const Outputs& out) {
  if (out.misses == 0) return "No frame of this run missed its deadline.";
  return format_text(out.miss_rate, "%") + " of the frames have no fresh result in time, " +
         format_text(out.misses_per_hour, "") + " an hour; the longest run of them is " +
         format_text(out.blind_worst_s, "s") + ", in which the car travels " + format_text(out.blind_worst_m, "m") +
         ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture picture;
  if (!out.reason.empty() || !out.run) return picture;
  picture.verdict = verdict_of(out);
  picture.story = story_of(out);
  picture.envelope = models::envelope_of(*out.run, max_stretches);
  picture.length_s = static_cast<double>(in.frames) * out.deadline_s;
  const std::vector<double>& shares = out.summary.tail_share;
  if (!shares.empty()) picture.min_tail_share = *std::min_element(shares.begin(), shares.end());
  return picture;
}

}  // namespace chapters::driving::jitter
