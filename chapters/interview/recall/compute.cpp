#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "chapters/interview/recall/lab.h"
#include "models/learning/fsrs.h"

namespace chapters::interview::recall {
namespace {

using models::FsrsGrade, models::FsrsMemory;

constexpr double day_s = 86400;
const double recall_nan = std::numeric_limits<double>::quiet_NaN();

/// Where no clock is set, today is the day of the latest answer.
double now_of(const Inputs& in) {
  double now = in.now_s;
  if (!(now > 0))
    for (const RecallRecord& r : in.history) now = std::max(now, r.time_s);
  return now;
}

/// The card on the table: the chosen one, else the one of the topic that is known least of those that are due, then
/// the first that was never answered, then the one known least.
std::size_t choose_card(const Inputs& in, const RecallDeck& deck, const std::vector<CardState>& cards,
                        std::string& why) {
  if (const std::size_t chosen = deck.find(in.card); chosen < deck.cards.size()) {
    why = "You chose it.";
    return chosen;
  }
  std::size_t due = cards.size(), fresh = cards.size(), least = cards.size();
  for (std::size_t i = 0; i < cards.size(); ++i) {
    if (in.topic != "due" && deck.cards[i].topic != in.topic) continue;
    const CardState& c = cards[i];
    if (c.due && (due == cards.size() || c.chance < cards[due].chance)) due = i;
    if (c.chance < 0 && fresh == cards.size()) fresh = i;
    if (c.chance >= 0 && (least == cards.size() || c.chance < cards[least].chance)) least = i;
  }
  why = due < cards.size()     ? "Its day has come."
        : fresh < cards.size() ? "It is new."
                               : "Nothing is due: this is the one that you know least.";
  return due < cards.size() ? due : fresh < cards.size() ? fresh : std::min(least, cards.size() - 1);
}

/// The answers of the open card, in days from today.
std::vector<PastAnswer> past_of(const Inputs& in, const RecallCard& card, double now_s) {
  std::vector<PastAnswer> past;
  FsrsMemory memory;
  double last = 0;
  const auto add = [&](double at_days, std::int64_t grade) {
    const auto g = static_cast<FsrsGrade>(std::clamp<std::int64_t>(grade, 1, 4));
    memory = models::fsrs_review(memory, past.empty() ? 0 : at_days - last, g);
    last = at_days;
    past.push_back({at_days, g, memory});
  };
  if (in.memory == Memory::example) {
    double at = -in.example_since_s;
    for (const double gap : in.example_gaps_s) at -= gap;
    for (std::size_t i = 0; i < in.example_grades.size(); ++i) {
      if (i > 0) at += in.example_gaps_s[i - 1];
      add(std::round(at / day_s), std::llround(in.example_grades[i]));
    }
    return past;
  }
  for (const std::size_t i : recall_order(in.history, card.id))
    add(std::min(0.0, std::floor(in.history[i].time_s / day_s) - std::floor(now_s / day_s)), in.history[i].grade);
  return past;
}

void ask_card(const Inputs& in, Run& run, Outputs& out) {
  const double wait = std::round(in.wait_s / day_s), keep = in.retention / 100;
  run.asked = run.past.empty() ? FsrsMemory() : run.past.back().after;
  run.since_days = wait - (run.past.empty() ? 0 : run.past.back().at_days);
  // A new card on a later day is one that was answered good today.
  if (!run.asked.seen() && wait > 0) run.asked = models::fsrs_first(FsrsGrade::good);
  const bool seen = run.asked.seen();
  for (std::size_t i = 0; i < run.after.size(); ++i)
    run.after[i] = models::fsrs_review(run.asked, run.since_days, models::fsrs_grades[i]);
  const auto back = [&](std::size_t i) {
    return day_s * models::fsrs_next_interval_days(run.after[i].stability_days, keep);
  };
  out.interval_again_s = back(0);
  out.interval_hard_s = back(1);
  out.interval_good_s = back(2);
  out.interval_easy_s = back(3);
  out.retrievability = seen ? 100 * models::fsrs_retrievability(run.since_days, run.asked.stability_days) : recall_nan;
  out.stability_s = seen ? day_s * run.asked.stability_days : recall_nan;
  out.difficulty = seen ? run.asked.difficulty : recall_nan;
  out.expected_interval_s =
      seen ? day_s * models::fsrs_expected_interval_days(run.asked, run.since_days, keep) : recall_nan;
}

models::DeckPlan plan_of(const Inputs& in) {
  return {.retention = in.retention / 100,
          .days = in.horizon_days,
          .new_a_day = in.new_per_day,
          .first_known = in.first_known / 100,
          .seed = static_cast<std::uint64_t>(in.seed)};
}

/// How the deck stands today, and where the plan leads.
void follow_deck(const Inputs& in, const RecallDeck& deck, double now_s, const Progress& progress, Run& run,
                 Outputs& out) {
  const RecallMemories known = recall_memories(in.history);
  std::vector<models::DeckCard> cards;
  cards.reserve(deck.cards.size());
  std::int64_t new_today = 0;
  for (const RecallCard& c : deck.cards) {
    const auto at = known.find(c.id);
    if (at == known.end()) {
      run.cards.push_back({});
      cards.push_back({});
      continue;
    }
    const RecallMemory& m = at->second;
    const double since = recall_days_since(m, now_s);
    run.cards.push_back(
        {models::fsrs_retrievability(since, m.memory.stability_days), recall_due(m, in.retention / 100, now_s)});
    cards.push_back({m.memory, since});
    ++out.seen;
    out.known_today += run.cards.back().chance;
    out.due_again += run.cards.back().due;
    new_today += std::floor(m.first_s / day_s) == std::floor(now_s / day_s);
  }
  out.cards = static_cast<std::int64_t>(deck.cards.size());
  out.retention_today = out.seen > 0 ? 100 * out.known_today / static_cast<double>(out.seen) : recall_nan;
  out.due_today = out.due_again + std::clamp<std::int64_t>(in.new_per_day - new_today, 0, out.cards - out.seen);
  models::DeckPlan plan = plan_of(in);
  if (progress.facts_alone) plan.known_samples = 1;
  run.forecast = models::forecast_deck(cards, plan);
  out.reviews_per_day = run.forecast.answers_a_day;
  out.most_per_day = run.forecast.most_a_day;
  out.minutes_per_day = run.forecast.answers_a_day * in.seconds_per_answer_s / 60;
  out.seen_then = run.forecast.seen;
  out.known_then = run.forecast.known_at_end;
  out.retention_expected = 100 * run.forecast.known_at_end / static_cast<double>(out.cards);
  if (progress.facts_alone) return;
  for (const double keep : {70, 75, 80, 85, 90, 93, 96, 98}) {
    models::DeckPlan other = plan;
    other.retention = keep / 100;
    other.runs = other.known_samples = 1;
    const models::DeckForecast f = models::forecast_deck(cards, other);
    run.workload.push_back({keep, f.answers_a_day, 100 * f.known_at_end / static_cast<double>(out.cards)});
  }
}

void count_sure(const Inputs& in, double now_s, Run& run, Outputs& out) {
  const RecallCalibration c = recall_calibration(in.history);
  out.answered = static_cast<std::int64_t>(in.history.size());
  out.right = static_cast<std::int64_t>(c.right);
  out.sure_and_wrong = c.sure_and_wrong;
  out.calibration = c.asked > 0 ? 100 * (c.sure - c.right) / c.asked : recall_nan;
  for (const RecallRecord& r : in.history) {
    out.answered_today += std::floor(r.time_s / day_s) == std::floor(now_s / day_s);
    auto at = std::find_if(run.bins.begin(), run.bins.end(),
                           [&](const SureBin& b) { return b.sure == std::round(r.sure_percent); });
    if (at == run.bins.end()) at = run.bins.insert(run.bins.end(), {std::round(r.sure_percent), 0, 0});
    at->asked += 1;
    at->right += r.known();
  }
  std::sort(run.bins.begin(), run.bins.end(), [](const SureBin& a, const SureBin& b) { return a.sure < b.sure; });
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  const RecallDeck& deck = recall_deck();
  if (deck.cards.empty())
    return infeasible<chapters::Computed<Outputs, Run>>(
        "There are no cards: the folder recall of the assets is empty.");
  if (in.memory == Memory::example &&
      (in.example_grades.empty() || in.example_gaps_s.size() + 1 != in.example_grades.size()))
    return infeasible<chapters::Computed<Outputs, Run>>(
        "The example needs one gap fewer than grades, and at least one grade.");
  Outputs out;
  auto run = std::make_shared<Run>();
  const double now_s = now_of(in);
  follow_deck(in, deck, now_s, progress, *run, out);
  count_sure(in, now_s, *run, out);
  run->open = choose_card(in, deck, run->cards, out.why_now);
  run->answers = out.answered;
  const RecallCard& card = deck.cards[run->open];
  out.question = card.question;
  out.topic_now = card.topic_label;
  out.points = static_cast<std::int64_t>(card.points.size());
  run->past = past_of(in, card, now_s);
  ask_card(in, *run, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::interview::recall
