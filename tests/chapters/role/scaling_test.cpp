#include <catch2/catch_test_macros.hpp>
#include <string>

#include "chapters/role/scaling/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

chapters::role::scaling::Picture picture_of(const chapters::role::scaling::Inputs& in) {
  return support::picture_of(in, chapters::role::scaling::compute, chapters::role::scaling::arrange);
}

}  // namespace

TEST_CASE("scaling lab: the answer before the fastest number of GPUs, there, and past it") {
  const auto says = [](const char* inputs) { return answer_of("role/scaling", inputs); };
  CHECK(
      says("{}") ==
      "`1,024` GPUs are `564\xC3\x97` as fast as one, `55.1 %` of ideal.\nDoubling the GPUs saves `19.2 %` of the time "
      "for `61.7 %` more money; no doubling beyond `2,048` GPUs wins time.");
  CHECK(says(R"({"gpus": 4096})")
            .ends_with("\nDoubling the GPUs saves no time and costs `172 %` more; `2,048` GPUs are faster, with "
                       "`1.42 s` per step."));
  CHECK(says(R"({"gpus": 1})").starts_with("One GPU takes `16.6 min` per step; everything is compared with that.\n"));
  CHECK(says(R"({"batch": 1})").ends_with("; `1` GPU is faster, with `485 ms` per step."));
  CHECK(says(R"({"gpus": 128, "replica_gpus": 128})")
            .starts_with("`128` GPUs hold one copy of the model and take `7.86 s` per step: the ideal.\n"));
  // One GPU could not hold the model: what is compared with is as many of them without losses.
  const LabPtr llama = open_preset("role/scaling", "405B, MLPerf");
  compute(*llama);
  CHECK(llama->answer().starts_with("`8,192` GPUs do what `7,060` would do without losses: `86.2 %` of ideal.\n"));
  CHECK(says(R"({"gpus": 100, "replica_gpus": 128})") ==
        "One copy of the model takes 128 GPUs: choose a whole multiple of that.");
}

TEST_CASE("scaling lab: parts of a step add up, and the run's cost is that of its GPU-hours") {
  const LabPtr lab = open_lab("role/scaling", R"({"fixed_s": 0.02, "overlap": 25, "gpus": 1000})");
  compute(*lab);
  CHECK(near(out(*lab, "step_s"), out(*lab, "compute_s") + out(*lab, "slowest_s") + out(*lab, "exposed_s") + 0.02));
  CHECK(near(out(*lab, "hidden_s") + out(*lab, "exposed_s"), out(*lab, "all_reduce_s")));
  // 2,048 sequences on 1,000 GPUs: 48 have three, and all wait for these.
  CHECK(near(out(*lab, "compute_s"), 3 * 0.485));
  CHECK(near(out(*lab, "uneven_s"), (3 - 2.048) * 0.485));
  CHECK(near(out(*lab, "cost"), 100000 * out(*lab, "step_s") / 3600 * 1000 * 2));
  CHECK(near(out(*lab, "ring_bytes"), 2 * 999.0 / 1000 * 14.64e9));
  CHECK(std::abs(out(*lab, "slowest") - out(*lab, "slowest_simulated")) < 4 * out(*lab, "slowest_error"));
}

TEST_CASE("scaling lab: the published tables, by the model and by Amdahl's law") {
  const LabPtr shared = open_lab("role/scaling");
  compute(*shared);
  CHECK(rows(*shared, "compared") == 3);
  CHECK(out(*shared, "model_rms") < 6);
  CHECK(cell(*shared, "compared", 2, "gpus") == 1024);
  CHECK(std::abs(cell(*shared, "compared", 2, "model_error")) < 1);
  const LabPtr own = open_preset("role/scaling", "7B, a batch each");
  compute(*own);
  CHECK(out(*own, "model_rms") < 3);
  CHECK(std::isnan(output(*own, "serial_share").number()));  // nothing is shared out
  CHECK(near(out(*own, "measured_efficiency"), 100 * 3.9932 / 4.201));
  const LabPtr llama = open_preset("role/scaling", "405B, MLPerf");
  compute(*llama);
  CHECK(out(*llama, "model_rms") < 2);
  const LabPtr gpt = open_preset("role/scaling", "177B, strong");
  compute(*gpt);
  CHECK(near(out(*gpt, "measured_efficiency"), 100 * 42.0 / 47));
  CHECK(near(out(*gpt, "serial_share"), 100 * 2.644e-5, 1e-3));
  const LabPtr decode = open_preset("role/scaling", "Decode, tensor parallel");
  compute(*decode);
  CHECK(out(*decode, "model_rms") < 4);
  CHECK(near(out(*decode, "serial_share"), 22, 0.03));
}

TEST_CASE("scaling lab: a fit through two points is off by nothing, and not by what rounding leaves") {
  const LabPtr lab = open_preset("role/scaling", "177B, strong");
  compute(*lab);
  REQUIRE(rows(*lab, "compared") == 2);
  for (std::size_t row = 0; row < 2; ++row) CHECK(cell(*lab, "compared", row, "fit_error") == 0);
}

