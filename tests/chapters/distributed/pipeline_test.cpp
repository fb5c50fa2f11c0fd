#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "chapters/distributed/pipeline/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_pipeline = chapters::distributed::pipeline;
using models::parallel::PipelineSchedule;

namespace {

lab_pipeline::Picture pipeline_picture(const lab_pipeline::Inputs& in) {
  return picture_of(in, lab_pipeline::compute, lab_pipeline::arrange);
}

}  // namespace

TEST_CASE("pipeline: the keys that other programs rely on hold the recorded figures") {
  const LabPtr lab =
      open_lab("distributed/pipeline",
               R"({"schedule": "interleaved", "stages": 4, "micro_batches": 8, "chunks": 2, "t_forward": 1,
                                  "t_backward_input": 1, "t_backward_weight": 1, "t_link": 0})");
  compute(*lab);
  CHECK(near(out(*lab, "makespan"), 57));
  CHECK(near(out(*lab, "idle_over_makespan"), 3.0 / 19));
  CHECK(near(out(*lab, "idle_over_ideal"), 3.0 / 16));
  CHECK(lab->outputs().find("peak_activations")->reals() == std::vector<double>{11, 9, 7, 5});
  REQUIRE(rows(*lab, "orders") == 4);
  chapters::Fields row;
  lab->outputs().find("orders")->table_row(3, row);
  CHECK(row.find("order")->text().starts_with("3F0 3F1 3F2 3F3 7F0 7B0 7F1 7B1"));
}

TEST_CASE("pipeline: what one schedule wins and costs against another") {
  const LabPtr lab = open_lab("distributed/pipeline");
  CHECK(near(computed(*lab, "makespan"), 0.027, 1e-9));
  CHECK(near(out(*lab, "beside_makespan"), 0.033, 1e-9));
  CHECK(near(out(*lab, "saved"), 0.006, 1e-9));
  CHECK(near(out(*lab, "closed_form_bubble"), out(*lab, "wall_bubble"), 1e-9));
  // A schedule with chunks has the same work as one without: its times are those of a chunk.
  CHECK(near(computed(set(*lab, "schedule", "zb_v"), "beside_makespan"), 0.066, 1e-9));
  CHECK(std::isnan(out(*lab, "closed_form_bubble")));
  CHECK(out(*lab, "idle_without_barrier") == 0);
  CHECK(out(*lab, "span_bubble") == 0);
  compute(set(*lab, "schedule", "zb_h2"));
  CHECK(out(*lab, "peak") == 7);
  CHECK(near(out(*lab, "makespan"), 0.027, 1e-9));
  CHECK(near(out(*lab, "period"), 0.024, 1e-9));
  compute(set(*lab, "steps", 3));
  CHECK(near(out(*lab, "makespan"), 0.075, 1e-9));
  compute(set(*lab, "schedule", "pipedream"));
  CHECK(out(*lab, "weights") == 4);
  CHECK(out(*lab, "staleness") == 3);
  CHECK(cell(*lab, "ranks", 3, "versions") == 1);
  compute(set(*lab, "schedule", "pipedream_2bw"));
  CHECK(out(*lab, "weights") == 2);
  CHECK(out(*lab, "staleness") == 1);
  CHECK(out(*lab, "idle_without_barrier") == 0);
}

