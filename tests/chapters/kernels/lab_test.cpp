#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "app/shell/predict/predict.h"
#include "chapters/mechanism/catalog.h"
#include "kernels/kernel.h"
#include "models/machine/kernel_prediction.h"
#include "models/machine/kernel_rules.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

using Catch::Approx;

namespace {

app::Json result_of_run(const char* rung, double time_s, const app::Json& more = app::Json::object()) {
  app::Json row{{"ladder", "cpu-sgemm"},   {"rung", rung},  {"size", 768},   {"time_s", time_s},
                {"spread_s", time_s / 50}, {"samples", 30}, {"error", 2e-7}, {"error_bound", 6e-6}};
  row.update(more);
  return row;
}

/// What "Measure ceilings" would bring: 130 GFLOP/s of AVX2, 40 GB/s.
const app::Json roofs = app::Json::parse(
    R"([{"device": "cpu", "id": "fma_avx2", "title": "AVX2 multiply-adds", "unit": "FLOP/s", "value": 1.3e11},
  {"device": "cpu", "id": "dram_copy", "title": "copy", "unit": "B/s", "value": 4e10}, {"device": "cpu", )"
    R"("id": "clock", "title": "clock", "unit": "Hz", "value": 3.9e9}])");

}  // namespace

namespace {

/// How often counters meet, and how long a single block takes, nobody has put into a rule: the lab says so.
bool without_model(const kernels::Ladder& ladder, const kernels::Rung& rung) {
  return ladder.id == "cuda-histogram" || (ladder.id == "cuda-paged-decode" && rung.id == "sequence");
}

}  // namespace

TEST_CASE("kernel lab: every rung of every ladder has a model's bound, a source and a roof") {
  for (const auto& ladder : kernels::all_ladders())
    for (const auto& rung : ladder.rungs) {
      INFO(ladder.id << " " << rung.id);
      CHECK(models::predict_kernel(ladder.id, rung.id, {}).has_value() != without_model(ladder, rung));
      CHECK_FALSE(rung.source.empty());
      CHECK_FALSE(rung.roof.empty());
    }
}

// 2 x 768^3 = 906 MFLOP on 3 x 768^2 x 4 = 7.08 MB: 128 FLOP/B, compute-bound on any core.
// What running at the roof asks of the tightest port is one over the share that the rung can reach.
TEST_CASE("kernel lab: the ports of a rung give its bound") {
  for (const auto& ladder : kernels::all_ladders())
    for (const auto& rung : ladder.rungs) {
      INFO(ladder.id << " " << rung.id);
      if (without_model(ladder, rung)) continue;
      const auto p = models::predict_kernel(ladder.id, rung.id, {});
      REQUIRE(p);
      REQUIRE(p->ports.count >= 1);
      double tightest = 0, lanes = 1;
      for (const models::PortLoad& load : p->ports.all()) {
        const double asked = load.demand / load.supply;
        if (load.port == "vector lanes")
          lanes = std::max(1.0, asked);
        else
          tightest = std::max(tightest, asked);
      }
      CHECK(1 / (tightest * lanes) == Approx(p->bound.share));
    }
}

// One line of 64 bytes for a multiply-add of three loops, half of a float's four bytes an operation for rows; a tile
// of 6 x 16 brings 22 floats for 96 multiply-adds.
TEST_CASE("kernel lab: bytes at each level fall from rung to rung") {
  const auto at = [](const char* rung) { return *models::predict_kernel("cpu-sgemm", rung, {}); };
  CHECK(at("naive").second_level_bytes_per_flop == Approx(32));
  CHECK(at("simd").second_level_bytes_per_flop == Approx(2));
  CHECK(at("simd").first_level_bytes_per_flop == Approx(6));  // two loads and a store of four bytes for two operations
  CHECK(at("tile").second_level_bytes_per_flop == Approx(4.0 * 22 / 96 / 2));
  CHECK(at("packed").second_level_bytes_per_flop < at("tile").second_level_bytes_per_flop);
  CHECK(models::predict_kernel("cpu-triad", "simd", {})->moved == Approx(4.0 / 3));
}

