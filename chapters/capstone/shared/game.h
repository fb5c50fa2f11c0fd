#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chapters/mechanism/lab_interface.h"
#include "models/base/result.h"

/// A system as a game of rounds with par. A lab of the capstone derives `Rules`: its cards, its targets, and `play`,
/// which asks the real models what a set of cards gives. Everything else follows from these:
///
///   Played game = *replay(plays, read_rounds(rules, in.rounds), in.said);   the rounds: what each gave, bounced, met
///   Par best = find_par(plays, progress);                                   fewest rounds, searched: in a job
///   auto study = replay_study(plays, study_rounds);                         another's rounds beside it
///
/// `Plays` holds the rules and remembers what `play` said of each set of cards: one for all three. Rounds are ids of
/// cards in a text of Inputs ("graph, batch_32"), what was said before each in a list `said` (0: nothing), so that
/// links, scenarios and undo carry a game; `add_round` and `take_back` change both. Cards of one slot take each other's
/// place; a card whose state does not work bounces: its round stays and the state is the one before. board.h draws a
/// game.
namespace chapters::capstone {

inline constexpr std::size_t max_causes = 12, max_targets = 4, max_cards = 24, max_rounds = 24;
inline constexpr double nothing_said = 0;
/// Less than this share of the figure before counts as nothing won.
inline constexpr double slight_share = 5e-3;
inline constexpr double not_claimed = std::numeric_limits<double>::quiet_NaN();

/// A move.
struct Card {
  std::string_view id, name, note;
  std::string_view slot{};  ///< cards of one slot take each other's place; empty: it has its own
};

/// Which cards are in force, by their places in Rules::cards().
struct CardSet {
  std::uint32_t bits = 0;
  constexpr bool has(std::size_t card) const { return (bits >> card & 1u) != 0; }
  constexpr CardSet with(std::size_t card) const { return {bits | std::uint32_t{1} << card}; }
  constexpr CardSet without(std::size_t card) const { return {bits & ~(std::uint32_t{1} << card)}; }
  bool operator==(const CardSet&) const = default;
};

/// A line that a figure of every round must reach.
struct Target {
  std::string_view name, unit;
  double line = 0;
  bool at_most = true;  ///< else at least
  bool met(double value) const { return at_most ? value <= line : value >= line; }
};

/// What a state of the game gives.
struct Figures {
  std::array<double, max_causes> slab{};     ///< the slab by cause, in the order of the lab's causes
  std::array<double, max_targets> values{};  ///< one for each target
  double said_of = 0;                        ///< the figure that a prediction says
  double held_bytes = 0, room_bytes = 0;     ///< the vessel
  std::size_t bottleneck = 0;                ///< the cause that is longest
  std::string bounce{};                      ///< not empty: the state does not work, and this sentence says why
};

/// A game: a start, moves, targets, and a pure `play`.
class Rules {
 public:
  Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;
  virtual ~Rules() = default;
  virtual std::span<const Card> cards() const = 0;  ///< at most max_cards
  virtual std::span<const Target> targets() const = 0;
  virtual CardSet start() const { return {}; }
  /// Pure: the same cards give the same figures.
  virtual Figures play(CardSet cards) const = 0;
};

/// The cards in force after one more is put; those of its slot go.
CardSet put(std::span<const Card> cards, CardSet set, std::size_t card);

/// A game's rules and what they said, each set of cards asked once.
class Plays {
 public:
  explicit Plays(const Rules& rules) : rules_(rules) {}
  const Rules& rules() const { return rules_; }
  const Figures& of(CardSet cards);
  std::size_t asked() const { return seen_.size(); }

 private:
  const Rules& rules_;
  std::unordered_map<std::uint32_t, Figures> seen_;
};

/// How many targets are met, 0 where the state does not work.
std::size_t targets_met(std::span<const Target> targets, const Figures& figures);

/// One round on the board. Round 0 is the start and has no card.
struct Round {
  std::size_t card = max_cards;  ///< max_cards: the start
  CardSet cards{};               ///< in force after it
  Figures figures{};             ///< after it; where it bounced those before it, with its sentence
  bool bounced = false;
  double tried_bytes = 0;  ///< what it would have held, where it bounced
  double said = nothing_said;
  std::size_t met = 0;  ///< targets
  double won = 0;       ///< figure before it less the figure after it; below 0 it lost
  /// So little was won or lost that it counts as nothing.
  bool nothing_won() const;
  /// It was played and won nothing that counts: it lost, or it bounced.
  bool wasted() const;
};

/// The target other than `main` whose figure a round moved the most, by a tenth at least; max_targets where it moved
/// none. A round that wins nothing of the figure of the game may have moved another.
std::size_t moved_besides(const Round& before, const Round& after, std::size_t targets, std::size_t main);

struct Played {
  std::vector<Round> rounds;  ///< the start first
  std::size_t count = 0;      ///< cards played, bounced ones too
  static constexpr std::size_t none = max_rounds + 1;
  std::size_t first_all_met = none;  ///< the first round that meets every target; `none` where no round does
  double off = 1;  ///< geometric mean of how far what was said was off, as a factor; 1: exact, or nothing said
  std::size_t predicted = 0;  ///< rounds with something said that did not bounce
  bool all_met() const { return first_all_met != none; }
  const Round& now() const { return rounds.back(); }
};

/// Places of the cards that the text names, in its order: ids between commas or spaces. Fails in a sentence that names
/// the word which is no card, and where there are more than max_rounds.
models::Result<std::vector<std::size_t>> read_rounds(const Rules& rules, std::string_view text);
/// Plays the cards one after the other. Fails where the start itself does not work, and where a card is played that is
/// in force.
models::Result<Played> replay(Plays& plays, std::span<const std::size_t> cards, std::span<const double> said);
/// Writes one more round behind those of the text, and what was said of it.
void add_round(std::string& rounds, std::vector<double>& said, std::string_view card, double says);
/// Takes the last round away, or all behind the first `keep`.
void take_back(std::string& rounds, std::vector<double>& said);
void keep_rounds(std::string& rounds, std::vector<double>& said, std::size_t keep);

/// The fewest rounds to a state that meets every target.
struct Par {
  bool searched = false;  ///< to its end; false: cancelled
  bool exists = false;    ///< some state meets every target
  std::size_t rounds = 0;
  std::vector<std::size_t> cards;  ///< one shortest game, in order
  std::size_t ways = 0;            ///< sets of cards that meet every target after so many rounds
  std::size_t states = 0;          ///< states looked at
};
/// Breadth first over all sets of cards that can be reached, each looked at once: the first level with a state that
/// meets every target is the fewest rounds. Says its progress and stops where it is cancelled.
Par find_par(Plays& plays, Progress& progress);

/// A round of somebody else's: some cards at once, and what its source says of it.
struct StudyRound {
  std::string_view name;
  std::span<const std::string_view> cards;
  std::array<double, max_targets> claimed{not_claimed, not_claimed, not_claimed, not_claimed};
};
struct StudyPlayed {
  Figures figures;  ///< what the models say of the same cards
  std::size_t met = 0;
};
/// The same rounds by the models, the start first. An id that is no card is skipped.
std::vector<StudyPlayed> replay_study(Plays& plays, std::span<const StudyRound> rounds);

}  // namespace chapters::capstone
