#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/distributed/collectives/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_collectives = chapters::distributed::collectives;

namespace {

constexpr const char* collectives_id = "distributed/collectives";

}  // namespace

TEST_CASE("collectives: the keys that other programs rely on hold the recorded figures") {
  const LabPtr lab = open_lab(collectives_id, R"({"primitive": "all_reduce", "algorithm": "ring", "ranks": 8,
                                                  "bytes": 10000, "latency_s": 5e-6, "bandwidth_bytes_per_s": 5e10})");
  CHECK(near(computed(*lab, "time_s"), 70.35e-6, 1e-9));
  CHECK(out(*lab, "steps") == 14);
  CHECK(near(out(*lab, "bytes_sent_per_rank"), 17500));
  CHECK(near(out(*lab, "algbw_bytes_per_s"), 10000 / 70.35e-6, 1e-9));
  CHECK(near(out(*lab, "busbw_bytes_per_s"), 1.75 * 10000 / 70.35e-6, 1e-9));
  CHECK(text_of(*lab, "checked") == "64 of 64");
  REQUIRE(rows(*lab, "transfers") == 112);
  // The last message of the first step: rank 7 sends chunk 7 to rank 0.
  CHECK(cell(*lab, "transfers", 7, "step") == 0);
  CHECK(cell(*lab, "transfers", 7, "src") == 7);
  CHECK(cell(*lab, "transfers", 7, "dst") == 0);
  CHECK(cell(*lab, "transfers", 7, "chunk") == 7);
  CHECK(cell_text(*lab, "transfers", 7, "action") == "reduce");
  CHECK(cell_text(*lab, "transfers", 56, "action") == "copy");
}

TEST_CASE("collectives: who wins depends on the size, and where it turns is said") {
  const LabPtr lab = open_lab(collectives_id);
  compute(*lab);
  CHECK(near(out(*lab, "crossing_bytes"), 470588.2, 1e-6));
  CHECK(choice_of(*lab, "fastest") == "halving_doubling");
  CHECK(near(out(*lab, "times_faster"), 7.71 / 2.31, 1e-9));
  CHECK(lab->answer() ==
        "At `64 MB` halving and doubling is fastest, `2.27 ms`; the ring takes `2.31 ms`, the tree `7.71 ms`.\n"
        "Below `471 kB` the tree beats the ring: `6` steps instead of `14`, and small messages cost mostly latency.");
  compute(set(*lab, "beside", "halving_doubling"));
  CHECK(near(out(*lab, "beside_serial_times"), 1));
  CHECK(lab->answer() ==
        "At `64 MB` halving and doubling is fastest: `2.27 ms` instead of the `2.31 ms` of the ring.\n"
        "Halving and doubling wins at every size: `6` steps instead of `14`, and as many bytes one after another.");
  set(*lab, "beside", "tree");
  compute(set(*lab, "bytes", 32768));
  CHECK(choice_of(*lab, "fastest") == "recursive_doubling");
  compute(set(*lab, "beside", "double_binary_tree"));
  CHECK(near(out(*lab, "crossing_bytes"), 8e6, 1e-6));
  compute(set(*lab, "ranks", 64));
  CHECK(near(out(*lab, "crossing_bytes"), 912e6, 1e-6));
  // The fastest of all is named before the two that are shown.
  CHECK(lab->answer().starts_with("At `32.8 kB` recursive doubling is fastest, `33.9 µs`; the ring takes `631 µs`, "));
  // No pair that lies on each other changes places, and nothing is said of a twin.
  compute(set(*lab, "beside", "ring"));
  CHECK(std::isnan(output(*lab, "crossing_bytes").real()));
  CHECK(std::isnan(output(*lab, "beside_s").real()));
}

TEST_CASE("collectives: curves and sentences call an algorithm alike, a ring with one root a chain") {
  use_bundled_catalog();
  using Algorithm = models::parallel::CollectiveAlgorithm;
  lab_collectives::Inputs in;
  CHECK(lab_collectives::algorithm_name(in, Algorithm::ring) == "Ring");
  CHECK(lab_collectives::algorithm_name(in, Algorithm::double_binary_tree) == "Double binary tree");
  in.primitive = models::parallel::Primitive::broadcast;
  CHECK(lab_collectives::algorithm_name(in, Algorithm::ring) == "Chain");
  CHECK(lab_collectives::algorithm_said(in, Algorithm::ring) == "the chain");
}

TEST_CASE("collectives: never a nanosecond all-reduce") {
  const LabPtr lab = open_lab(collectives_id, R"({"bytes": 1, "ranks": 2, "bandwidth_bytes_per_s": 1e13})");
  set(*lab, "latency_s", input(*lab, "latency_s").spec.range.lo);
  CHECK(computed(*lab, "time_s") >= 1e-6);
}

TEST_CASE("collectives: what there is not is refused with what there is") {
  const auto refused = [](const char* inputs) {
    const LabPtr lab = open_lab(collectives_id, inputs);
    return reason_of(*lab);
  };
  CHECK(refused(R"({"primitive": "all_to_all"})").find("choose pairwise or bruck") != std::string::npos);
  CHECK(
      refused(R"({"primitive": "reduce_scatter", "algorithm": "halving_doubling", "ranks": 7})").find("not 7 ranks") !=
      std::string::npos);
  CHECK(refused(R"({"algorithm": "hierarchical", "ranks": 6})").find("nodes of 4") != std::string::npos);
  // Another rank more than can be executed: time and bytes are still there.
  const LabPtr many = open_lab(collectives_id, R"({"ranks": 1000})");
  CHECK(near(computed(*many, "bytes_sent_per_rank"), 2 * 0.999 * 64e6));
  CHECK(text_of(*many, "checked").empty());
}

