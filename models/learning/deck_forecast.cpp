#include "models/learning/deck_forecast.h"

#include <algorithm>

#include "models/base/counter_random.h"

namespace models {
namespace {

/// A number from 0 to 1 that depends on the seed, the card and its answer alone, so that a plan with other days does
/// not draw other luck.
double luck(std::uint64_t seed, std::uint64_t card, std::uint64_t answer) {
  return unit_draw(card * 0xD1B54A32D192ED03u + answer * 0x8CB92BA72F3D8DD7u, seed - 1);
}

struct ForecastCard {
  FsrsMemory memory;
  double last = 0, due = 0;  ///< days; `due` in whole days
  std::uint64_t answers = 0;
};

void answer_card(ForecastCard& card, double day, bool known, double retention) {
  card.memory = fsrs_review(card.memory, std::max(1.0, day - card.last), known ? FsrsGrade::good : FsrsGrade::again);
  card.last = day;
  card.due = day + fsrs_next_interval_days(card.memory.stability_days, retention);
  ++card.answers;
}

void run_deck(std::span<const DeckCard> deck, const DeckPlan& plan, std::uint64_t run, DeckForecast& out) {
  std::vector<ForecastCard> cards;
  cards.reserve(deck.size());
  for (const DeckCard& c : deck) {
    ForecastCard card{.memory = c.memory, .last = -c.since_days};
    if (c.memory.seen()) card.due = card.last + fsrs_next_interval_days(c.memory.stability_days, plan.retention);
    cards.push_back(card);
  }
  const std::uint64_t seed = plan.seed + 7919 * run;
  std::size_t sample = 0;
  for (std::int64_t d = 0; d < plan.days; ++d) {
    const auto day = static_cast<double>(d);
    const bool sampled = out.known_days[sample] == day + 1;
    std::int64_t fresh = plan.new_a_day;
    double answers = 0, known_now = 0, seen = 0;
    for (std::size_t i = 0; i < cards.size(); ++i) {
      ForecastCard& card = cards[i];
      const bool begun = card.memory.seen();
      if (!begun && fresh <= 0) continue;
      fresh -= !begun;
      if (!begun || card.due <= day + 0.5) {
        const double chance =
            begun ? fsrs_retrievability(day - card.last, card.memory.stability_days) : plan.first_known;
        answer_card(card, day, luck(seed, i, card.answers) < chance, plan.retention);
        answers += 1;
      }
      seen += 1;
      if (sampled) known_now += fsrs_retrievability(day + 1 - card.last, card.memory.stability_days);
    }
    out.answers[static_cast<std::size_t>(d)] += answers;
    if (sampled) out.known[sample++] += known_now;
    if (d + 1 == plan.days) out.seen += seen;
  }
}

}  // namespace

DeckForecast forecast_deck(std::span<const DeckCard> deck, const DeckPlan& plan) {
  DeckForecast out;
  const auto days = static_cast<std::size_t>(std::max<std::int64_t>(plan.days, 1));
  const auto runs = std::max<std::int64_t>(plan.runs, 1);
  out.answers.assign(days, 0);
  const std::size_t samples = plan.known_samples < 1 ? 1 : static_cast<std::size_t>(plan.known_samples);
  const std::size_t stride = (days + samples - 1) / samples;
  for (std::size_t day = days; day > 0; day -= std::min(day, stride))
    out.known_days.insert(out.known_days.begin(), static_cast<double>(day));
  out.known.assign(out.known_days.size(), 0);
  for (std::int64_t run = 0; run < runs; ++run) run_deck(deck, plan, static_cast<std::uint64_t>(run), out);
  for (double& answers : out.answers) {
    answers /= static_cast<double>(runs);
    out.answers_a_day += answers / static_cast<double>(days);
    out.most_a_day = std::max(out.most_a_day, answers);
  }
  for (double& known : out.known) known /= static_cast<double>(runs);
  out.seen /= static_cast<double>(runs);
  out.known_at_end = out.known.back();
  return out;
}

}  // namespace models