TEST_CASE("kernel lab: the answer names what holds the rung and what the next one changes, measured or not") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(set(*lab, {{"rung", 3}}));
  CHECK(lab->answer() ==
        "Rung 3 reached `37 %` of its roof on an AMD EPYC Zen 5; the model allows `50 %`, held by its loads.\n"
        "Rung 4, measured there, is `1.08\xC3\x97` as fast.");
  compute(set(*lab, {{"rung", 8}}));
  CHECK(lab->answer().ends_with("\nIt is the last rung of the ladder."));
  // Measured by nobody but the model.
  compute(set(*lab, {{"rung", 1}, {"cpu_ladder", "cpu-latency"}}));
  CHECK(lab->answer().find(" can reach at most ") != std::string::npos);
  compute(set(*lab, {{"rung", 4},
                     {"cpu_ladder", "cpu-sgemm"},
                     {"predict_first", false},
                     {"runs", {result_of_run("blocked", 0.02), result_of_run("tile", 0.01)}},
                     {"roofs", roofs}}));
  CHECK(lab->answer().find("Rung 4 reached `34.8 %` of its roof here") != std::string::npos);
  CHECK(lab->answer().ends_with("\nRung 5, measured here, is `2\xC3\x97` as fast."));
  // What was measured and not predicted is not told.
  compute(set(*lab, {{"predict_first", true}}));
  CHECK(lab->answer().find("34.8") == std::string::npos);
  CHECK(std::isnan(out(*lab, "next_measured_gain")));
}

TEST_CASE("kernel lab: the first picture predicts and has measured nothing") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(*lab);
  CHECK(out(*lab, "flops") == Approx(2.0 * 768 * 768 * 768));
  CHECK(out(*lab, "intensity") == Approx(128));
  CHECK(out(*lab, "measured_rungs") == 0);
  CHECK(std::isnan(out(*lab, "share")));
  CHECK(out(*lab, "predicted_share") == Approx(50));  // four accesses a vector multiply-add on two load ports
  CHECK(out(*lab, "next_gain") == Approx(2));
  CHECK(out(*lab, "roof_flops_per_s") == Approx(4e9 * 8 * 2 * 2));
  CHECK(text_of(*lab, "command").starts_with("ridgeline kernels run cpu-sgemm --rung blocked --size 768"));
}

TEST_CASE("kernel lab: a run is a share of the measured roof once it was predicted, and the miss is told") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(
      set(*lab, {{"rung", 5}, {"runs", {result_of_run("naive", 1.0), result_of_run("tile", 0.01)}}, {"roofs", roofs}}));
  CHECK(std::isnan(out(*lab, "share")));  // predict first
  CHECK(out(*lab, "measured_rungs") == 2);
  CHECK(std::isnan(out(*lab, "best_share")));
  // One for the same rung of another ladder is not one for this.
  compute(set(*lab, {{"predictions", {{{"ladder", "cpu-fma"}, {"rung", "tile"}, {"share", 50}}}}}));
  CHECK(std::isnan(out(*lab, "your_share")));
  CHECK(std::isnan(out(*lab, "share")));
  compute(set(*lab, {{"predictions",
                      {{{"ladder", "cpu-sgemm"}, {"rung", "naive"}, {"share", 1}},
                       {{"ladder", "cpu-sgemm"}, {"rung", "tile"}, {"share", 85}}}}}));
  CHECK(out(*lab, "share") == Approx(100 * (2.0 * 768 * 768 * 768 / 0.01) / 1.3e11));
  CHECK(out(*lab, "prediction_miss") == Approx(85 - out(*lab, "share")));
  CHECK(out(*lab, "spread") == Approx(2));
  CHECK(out(*lab, "speedup") == Approx(100));
  CHECK(text_of(*lab, "best_rung") == "6 x 16 register tile");
  CHECK(out(*lab, "clock_now_hz") == Approx(3.9e9));
  CHECK(output(*lab, "roofs_measured").toggle());
  compute(set(*lab, {{"predictions", app::Json::array()}, {"predict_first", false}}));
  CHECK(out(*lab, "share") > 69);
}

