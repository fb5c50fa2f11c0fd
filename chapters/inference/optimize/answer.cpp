#include <algorithm>
#include <cmath>

#include "chapters/inference/optimize/lab.h"
#include "widgets/number/number.h"

namespace chapters::inference::optimize {
namespace {

using widgets::figure, widgets::times_unit;

/// The change as a sentence takes it.
std::string_view noun(RequestChange change) {
  static constexpr std::array<std::string_view, request_change_count> nouns{
      "FlashAttention", "compiler fusion",     "a CUDA graph",         "8-bit weights",
      "4-bit weights",  "a narrower KV cache", "speculative decoding", "tensor parallelism"};
  return nouns[index_of(change)];
}

std::string capital(std::string_view words) {
  std::string out(words);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string place_text(const Inputs& in, const Outputs& out) {
  const auto model = find_model(in.model);
  const auto chip = find_chip(in.chip);
  if (!model || !chip) return "The model";
  const std::string n = out.now.chips == 1 ? "one" : widgets::format_text(static_cast<double>(out.now.chips), "");
  return (*model)->name + " on " + n + " " + (*chip)->short_name;
}

std::string requests_text(const Inputs& in) {
  return in.batch == 1 ? "answers a request" : "answers " + figure(static_cast<double>(in.batch), "") + " requests";
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string place = place_text(in, out);
  if (!out.now.fits)
    return place + " does not hold this: a chip would need " + figure(out.now.held_bytes, "B") + " of " +
           figure(out.room_bytes, "B") + ".";
  const std::string says = place + " " + requests_text(in) + " in " + figure(out.now.request_s, "s");
  if (out.stages.empty()) return says + ", as found: no change is made.";
  if (!out.found.fits) return says + "; as found it does not fit, at " + figure(out.found.held_bytes, "B") + " a chip.";
  if (out.speedup < 0.9995) return says + ", slower than the " + figure(out.found.request_s, "s") + " as found.";
  if (out.speedup < 1.005) return says + ", no sooner than the " + figure(out.found.request_s, "s") + " as found.";
  return says + ", not " + figure(out.found.request_s, "s") + ": " + figure(out.speedup, times_unit) + " as fast.";
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
    return "The order hardly matters here: each change would gain as much as the first one or as the last.";
  return capital(out.widest_place) + " change " + std::string(noun(widest->change)) + " would gain " +
         figure(out.widest_other_gain, times_unit) + ", in this order " + figure(out.widest_gain, times_unit) + ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) { return verdict_of(in, out) + "\n" + why_of(out); }

}  // namespace chapters::inference::optimize
