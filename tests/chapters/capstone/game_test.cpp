#include "chapters/capstone/shared/game.h"

#include <algorithm>
#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "chapters/capstone/shared/board.h"

namespace {

using namespace chapters::capstone;
using chapters::Progress;

// A toy: a wait of 80 that only "graph" takes away hides work of 20 that "narrow" halves; the figure is the longer.
// Seats are 1, 4 or 16; sixteen do not fit unless "narrow" is there; the rate is seats over the time.
class ToyRules final : public Rules {
 public:
  std::vector<Target> lines{{"time", "s", 50, true}, {"rate", "1/s", 0.5, false}};
  std::span<const Card> cards() const override {
    static constexpr std::array<Card, 6> all{{{"narrow", "Narrow", ""},
                                              {"graph", "Graph", ""},
                                              {"seats_4", "Four seats", "", "seats"},
                                              {"seats_16", "Sixteen seats", "", "seats"},
                                              {"slow", "Slow", ""},
                                              {"idle", "Idle", ""}}};
    return all;
  }
  std::span<const Target> targets() const override { return lines; }
  Figures play(CardSet set) const override {
    Figures f;
    const double seats = set.has(3) ? 16 : set.has(2) ? 4 : 1, work = set.has(0) ? 10 : 20, wait = set.has(1) ? 1 : 80;
    f.slab = {work, wait > work ? wait - work : 0, set.has(4) ? 30.0 : 0.0};
    f.said_of = f.slab[0] + f.slab[1] + f.slab[2];
    f.values = {f.said_of, seats / f.said_of};
    if (set.has(3) && !set.has(0)) f.bounce = "Sixteen seats do not fit.";
    return f;
  }
};

/// Is there a game of at most `left` rounds? Every order of every card, nothing remembered.
bool toy_wins(const Rules& rules, CardSet set, std::size_t left) {
  const Figures f = rules.play(set);
  if (!f.bounce.empty()) return false;
  if (targets_met(rules.targets(), f) == rules.targets().size()) return true;
  for (std::size_t card = 0; left > 0 && card < rules.cards().size(); ++card)
    if (!set.has(card) && toy_wins(rules, put(rules.cards(), set, card), left - 1)) return true;
  return false;
}

std::vector<std::size_t> toy_rounds(const Rules& rules, std::string_view text) {
  const auto read = read_rounds(rules, text);
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("game: the obvious opening wins nothing, a card that does not fit bounces and stays on the board") {
  const ToyRules rules;
  Plays plays(rules);
  const std::vector<double> said{40, 15, 30, 8};
  const auto game = replay(plays, toy_rounds(rules, "narrow, seats_16 graph,slow"), said);
  REQUIRE(game);
  REQUIRE(game->rounds.size() == 5);
  CHECK(game->rounds[1].won == 0);
  CHECK(game->rounds[3].won == 70);
  CHECK(game->rounds[4].won == -30);
  CHECK(game->first_all_met == 3);
  CHECK(game->off == Catch::Approx(std::pow(2 * (80 / 15.0) * 3 * 5, 0.25)));
  CHECK(game->predicted == 4);
  const auto bounced = replay(plays, toy_rounds(rules, "seats_16, narrow, seats_16"), {});
  REQUIRE(bounced);
  CHECK(bounced->rounds[1].bounced);
  CHECK(bounced->rounds[1].figures.bounce == "Sixteen seats do not fit.");
  CHECK(bounced->rounds[1].cards == rules.start());
  CHECK_FALSE(bounced->rounds[3].bounced);
  CHECK(bounced->count == 3);
}

TEST_CASE("game: a round that leaves the game's figure says what it did to another target") {
  const ToyRules rules;
  Plays plays(rules);
  // Four seats leave the time of 80 and bring 4 / 80 in place of 1 / 80; an idle card moves nothing at all.
  const auto game = replay(plays, toy_rounds(rules, "seats_4, idle, graph"), {});
  REQUIRE(game);
  CHECK(game->rounds[1].nothing_won());
  CHECK(moved_besides(game->rounds[0], game->rounds[1], 2, 0) == 1);
  CHECK(moved_besides(game->rounds[1], game->rounds[2], 2, 0) == max_targets);
  const Board board = make_board(rules, *game, {.start_name = "As found"});
  CHECK(board.rounds[1].change == "rate +0.0375 1/s");
  CHECK(board.rounds[2].change == "won nothing");
  CHECK(board.rounds[3].change.starts_with("won "));
}

TEST_CASE("game: cards of a slot take each other's place, and a game is a text") {
  const ToyRules rules;
  Plays plays(rules);
  const auto game = replay(plays, toy_rounds(rules, "narrow seats_16 seats_4 seats_16"), {});
  REQUIRE(game);
  CHECK(game->rounds[3].cards == CardSet{}.with(0).with(2));
  CHECK(game->rounds[4].cards == CardSet{}.with(0).with(3));
  CHECK(read_rounds(rules, "graph, warp").error ==
        "No card of this game is called \"warp\": take it out of the rounds.");
  CHECK(replay(plays, toy_rounds(rules, "graph graph"), {}).error.find("there already") != std::string::npos);
  std::string many;
  for (int i = 0; i < 25; ++i) many += i % 2 == 0 ? "seats_4 " : "seats_16 ";
  CHECK(read_rounds(rules, many).error.find("at most 24 rounds") != std::string::npos);
  std::string rounds = "narrow,  graph";
  std::vector<double> said;
  add_round(rounds, said, "slow", 12);
  CHECK(rounds == "narrow,  graph, slow");
  CHECK(said == std::vector<double>{0, 0, 12});
  take_back(rounds, said);
  take_back(rounds, said);
  CHECK(rounds == "narrow");
  CHECK(said == std::vector<double>{0});
  take_back(rounds, said);
  take_back(rounds, said);
  CHECK(rounds.empty());
}

TEST_CASE("game: no game is shorter than par, by trying all of them, and every slot's wall is met on the way") {
  for (const double rate : {0.01, 0.02, 0.1, 0.5, 1.0, 1.5, 2.0})
    for (const double time : {100.0, 50.0, 15.0, 5.0}) {
      INFO("at least " << rate << " in at most " << time);
      ToyRules rules;
      rules.lines[0].line = time;
      rules.lines[1].line = rate;
      Plays plays(rules);
      Progress progress;
      const Par par = find_par(plays, progress);
      CHECK(par.searched);
      CHECK(par.exists == toy_wins(rules, {}, 4));
      if (!par.exists) continue;
      CHECK(par.cards.size() == par.rounds);
      if (par.rounds > 0) CHECK_FALSE(toy_wins(rules, {}, par.rounds - 1));
      const auto game = replay(plays, par.cards, {});
      REQUIRE(game);
      CHECK(game->first_all_met == par.rounds);
      CHECK(std::none_of(game->rounds.begin(), game->rounds.end(), [](const Round& r) { return r.bounced; }));
    }
}

TEST_CASE("game: a search that is cancelled says so, and each set of cards is asked once") {
  ToyRules rules;
  rules.lines[1].line = 100;  // no state reaches it
  Plays plays(rules);
  Progress stopped;
  stopped.cancelled = true;
  CHECK_FALSE(find_par(plays, stopped).searched);
  Progress progress;
  const Par par = find_par(plays, progress);
  CHECK(par.searched);
  CHECK_FALSE(par.exists);
  CHECK(par.states == plays.asked());
  CHECK(par.states == 2 * 2 * 3 * 2 * 2);  // sixteen seats without narrow are looked at and not gone through
  CHECK(progress.fraction <= 1);
}

TEST_CASE("game: the study's rounds are recomputed, several cards at once") {
  const ToyRules rules;
  Plays plays(rules);
  static constexpr std::array<std::string_view, 1> first{"narrow"};
  static constexpr std::array<std::string_view, 3> second{"graph", "seats_16", "unknown"};
  const std::vector<StudyRound> study{{"round 1", first, {48, 0.1}}, {"round 2", second, {32, 1}}};
  const auto played = replay_study(plays, study);
  REQUIRE(played.size() == 3);
  CHECK(played[1].figures.said_of == 80);
  CHECK(played[2].figures.said_of == 10);
  CHECK(played[2].met == 2);
}