TEST_CASE("scaling lab: the real curve lies under the diagonal, and its bands between the two") {
  using namespace chapters::role::scaling;
  Inputs in;
  in.fixed_s = 0.05;
  const Picture picture = picture_of(in);
  REQUIRE(picture.gpus.size() > 14);
  CHECK(picture.gpus.front() == 1);
  CHECK(picture.gpus.back() == 16384);
  for (std::size_t i = 0; i < picture.gpus.size(); ++i) {
    CHECK(near(picture.speedup[0][i], picture.ideal.y[i]));
    for (std::size_t k = 1; k < picture.speedup.size(); ++k)
      CHECK(picture.speedup[k][i] <= picture.speedup[k - 1][i] * (1 + 1e-12));
    for (std::size_t d = 1; d <= 2048; d *= 2)  // what divides the batch is on the line itself
      if (picture.gpus[i] == static_cast<double>(d))
        CHECK(
            near(picture.speedup.back()[i], models::scaled_step(setup_of(in), static_cast<std::int64_t>(d))->speedup));
  }
  CHECK(picture.ends);
  CHECK(picture.near_gpus == 4096);
  // A measured point stands where its step says: the time of one GPU over the measured one.
  REQUIRE(picture.points.x.size() == 3);
  CHECK(near(picture.points.y[2], picture.one_gpu_s / 1.746));
  in.series = Series::gpt_177b;  // another run: its points are not drawn on this one's curve
  CHECK(picture_of(in).points.x.empty());
}

TEST_CASE("scaling lab: the legend names the losses that are drawn, and no others") {
  const LabPtr lab = open_lab("role/scaling");
  compute(*lab);
  Canvas canvas(*lab, {1500, 1000});
  canvas.ui.frames(3);
  CHECK(canvas.ui.text_present("communication"));
  CHECK_FALSE(canvas.ui.text_present("not shared"));
  CHECK_FALSE(canvas.ui.text_present("unevenly shared"));
  set(*lab, "fixed_s", 1);
  canvas.ui.frames(3);
  CHECK(canvas.ui.text_present("not shared"));
}

TEST_CASE("scaling lab: GPUs and measured points are dragged on the curve") {
  const LabPtr lab = open_lab("role/scaling");
  lab->compute();
  Canvas canvas(*lab, {1500, 1000});
  canvas.ui.frames(4);
  // The slab is of the step under the pointer, and of one's own elsewhere.
  CHECK(canvas.ui.text_present("one step on 1,024"));
  canvas.ui.move_to(canvas.ui.point_in("slab", {0.5f, 0.5f}));
  canvas.ui.frames(2);
  CHECK(canvas.ui.text_present("1.76 s, yours"));
  canvas.ui.move_to(canvas.ui.point_in("drag GPUs", {0.5f, 0.3f}));
  canvas.ui.frames(2);
  CHECK(canvas.ui.text_present("1.76 s, at the pointer"));
  canvas.ui.drag_by("drag GPUs", {-120, 0}, {0.5f, 0.9f});
  CHECK(input(*lab, "gpus").integer() < 700);
  CHECK(input(*lab, "gpus").integer() > 64);
  CHECK(input(*lab, "series").choice_id() == "internlm_shared");
  canvas.ui.drag_by("point 2", {0, 40});
  canvas.ui.frames(3);
  CHECK(input(*lab, "series").choice_id() == "points");
  canvas.ui.click("Log axes##axes");
  CHECK_FALSE(view(*lab, "linear").toggle());
  compute(*lab);
  REQUIRE(rows(*lab, "compared") == 3);
  CHECK(cell(*lab, "compared", 1, "measured_s") > 2.7);  // further down is slower
  CHECK(near(cell(*lab, "compared", 0, "measured_s"), 4.1796));
}

TEST_CASE("scaling lab: the curve and the fit reach the end of the axis, whatever shares the batch evenly there") {
  using namespace chapters::role::scaling;
  Inputs in;
  in.gpus = 4608;
  in.batch = 1152;  // 341 replicas of 48 GPUs do not share it evenly
  in.replica_gpus = 48;
  in.sequence_gpu_s = 9.73;
  in.gradient_bytes = 708e9;
  in.series = Series::gpt_177b;
  const Picture picture = picture_of(in);
  CHECK(picture.gpus.back() == 341 * 48);
  REQUIRE_FALSE(picture.fit.x.empty());
  CHECK(picture.fit.x.back() == 16384);
}

TEST_CASE("scaling lab: the last doubling that wins time need not be the fastest of all counts") {
  const LabPtr lab = open_preset("role/scaling", "Small model, flat ring");
  compute(*lab);
  CHECK(out(*lab, "fastest_gpus") == 1024);
  const double doubling = out(*lab, "speedup");
  set(*lab, "gpus", 1192);
  compute(*lab);
  CHECK(out(*lab, "speedup") > doubling);
}
