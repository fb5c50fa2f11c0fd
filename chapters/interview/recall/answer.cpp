#include <cmath>

#include "chapters/interview/recall/lab.h"
#include "widgets/number/number.h"

namespace chapters::interview::recall {

using widgets::figure;

namespace {

std::string whole_figure(double n) { return figure(widgets::format_text(std::round(n), "", 9)); }

/// As the house writes it: a single day is 24 h.
std::string days_figure(double seconds) {
  return seconds < 1.5 * 86'400 ? figure(seconds, "s") : figure(days_words(seconds));
}

std::string plan_sentence(const Inputs& in, const Outputs& out) {
  const std::string known = figure(out.retention_expected, "%", 2);
  if (out.reviews_per_day > 0)
    return "In " + whole_figure(static_cast<double>(in.horizon_days)) + " days you will know " + known +
           " of the deck, for " + figure(out.reviews_per_day, "", 2) + " answers a day.";
  return "With no new card a day you will know " + known + " of the deck.";
}

}  // namespace

std::string days_words(double seconds) {
  const double days = std::round(seconds / 86'400);
  return widgets::format_text(days, "", 9) + (days == 1 ? " day" : " days");
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  std::string text = plan_sentence(in, out) + "\n";
  const std::string good = days_figure(out.interval_good_s);
  if (!std::isfinite(out.retrievability))
    return text + "This new card, answered well today, comes back after " + good + "; forgotten, after " +
           days_figure(out.interval_again_s) + ".";
  const std::string chance = figure(out.retrievability, "%", 3);
  const std::string which = in.memory == Memory::example ? "the example card" : "this card";
  if (in.wait_s >= 43'200)
    return text + "Asked in " + figure(in.wait_s, "s") + ", you know " + which + " with " + chance +
           ", and it then holds " + good + ".";
  return text + "You know " + which + " with " + chance + "; it comes back after " + good + ", or " +
         days_figure(out.interval_again_s) + " if forgotten.";
}

}  // namespace chapters::interview::recall
