#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "chapters/mechanism/lab.h"

namespace chapters {

/// What a hand asks of a picture and no frame has the time for: a part of a recording that was selected, a plan under
/// the pointer. A member of a View that has `Requests requests`. The program answers in a job, later; a newer question
/// takes the place of the one before. Nothing of it is in Outputs: what belongs to the state is an input.
template <class Key, class Answer>
class Aside {
 public:
  /// Asks unless it is what was asked last. `work(key, progress)` gives the Answer on another thread, so it holds what
  /// it needs itself (a copy, or the shared Run); a cancelled one's answer is dropped.
  template <class Work>
  void ask(Requests& requests, const Key& key, Work work) {
    if (asked_ && *asked_ == key && !slot_->dropped) return;
    asked_ = key;
    slot_ = std::make_shared<Slot>();
    // What was not answered, since another question took its place before or while it was worked on, is dropped with
    // the work.
    const std::shared_ptr<void> unanswered(nullptr, [slot = slot_](void*) { slot->dropped = !slot->done; });
    requests.aside = [slot = slot_, unanswered, key, work = std::move(work)](Progress& progress) {
      Answer answer = work(key, progress);
      if (progress.cancelled) return;
      slot->answer = std::move(answer);
      slot->done = true;
    };
  }
  /// Nothing is asked any more.
  void forget() {
    asked_.reset();
    slot_.reset();
  }
  /// What was asked last; null: nothing.
  const Key* asked() const { return asked_ ? &*asked_ : nullptr; }
  /// The answer to what was asked last; null while there is none yet.
  const Answer* answer() const { return slot_ && slot_->done ? &slot_->answer : nullptr; }
  bool waiting() const { return slot_ && !slot_->done && !slot_->dropped; }

 private:
  struct Slot {
    std::atomic<bool> done{false}, dropped{false};
    Answer answer{};
  };
  std::optional<Key> asked_;
  std::shared_ptr<Slot> slot_;
};

}  // namespace chapters
