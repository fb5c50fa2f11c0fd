#include "chapters/capstone/perception/game.h"

#include <algorithm>
#include <bit>

namespace chapters::capstone::perception {
namespace {

// In the order of Move. The short name is what a button says.
constexpr std::array<Card, move_count> all_cards{{
    {"engine_backbone", "Engine: backbone", "the encoder, compiled"},
    {"engine_heads", "Engine: heads", "both, compiled"},
    {"engine_prediction", "Engine: prediction", "the forecast, compiled"},
    {"int8", "INT8", "in compiled networks"},
    {"camera", "Camera code", "for the image processor"},
    {"planning", "Planner code", "starts from the last plan"},
    {"fusion", "Temporal fusion", "reuses the last features"},
    {"alternate", "Forecast every 2nd", "between, the last one"},
    {"dla", "Detection on a DLA", "off the GPU"},
    {"pools", "Allocate once", "and no collector"},
    {"pinned", "Pinned memory", "bandwidth is reserved"},
    {"clocks", "Lock clocks", "and a real-time class"},
    {"skip", "Drop when busy", "then it is never seen"},
    {"pipelining", "Pipelining", "frames overlap"},
    {"parallel_heads", "Parallel heads", "heads do not wait"},
    {"shared_backbone", "One backbone", "one encoder for all"},
}};

constexpr CardSet of(Move move) { return CardSet{}.with(static_cast<std::size_t>(move)); }

}  // namespace

Stage stage_of(std::span<const models::StackTask> tasks, std::size_t task) {
  if (task >= tasks.size()) return Stage::backbone;  // the encoder's copy for another head
  switch (tasks[task].role) {
    case models::StackRole::encoder:
      return Stage::backbone;
    case models::StackRole::head:
      return Stage::heads;
    case models::StackRole::network:
      return Stage::forecast;
    case models::StackRole::classic:
      break;
  }
  return tasks[task].resource == models::StackResource::isp ? Stage::camera : Stage::code;
}

CarGame::CarGame(const Settings& settings, const Stack& start, int searched)
    : settings_(settings), base_(start), target_{"99 in 100", "s", 1 / settings.rate_hz}, searched_(searched) {
  const auto take = [&](Move move, bool& on) {
    if (on) start_ = {start_.bits | of(move).bits};
    on = false;
  };
  take(Move::pipelining, base_.pipelining);
  take(Move::parallel_heads, base_.parallel_heads);
  take(Move::shared_backbone, base_.shared_backbone);
}

int CarGame::put_beyond_start(CardSet set) const { return std::popcount(set.bits & ~start_.bits); }

std::span<const Card> CarGame::cards() const { return all_cards; }

std::string CarGame::stack_of(CardSet set, Stack& stack) const {
  stack = base_;
  for (std::size_t i = 0; i < move_count; ++i)
    if (set.has(i))
      if (std::string bounce = apply(settings_, static_cast<Move>(i), stack); !bounce.empty()) return bounce;
  return "";
}

Outcome CarGame::hurried_outcome(const Stack& stack) const {
  Outcome lone = schedule_only(settings_, stack);
  lone.p99_s = lone.latency_s;
  if (!lone.bounce.empty() || lone.latency_s > target_.line) return lone;  // half of its frames are late already
  // A run's first frames are those of a shorter run: once they are more late than the whole may be, it is lost.
  Settings few = settings_;
  few.frames = std::min<std::int64_t>(settings_.frames, settings_.frames / 8 + 1);
  Outcome first = simulate(few, stack);
  if (first.late * 100 > settings_.frames) {
    first.p99_s = std::max(first.p99_s, 1.001 * target_.line);
    return first;
  }
  return simulate(settings_, stack);
}

const Outcome& CarGame::outcome(CardSet set) const {
  const auto [at, fresh] = seen_.try_emplace(set.bits);
  if (!fresh) return at->second;
  Stack stack;
  std::string bounce = stack_of(set, stack);
  if (bounce.empty() && searched_ > 0 && put_beyond_start(set) > searched_) bounce = "Longer games are not searched.";
  at->second = !bounce.empty() ? Outcome{.bounce = std::move(bounce)}
               : searched_ > 0 ? hurried_outcome(stack)
                               : simulate(settings_, stack);
  return at->second;
}

Figures CarGame::play(CardSet set) const {
  const Outcome& o = outcome(set);
  Figures f;
  f.bounce = o.bounce;
  if (!f.bounce.empty()) return f;
  f.values[0] = f.said_of = o.p99_s;
  for (const Piece& piece : o.path)
    f.slab[static_cast<std::size_t>(stage_of(base_.tasks, piece.task))] += piece.seconds;
  f.bottleneck =
      static_cast<std::size_t>(std::max_element(f.slab.begin(), f.slab.begin() + stage_count) - f.slab.begin());
  return f;
}

std::span<const StudyRound> car_study() {
  static constexpr std::array<std::string_view, 1> backbone{"engine_backbone"}, heads{"engine_heads"},
      forecast{"engine_prediction"};
  static constexpr std::array<std::string_view, 2> code{"camera", "planning"};
  static const std::array<StudyRound, 4> rounds{{{"Engine: backbone", backbone},
                                                 {"Engine: heads", heads},
                                                 {"Engine: prediction", forecast},
                                                 {"Tuned code", code}}};
  return rounds;
}

}  // namespace chapters::capstone::perception
