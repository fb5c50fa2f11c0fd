#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "app/scenario/fields_json.h"
#include "app/scenario/link.h"
#include "chapters/interview/scenarios/lab.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/catalog.h"

using Catch::Approx;
using namespace chapters;
using namespace chapters::interview::scenarios;

namespace {

const ScenarioDeck& deck() {
  support::use_bundled_catalog();
  return scenario_deck();
}

/// Why a link does not open; empty where it does.
std::string link_fault(const std::string& text) {
  const auto link = app::parse_link(text);
  const auto lab = make_lab_by_id(link.lab);
  if (!lab) return text + " names no lab";
  for (const auto& [key, value] : link.sets) {
    const Field* f = lab->inputs().find(key);
    if (!f) return text + " sets what the lab does not have";
    if (auto set = app::set_field_from_text(*f, value); !set.error.empty()) return set.error;
  }
  return {};
}

/// All right threads of a board, a second apart.
std::vector<Move> right_moves(const ScenarioBoard& board) {
  std::vector<Move> out;
  for (std::size_t column = 0; column + 1 < board_columns; ++column)
    for (std::size_t from = 0; from < board.order[column].size(); ++from)
      for (std::size_t to = 0; to < board.order[column + 1].size(); ++to)
        if (board.order[column][from] == board.order[column + 1][to])
          out.push_back({static_cast<MoveKind>(column), from, to, static_cast<double>(out.size() + 1)});
  return out;
}

Outputs computed(const Inputs& in, std::shared_ptr<const Run>* run = nullptr) {
  deck();
  Progress progress;
  auto got = compute(in, progress);
  if (run) *run = got.run;
  return got.facts;
}

}  // namespace

TEST_CASE("the deck holds what was promised: symptoms of every chapter, twins, cases, designs, pitches") {
  const ScenarioDeck& d = deck();
  CHECK(d.symptoms.size() >= 40);
  CHECK(d.branching.size() >= 12);
  CHECK(d.designs.size() >= 8);
  CHECK(faults_of(d).empty());
  std::set<std::string> topics, ids;
  std::size_t twins = 0;
  for (const SymptomCase& c : d.symptoms) {
    topics.insert(c.topic);
    twins += !c.twin.empty();
    CHECK(ids.insert(c.id).second);
    CHECK(link_fault(c.lab) == "");
  }
  for (const Chapter& chapter : all_chapters())
    if (chapter.slug != "interview" && chapter.slug != "capstone") CHECK(topics.contains(std::string(chapter.slug)));
  CHECK(twins >= 12);
  std::multiset<double> lengths;
  for (const Pitch& p : d.pitches) {
    CHECK(ids.insert(p.id).second);
    CHECK(link_fault(p.lab) == "");
    lengths.insert(p.seconds());
  }
  for (const double s : {30.0, 120.0, 300.0}) CHECK(lengths.count(s) >= 3);
  CHECK(lengths.size() == lengths.count(30) + lengths.count(120) + lengths.count(300));
}

TEST_CASE("twins show the same and are told apart by what another instrument reads and by their evidence") {
  const ScenarioDeck& d = deck();
  for (const SymptomCase& c : d.symptoms) {
    if (c.twin.empty()) continue;
    const SymptomCase* twin = find_symptom(d, c.twin);
    REQUIRE(twin);
    INFO(c.id);
    CHECK(twin->seen == c.seen);
    CHECK(twin->glyph.values == c.glyph.values);
    CHECK(twin->tell == c.tell);
    CHECK(twin->reads != c.reads);
    CHECK(twin->evidence != c.evidence);
    CHECK(twin->cause != c.cause);
    CHECK(explains(c, *twin));  // by the symptom alone either cause would do
  }
}

TEST_CASE("every board has one right assignment and one cause left over, and no card lies next to its answer") {
  const ScenarioDeck& d = deck();
  std::size_t with_twins = 0;
  for (std::int64_t seed = 0; seed < 60; ++seed)
    for (const bool twins : {false, true}) {
      const std::int64_t cards = 4 + seed % 3;
      const std::string& topic = d.topics[static_cast<std::size_t>(seed) % d.topics.size()].id;
      const auto board = deal_board(d, {.topic = topic, .twins = twins, .cards = cards, .seed = seed});
      INFO("seed " << seed << " " << topic << (twins ? " twins" : ""));
      REQUIRE(board);
      CHECK(board->cases.size() == static_cast<std::size_t>(cards));
      CHECK(assignments_of(*board) == 1);
      CHECK(board->order[1].size() == board->cases.size() + 1);
      for (const SymptomCase* c : board->cases) CHECK(c != board->left_over);
      std::set<std::string_view> causes{board->left_over->cause};
      for (const SymptomCase* c : board->cases) CHECK(causes.insert(c->cause).second);
      for (std::size_t column = 1; column < board_columns; ++column)
        for (std::size_t row = 0; row < board->cases.size(); ++row) {
          CHECK(board->order[column][row] != board->order[column - 1][row]);
          CHECK(board->order[column][row] != board->order[0][row]);
        }
      for (const SymptomCase* c : board->cases) with_twins += twins && !c->twin.empty();
    }
  CHECK(with_twins > 200);
}