TEST_CASE("kernel lab: runs of another size, of warm caches or of an edited text are not this rung's") {
  const LabPtr lab = open_lab("kernels/lab");
  for (const auto& other : {app::Json{{"size", 512}}, app::Json{{"cold", false}}, app::Json{{"edited", true}},
                            app::Json{{"ladder", "cpu-copy"}}}) {
    compute(set(*lab, {{"predict_first", false}, {"runs", {result_of_run("tile", 0.01, other)}}}));
    INFO(other.dump());
    CHECK(out(*lab, "measured_rungs") == 0);
    CHECK(out(*lab, "rows") == 1);
  }
  compute(set(*lab, {{"cold", false}, {"runs", {result_of_run("tile", 0.01, {{"cold", false}})}}}));
  CHECK(out(*lab, "measured_rungs") == 1);
}

TEST_CASE("kernel lab: a failed rung is counted and has no figures; the others keep theirs") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(set(*lab, {{"predict_first", false},
                     {"rung", 6},
                     {"runs",
                      {result_of_run("tile", 0.01),
                       result_of_run("spill", 0, {{"failure", "The worker crashed (SIGSEGV)."}})}}}));
  CHECK(out(*lab, "failed_rungs") == 1);
  CHECK(out(*lab, "measured_rungs") == 1);
  CHECK(std::isnan(out(*lab, "time_s")));
  CHECK(std::isnan(out(*lab, "share")));
}

TEST_CASE("kernel lab: on a GPU the chip's data sheet is the roof until one was measured") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(set(*lab, {{"device", "cuda"}, {"cuda_ladder", "cuda-transpose"}, {"rung", 2}}));
  CHECK(out(*lab, "roof_bytes_per_s") == Approx(3.35e12));
  CHECK(out(*lab, "predicted_share") == Approx(60.5).margin(0.5));
  compute(set(
      *lab,
      {{"roofs", app::Json::parse(
                     R"([{"device": "cuda", "id": "gpu_copy", "title": "copy", "unit": "B/s", "value": 2.8e12}])")}}));
  CHECK(out(*lab, "roof_bytes_per_s") == Approx(2.8e12));
  CHECK(out(*lab, "predicted_share") == Approx(60.5 * 3.35 / 2.8).margin(0.5));
  CHECK(reason_of(set(*lab, {{"chip", "gaudi2"}})) ==
        "Intel Gaudi 2 is made by Intel and runs no CUDA, in which these kernels are written: choose an NVIDIA GPU as "
        "the chip.");
}

TEST_CASE("kernel lab: what the compiler reports is read from the run, and its lines are shown at the source") {
  ShellDriver d(bundled_content());
  use_bundled_catalog();
  REQUIRE(d.workspace.open("kernels/lab"));
  const auto ladder = kernels::find_ladder("cuda-transpose");
  REQUIRE(ladder);
  const app::Json row{{"ladder", "cuda-transpose"},
                      {"rung", "tile"},
                      {"size", ladder->size_default},
                      {"failure", "It did not compile."},
                      {"compiled", false},
                      {"arch", "sm_90"},
                      {"registers", 32},
                      {"shared_bytes", 4096},
                      {"block_threads", 256},
                      {"spill_store_bytes", 8},
                      {"spill_load_bytes", 8},
                      {"diagnostics", "3 error identifier \"tiles\" is undefined\n"}};
  REQUIRE(d.workspace
              .open_with("kernels/lab",
                         {{"device", "cuda"}, {"cuda_ladder", "cuda-transpose"}, {"rung", 2}, {"runs", {row}}},
                         app::Json::object())
              .error == "");
  d.ui.frames(3);
  CHECK(d.output("registers").number() == 32);
  CHECK(d.output("spill_bytes").number() == 16);
  d.ui.click("Source");  // at this size its panel is behind a tab
  d.ui.frames(3);
  CHECK(d.ui.text_present("identifier \"tiles\" is undefined"));
  CHECK(d.ui.text_present("It did not compile."));
}

