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

inline constexpr std::size_t most_par = 5;  ///< games longer than this are not searched

class CarGame final : public Rules {
 public:
  /// `hurried`: for a search. What misses the target is not simulated to its end, and states of more than `most_par`
  /// cards beyond the start bounce.
  CarGame(const Settings& settings, const Stack& start, bool hurried = false);

  std::span<const Card> cards() const override;
  std::span<const Target> targets() const override { return {&target_, 1}; }
  CardSet start() const override { return start_; }
  Figures play(CardSet set) const override;

  /// The stack with these cards, and why it does not work; or nothing.
  std::string stack_of(CardSet set, Stack& stack) const;
  /// What play() said of a set, whole.
  const Outcome& outcome(CardSet set) const;
  const Settings& settings() const { return settings_; }

 private:
  Outcome hurried_outcome(const Stack& stack) const;

  Settings settings_;
  Stack base_;
  CardSet start_{};
  Target target_;
  bool hurried_;
  mutable std::unordered_map<std::uint32_t, Outcome> seen_;
};

/// The rounds of the study: engines for the networks, then tuned code, each with the latency that it writes.
std::span<const StudyRound> car_study();

}  // namespace chapters::capstone::perception
