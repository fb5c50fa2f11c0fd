#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/hierarchy/human_duration.h"
#include "chapters/roofline/hierarchy/lab.h"
#include "chapters/roofline/hierarchy/shaft.h"
#include "chapters/roofline/shared/source_words.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

LabPtr hierarchy(std::initializer_list<std::pair<std::string_view, std::string_view>> choices = {}) {
  LabPtr lab = open_lab("roofline/hierarchy");
  for (const auto& [key, id] : choices) choose(*lab, key, id);
  lab->compute();
  return lab;
}

}  // namespace

TEST_CASE("hierarchy: 16.8 MB pass the HBM of an H100 in 5.4 us for 0.74 mJ") {
  const LabPtr lab = hierarchy();
  REQUIRE(lab->reason().empty());
  // 371 ns (gpu-benches, H100 PCIe) + 16,777,216 B / 3.35 TB/s; 8 x 5.5 pJ a byte
  CHECK(near(out(*lab, "time_s"), 371e-9 + 16777216 / 3.35e12, 1e-9));
  CHECK(near(out(*lab, "energy_j"), 16777216 * 44e-12, 1e-9));
  CHECK(text_of(*lab, "limit") == "bandwidth");
  CHECK(text_of(*lab, "human_latency") == "12 minutes");  // 371 ns x 1.98 GHz = 735 s
  CHECK(text_of(*lab, "human_time") == "3.0 hours");
  CHECK(text_of(*lab, "compared_with") == "L2");
  REQUIRE(lab->outputs().find("levels")->table_size() == 8);
  CHECK(near(out(*lab, "needed_in_flight_bytes"), 371e-9 * 3.35e12, 1e-9));
}

TEST_CASE("hierarchy: HBM is 10 times narrower, 22 times farther and 35 times costlier than shared memory") {
  // 132 x 128 B x 1.98 GHz over 3.35 TB/s; 371 ns over 34 cycles; 44 pJ over 5 pJ for 32 bits (Horowitz 2014)
  const LabPtr lab = hierarchy({{"against", "shared"}});
  CHECK(near(out(*lab, "bandwidth_ratio"), 9.99, 0.005));
  CHECK(near(out(*lab, "latency_ratio"), 21.6, 0.01));
  CHECK(near(out(*lab, "energy_ratio"), 35.2, 1e-9));
}

TEST_CASE("hierarchy: the access pattern changes the time and nothing else") {
  const LabPtr lab = hierarchy({{"chip", "a100_80_sxm"}, {"pattern", "chase"}});
  set(*lab, "bytes", 1e6);
  lab->compute();
  CHECK(near(out(*lab, "time_s"), 1e6 / 32 * 404e-9, 1e-3));  // 31,250 loads of 404 ns
  CHECK(text_of(*lab, "limit") == "latency");
  const double chased_j = out(*lab, "energy_j");
  REQUIRE(lab->inputs().find("pattern")->set_choice_id("limited"));
  set(*lab, "in_flight_bytes", 404e-9 * 2.039e12 / 2);  // half of what fills it
  set(*lab, "bytes", 1e9);
  lab->compute();
  CHECK(near(out(*lab, "achieved_bandwidth_bytes_per_s"), 2.039e12 / 2, 0.001));
  set(*lab, "bytes", 1e6);
  lab->compute();
  CHECK(out(*lab, "energy_j") == chased_j);
}

// 3.35 TB/s x 8 x 5.5 pJ = 147.4 W of 700 W; half of it kept on chip saves 147.4 / 2 less 3.35e12 / 2 x 1.25 pJ.
TEST_CASE("hierarchy: a thousand streaming H100 spend 147 kW on HBM and fusing half saves 72 kW") {
  const LabPtr lab = hierarchy();
  CHECK(near(out(*lab, "memory_w"), 147.4, 1e-9));
  CHECK(near(out(*lab, "memory_tdp_percent"), 21.06, 1e-3));
  CHECK(near(out(*lab, "cluster_w"), 147.4e3, 1e-9));
  CHECK(near(out(*lab, "saved_cluster_w"), 71.6e3, 1e-3));
  set(*lab, "streaming_percent", 0);
  lab->compute();
  CHECK(out(*lab, "saved_cluster_w") == 0);
}