TEST_CASE("kernel lab: pressing in a row predicts that rung, and the editor sends what was typed") {
  ShellDriver d(bundled_content());
  use_bundled_catalog();
  REQUIRE(d.workspace
              .open_with("kernels/lab", {{"device", "cuda"}, {"cuda_ladder", "cuda-transpose"}, {"rung", 1}},
                         app::Json::object())
              .error == "");
  d.ui.frames(3);
  d.ui.click_at(d.ui.point_in("predict tile", {0.5f, 0.5f}));
  d.ui.frames(2);
  CHECK(d.input("rung").number() == 2);
  CHECK(d.output("your_share").number() == Approx(55).margin(1));  // rows end at 110 %
  CHECK(d.input("predictions").table_size() == 1);
  d.ui.click("Source");  // at this size its panel is behind a tab
  d.ui.frames(3);
  d.ui.click("Edit");
  d.ui.frames(2);
  d.ui.click("##editor");
  d.ui.key(ImGuiKey_Home, ImGuiMod_Ctrl);
  d.ui.type("// mine ");
  d.ui.frames(2);
  CHECK_FALSE(d.ui.text_present("reads that file of this machine"));
  const std::string text = d.workspace.lab().view().find("edited_source")->text();
  CHECK(text.starts_with("// mine "));
  CHECK(text.size() == kernels::find_ladder("cuda-transpose")->rungs[1].source.size() + 8);
  d.ui.key(ImGuiKey_Home, ImGuiMod_Ctrl);
  d.ui.type("# include \"/etc/hostname\" ");
  d.ui.frames(2);
  CHECK(d.ui.text_present("This text has an #include"));
  d.ui.click("Done");
  d.ui.frames(2);
  CHECK(d.ui.text_present("// mine"));
  d.ui.click("Original");
  d.ui.frames(2);
  CHECK(d.workspace.lab().view().find("edited_source")->text().empty());
}

TEST_CASE("kernel lab: at the smallest window the whole lab is seen without scrolling, for each ladder") {
  ShellDriver d(bundled_content());
  use_bundled_catalog();
  for (const auto& ladder : kernels::all_ladders()) {
    INFO(ladder.id);
    const std::string device(kernels::id_of(ladder.device));
    REQUIRE(d.workspace
                .open_with("kernels/lab", {{"device", device}, {device + "_ladder", std::string(ladder.id)}},
                           app::Json::object())
                .error == "");
    d.ui.frames(4);
    REQUIRE(d.ui.probe().find("rung " + std::string(ladder.rungs.front().id)));
    CHECK(d.canvas_overflow_px() == 0);
  }
}

TEST_CASE(
    "kernel lab: CUDA rungs are rated on no chip that runs no CUDA, and a rung past the last is said to be the last") {
  const LabPtr lab = open_lab("kernels/lab");
  set(*lab, {{"device", "cuda"}});
  for (const char* chip : {"mi300x", "tpu_v5p", "trn2", "gaudi3"})
    CHECK(reason_of(set(*lab, {{"chip", chip}})).find(" runs no CUDA, in which these kernels are written: ") !=
          std::string::npos);
  compute(set(*lab, {{"chip", "b200_sxm"}, {"rung", 12}}));
  CHECK(lab->reason().empty());
  const auto last = static_cast<int>(out(*lab, "rungs"));
  CHECK(last < 12);
  CHECK(lab->answer().ends_with("\nThere is no rung 12: rung " + std::to_string(last) + " is the last of the ladder."));
  compute(set(*lab, {{"rung", last}}));
  CHECK(lab->answer().starts_with("Rung " + std::to_string(last) + " reached "));
}

TEST_CASE("kernel lab: the naive product waits for the pipe of L1 and shared memory, which it shares with both") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(set(*lab, {{"device", "cuda"}, {"cuda_ladder", "cuda-sgemm"}, {"rung", 1}}));
  CHECK(text_of(*lab, "limit") == "the pipe of L1 and shared memory");
}

TEST_CASE("kernel lab: what others measured stands in every row before anything has run here") {
  const LabPtr lab = open_lab("kernels/lab");
  compute(set(*lab, {{"device", "cuda"}, {"cuda_ladder", "cuda-sgemm"}, {"rung", 2}}));
  CHECK(out(*lab, "published_share") == Approx(100 * 6.042e12 / 66.9e12));
  compute(set(*lab, {{"cuda_ladder", "cuda-transpose"}, {"rung", 1}}));
  // The model's bound is not what was reached.
  CHECK(lab->answer().starts_with(
      "Rung 1 reached `12.3 %` of its roof on an NVIDIA H100 SXM; the model allows `36.7 %`"));
}

