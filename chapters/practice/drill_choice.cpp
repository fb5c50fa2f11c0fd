#include "chapters/practice/drill_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "models/base/counter_random.h"

namespace chapters {
namespace {

using Drills = std::vector<const Drill*>;

bool holds(const Drills& drills, const Drill& drill) {
  return std::find(drills.begin(), drills.end(), &drill) != drills.end();
}

bool stands_alone(const Drill& d) { return d.follows.empty() || !d.ask_alone.empty(); }

/// How many questions ago a template was asked last; `none` if not among the latest.
std::size_t questions_ago(std::span<const DrillRecord> history, std::string_view id, std::size_t none) {
  for (std::size_t i = 0; i < std::min(history.size(), none); ++i)
    if (history[history.size() - 1 - i].drill == id) return i;
  return none;
}

/// Choosing with some templates left out, since the round had all their numbers.
struct Choosing {
  const std::vector<Drill>& drills;
  std::span<const DrillRecord> history;
  const DrillWish& wish;
  const Drills& without;
  const CountedHistory* counted = nullptr;  ///< null: it is counted where it is needed

  bool in_topic(const Drill& d) const { return wish.topic.empty() || d.topic == wish.topic; }
  bool may_come(const Drill& d) const { return in_topic(d) && stands_alone(d) && !holds(without, d); }
  bool in_scope(const Drill& d) const {
    return !wish.scope || !wish.topic.empty() || DrillScope::holds(wish.scope->chapters, d);
  }
  bool is_first_week() const { return wish.scope && wish.scope->first_week && wish.topic.empty() && wish.level == 0; }

  /// The first question of seed 0 is the one with a source's own numbers.
  std::uint64_t fresh_seed() const {
    if (wish.seed == 0 && history.empty()) return 0;
    return models::counter_hash(wish.seed, history.size()) % 1'000'000 + 1;
  }

  /// Was `id` the last question of this sitting, and its figure at least near?
  bool just_answered(std::string_view id) const {
    constexpr double sitting_s = 3600;
    if (history.empty() || wish.in_round == 0) return false;
    const DrillRecord& last = history.back();
    return last.drill == id && (last.right || last.near) && !(wish.now_s - last.time_s > sitting_s);
  }
  DrillChoice after_last(const Drill& d) const {
    return {&d, static_cast<std::uint64_t>(history.back().seed), "builds on your last answer", DrillWords::following};
  }

  DrillChoice asked_for(const Drill& wanted) const {
    constexpr int max_links = 4;
    const Drill* at = &wanted;
    for (int link = 0; link < max_links && !stands_alone(*at); ++link) {
      if (just_answered(at->follows)) return after_last(*at);
      const Drill* before = find_drill(drills, at->follows);
      if (!before) break;
      at = before;
    }
    return {at, fresh_seed(), at == &wanted ? "the one you chose" : "leads to the one you chose"};
  }

  const Drill* longest_overdue() const {
    DrillMemories own;
    if (!counted) own = memories(history);
    const DrillMemories& known = counted ? counted->memories : own;
    const Drill* most = nullptr;
    double since = -1;
    for (const Drill& d : drills) {
      const auto at = known.find(d.id);
      if (at == known.end() || !may_come(d) || at->second.due_s() > wish.now_s) continue;
      if (!(wish.now_s - at->second.due_s() > since)) continue;
      most = &d;
      since = wish.now_s - at->second.due_s();
    }
    return most;
  }

  /// One of the weakest topic, near its level, not asked lately.
  const Drill* best() const {
    DrillTallies own;
    if (!counted) own = tallies(drills, history);
    const DrillTallies& all = counted ? counted->tallies : own;
    int nearest = drill_levels;  // a topic may have no drill of the level that was asked for
    if (wish.level > 0)
      for (const Drill& d : drills)
        if (may_come(d) && in_scope(d)) nearest = std::min(nearest, std::abs(d.level - wish.level));
    int lowest = drill_levels;
    for (const Drill& d : drills)
      if (may_come(d) && in_scope(d)) lowest = std::min(lowest, d.level);
    const Drill* best = nullptr;
    double best_score = 0;
    constexpr std::size_t lately = 8;
    for (std::size_t i = 0; i < drills.size(); ++i) {
      const Drill& d = drills[i];
      if (!may_come(d) || !in_scope(d) || (wish.level > 0 && std::abs(d.level - wish.level) > nearest)) continue;
      const auto at = all.find(d.topic);
      const DrillTally tally = at == all.end() ? DrillTally{} : at->second;
      if (is_first_week() && d.level > std::max(lowest, tally.level)) continue;
      const double weakness =
          1 - (tally.score() + 1) / (tally.asked + 2);  // Laplace's rule: one half where nothing is known
      const double recent = static_cast<double>(lately - questions_ago(history, d.id, lately));
      const double jitter = models::unit_draw(models::counter_hash(wish.seed, history.size()), i);
      double score = 3 * weakness - 0.5 * recent + 0.4 * jitter - (d.follows.empty() ? 0 : 0.6);
      if (wish.level == 0) score -= 0.5 * std::abs(d.level - tally.level);
      if (!best || score > best_score) {
        best = &d;
        best_score = score;
      }
    }
    return best;
  }