TEST_CASE("hierarchy: a level that the chip does not state is refused by name, and the ladder stays") {
  const LabPtr lab = hierarchy({{"chip", "tpu_v5p"}, {"level", "shared"}});
  CHECK(lab->reason().find("states too little about its Shared memory to time it: set level to memory, link") !=
        std::string::npos);
  CHECK(lab->outputs().find("levels")->table_size() >= 3);
  const LabPtr compared = hierarchy({{"chip", "tpu_v5p"}, {"against", "registers"}});
  CHECK(compared->reason().find("set against to memory") != std::string::npos);
  CHECK(hierarchy({{"chip", "tpu_v5p"}})->reason().empty());  // the next nearer level is then the level itself
}

TEST_CASE("hierarchy: the shaft goes down by factors, and labels keep clear of one another") {
  using namespace chapters::roofline::hierarchy;
  const Depth depth{1e-9, 1e-3, 100, 700};
  CHECK(depth.y(1e-9) == 100);
  CHECK(std::abs(depth.y(1e-6) - 400) < 0.01f);
  CHECK(depth.y(1) == 700);  // cut at the bottom
  CHECK(depth.y(0) == 100);
  std::array<float, 4> tops{10, 12, 13, 90};
  spread_labels(tops, 20, 0, 110);
  REQUIRE(tops.size() == 4);
  for (std::size_t i = 1; i < tops.size(); ++i) CHECK(tops[i] >= tops[i - 1] + 20);
  CHECK(tops.back() <= 90);
}

TEST_CASE("hierarchy: three ways of asking hang from the level, and the one that is set is lit") {
  using namespace chapters::roofline::hierarchy;
  Inputs in;
  in.bytes = 1048576;
  in.pattern = models::AccessPattern::chase;
  use_bundled_catalog();
  const Outputs o = compute(in);
  const Picture picture = arrange(in, o);
  CHECK(near(picture.ways[0].time_s, 371e-9 + 1048576 / 3.35e12, 0.01));
  CHECK(near(picture.ways[2].time_s, 32768 * 371e-9, 0.01));
  CHECK(picture.ways[2].trips == 32768);
  CHECK(picture.ways[2].chosen);
  CHECK_FALSE(picture.ways[0].chosen);
  CHECK(picture.hi_s > picture.ways[2].time_s);
  CHECK(picture.ways_title == "1.05 MB from HBM3, asked for in three ways");
}

TEST_CASE("hierarchy: no word of the axis or of a fetch is cut where the slowest way takes millions of years") {
  const LabPtr lab = open_preset("roofline/hierarchy", "Weights of a 70B model");
  lab->compute();
  Canvas canvas(*lab, {1000, 500});
  canvas.ui.frames(3);
  const auto record = canvas.ui.record();
  std::size_t found = 0;
  std::string all;
  for (const auto& s : record.strokes) {
    if (s.kind != widgets::Stroke::Kind::text) continue;
    if (s.text == "1,000 centuries" || s.text == "22 million years" || s.text == "4.08 days") ++found;
    all += s.text + "\n";
    CHECK(s.points[0].x >= 0);
  }
  INFO(all);
  CHECK(found == 3);
}

TEST_CASE("hierarchy: a click on a station chooses its level, and dragging the line changes the bytes") {
  const LabPtr lab = hierarchy();
  Canvas canvas(*lab, {1400, 1500});
  support::UiDriver& ui = canvas.ui;
  ui.click("Shared memory");
  CHECK(lab->inputs().find("level")->choice_id() == "shared");
  CHECK(near(out(*lab, "bandwidth_bytes_per_s"), 33.45e12, 0.003));
  ui.click("NVMe");
  CHECK(lab->inputs().find("level")->choice_id() == "storage");
  const double before = lab->inputs().find("bytes")->real();
  ui.drag_by("bytes moved", {60, 0});
  CHECK(lab->inputs().find("bytes")->real() > 2 * before);  // twelve decades on fewer than 600 pixels
  const widgets::Record record = ui.record();
  REQUIRE_FALSE(record.tables.empty());
  CHECK(record.tables.front().name == "levels");
  CHECK(record.tables.front().rows.size() == 8);
  CHECK(ui.text_present("33 minutes"));  // PCIe: 1 us x 1.98 GHz
}

