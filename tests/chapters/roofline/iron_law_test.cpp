#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

LabPtr iron_law() {
  LabPtr lab = open_lab("roofline/iron-law");
  lab->compute();
  REQUIRE(lab->reason().empty());
  return lab;
}
std::vector<std::string>& techniques(Lab& lab) { return lab.inputs().find("techniques")->chosen(); }

}  // namespace

TEST_CASE("iron law: the first picture is a decode step in which memory is longest") {
  const LabPtr lab = iron_law();
  // 17.54 GB / 3.35 TB/s + 17.38 GFLOP / (0.6 x 989.4 TFLOP/s) + 2.64 ms; H100 SXM data sheet
  CHECK(near(out(*lab, "before_s"), 17.54 / 3350 + 17.38e9 / (0.6 * 989.4e12) + 2.64e-3, 1e-3));
  CHECK(choice_of(*lab, "dominant_before") == "memory");
  // half of the weights, which are 99 % of the bytes, and launches of 0.9 us in place of 3.3 us
  CHECK(near(out(*lab, "memory_s"), 17.54 / 3350 * (0.99 / 2 + 0.01), 1e-3));
  CHECK(near(out(*lab, "latency_s"), 2.64e-3 * 0.9 / 3.3, 1e-9));
  CHECK(near(out(*lab, "speedup"), out(*lab, "before_s") / out(*lab, "time_s"), 1e-9));
  CHECK(lab->outputs().find("moved")->text() == "bytes moved, latency");
  CHECK(lab->outputs().find("caution")->text().empty());
}

TEST_CASE("iron law: a technique changes its own term and leaves the others to the last bit") {
  const LabPtr lab = iron_law();
  techniques(*lab).clear();
  lab->compute();
  const double memory = out(*lab, "memory_s"), compute = out(*lab, "compute_s"), latency = out(*lab, "latency_s");
  struct Case {
    const char* id;
    bool memory, compute, latency;
  };
  for (const Case& c : {Case{"weights_4bit", true, false, false}, Case{"padding", false, true, false},
                        Case{"cuda_graphs", false, false, true}, Case{"fusion", true, false, true},
                        Case{"distillation", true, true, false}, Case{"speculation", true, true, true}}) {
    INFO(c.id);
    techniques(*lab) = {c.id};
    lab->compute();
    CHECK((out(*lab, "memory_s") != memory) == c.memory);
    CHECK((out(*lab, "compute_s") != compute) == c.compute);
    CHECK((out(*lab, "latency_s") != latency) == c.latency);
  }
}

TEST_CASE("iron law: tiled attention leaves the weights of a decode step alone") {
  const LabPtr lab = iron_law();
  techniques(*lab) = {"flash_attention"};
  lab->compute();
  CHECK(near(out(*lab, "memory_s"), 17.54 / 3350 * (0.99 + 0.01 * 8.4 / 545.3), 1e-3));
}

TEST_CASE("iron law: what is hidden cannot be gained") {
  const LabPtr lab = iron_law();
  set(*lab, "flops", 1.446e14);  // 8,192 tokens: 244 ms of arithmetic over 5 ms of loads
  choose(*lab, "combine", "overlapped");
  techniques(*lab) = {"weights_8bit"};
  lab->compute();
  CHECK(out(*lab, "speedup") == 1);
  CHECK(out(*lab, "bound_memory") == 1);
  CHECK(choice_of(*lab, "dominant") == "compute");
  CHECK(near(out(*lab, "time_s"), 1.446e14 / (0.6 * 989.4e12) + 2.64e-3, 1e-3));
  techniques(*lab) = {"fp8_math"};  // twice the rate moves the longer term
  lab->compute();
  CHECK(near(out(*lab, "compute_s"), 1.446e14 / (0.6 * 1978.9e12), 1e-3));
}

TEST_CASE("iron law: the order of techniques changes each gain and not the whole; strength is geometric") {
  const LabPtr lab = iron_law();
  techniques(*lab) = {"fusion", "weights_8bit", "overlap"};
  lab->compute();
  const double one_way = out(*lab, "time_s");
  techniques(*lab) = {"overlap", "weights_8bit", "fusion"};
  lab->compute();
  CHECK(near(out(*lab, "time_s"), one_way, 1e-9));
  techniques(*lab) = {"weights_8bit"};
  set(*lab, "strength", 0.5);
  lab->compute();
  CHECK(near(out(*lab, "memory_s"), 17.54 / 3350 * (0.99 / std::sqrt(2.0) + 0.01), 1e-3));
  set(*lab, "strength", 0);
  lab->compute();
  CHECK(out(*lab, "speedup") == 1);
  CHECK(lab->outputs().find("moved")->text() == "nothing");
}