TEST_CASE("collectives: the board's states say who holds what, and its words what a step does") {
  const lab_collectives::Inputs in;
  const lab_collectives::Picture p = picture_of(in, lab_collectives::compute, lab_collectives::arrange);
  const widgets::ChunkBoardData board = lab_collectives::board_of(p.own);
  REQUIRE(board.steps == 14);
  CHECK(board.at(0, 3, 5) == 1u << 3);
  // Before the fifth step rank 4 holds chunk 0 of ranks 0 to 4, as it came round from rank 0.
  CHECK(board.at(4, 4, 0) == 0b11111u);
  CHECK(board.at(7, 0, 1) == 0xffu);
  CHECK(board.at(7, 0, 2) != 0xffu);
  for (std::int64_t r = 0; r < 8; ++r)
    for (std::int64_t c = 0; c < 8; ++c) CHECK(board.at(14, r, c) == 0xffu);
  CHECK(board.turn == 7);
  CHECK(board.turn_says == "7: every rank owns one whole sum");
  CHECK(board.step_says[4] == "8 messages of 8 MB, each with the sum of 5 ranks, added on arrival; every rank sends");
  CHECK(board.verdict == "executed on numbers: 64 of 64 right");
  widgets::Line value, info;
  board.cell_says(board.context, 2, 2, 0, value, info);
  CHECK(info.view() == "sum of the numbers of ranks 0, 1 and 2");
  double sum = 0;
  for (std::int64_t r = 0; r < 3; ++r) sum += models::parallel::starting_number(r, 0);
  CHECK(value.view() == std::to_string(std::llround(sum)));
}

TEST_CASE("collectives: a message of a step is as large as what the switch's multicast costs, and no part of a byte") {
  use_bundled_catalog();
  lab_collectives::Inputs in;
  in.algorithm = lab_collectives::CollectiveAlgorithm::in_network;
  const auto whole = lab_collectives::execute_schedule(in, in.algorithm, true);
  const lab_collectives::BoardPicture board = lab_collectives::arrange_board(in, whole);
  REQUIRE(board.step_says.size() == 4);
  // The switch sends every rank the whole buffer, its own share included: a multicast reaches its sender.
  CHECK(board.step_says[3] == "8 messages of 64 MB, copied; the switch sends");
  in.algorithm = lab_collectives::CollectiveAlgorithm::ring;
  in.bytes = 1;
  const auto tiny = lab_collectives::execute_schedule(in, in.algorithm, true);
  CHECK(lab_collectives::arrange_board(in, tiny).step_says[0] ==
        "8 messages of 1 B at most, each with one rank's numbers, added on arrival; every rank sends");
}

TEST_CASE("collectives: many ranks without a picture are counted as everywhere else") {
  lab_collectives::Inputs in;
  in.ranks = 16384;
  CHECK(picture_of(in, lab_collectives::compute, lab_collectives::arrange).no_chunks ==
        "Chunks are drawn for up to 32 ranks. Of 16,384 the time and the bytes are computed.");
}

TEST_CASE("collectives: on one clock the tree has begun its first step when the ring is in its fifth") {
  const lab_collectives::Inputs in;
  const lab_collectives::Picture p = picture_of(in, lab_collectives::compute, lab_collectives::arrange);
  CHECK(near(p.own.state_s.back(), 2.31e-3, 1e-9));
  CHECK(near(p.beside.state_s.back(), 7.71e-3, 1e-9));
  const double clock_s = lab_collectives::time_of_step(p.own, 4.5);
  CHECK(near(clock_s, 4.5 / 14 * 2.31e-3, 1e-9));
  CHECK(near(lab_collectives::step_at(p.beside, clock_s), clock_s / 1.285e-3, 1e-9));
  CHECK(near(lab_collectives::step_at(p.own, clock_s), 4.5, 1e-9));
  CHECK(lab_collectives::step_at(p.own, 1) == 14);
  CHECK(lab_collectives::step_at(p.own, -1) == 0);
  CHECK(p.own.subtitle == "14 steps, 2.31 ms one after the other");
}

TEST_CASE("collectives: the film is the slider, and the arrow keys go by half steps") {
  use_bundled_catalog();
  const LabPtr lab = open_lab(collectives_id);
  compute(*lab);
  Canvas canvas(*lab, {900, 620});
  canvas.ui.frames(3);
  CHECK(canvas.ui.text_present("step 5 of 14, in flight"));
  canvas.ui.click_at(canvas.ui.point_in("Step", {0.999f, 0.3f}));
  canvas.ui.frames(2);
  CHECK(view(*lab, "time").real() == 14);
  CHECK(canvas.ui.text_present("after step 14 of 14"));
  canvas.ui.key(ImGuiKey_LeftArrow);
  canvas.ui.frames(2);
  CHECK(view(*lab, "time").real() == 13.5);
  CHECK(canvas.ui.text_present("step 14 of 14, in flight"));
  canvas.ui.key(ImGuiKey_LeftArrow);
  canvas.ui.frames(2);
  CHECK(view(*lab, "time").real() == 13);
  // A cell says what it holds.
  canvas.ui.hover("Board");
  CHECK(canvas.ui.text_present("sum of the numbers of ranks 0, 1, 2, 3, 4, 5, 6 and 7"));
  // Playing goes on to the end and stops there.
  canvas.ui.click("Play");
  canvas.ui.wait(3);
  CHECK(view(*lab, "time").real() == 14);
}
