#include "chapters/practice/drill_history.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "models/base/counter_random.h"
#include "models/learning/practice.h"

namespace chapters {
namespace {

constexpr double day_s = 86400, again_s = 600;

struct Memory {
  std::int64_t streak = 0;
  double last_s = 0;
  double due_s() const { return last_s + (streak > 0 ? models::review_interval_days(streak) * day_s : again_s); }
};
using Memories = std::unordered_map<std::string_view, Memory>;

Memories memories(std::span<const DrillRecord> history) {
  Memories out;
  for (const DrillRecord& r : history) {
    Memory& m = out[r.drill];
    m.streak = r.right ? m.streak + 1 : 0;
    m.last_s = r.time_s;
  }
  return out;
}

struct Tally {
  double asked = 0, right = 0;
  int level = 1, best = 0;
};
using Tallies = std::unordered_map<std::string_view, Tally>;

Tallies tallies(const std::vector<Drill>& drills, std::span<const DrillRecord> history) {
  std::unordered_map<std::string_view, const Drill*> by_id;
  for (const Drill& d : drills) by_id.emplace(d.id, &d);
  Tallies out;
  for (const DrillRecord& r : history) {
    const auto at = by_id.find(r.drill);
    if (at == by_id.end()) continue;
    const Drill& d = *at->second;
    Tally& t = out[d.topic];
    t.asked += 1;
    t.right += r.right ? 1 : 0;
    t.level = models::next_level(t.level, d.level, r.right, drill_levels);
    if (r.right) t.best = std::max(t.best, d.level);
  }
  return out;
}

/// How many questions ago a template was asked last; `none` if not among the latest.
std::size_t questions_ago(std::span<const DrillRecord> history, std::string_view id, std::size_t none) {
  for (std::size_t i = 0; i < std::min(history.size(), none); ++i)
    if (history[history.size() - 1 - i].drill == id) return i;
  return none;
}

}  // namespace

void describe(Fields& f, DrillRecord& r) {
  f.text("drill", r.drill, {.label = "Drill"});
  f.integer("seed", r.seed, {.label = "Seed", .lo = 0, .hi = 1e9});
  f.real("said", r.said,
         {
             .label = "Said",
             .help = "In the SI unit of the answer.",
             .lo = -1e300,
             .hi = 1e300,
         });
  f.toggle("right", r.right, {.label = "Right"});
  f.real("seconds", r.seconds,
         {
             .label = "Time taken",
             .unit = "s",
             .lo = 0,
             .hi = 1e6,
         });
  f.real("time_s", r.time_s,
         {
             .label = "Answered",
             .unit = "s",
             .help = "Seconds since 1970.",
             .lo = 0,
             .hi = 1e11,
         });
}

void add_record(std::vector<DrillRecord>& history, DrillRecord record) {
  record.said = std::isfinite(record.said) ? std::clamp(record.said, -1e300, 1e300) : 0;
  record.seconds = std::clamp(record.seconds, 0.0, 1e6);
  record.time_s = std::clamp(record.time_s, 0.0, 1e11);
  if (history.size() >= most_drill_records)
    history.erase(history.begin(),
                  history.begin() + static_cast<std::ptrdiff_t>(history.size() - most_drill_records + 1));
  history.push_back(std::move(record));
}

std::int64_t due_count(std::span<const DrillRecord> history, double now_s) {
  std::int64_t due = 0;
  for (const auto& [id, memory] : memories(history)) due += now_s > 0 && memory.due_s() <= now_s;
  return due;
}

std::vector<TopicStanding> standings(const std::vector<Drill>& drills, const Choices& topics,
                                     std::span<const DrillRecord> history, double now_s, double z) {
  const Tallies all = tallies(drills, history);
  const Memories known = memories(history);
  std::vector<TopicStanding> out;
  for (const Choice& topic : topics) {
    if (std::none_of(drills.begin(), drills.end(), [&](const Drill& d) { return d.topic == topic.id; })) continue;
    TopicStanding s{.topic = topic.id, .label = topic.label};
    if (const auto at = all.find(topic.id); at != all.end()) {
      s.asked = at->second.asked;
      s.right = at->second.right;
      s.level = at->second.level;
      s.best = at->second.best;
    }
    s.ready = models::wilson_lower(s.right, s.asked, z);
    for (const Drill& d : drills) {
      if (d.topic != topic.id) continue;
      const auto at = known.find(d.id);
      s.due += at != known.end() && now_s > 0 && at->second.due_s() <= now_s;
    }
    s.next = choose_drill(drills, history, {.topic = topic.id, .now_s = now_s}).drill;
    out.push_back(s);
  }
  return out;
}

DrillChoice choose_drill(const std::vector<Drill>& drills, std::span<const DrillRecord> history,
                         const DrillWish& wish) {
  if (drills.empty()) return {};
  // The first question of seed 0 is the one with a source's own numbers.
  const std::uint64_t fresh =
      wish.seed == 0 && history.empty() ? 0 : models::counter_hash(wish.seed, history.size()) % 1'000'000 + 1;
  if (wish.drill == today_drill && !daily_done(history, wish.now_s)) return daily_drill(drills, wish.now_s);
  if (!wish.drill.empty())
    if (const Drill* one = find_drill(drills, wish.drill)) return {one, fresh, "the one you chose"};

  const auto in_topic = [&](const Drill& d) { return wish.topic.empty() || d.topic == wish.topic; };
  if (!history.empty() && history.back().right && wish.level == 0)
    for (const Drill& d : drills)
      if (!d.follows.empty() && d.follows == history.back().drill && in_topic(d))
        return {&d, static_cast<std::uint64_t>(history.back().seed), "builds on your last answer"};

  const Memories known = memories(history);
  if (wish.now_s > 0 && wish.level == 0) {
    const Drill* most = nullptr;
    double since = -1;
    for (const Drill& d : drills) {
      const auto at = known.find(d.id);
      if (at == known.end() || !in_topic(d) || !(wish.now_s - at->second.due_s() > since) ||
          at->second.due_s() > wish.now_s)
        continue;
      most = &d;
      since = wish.now_s - at->second.due_s();
    }
    if (most) return {most, fresh, "due again"};
  }

  const Tallies all = tallies(drills, history);
  int nearest = drill_levels;  // a topic may have no drill of the level that was asked for
  if (wish.level > 0)
    for (const Drill& d : drills)
      if (in_topic(d)) nearest = std::min(nearest, std::abs(d.level - wish.level));
  const Drill* best = nullptr;
  double best_score = 0;
  constexpr std::size_t lately = 8;
  for (std::size_t i = 0; i < drills.size(); ++i) {
    const Drill& d = drills[i];
    if (!in_topic(d) || (wish.level > 0 && std::abs(d.level - wish.level) > nearest)) continue;
    const auto at = all.find(d.topic);
    const Tally tally = at == all.end() ? Tally{} : at->second;
    const double weakness =
        1 - (tally.right + 1) / (tally.asked + 2);  // Laplace's rule: one half where nothing is known
    const double recent = static_cast<double>(lately - questions_ago(history, d.id, lately));
    const double jitter = models::unit_draw(models::counter_hash(wish.seed, history.size()), i);
    double score = 3 * weakness - 0.5 * recent + 0.4 * jitter - (d.follows.empty() ? 0 : 0.6);
    if (wish.level == 0) score -= 0.5 * std::abs(d.level - tally.level);
    if (!best || score > best_score) {
      best = &d;
      best_score = score;
    }
  }
  if (!best)
    return choose_drill(drills, history,
                        {
                            .topic = {},
                            .drill = {},
                            .level = wish.level,
                            .seed = wish.seed,
                            .now_s = wish.now_s,
                        });
  return {best, fresh, wish.topic.empty() ? "your weakest topic first" : "the topic you chose"};
}

}  // namespace chapters
