#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/capstone/serve_70b/lab.h"
#include "models/inference/serve_round.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace serve = chapters::capstone::serve_70b;

TEST_CASE("serve-70b: INT4 wins nothing while the host is the clock, and the graph wins most of the step") {
  const LabPtr lab = open_lab("capstone/serve-70b", R"({"rounds": "int4, graph, int4"})");
  CHECK(reason_of(*lab).find("there already") != std::string::npos);
  set(*lab, "rounds", "int4, graph");
  compute(*lab);
  CHECK(std::abs(out(*lab, "first_won_s")) <
        0.002 * out(*lab, "start_itl_s"));  // only of the last kernel, which is waited for
  CHECK(cell_text(*lab, "played", 1, "found") == "won nothing");
  CHECK(out(*lab, "start_itl_s") == Catch::Approx(0.0592).epsilon(0.01));  // 3,530 launches of 16.74 us
  CHECK(out(*lab, "best_won_s") > 0.7 * out(*lab, "start_itl_s"));
  CHECK(text_of(*lab, "best_card") == "CUDA graph");
  // More requests at once: the host is the clock still, and prompts wait for one another.
  set(*lab, "rounds", "batch_128");
  compute(*lab);
  CHECK(cell_text(*lab, "played", 1, "found") == "won nothing; more tokens, the first one later");
  // The other way round INT4 is worth something.
  set(*lab, "rounds", "graph, int4");
  compute(*lab);
  CHECK(cell(*lab, "played", 2, "won_s") > 0.1 * cell(*lab, "played", 1, "itl_s"));
}

TEST_CASE("serve-70b: a batch that leaves the gap and costs the first token did not do nothing") {
  const LabPtr lab = open_lab("capstone/serve-70b", R"({"rounds": "batch_128, int4"})");
  compute(*lab);
  CHECK(cell_text(*lab, "played", 1, "found") == "won nothing; more tokens, the first one later");
  CHECK(cell(*lab, "played", 1, "ttft_s") > 10 * cell(*lab, "played", 0, "ttft_s"));
  CHECK(cell_text(*lab, "played", 2, "found") == "won nothing");
  CHECK(lab->answer().find("Batch 128 left the time from token to token as it was.") != std::string::npos);
}

TEST_CASE("serve-70b: a round is what the model of one step says, and its head opens that step") {
  const LabPtr lab = open_lab("capstone/serve-70b", R"({"rounds": "graph, compile, flash, int4, batch_32"})");
  compute(*lab);
  serve::Inputs in;
  const serve::ServeRules rules(in);
  chapters::capstone::CardSet cards = rules.start();
  const auto played = chapters::capstone::read_rounds(rules, "graph, compile, flash, int4, batch_32");
  REQUIRE(played);
  for (const std::size_t card : *played) cards = chapters::capstone::put(rules.cards(), cards, card);
  const LabPtr step = open_link(serve::link_of(in, rules, cards));
  compute(*step);
  CHECK(out(*step, "tpot_s") == Catch::Approx(out(*lab, "itl_s")));
  CHECK(out(*step, "ttft_s") == Catch::Approx(out(*lab, "ttft_s")));
  CHECK(out(*step, "tokens_per_s") == Catch::Approx(out(*lab, "tokens_per_s")));
}

TEST_CASE("serve-70b: memory is a wall, and pages move it") {
  const LabPtr lab = open_lab("capstone/serve-70b", R"({"rounds": "batch_512, flash, continuous, paged, batch_512"})");
  compute(*lab);
  CHECK(cell_text(*lab, "played", 1, "found") == "bounced");
  CHECK(cell_text(*lab, "played", 5, "found") != "bounced");
  CHECK(out(*lab, "bounced_rounds") == 1);
  CHECK(out(*lab, "batch") == 512);
  CHECK(out(*lab, "memory_bytes") <= out(*lab, "room_bytes"));
  set(*lab, "rounds", "tp_2");
  compute(*lab);
  CHECK(cell_text(*lab, "played", 1, "found") == "bounced");
  set(*lab, "rounds", "chunked");
  compute(*lab);
  CHECK(cell_text(*lab, "played", 1, "found") == "bounced");
}

