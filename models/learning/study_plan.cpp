#include "models/learning/study_plan.h"

#include <algorithm>
#include <cmath>

#include "models/learning/practice.h"

namespace models {
namespace {

/// Something that is due from a day on.
struct Waiting {
  double due = 0;  ///< days from now; below 0: overdue
  std::int64_t streak = 0, topic = -1;
};

/// Fills one day after the other.
class Planner {
 public:
  Planner(std::span<const StudyTopic> topics, std::span<const StudyReview> reviews,
          std::span<const double> card_due_days, const StudyWish& wish)
      : wish_(wish), topics_(topics.begin(), topics.end()), unseen_(std::max<std::int64_t>(wish.unseen_cards, 0)) {
    for (const StudyReview& r : reviews) drills_.push_back({r.due_days, r.streak, r.topic});
    for (const double due : card_due_days) cards_.push_back({due});
    ready_.reserve(topics_.size());
    for (const StudyTopic& t : topics_) ready_.push_back(wilson_lower(t.score, t.asked, wish_.z));
  }

  StudyPlan plan() {
    for (day_ = 0; day_ < wish_.days; ++day_) fill_day();
    StudyPlan out{.blocks = std::move(blocks_)};
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      out.topics_asked += topics_[i].asked > 0;
      out.topics_ready += ready_[i] >= wish_.goal;
    }
    out.ready = std::move(ready_);
    const auto due = [&](const Waiting& w) { return w.due < static_cast<double>(wish_.days); };
    out.left_due =
        std::count_if(drills_.begin(), drills_.end(), due) + std::count_if(cards_.begin(), cards_.end(), due);
    for (const StudyBlock& b : out.blocks) out.minutes += b.minutes;
    return out;
  }

 private:
  void fill_day() {
    left_ = wish_.minutes_a_day;
    const auto drills = take_due(drills_, wish_.drill_minutes);
    put(StudyKind::review, -1, static_cast<std::int64_t>(drills.size()), wish_.drill_minutes);
    for (const Waiting& w : drills) {
      if (w.topic >= 0) answer(static_cast<std::size_t>(w.topic), 1);
      come_back(w);
    }
    const auto cards = take_due(cards_, wish_.card_minutes);
    put(StudyKind::recall, -1, static_cast<std::int64_t>(cards.size()), wish_.card_minutes);
    if (day_ >= wish_.days - wish_.talk_last) put_if_room(StudyKind::talk, 1, wish_.talk_minutes);
    if (wish_.board_every > 0 && day_ % wish_.board_every == wish_.board_every - 1)
      put_if_room(StudyKind::scenario, 1, wish_.board_minutes);
    // Half of what is left at most, so that new cards do not push all questions out of a short day.
    const std::int64_t fresh = std::min({unseen_, wish_.new_cards, whole(left_ / 2, wish_.card_minutes)});
    unseen_ -= std::max<std::int64_t>(fresh, 0);
    put(StudyKind::recall, -1, fresh, wish_.card_minutes);
    for (bool first = true; practise(first); first = false) {
    }
  }

  static std::int64_t whole(double minutes, double each) {
    return static_cast<std::int64_t>(std::floor(minutes / each + 1e-9));
  }

  /// Takes away what is due today, the longest overdue first, as far as it has room.
  std::vector<Waiting> take_due(std::vector<Waiting>& all, double each) {
    std::stable_sort(all.begin(), all.end(), [](const Waiting& a, const Waiting& b) { return a.due < b.due; });
    const auto first_later =
        std::find_if(all.begin(), all.end(), [&](const Waiting& w) { return w.due >= static_cast<double>(day_ + 1); });
    const auto end = all.begin() + std::min<std::ptrdiff_t>(whole(left_, each), first_later - all.begin());
    std::vector<Waiting> taken(all.begin(), end);
    all.erase(all.begin(), end);
    return taken;
  }

  /// A question that was answered right today.
  void come_back(Waiting w) {
    w.due = static_cast<double>(day_) + review_interval_days(++w.streak);
    drills_.push_back(w);
  }

  void answer(std::size_t topic, double more) {
    StudyTopic& t = topics_[topic];
    t.score += wish_.rate * more;
    t.asked += more;
    ready_[topic] = wilson_lower(t.score, t.asked, wish_.z);
  }

  void put(StudyKind kind, std::int64_t topic, std::int64_t count, double each) {
    if (count <= 0) return;
    const double minutes = static_cast<double>(count) * each;
    left_ -= minutes;
    // What a day holds of the same kind and topic already is one block.
    for (auto b = blocks_.rbegin(); b != blocks_.rend() && b->day == day_; ++b)
      if (b->kind == kind && b->topic == topic) {
        b->count += count;
        b->minutes += minutes;
        return;
      }
    blocks_.push_back({day_, kind, topic, count, minutes});
  }
  void put_if_room(StudyKind kind, std::int64_t count, double each) {
    if (static_cast<double>(count) * each <= left_ + 1e-9) put(kind, -1, count, each);
  }

  double counted(double share) const { return std::min(share, wish_.goal); }

  /// The topic that is least supported of those below the goal: of those answered below it, or of all; none: their
  /// number.
  std::size_t weakest(bool asked_alone) const {
    std::size_t best = topics_.size();
    for (std::size_t i = 0; i < topics_.size(); ++i)
      if (ready_[i] < wish_.goal && (!asked_alone || topics_[i].score < wish_.goal * topics_[i].asked) &&
          (best == topics_.size() || ready_[i] < ready_[best]))
        best = i;
    return best;
  }

  std::size_t rises_most(double more) const {
    double most = 1e-12;
    std::size_t best = topics_.size();
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      const StudyTopic& t = topics_[i];
      const double rise =
          counted(wilson_lower(t.score + wish_.rate * more, t.asked + more, wish_.z)) - counted(ready_[i]);
      if (rise <= most) continue;
      most = rise;
      best = i;
    }
    return best;
  }

  /// Questions on one topic; false where there is no room or every topic is at the goal.
  bool practise(bool first) {
    const std::int64_t n = std::min(wish_.chunk, whole(left_, wish_.drill_minutes));
    if (n <= 0) return false;
    const auto more = static_cast<double>(n);
    std::size_t best = first ? weakest(true) : topics_.size();
    if (best == topics_.size()) best = rises_most(more);
    if (best == topics_.size()) best = weakest(false);
    if (best == topics_.size()) return false;
    answer(best, more);
    for (std::int64_t i = 0; i < n; ++i) come_back({.topic = static_cast<std::int64_t>(best)});
    put(StudyKind::practice, static_cast<std::int64_t>(best), n, wish_.drill_minutes);
    return true;
  }

  const StudyWish wish_;
  std::vector<StudyTopic> topics_;
  std::vector<double> ready_;
  std::vector<Waiting> drills_, cards_;
  std::vector<StudyBlock> blocks_;
  std::int64_t unseen_ = 0, day_ = 0;
  double left_ = 0;
};

}  // namespace

StudyPlan plan_study(std::span<const StudyTopic> topics, std::span<const StudyReview> reviews,
                     std::span<const double> card_due_days, const StudyWish& wish) {
  return Planner(topics, reviews, card_due_days, wish).plan();
}

}  // namespace models