  DrillChoice choose() const {
    if (drills.empty()) return {};
    if (wish.drill == today_drill && !daily_done(history, wish.now_s))
      return daily_drill(drills, wish.now_s, wish.scope);
    if (!wish.drill.empty())
      if (const Drill* one = find_drill(drills, wish.drill)) return asked_for(*one);
    if (wish.level == 0)
      for (const Drill& d : drills)
        if (!d.follows.empty() && in_topic(d) && !holds(without, d) && just_answered(d.follows)) return after_last(d);
    if (wish.now_s > 0 && wish.level == 0)
      if (const Drill* due = longest_overdue()) return {due, fresh_seed(), "due again"};
    if (const Drill* d = best())
      return {d, fresh_seed(), wish.topic.empty() ? "your weakest topic first" : "the topic you chose"};
    if (wish.topic.empty()) return {};
    DrillWish any_topic = wish;
    any_topic.topic = {};
    return Choosing{drills, history, any_topic, without, counted}.choose();
  }
};

/// The links of the questions that this round asked of a template: they hold all its numbers.
std::set<std::string> asked_in_round(const Drill& drill, const std::vector<Drill>& drills,
                                     std::span<const DrillRecord> history, std::size_t in_round, DrillLabs& labs) {
  std::set<std::string> links;
  for (const DrillRecord& r : history.last(std::min(in_round, history.size())))
    if (r.drill == drill.id)
      if (const auto made = make_question(drill, drills, static_cast<std::uint64_t>(r.seed), labs))
        links.insert(made->link);
  return links;
}

}  // namespace

DrillChoice choose_drill(const std::vector<Drill>& drills, std::span<const DrillRecord> history,
                         const DrillWish& wish) {
  return Choosing{drills, history, wish, {}}.choose();
}

DrillChoice choose_drill(const std::vector<Drill>& drills, std::span<const DrillRecord> history, const DrillWish& wish,
                         const CountedHistory& counted) {
  return Choosing{drills, history, wish, {}, &counted}.choose();
}

models::Result<DealtDrill> deal_drill(const std::vector<Drill>& drills, std::span<const DrillRecord> history,
                                      const DrillWish& wish, DrillLabs& labs) {
  using Dealt = models::Result<DealtDrill>;
  Drills without;
  const bool of_the_day = wish.drill == today_drill && !daily_done(history, wish.now_s);
  for (;;) {
    DrillChoice choice = Choosing{drills, history, wish, without}.choose();
    // Every template has given all it has: then numbers come back.
    const bool last = !choice.drill;
    if (last) choice = choose_drill(drills, history, wish);
    if (!choice.drill) return Dealt::fail("No drills were found: the folder drills of the assets holds them.");
    const auto had = asked_in_round(*choice.drill, drills, history, wish.in_round, labs);
    const std::uint64_t first = choice.seed;
    const std::uint64_t most_tries = choice.words == DrillWords::following || of_the_day ? 1 : 32;
    for (std::uint64_t attempt = 0; attempt < most_tries; ++attempt) {
      if (attempt > 0) choice.seed = models::counter_hash(first, attempt) % 1'000'000 + 1;
      auto made = make_question(*choice.drill, drills, choice.seed, labs, choice.words);
      if (!made) return Dealt::fail(made.error);
      const bool ends = attempt + 1 == most_tries && (last || of_the_day || !wish.drill.empty());
      if (ends || !had.contains(made->link)) return Dealt::ok({choice, std::move(*made)});
    }
    without.push_back(choice.drill);
  }
}

}  // namespace chapters