TEST_CASE("a thread counts where it lies: a wrong one stays counted, a new one takes its place, and time ends it") {
  Inputs in;
  std::shared_ptr<const Run> run;
  computed(in, &run);
  const auto right = right_moves(run->board);
  REQUIRE(right.size() == 15);
  SECTION("all right") {
    for (const Move& m : right) in.moves = with_move(in.moves, run->key, m);
    const Outputs out = computed(in);
    CHECK(out.ended);
    CHECK(out.told == 5);
    CHECK(out.score == 100);
    CHECK(out.elapsed_s == 15);
    CHECK(out.left_over == run->board.left_over->cause);
  }
  SECTION("one wrong first") {
    Move wrong = right[0];
    wrong.to = (wrong.to + 1) % 6;
    wrong.at_s = 0.5;
    in.moves = with_move(in.moves, run->key, wrong);
    CHECK(computed(in).wrong == 1);
    const auto why = why_wrong(*[&] {
      std::shared_ptr<const Run> now;
      computed(in, &now);
      return now;
    }());
    CHECK(why.says.find(why.would->would) == 0);
    CHECK(why.here == &run->board.case_at(BoardColumn::symptom, wrong.from));
    for (const Move& m : right) in.moves = with_move(in.moves, run->key, m);
    const Outputs out = computed(in);
    CHECK(out.told == 5);
    CHECK(out.wrong == 1);
    CHECK(out.score == Approx(100 * 14.5 / 15));
  }
  SECTION("too late") {
    Move late = right[0];
    late.at_s = 301;
    in.moves = with_move(in.moves, run->key, late);
    const Outputs out = computed(in);
    CHECK(out.ended);
    CHECK(out.right == 0);
    CHECK(out.elapsed_s == out.limit_s);
  }
  SECTION("moves of another deal do not count, nor what is no move") {
    in.moves = with_move("", "b/any/0/mixed/5/8", right[0]);
    CHECK(computed(in).state == "not begun");
    in.moves = run->key + ": s0c9@3 s9 zz s0c1 s0c1@-4 s0c1@nan";
    CHECK(computed(in).right + computed(in).wrong == 0);
  }
}

TEST_CASE("every branching case can be won, and its best path is computed and scores full") {
  for (const BranchingCase& c : deck().branching) {
    INFO(c.id);
    CHECK(link_fault(c.lab) == "");
    std::set<std::size_t> met;
    for (std::int64_t seed = 0; seed < 40; ++seed) {
      Inputs in{.kind = ScenarioKind::branching, .which = c.id, .seed = seed};
      std::shared_ptr<const Run> run;
      Outputs out = computed(in, &run);
      REQUIRE(out.reason == "");
      CHECK(out.best_mean_minutes <= out.cheapest_mean_minutes + 1e-9);
      CHECK(out.best_mean_minutes < out.all_checks_minutes);
      CHECK(std::isnan(out.best_here_minutes));  // the cause is not given away
      CHECK(out.left_over == "known at the end");
      if (!met.insert(run->cause).second) continue;
      double at = 0;
      for (const int k : run->path)
        in.moves = with_move(in.moves, run->key, {MoveKind::check, static_cast<std::size_t>(k), 0, ++at});
      out = computed(in, &run);
      CHECK(out.possible == 1);
      Inputs wrong = in;
      in.moves = with_move(in.moves, run->key, {MoveKind::diagnose, run->cause, 0, ++at});
      out = computed(in);
      CHECK(out.ended);
      CHECK(out.score == Approx(100));
      CHECK(out.spent_minutes == Approx(out.best_here_minutes));
      wrong.moves = with_move(wrong.moves, run->key, {MoveKind::diagnose, (run->cause + 1) % c.causes.size(), 0, at});
      CHECK(computed(wrong).score == 0);
    }
    CHECK(met.size() >= 3);  // the seed deals several causes
  }
}