TEST_CASE("pipeline: V-Half and V-Min keep less than 1F1B and idle less") {
  const LabPtr lab = open_lab("distributed/pipeline", R"({"schedule": "v_half", "t_forward": 5e-4,
                                  "t_backward_input": 5e-4, "t_backward_weight": 5e-4})");
  CHECK(near(computed(*lab, "makespan"), 0.0265, 1e-9));
  CHECK(near(out(*lab, "beside_makespan"), 0.033, 1e-9));
  CHECK(out(*lab, "peak") == 3);
  CHECK(lab->answer() ==
        "V-Half takes `26.5 ms` instead of the `33 ms` of 1F1B: ranks idle `9.43 %` of it instead of `27.3 %`.\n"
        "Saved: the fullest rank keeps `3` micro-batches in memory instead of `4`.");
  CHECK(near(computed(set(*lab, "schedule", "v_min"), "makespan"), 0.0295, 1e-9));
  CHECK(out(*lab, "peak") == 2);
  // Chunks count where they are looped, and only there.
  compute(set(set(*lab, "schedule", "breadth_first"), "chunks", 4));
  CHECK(out(*lab, "peak") == 8);
  CHECK(near(out(*lab, "closed_form_bubble"), out(*lab, "wall_bubble"), 1e-9));
  CHECK(computed(set(*lab, "schedule", "interleaved_zb"), "peak") == 4);
  CHECK(near(out(*lab, "closed_form_bubble"), out(*lab, "wall_bubble"), 1e-9));
}

TEST_CASE("pipeline: memory after the input gradient shrinks to the share that W needs") {
  const LabPtr lab = open_lab("distributed/pipeline", R"({"kept_share": 0.5, "schedule": "zb_h2"})");
  CHECK(computed(*lab, "peak_memory") == 7);
  CHECK(out(*lab, "peak") == 7);
  compute(set(set(*lab, "micro_batches", 6), "stages", 4));
  CHECK(out(*lab, "peak_memory") == 6);
  lab_pipeline::Inputs in;
  in.schedule = PipelineSchedule::zb_h1;
  in.kept_share = 0.5;
  const lab_pipeline::Picture p = pipeline_picture(in);
  // (P - r) + r / 2 on rank r.
  for (std::size_t r = 0; r < 4; ++r) {
    double most = 0;
    for (const auto& k : p.schedules[1].lanes[r].kept) most = std::max(most, k.value);
    CHECK(near(most, 4.0 - static_cast<double>(r) / 2));
  }
}

TEST_CASE("pipeline: the picture's spans fill each lane up to the makespan, and both axes reach equally far") {
  use_bundled_catalog();
  const lab_pipeline::Picture p = pipeline_picture({});
  for (std::size_t which = 0; which < 2; ++which) {
    const std::int64_t end_ns = which == 0 ? 33'000'000 : 27'000'000;
    for (const auto& lane : p.schedules[which].lanes) {
      std::int64_t at = 0;
      for (const auto& span : lane.spans) {
        CHECK(span.start_ns == at);
        at = span.end_ns();
      }
      CHECK((at == end_ns || at == 33'000'000));
    }
    REQUIRE_FALSE(p.schedules[which].thread.empty());
    const auto& last = p.schedules[which].thread.back();
    CHECK(p.schedules[which].lanes[last.lane].spans[last.span].end_ns() == end_ns);
  }
  std::int64_t reach = 0;
  for (const auto& lane : p.schedules[1].lanes) reach = std::max(reach, lane.spans.back().end_ns());
  CHECK(reach == 33'000'000);
  CHECK(p.schedules[0].lanes[3].idle_words == "9 ms idle");
  CHECK(p.schedules[0].lanes[3].kept_words == "1 kept");
  CHECK(p.sooner == "6 ms sooner");
  // Blocks of 1F1B say B, those of ZB-H1 say I and W: the legend has all of them, and the critical path.
  std::vector<std::string> words;
  for (const lab_pipeline::LegendWord& word : p.legend) words.push_back(word.label);
  CHECK(words == std::vector<std::string>{"F forward", "B, I input gradient", "W weight gradient", "critical path",
                                          "micro-batches kept", "the other schedule's peak", "idle"});
  CHECK(p.answer ==
        "ZB-H1 takes `27 ms` instead of the `33 ms` of 1F1B: ranks idle `11.1 %` of it instead of `27.3 %`.\n"
        "Price: the emptiest rank keeps `4` micro-batches in memory instead of `1`.");
  // The corners of what rank 0 of 1F1B keeps: up to four, steady, and down again.
  std::vector<double> kept;
  for (const auto& k : p.schedules[0].lanes[0].kept) kept.push_back(k.value);
  CHECK(kept == std::vector<double>{1, 2, 3, 4, 3, 2, 1, 0});
}