// 62.5 GB next to 17.5 GB of weights, 4,096 tokens of 40,960 B a GPU: the study's 372 requests, where it also says 4.
TEST_CASE("serve-70b: the study's 372 requests fit where all memory may be filled") {
  const LabPtr lab =
      open_lab("capstone/serve-70b",
               R"({"rounds": "flash", "memory_percent": 100, "reserved": 4096, "prompt": 2048, "answer": 256})");
  CHECK(computed(*lab, "most_batch") == Catch::Approx(372).epsilon(0.01));
}

TEST_CASE("serve-70b: par is no longer than any game that wins, and only where it is asked for") {
  const LabPtr lab = open_lab("capstone/serve-70b", R"({"rounds": ""})");
  compute(*lab);
  CHECK(std::isnan(out(*lab, "par")));
  set(*lab, "show_par", "true");
  compute(*lab);
  const double par = out(*lab, "par");
  CHECK(par == 4);
  const std::string& cards = text_of(*lab, "par_cards");
  CHECK(std::count(cards.begin(), cards.end(), ',') + 1 == static_cast<std::ptrdiff_t>(par));
  set(*lab, "gpus", 4);
  CHECK(computed(*lab, "par") >= 1);
  set(*lab, "rate_limit", 1e6);
  compute(*lab);
  CHECK(std::isnan(out(*lab, "par")));
}

TEST_CASE("serve-70b: the longest gap asks for pieces of prompts") {
  const LabPtr lab = open_lab(
      "capstone/serve-70b", R"({"rounds": "graph, compile, flash, continuous, batch_32, chunked", "gap": "longest"})");
  compute(*lab);
  CHECK(cell(*lab, "played", 5, "itl_s") > 1.5 * cell(*lab, "played", 6, "itl_s"));
  CHECK(cell(*lab, "played", 6, "ttft_s") > cell(*lab, "played", 5, "ttft_s"));
}

TEST_CASE("serve-70b: what was said is kept and compared, and a ladder shows a record for each guess") {
  const LabPtr lab = open_lab("capstone/serve-70b", R"({"rounds": "graph", "said": [0.024]})");
  compute(*lab);
  const double happened = out(*lab, "itl_s");
  CHECK(out(*lab, "prediction_off") == Catch::Approx(std::max(0.024 / happened, happened / 0.024)));
  CHECK(out(*lab, "ladder_shown") == 1);
  set(*lab, "ladder", "gpt_fast", "guesses", "[214,157.4]");
  compute(*lab);
  CHECK(out(*lab, "ladder_shown") == 3);
  CHECK(out(*lab, "ladder_off") == Catch::Approx(std::sqrt(2.0)));
}

TEST_CASE(
    "serve-70b: a card is picked, its line dragged and let go, and the round is on the board; it can be taken back") {
  const LabPtr lab = open_lab("capstone/serve-70b", R"({"rounds": "int4"})");
  compute(*lab);
  Canvas canvas(*lab, {1200, 900});
  support::UiDriver& ui = canvas.ui;
  ui.frames(2);
  ui.click("graph");
  ui.drag_by("your line", {0, 40});
  CHECK(input(*lab, "rounds").text() == "int4, graph");
  REQUIRE(input(*lab, "said").reals().size() == 2);
  CHECK(input(*lab, "said").reals()[0] == 0);
  CHECK((input(*lab, "said").reals()[1] > 0.001 && input(*lab, "said").reals()[1] < 0.0592));
  compute(*lab);
  CHECK(out(*lab, "rounds_played") == 2);
  CHECK(out(*lab, "prediction_off") > 1);
  ui.frames(2);
  // A second press on a card plays it without a word.
  ui.click("compile");
  ui.click("compile");
  CHECK(input(*lab, "rounds").text() == "int4, graph, compile");
  compute(*lab);
  ui.frames(2);
  ui.click("Take back");
  CHECK(input(*lab, "rounds").text() == "int4, graph");
  ui.click("round 1");
  CHECK(lab->requests()->open_link.starts_with("inference/optimize?"));
}
