#include <algorithm>
#include <cmath>

#include "chapters/inference/optimize/lab.h"
#include "chapters/mechanism/short_name.h"
#include "widgets/number/number.h"

namespace chapters::inference::optimize {
namespace {

using widgets::figure, widgets::times_unit;

/// The change as a sentence takes it.
std::string_view noun(RequestChange change) {
  static constexpr std::array<std::string_view, request_change_count> nouns{
      "FlashAttention", "compiler fusion",   "a CUDA graph",         "8-bit weights",
      "4-bit weights",  "a narrow KV cache", "speculative decoding", "tensor parallelism"};
  return nouns[index_of(change)];
}

std::string capital(std::string_view words) {
  std::string out(words);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

/// "A request to Llama 2 7B"
std::string subject_of(const Inputs& in) {
  const auto model = find_model(in.model);
  const std::string to = " to " + (model ? short_name((*model)->name, 32) : std::string("the model"));
  return in.batch == 1 ? "A request" + to : figure(static_cast<double>(in.batch), "") + " requests" + to;
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string subject = subject_of(in), take = in.batch == 1 ? " takes " : " take ";
  const std::string chips = out.now.chips == 1 ? "one chip" : figure(static_cast<double>(out.now.chips), "") + " chips";
  if (!out.now.fits)
    return subject + (in.batch == 1 ? " does" : " do") + " not fit: a chip would have to hold " +
           figure(out.now.held_bytes, "B") + " and may hold " + figure(out.room_bytes, "B") + ".";
  const std::string says = subject + take + figure(out.now.request_s, "s"), found = figure(out.found.request_s, "s");
  if (out.stages.empty()) return says + " on " + chips + " as found: no change is made.";
  if (!out.found.fits)
    return says + " on " + chips + "; as found it does not fit, at " + figure(out.found.held_bytes, "B") + " per chip.";
  if (out.speedup < 0.9995) return says + " on " + chips + ", longer than the " + found + " as found.";
  if (out.speedup < 1.005) return says + " on " + chips + ", next to the " + found + " as found.";
  return says + " instead of " + found + ", " + figure(out.speedup, times_unit) + " as fast.";
}

/// What the place in the order does to the change that it means most to.
std::string why_of(const Outputs& out) {
  if (out.stages.empty())
    return "No kernel runs in " + figure(out.waits, "%") +
           " of a step of decode; switch a change on below the picture.";
  const auto widest =
      std::find_if(out.stages.begin(), out.stages.end(), [&](const StageRow& r) { return r.name == out.widest; });
  if (out.stages.size() == 1)
    return capital(noun(out.stages.front().change)) + " alone; add a second change and drag it over the first.";
  const double ratio = out.widest_gain / out.widest_other_gain;
  if (std::max(ratio, 1 / ratio) < slight_ratio)
    return "The order changes little here: each change would gain as much as the first one or as the last.";
  return capital(out.widest_place) + " change " + std::string(noun(widest->change)) + " would gain " +
         figure(out.widest_other_gain, times_unit) + ", in this order " + figure(out.widest_gain, times_unit) + ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) { return verdict_of(in, out) + "\n" + why_of(out); }

}  // namespace chapters::inference::optimize