TEST_CASE("pipeline: what cannot be is said in a sentence") {
  const auto reason = [](const char* inputs) {
    const LabPtr lab = open_lab("distributed/pipeline", inputs);
    return reason_of(*lab);
  };
  CHECK(reason(R"({"schedule": "dualpipe", "stages": 5, "micro_batches": 20})").find("odd number") !=
        std::string::npos);
  CHECK(reason(R"({"beside": "interleaved", "micro_batches": 10})").find("no multiple") != std::string::npos);
  CHECK(reason(R"({"stages": 1024, "micro_batches": 4096})").find("up to 4,096") != std::string::npos);
}

TEST_CASE("pipeline: both schedules lie on one axis, and a cursor or a zoom of one is that of the other") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/pipeline");
  compute(*lab);
  Canvas canvas(*lab, {900, 640});
  canvas.ui.frames(3);
  const auto places = [&](std::string_view text) {
    std::vector<ImVec2> out;
    for (const widgets::Stroke& s : canvas.ui.record().strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text == text) out.push_back(s.points[0]);
    return out;
  };
  // Rank 0 to 3 of 1F1B, then of ZB-H1: the first forwards come down the same stairs.
  const auto first = places("F0");
  REQUIRE(first.size() == 8);
  for (std::size_t r = 0; r < 4; ++r) CHECK(std::abs(first[r].x - first[r + 4].x) <= 0.5f);
  for (std::size_t i = 1; i < 8; ++i) CHECK(first[i].y > first[i - 1].y);
  CHECK(std::abs((first[3].x - first[0].x) - 3 * (first[1].x - first[0].x)) <= 1.5f);
  REQUIRE(places("6 ms sooner").size() == 1);
  CHECK(places("6 ms sooner")[0].x > places("W7").front().x);
  CHECK(places("rank 0").size() == 2);

  canvas.ui.click_at(canvas.ui.point_in("above", {0.6f, 0.03f}));
  canvas.ui.frames(2);
  const double time_s = lab->view().find("time")->real();
  CHECK(time_s > 0.010);
  CHECK(time_s < 0.025);
  canvas.ui.wheel_at(canvas.ui.point_in("above", {0.6f, 0.5f}), 2);
  canvas.ui.frames(3);
  const auto zoomed = places("F4");
  REQUIRE_FALSE(zoomed.empty());
  CHECK(places("F0").size() < 8);
  CHECK(places("14").size() == 1);  // one axis for both
}

TEST_CASE("pipeline: in little room ranks are folded into a lane with their names, and strips stay") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/pipeline", R"({"stages": 8, "micro_batches": 16})");
  compute(*lab);
  Canvas canvas(*lab, {900, 360});
  canvas.ui.frames(3);
  const auto count = [&](std::string_view text) {
    const auto record = canvas.ui.record();
    std::size_t found = 0;
    for (const widgets::Stroke& s : record.strokes)
      found += s.kind == widgets::Stroke::Kind::text && s.text.starts_with(text) ? 1 : 0;
    return found;
  };
  CHECK(count("\xE2\x80\xA6") == 2);  // in both schedules; the name may be shortened
  CHECK(count("rank 0") == 2);
  CHECK(count("rank 7") == 2);
  CHECK(count("8 kept") >= 2);
}