TEST_CASE("iron law: Amdahl's bounds hold whatever is pressed") {
  const LabPtr lab = iron_law();
  techniques(*lab).clear();
  lab->compute();
  // 7.91 ms: without the 5.24 ms of loads 2.67 ms are left
  CHECK(near(out(*lab, "bound_memory"), out(*lab, "before_s") / (out(*lab, "before_s") - out(*lab, "memory_s")), 1e-9));
  const double bound = out(*lab, "bound_memory");
  chapters::Fields row;
  const chapters::Field& rows = *lab->outputs().find("rows");
  CHECK(rows.table_size() == 14);
  for (std::size_t i = 0; i < rows.table_size(); ++i) {
    rows.table_row(i, row);
    if (row.find("moves")->text() == "bytes moved") CHECK(row.find("speedup")->real() <= bound);
  }
  rows.table_row(0, row);
  CHECK(row.find("technique")->text() == "8-bit weights");
  CHECK(near(row.find("time_s")->real(), out(*lab, "before_s") - out(*lab, "memory_s") * 0.99 / 2, 1e-9));
}

TEST_CASE("iron law: a format without a peak is refused with the ones there are; a saving counted twice is named") {
  const LabPtr lab = iron_law();
  choose(*lab, "format", "fp4");
  lab->compute();
  CHECK(lab->reason().find("H100 SXM states no dense FP4 peak; choose one of ") == 0);
  choose(*lab, "format", "bf16");
  techniques(*lab) = {"weights_8bit", "fp8_math"};
  lab->compute();
  CHECK(lab->reason().empty());
  CHECK(lab->outputs().find("caution")->text() ==
        "8-bit weights and FP8 matrix units both shrink the same 16-bit numbers: keep one of them.");
}

TEST_CASE("iron law: pressing a technique on the canvas turns it on and off") {
  const LabPtr lab = iron_law();
  Canvas canvas(*lab, {1000, 900});
  support::UiDriver& ui = canvas.ui;
  ui.click("2:4 sparsity");
  CHECK(techniques(*lab) == std::vector<std::string>{"weights_8bit", "cuda_graphs", "sparsity_2_4"});
  ui.click("8-bit weights");
  CHECK(techniques(*lab) == std::vector<std::string>{"cuda_graphs", "sparsity_2_4"});
  const widgets::Record record = ui.record();
  const auto tables = std::count_if(record.tables.begin(), record.tables.end(), [](const auto& t) {
    return t.name == "techniques in order" && t.rows.size() == 4;
  });
  CHECK(tables == 1);
  CHECK(ui.text_present("at most, were it free"));
}

TEST_CASE("iron law: the answer names what falls, what rises, what stays and what the whole becomes") {
  const LabPtr lab = iron_law();
  CHECK(lab->answer() ==
        "With 8-bit weights and CUDA graphs the time is `3.39 ms` instead of `7.91 ms`.\nMemory falls to `2.64 ms`, "
        "latency to `720 \xC2\xB5s`; compute stays at `29.3 \xC2\xB5s`.");
  techniques(*lab) = {"speculation"};
  lab->compute();
  CHECK(lab->answer().find("compute rises to `43.5 \xC2\xB5s`") != std::string::npos);
  techniques(*lab) = {"fusion"};
  lab->compute();
  CHECK(lab->answer().starts_with("With operator fusion the time is "));
  techniques(*lab).clear();
  lab->compute();
  CHECK(lab->answer().starts_with("No technique is on: memory is the longest term, `5.24 ms` of `7.91 ms`.\n"));
  set(*lab, "flops", 1.446e14);
  choose(*lab, "combine", "overlapped");
  techniques(*lab) = {"weights_8bit"};
  lab->compute();
  CHECK(lab->answer() ==
        "With 8-bit weights the time stays `246 ms`.\nMemory falls to `2.64 ms`, but that time was hidden under a "
        "longer term already.");
  techniques(*lab) = {"cuda_graphs"};
  set(*lab, "overhead_s", 1e-9);
  lab->compute();
  CHECK(lab->answer().starts_with("With CUDA graphs the time stays `244 ms`.\nLatency falls to `273 ps`; "));
  techniques(*lab) = {"weights_8bit", "cuda_graphs", "fusion"};
  lab->compute();
  CHECK(lab->answer().starts_with("With these 3 techniques "));
}