TEST_CASE("hierarchy: the answer says how far the level is and what the fetch costs, as it is asked for") {
  const LabPtr lab = hierarchy();
  CHECK(lab->answer() ==
        "A read from HBM3 takes `371 ns` (`12 minutes` if one clock were a second); `16.8 MB` streamed take "
        "`5.38 \xC2\xB5s`.\nIt costs `738 \xC2\xB5J`; on `1,000` chips the fusion that is set saves `71.6 kW`.");
  set(*lab, "fused_percent", 0);
  lab->compute();
  CHECK(lab->answer().ends_with("; `1,000` chips that stream all day draw `147 kW` for memory alone."));
  REQUIRE(lab->inputs().find("pattern")->set_choice_id("chase"));
  lab->compute();
  CHECK(lab->answer() ==
        "As a pointer chase through HBM3, `16.8 MB` take `195 ms` instead of `5.38 \xC2\xB5s` streamed.\nEach of "
        "`524,288` "
        "accesses waits `371 ns` for the one before; if one clock were a second, `12 years`.");
  CHECK(near(out(*lab, "streamed_ratio"), out(*lab, "time_s") / out(*lab, "streamed_s")));
  REQUIRE(lab->inputs().find("pattern")->set_choice_id("limited"));
  lab->compute();
  CHECK(lab->answer().starts_with("With `262 kB` in flight, `16.8 MB` from HBM3 take `"));
}

TEST_CASE("hierarchy: figures that nobody states are absent, not zero") {
  const LabPtr lab = hierarchy({{"level", "network"}});
  CHECK(std::isnan(out(*lab, "capacity_bytes")));
  CHECK(text_of(*lab, "fits") == "no capacity stated");
}

TEST_CASE("hierarchy: the answer says what a level holds where the bytes do not fit") {
  const LabPtr lab = hierarchy({{"level", "registers"}});
  CHECK(lab->answer().starts_with("A read of a register takes `505 ps`"));
  CHECK(lab->answer().find("do not fit") == std::string::npos);
  set(*lab, "bytes", 1e12);
  lab->compute();
  CHECK(lab->answer().ends_with("\nThey do not fit: it holds `34.6 MB` at a time."));
}

// H100 PCIe: 650 cycles to DRAM are 650 s when one clock is one second.
TEST_CASE("hierarchy: on the human scale DRAM is eleven minutes away and a drive a day and a half") {
  using chapters::roofline::hierarchy::human_duration;
  const LabPtr lab = hierarchy({{"chip", "h100_pcie"}});
  CHECK(text_of(*lab, "human_latency") == "11 minutes");
  CHECK(text_of(*hierarchy({{"chip", "h100_pcie"}, {"level", "storage"}}), "human_latency") == "1.6 days");
  CHECK(human_duration(1) == "1.0 s");
  CHECK(human_duration(59.8) == "1.0 minute");
  CHECK(human_duration(0.25) == "0.2 s");
  CHECK(human_duration(4e9) == "1.3 centuries");
  CHECK(human_duration(6.98e14) == "22 million years");
}

TEST_CASE("hierarchy: what a figure was worked out from is said with its numbers") {
  using chapters::roofline::source_words;
  use_bundled_catalog();
  const auto levels = models::memory_levels(*chapters::catalog().chip("h100_sxm"));
  CHECK(source_words({.value = 1, .source = "pages at 744d01e (2026-08-22), read"}) == "pages (2026-08-22), read");
  CHECK(source_words({.value = 1, .source = "meets at defaced walls"}) == "meets at defaced walls");
  CHECK(source_words(levels[0].capacity_bytes) == "132 units of 256 KiB");
  CHECK(source_words(levels[0].bandwidth_bytes_per_s) ==
        "132 units × 128 lanes × 12 B × 1.980 GHz (three FP32 operands per lane and clock)");
  CHECK(source_words(levels[1].bandwidth_bytes_per_s) == "132 units × 32 banks × 4 B × 1.980 GHz");
  CHECK(source_words(levels[3].energy_j_per_byte) == "5.5 pJ per bit; HBM2 and HBM3 take 4 to 7");
  CHECK(source_words(levels[4].capacity_bytes) == "memory of 7 peers");
}