// The mark in a rung's row has three digits of what the published row of the same run states.
TEST_CASE("kernel lab: the share beside each CUDA rung is that of the published row of the same run") {
  int checked = 0;
  const LabPtr lab = open_lab("kernels/lab");
  for (const chapters::Published& row : chapters::catalog().published_of("kernels/lab")) {
    if (!row.id.starts_with("h100-run-")) continue;
    INFO(row.id);
    compute(set(*lab, app::Json::parse(row.set)));
    CHECK(out(*lab, "published_share") == Approx(row.measured).epsilon(0).margin(0.05));
    ++checked;
  }
  CHECK(checked == 20);
}

TEST_CASE("kernel lab: the legend names the marks that stand in the rows and no others") {
  ShellDriver d(bundled_content());
  use_bundled_catalog();
  REQUIRE(d.workspace.open("kernels/lab"));
  d.ui.frames(4);
  CHECK(d.ui.text_present("the model allows"));
  CHECK(d.ui.text_present("measured on AMD EPYC Zen 5"));
  CHECK(d.ui.text_present("on your machine"));
  CHECK(d.ui.text_present("latency-bound"));  // the first rung waits
  for (const char* absent : {"your prediction", "memory-bound"}) {
    INFO(absent);
    CHECK_FALSE(d.ui.text_present(absent));
  }
  REQUIRE(d.workspace.open_with("kernels/lab", {{"device", "cuda"}, {"cuda_ladder", "cuda-sgemm"}}, app::Json::object())
              .error == "");
  d.ui.frames(4);
  CHECK(d.ui.text_present("measured on NVIDIA H100 SXM"));
  CHECK_FALSE(d.ui.text_present("latency-bound"));
}

TEST_CASE("kernel lab: times that spread are called noisy, and a rate above an arithmetic roof blames the roof") {
  const app::Json predicted = {{{"ladder", "cpu-sgemm"}, {"rung", "tile"}, {"share", 85}}};
  const auto caption = [&](double spread_s) {
    const LabPtr lab = open_lab("kernels/lab");
    compute(set(*lab, {{"rung", 5},
                       {"predictions", predicted},
                       {"runs", {result_of_run("tile", 0.01, {{"spread_s", spread_s}})}},
                       {"roofs", roofs}}));
    Canvas canvas(*lab, {1600, 1000});
    canvas.ui.frames(3);
    return canvas.ui.text_present("spread by 20 % (interquartile range)");
  };
  CHECK(caption(0.002));
  CHECK_FALSE(caption(0.0005));
  const LabPtr lab = open_lab("kernels/lab");
  compute(set(*lab, {{"rung", 5},
                     {"predictions", predicted},
                     {"runs", {result_of_run("tile", 0.006)}},
                     {"roofs", roofs}}));  // 151 GFLOP/s over 130
  CHECK(lab->answer().find("the roof was measured while the machine was busier or its clock lower") !=
        std::string::npos);
}

TEST_CASE("given: kernels leave numbered rungs from nothing to their roof, and the guess stays in its row") {
  use_bundled_catalog();
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}};
  d.shell.drawer_open = false;
  REQUIRE(d.workspace.open("kernels/lab"));
  d.settle();
  app::ask_question(d.shell, 0);
  d.ui.frames(3);
  CHECK(d.ui.text_present("8 floats at a time"));
  CHECK(d.ui.text_present("its roof"));
  CHECK_FALSE(d.ui.text_present("\xE2\x89\xA4 50 %"));
  REQUIRE(app::answer_question(d.shell, "25"));
  d.settle();
  d.ui.frames(4);
  const auto record = d.ui.record();
  CHECK(std::any_of(record.strokes.begin(), record.strokes.end(), [&](const auto& s) {
    return s.text == "you: 25 %" && !s.points.empty() && s.points[0].x < d.shell.canvas_max.x;
  }));
}