TEST_CASE("pipeline: a moved block changes time or memory, or what breaks is said") {
  const LabPtr lab = open_lab("distributed/pipeline", R"({"schedule": "1f1b", "beside": "gpipe", "micro_batches": 4})");
  const double before_s = computed(*lab, "makespan");
  // The last rank may take its second forward before its first backward, which only keeps more and delays the others.
  compute(set(*lab, nlohmann::ordered_json::parse(R"({"moves": [{"rank": 3, "block": "F1", "before": "B0"}]})")));
  CHECK(out(*lab, "makespan") > before_s);
  CHECK(cell(*lab, "ranks", 3, "keeps") == 2);
  CHECK(lab->outputs().find("stuck")->text().empty());
  CHECK(lab->answer().starts_with("Your order takes `"));
  CHECK(std::isnan(out(*lab, "closed_form_bubble")));
  compute(set(*lab, "room", 3));
  CHECK(out(*lab, "crowded_rank") == 0);
  CHECK(
      lab->answer().starts_with("Rank `0` runs out of memory: it would keep `4` micro-batches and has room for `3`."));
  // A backward in front of its own forward can never run, and a step that never ends has no length.
  compute(set(*lab, nlohmann::ordered_json::parse(R"({"moves": [{"rank": 3, "block": "B0", "before": "F0"}]})")));
  CHECK(lab->outputs().find("stuck")->text() ==
        "Rank 3 would wait for ever: its B0 needs its own F0, which does not come before it.");
  CHECK(std::isnan(out(*lab, "makespan")));
  CHECK(std::isnan(out(*lab, "saved")));
  // Moves of blocks that another schedule does not have are left out, and that is said.
  compute(set(*lab, "schedule", "zb_h1"));
  CHECK(out(*lab, "moves_left_out") == 1);
  CHECK(lab->outputs().find("stuck")->text().empty());
  CHECK(lab->answer().ends_with("`1` of your moves names a block that this schedule does not have."));
}

TEST_CASE("pipeline: where a dragged block goes") {
  lab_pipeline::Inputs in;
  in.schedule = PipelineSchedule::one_f_one_b;
  in.micro_batches = 4;
  const auto moved = [&](std::size_t rank, std::size_t from, std::size_t to) {
    lab_pipeline::move_block(in, lab_pipeline::compute(in).run->now, rank, from, to);
    return in.moves.size();
  };
  CHECK(moved(3, 2, 2) == 0);  // where it is
  CHECK(moved(3, 2, 3) == 0);
  CHECK(moved(3, 2, 1) == 1);  // F0 B0 F1 B1: F1 in front of B0
  CHECK(in.moves[0] == lab_pipeline::MoveRow{3, "F1", "B0"});
  CHECK(moved(3, 1, 8) == 1);  // the same block again: one move
  CHECK(in.moves[0].before.empty());
  CHECK(moved(3, 7, 2) == 0);  // back where the schedule had it
  in.steps = 2;                // F5 of the second step is F1 of every step
  CHECK(moved(3, 10, 9) == 1);
  CHECK(in.moves[0] == lab_pipeline::MoveRow{3, "F1", "B0"});
}

TEST_CASE("pipeline: a block is dragged along its lane with the pointer, and the moves are taken back") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/pipeline", R"({"schedule": "1f1b", "beside": "gpipe", "micro_batches": 4})");
  compute(*lab);
  Canvas canvas(*lab, {900, 640});
  canvas.ui.frames(3);
  const auto place = [&](std::string_view text) {
    std::vector<ImVec2> out;
    for (const widgets::Stroke& s : canvas.ui.record().strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text == text) out.push_back(s.points[0]);
    REQUIRE_FALSE(out.empty());
    return out.back();  // of the lower schedule's last rank
  };
  const ImVec2 from = place("F1"), to = place("B0");
  const double before_s = out(*lab, "makespan");
  canvas.ui.drag_points({from.x + 3, from.y + 5}, {to.x - 2, from.y + 5});
  canvas.ui.frames(3);
  REQUIRE(lab->inputs().find("moves")->table_size() == 1);
  compute(*lab);
  CHECK(out(*lab, "makespan") > before_s);
  canvas.ui.frames(3);
  canvas.ui.click("take all moves back");
  canvas.ui.frames(2);
  CHECK(lab->inputs().find("moves")->table_size() == 0);
}
