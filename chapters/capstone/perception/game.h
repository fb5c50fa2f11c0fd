#pragma once
#include <string>
#include <unordered_map>

#include "chapters/capstone/perception/stack.h"
#include "chapters/capstone/shared/game.h"

/// The car's frame as a game of rounds: cards are moves, the target is that 99 frames of 100 have a plan in time.
namespace chapters::capstone::perception {

/// What a stretch of the critical path is for, in the order of the slab.
enum class Stage : std::uint8_t { camera, backbone, heads, forecast, code };
inline constexpr std::size_t stage_count = 5;
/// The stage of a task of the graph: those of the stack come first, copies of its encoder behind them.
Stage stage_of(std::span<const models::StackTask> tasks, std::size_t task);

class CarGame final : public Rules {
 public:
  /// `searched` above 0: for a search of at most so many cards beyond the start. What misses the target is then not
  /// simulated to its end.
  CarGame(const Settings& settings, const Stack& start, int searched = 0);

  std::span<const Card> cards() const override;
  std::span<const Target> targets() const override { return {&target_, 1}; }
  CardSet start() const override { return start_; }
  Figures play(CardSet set) const override;

  /// The stack with these cards, and why it does not work; or nothing.
  std::string stack_of(CardSet set, Stack& stack) const;
  /// What play() said of a set, whole.
  const Outcome& outcome(CardSet set) const;
  const Settings& settings() const { return settings_; }
  /// Cards that were put beyond those of the start.
  int put_beyond_start(CardSet set) const;

 private:
  Outcome hurried_outcome(const Stack& stack) const;

  Settings settings_;
  Stack base_;
  CardSet start_{};
  Target target_;
  int searched_;
  mutable std::unordered_map<std::uint32_t, Outcome> seen_;
};

/// The rounds of the study: engines for the networks, then tuned code, each with the latency that it writes.
std::span<const StudyRound> car_study();

}  // namespace chapters::capstone::perception