TEST_CASE("a cause that is named by luck counts as much as one could be sure of it") {
  Inputs in{.kind = ScenarioKind::branching, .which = "case-slow-step"};
  std::shared_ptr<const Run> run;
  computed(in, &run);
  in.moves = with_move("", run->key, {MoveKind::diagnose, run->cause, 0, 3});
  double sum = 0;
  for (const double w : run->tree.weight) sum += w;
  CHECK(computed(in).score == Approx(100 * run->tree.weight[run->cause] / sum));
}

TEST_CASE("a design's figures are computed by labs whose links open, and stand in its points") {
  for (const DesignCase& c : deck().designs) {
    INFO(c.id);
    std::shared_ptr<const Run> run;
    const Outputs out = computed({.kind = ScenarioKind::design, .which = c.id}, &run);
    REQUIRE(out.reason == "");
    CHECK(out.figures.size() >= 3);
    for (const FigureRow& row : out.figures) {
      CHECK(link_fault(row.link) == "");
      bool used = false;
      for (const std::string& say : run->say) used |= say.find(row.value) != std::string::npos;
      CHECK(used);
    }
    for (const std::string& say : run->say) CHECK(say.find('{') == std::string::npos);
  }
}

TEST_CASE("a figure of many is the lab's times their number, and chips for a thousand are as many as hold them") {
  const auto value_of = [](const char* design, std::string_view label) {
    const Outputs out = computed({.kind = ScenarioKind::design, .which = design});
    const auto at =
        std::find_if(out.figures.begin(), out.figures.end(), [&](const FigureRow& row) { return row.label == label; });
    REQUIRE(at != out.figures.end());
    return std::stod(at->value);
  };
  const double chips = value_of("design-chat-8b", "H100s that hold 1,000"),
               users = value_of("design-chat-8b", "Conversations on one H100");
  CHECK(chips * users >= 1000);
  CHECK((chips - 1) * users < 1000);
  // MB/s of one, GB/s of all.
  CHECK(value_of("design-data", "512 GPUs ask for") ==
        Approx(512 * value_of("design-data", "One GPU asks for") / 1000).epsilon(0.01));
}

TEST_CASE("a pitch counts the points that were said before its time ran out") {
  Inputs in{.kind = ScenarioKind::pitch, .which = "pitch-roofline-30"};
  std::shared_ptr<const Run> run;
  CHECK(computed(in, &run).words == Approx(70));
  in.moves = with_move("", run->key, {MoveKind::tick, 0, 0, 7});
  in.moves = with_move(in.moves, run->key, {MoveKind::tick, 1, 0, 15});
  in.moves = with_move(in.moves, run->key, {MoveKind::tick, 2, 0, 34});
  in.moves = with_move(in.moves, run->key, {MoveKind::tick, 1, 0, 35});  // taken back
  CHECK(computed(in).right == 1);
}

TEST_CASE("rows of the history are counted by topic, a wrong thread half against a right one") {
  std::vector<ScenarioRecord> history;
  add_record(history, {"board", "busy-loader", "framework", 7, 3, 3, 1, 20, 1000});
  add_record(history, {"branching", "case-oom", "framework", 7, 60, 100, 0, 90, 2000});
  add_record(history, {"pitch", "pitch-kv-2", "inference", 7, 4, 5, 0, NAN, 3000});
  const auto by_topic = scenario_standings(history);
  REQUIRE(by_topic.size() == 2);
  CHECK(by_topic[0].cases == 2);
  CHECK(by_topic[0].score == Approx(2.5 / 3 + 0.6));
  CHECK(by_topic[0].last_s == 2000);
  CHECK(by_topic[1].score == Approx(0.8));
  CHECK(scenario_share({"board", "x", "role", 0, 0, 3, 4, 0, 0}) == 0);
}

TEST_CASE("a board says that a case of another kind was asked for, whatever the deal") {
  const auto says = [](const char* inputs) { return support::answer_of("interview/scenarios", inputs); };
  for (const char* deal : {"mixed", "twins", "today"}) {
    const std::string answer = says((std::string(R"({"case": "case-oom", "deal": ")") + deal + "\"}").c_str());
    CHECK(
        answer.ends_with("\nThe case that you asked for is no board, so this one was dealt. "
                         "Choose the kind of that case to see it."));
  }
  CHECK(says("{}").ends_with("to its evidence, and to its fix."));
}
