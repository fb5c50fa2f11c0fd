#include <algorithm>
#include <cmath>

#include "chapters/interview/recall/lab.h"
#include "models/learning/fsrs.h"
#include "widgets/number/number.h"

namespace chapters::interview::recall {
namespace {

using models::FsrsGrade, models::FsrsMemory;
using widgets::Curve, widgets::format_text;

constexpr double recall_day_seconds = 86400;
constexpr std::array<const char*, 4> grade_words{"again", "hard", "good", "easy"};

std::string whole_text(double v) { return format_text(std::round(v), "", 9); }

/// What asking so late loses: "21 in 100 are lost".
std::string lost_text(double chance) { return whole_text(100 - chance) + " in 100 are lost"; }

/// The chance falls from 100 % at `from` to `to`, days from today.
void add_fall(Curve& curve, const FsrsMemory& m, double from, double to) {
  constexpr int steps = 60;
  for (int i = 0; i <= steps; ++i) {
    // Denser at the beginning, where it falls fast.
    const double share = static_cast<double>(i) / steps, since = (to - from) * share * share;
    curve.add(from + since, 100 * models::fsrs_retrievability(since, m.stability_days));
  }
}

/// What the answers so far made of the card, up to the day of asking.
void add_past(const Run& run, Picture& p) {
  Curve past{.label = "yours so far",
             .output = "retrievability",
             .tint = widgets::Tint::yours(),
             .width = 2.5f,
             .named = false};
  Curve known{.kind = Curve::Kind::dots, .label = "known", .tint = widgets::Tint::good(), .given = true};
  Curve lost{.kind = Curve::Kind::dots,
             .label = "not known",
             .tint = widgets::Tint::bad(),
             .marker = widgets::Marker::triangle,
             .given = true};
  for (std::size_t i = 0; i < run.past.size(); ++i) {
    const PastAnswer& a = run.past[i];
    (a.grade == FsrsGrade::again ? lost : known).add(a.at_days, 100);
    if (i + 1 < run.past.size()) {
      add_fall(past, a.after, a.at_days, run.past[i + 1].at_days);
      past.add(run.past[i + 1].at_days, 100);
    }
  }
  if (run.asked.seen()) {
    const double from = run.past.empty() ? 0 : run.past.back().at_days;
    add_fall(past, run.asked, from, from + run.since_days);
  }
  for (Curve* curve : {&past, &known, &lost})
    if (!curve->x.empty()) p.memory.push_back(std::move(*curve));
}

void arrange_memory(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const double wait = std::round(in.wait_s / recall_day_seconds);
  p.asked_day = wait;
  p.asked_chance = std::isfinite(out.retrievability) ? out.retrievability : 100;
  const std::array<double, 4> back{out.interval_again_s, out.interval_hard_s, out.interval_good_s, out.interval_easy_s};
  for (std::size_t i = 0; i < back.size(); ++i) {
    p.back_days[i] = wait + back[i] / recall_day_seconds;
    p.back_words[i] = std::string(grade_words[i]) + "  " +  // as the sentence says it
                      (back[i] < 1.5 * recall_day_seconds ? format_text(back[i], "s", 3) : days_words(back[i]));
  }
  const double first = run.past.empty() ? 0 : run.past.front().at_days;
  p.last_day = wait + std::max(1.12 * back[3] / recall_day_seconds, 10.0);
  p.first_day = std::min(first, 0.0) - 0.02 * (p.last_day - first);
  add_past(run, p);
  constexpr std::array<std::string_view, 4> outputs{"interval_again_s", "interval_hard_s", "interval_good_s",
                                                    "interval_easy_s"};
  const std::array<widgets::Tint, 4> tints{widgets::Tint::bad(), widgets::Tint{}, widgets::Tint::good(),
                                           widgets::Tint::strong()};
  for (std::size_t i = 0; i < back.size(); ++i) {
    Curve fall{.label = std::string("if ") + grade_words[i],
               .info = "FSRS-6",
               .output = std::string(outputs[i]),
               .tint = tints[i],
               .width = i == 2 ? 2.5f : 1.5f,
               .dashed = i != 2,
               .named = false};
    add_fall(fall, run.after[i], wait, p.last_day);
    p.memory.push_back(std::move(fall));
  }
  p.lowest = 10 * std::floor(std::min({in.retention - 8, p.asked_chance - 4, 84.0}) / 10);
  p.lowest = std::max(p.lowest, 0.0);
  p.drag_words = wait > 0 ? "in " + days_words(wait * recall_day_seconds) + ": " + lost_text(p.asked_chance)
                          : std::string("drag the day of asking");
  const std::string kept = std::isfinite(out.expected_interval_s)
                               ? "asked then, it is kept " + days_words(out.expected_interval_s) + " on average"
                               : "new: no answer yet";
  if (in.memory == Memory::example) p.memory_heading = "An example card in memory";
  p.memory_note = in.memory == Memory::example   ? "an example; " + kept
                  : run.past.empty() && wait > 0 ? "taken as answered good today; " + kept
                                                 : kept;
  p.pressable = wait == 0 && in.memory == Memory::yours;
}

void arrange_wall(const RecallDeck& deck, const Run& run, const Outputs& out, Picture& p) {
  for (std::size_t i = 0; i < deck.cards.size(); ++i) {
    if (p.wall.empty() || p.wall.back().label != deck.cards[i].topic_label)
      p.wall.push_back({deck.cards[i].topic_label, {}, i, 0});
    ++p.wall.back().size;
    const CardState& c = run.cards[i];
    p.tips.push_back(c.chance < 0 ? std::string("never answered")
                                  : "known today with " + format_text(100 * c.chance, "%", 2) +
                                        (c.due ? ", and its day has come" : ""));
  }
  for (WallRow& row : p.wall) {
    double seen = 0;
    for (std::size_t i = row.first; i < row.first + row.size; ++i) seen += run.cards[i].chance >= 0;
    row.count = whole_text(seen) + " of " + whole_text(static_cast<double>(row.size));
  }
  p.wall_note = out.seen > 0
                    ? whole_text(static_cast<double>(out.seen)) + " of " + whole_text(static_cast<double>(out.cards)) +
                          " seen, " + format_text(out.retention_today, "%", 2) + " of them known today"
                    : "none of " + whole_text(static_cast<double>(out.cards)) + " seen yet";
  p.legend_low = format_text(50, "%", 2);
  p.legend_high = format_text(100, "%", 3);
}

void arrange_plan(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  Curve answers{.kind = Curve::Kind::steps,
                .label = "answers a day",
                .output = "reviews_per_day",
                .tint = widgets::Tint::yours(),
                .named = false};
  Curve known{.label = "cards known", .output = "known_then", .tint = widgets::Tint::good(), .named = false};
  for (std::size_t d = 0; d < run.forecast.answers.size(); ++d)
    answers.add(static_cast<double>(d), run.forecast.answers[d]);
  for (std::size_t i = 0; i < run.forecast.known.size(); ++i)
    known.add(run.forecast.known_days[i], run.forecast.known[i]);
  if (!run.forecast.answers.empty())
    answers.add(static_cast<double>(run.forecast.answers.size()), run.forecast.answers.back());
  p.calendar = {std::move(answers), std::move(known)};
  Curve work{.label = "answers a day", .tint = widgets::Tint::strong(), .named = false, .legend = false};
  for (const WorkloadPoint& w : run.workload) {
    work.add(w.retention, w.answers_a_day);
    p.most_answers = std::max(p.most_answers, 1.1 * w.answers_a_day);
  }
  p.workload = {std::move(work)};
  p.yours_answers = out.reviews_per_day;
  p.most_answers = std::max(p.most_answers, 1.1 * out.reviews_per_day);
  p.yours_words = format_text(in.retention, "%", 2) + ": " + format_text(out.reviews_per_day, "", 2) + " a day, " +
                  format_text(out.retention_expected, "%", 2) + " known";
}

void arrange_calibration(const Run& run, Picture& p) {
  Curve even{.label = "as sure as right", .dashed = true, .named = false, .given = true, .x = {0, 100}, .y = {0, 100}};
  Curve said{.kind = Curve::Kind::dots,
             .label = "your answers",
             .output = "calibration",
             .tint = widgets::Tint::yours(),
             .radius = 6};
  for (const SureBin& b : run.bins) {
    said.add(b.sure, 100 * b.right / b.asked);
    said.labels.push_back(whole_text(b.right) + " of " + whole_text(b.asked));
  }
  p.calibration = {std::move(even)};
  if (!said.x.empty()) p.calibration.push_back(std::move(said));
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  const RecallDeck& deck = recall_deck();
  if (!out.reason.empty() || run.open >= deck.cards.size() || run.cards.size() != deck.cards.size()) return p;
  p.answer = answer_of(in, out);
  p.card = &deck.cards[run.open];
  constexpr std::array<const char*, 3> levels{"know it", "explain it", "judge with it"};
  p.heading = p.card->topic_label + " \xC2\xB7 " +
              levels[static_cast<std::size_t>(std::clamp(p.card->level, 1, 3) - 1)] + " \xC2\xB7 " +
              (run.cards[run.open].chance < 0 ? "new"
               : run.cards[run.open].due      ? "due"
                                              : "known");
  p.today = whole_text(static_cast<double>(out.due_today)) + " due today";
  arrange_memory(in, out, run, p);
  arrange_wall(deck, run, out, p);
  arrange_plan(in, out, run, p);
  arrange_calibration(run, p);
  return p;
}

}  // namespace chapters::interview::recall
