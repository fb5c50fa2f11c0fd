#include "models/machine/hardware.h"
#include "models/machine/hierarchy.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using models::Chip;
using models::Format;

namespace {

const Chip& chip(const std::string& id) { return bundled_chip(id); }
std::string error_of(const std::string& text) { return models::parse_chips(text, "my.json").error; }
std::string with(const std::string& member) {
  return R"({"id": "mine", "name": "My chip", "memory_bytes": 80e9, "memory_bandwidth_bytes_per_s": 2e12, )"
         R"("peak_flops_per_s": {"bf16": 1e14})" +
         member + "}";
}

}  // namespace

TEST_CASE("formats have the ids of files and the bytes of one element") {
  for (const Format format : models::all_formats) CHECK(models::format_from_id(models::format_id(format)) == format);
  CHECK_FALSE(models::format_from_id("bfloat16"));
  CHECK(models::format_bytes(Format::tf32) == 4);
  CHECK(models::format_bytes(Format::fp6) == 0.75);
  CHECK(models::format_bytes(Format::fp4) == 0.5);
}

TEST_CASE("every chip is bundled, with its confidence and a source for every figure") {
  CHECK(bundled_chips().size() == 42);
  std::set<std::string> short_names;
  for (const auto& [id, one] : bundled_chips()) {
    INFO(id);
    CHECK((one.confidence == "high" || one.confidence == "medium" || one.confidence == "low"));
    CHECK(one.short_name.size() <= 14);
    CHECK(short_names.insert(one.short_name).second);
    for (const auto& figure : models::figures()) {
      INFO(figure.key);
      CHECK((models::figure_value(one, figure.key).has_value() ==
             (models::figure_source(one, figure.key) != "no source given")));
    }
  }
}

// tests/data/hardware_ridge.json: dense peak over memory bandwidth of 36 of them, collected independently, rounded to
// 0.1. Gaudi 3 in FP16 and TF32 is corrected: a quarter of 1,678 TFLOP/s over 3.7 TB/s is 113.4; the 124.1 collected
// mixed the announced 1,750 MHz (459 TFLOP/s) with the shipping 1,600.
TEST_CASE("the ridge of every chip and format is the collected one") {
  const auto table = nlohmann::json::parse(support::read_text(support::data_file("hardware_ridge.json")));
  CHECK(table.size() == 36);
  int compared = 0;
  for (const auto& [id, formats] : table.items()) {
    for (const auto& [format_id, expected] : formats.items()) {
      INFO(id << " " << format_id);
      const auto peak = chip(id).peak_flops_per_s(*models::format_from_id(format_id));
      REQUIRE(peak);
      CHECK(std::abs(*peak / chip(id).memory_bandwidth_bytes_per_s - expected.get<double>()) <= 0.0501);
      ++compared;
    }
    // and the other way: no chip states a matrix format that the table lacks (fp6 and vector rates are not in it)
    for (const Format format : {Format::tf32, Format::fp16, Format::bf16, Format::fp8, Format::fp4, Format::int8})
      CHECK(chip(id).peak_flops_per_s(format).has_value() == formats.contains(std::string(models::format_id(format))));
  }
  CHECK(compared == 151);
}

// Units x multiply-adds x 2 x clock, as the vendors' whitepapers count their own peaks.
TEST_CASE("stated peaks follow from Tensor Cores, multiply-adds and clock") {
  for (const char* id : {"v100_sxm2", "v100_16_sxm2", "a100_40_sxm", "a100_80_sxm", "a800_80_sxm", "h100_sxm",
                         "h200_sxm", "h800_sxm", "gh200_96"}) {
    INFO(id);
    const Chip& c = chip(id);
    const double clock_hz = c.matrix_clock_hz.value_or(*c.boost_clock_hz);
    const double counted = *c.tensor_cores * *c.tensor_core_fma_per_cycle * 2 * clock_hz;
    CHECK(std::abs(counted / *c.peak_flops_per_s(Format::fp16) - 1) <= 0.003);
  }
  CHECK(std::abs(*chip("mi300x").compute_units * 2048 * *chip("mi300x").boost_clock_hz / 1307.4e12 - 1) <= 0.001);
  CHECK(std::abs(*chip("mi350x").compute_units * 4096 * *chip("mi350x").boost_clock_hz / 2306.9e12 - 1) <= 0.001);
  CHECK(std::abs(*chip("mi250x").compute_units * 1024 * *chip("mi250x").boost_clock_hz / 383e12 - 1) <= 0.001);
  // GeForce with FP32 accumulation: half of 128 SMs x 512 multiply-adds.
  CHECK(std::abs(*chip("rtx4090").compute_units * 512.0 * *chip("rtx4090").boost_clock_hz /
                     *chip("rtx4090").peak_flops_per_s(Format::bf16) -
                 1) <= 0.001);
  // Shipping B200: the stated peak needs 1.856 GHz on 148 SMs of 4 Tensor Cores.
  CHECK(std::abs(*chip("b200_sxm").peak_flops_per_s(Format::bf16) /
                     (148 * 4 * 2 * *chip("b200_sxm").tensor_core_fma_per_cycle) -
                 *chip("b200_sxm").matrix_clock_hz) <= 0.001e9);
  CHECK(std::abs(*chip("gb200_gpu").peak_flops_per_s(Format::bf16) / (152 * 4 * 2 * 1024) -
                 *chip("gb200_gpu").matrix_clock_hz) <= 0.001e9);
}

// One clock for everything that is counted by the clock: units x lanes x 2 x clock is the stated FP32 peak. An H100's
// is 1.98 GHz (66.9 TFLOP/s), a B200's 1.965 (75 stated, 74.4 counted); their matrix peaks are stated lower.
TEST_CASE("the boost clock of every GPU is the one of its FP32 peak, and no matrix clock is above it") {
  int counted = 0;
  for (const auto& [id, c] : bundled_chips()) {
    INFO(id);
    if (c.matrix_clock_hz) CHECK(*c.matrix_clock_hz < c.boost_clock_hz.value());
    const auto lanes = models::fp32_lanes_per_unit(c);
    if (!lanes) continue;
    ++counted;
    const double peak = *c.compute_units * *lanes * 2.0 * *c.boost_clock_hz;
    CHECK(std::abs(peak / *c.peak_flops_per_s(Format::fp32) - 1) <= 0.01);
  }
  CHECK(counted >= 20);
}

TEST_CASE("Gaudi 3 has one clock in all formats of its matrix engines") {
  const Chip& c = chip("gaudi3");
  CHECK(*c.peak_flops_per_s(Format::fp16) * 4 == *c.peak_flops_per_s(Format::bf16));
  CHECK(*c.peak_flops_per_s(Format::tf32) * 4 == *c.peak_flops_per_s(Format::bf16));
  CHECK(*c.peak_flops_per_s(Format::fp32) * 8 == *c.peak_flops_per_s(Format::bf16));
  CHECK(std::abs(c.announced.at("peak_flops_per_s.fp16") * 1.6 / 1.75 / *c.peak_flops_per_s(Format::fp16) - 1) <=
        0.001);
}

TEST_CASE("a rack says how many chips it is, and is made of them") {
  const Chip &rack = chip("gb200_nvl72"), &one = chip("gb200_gpu");
  CHECK(rack.is_several());
  CHECK(rack.chip_count == 72);
  CHECK(*rack.compute_units == 72 * *one.compute_units);
  CHECK(rack.memory_bytes == 72 * one.memory_bytes);
  CHECK(*rack.peak_flops_per_s(Format::bf16) == 72 * *one.peak_flops_per_s(Format::bf16));
  for (const auto& [id, c] : bundled_chips()) CHECK(c.is_several() == (id == "gb200_nvl72"));
}

TEST_CASE("links count per direction, and vendors' sums are twice that") {
  CHECK(chip("a100_80_sxm").interconnect.bytes_per_s_per_direction == 300e9);
  CHECK(chip("h100_sxm").interconnect.bytes_per_s_per_direction == 450e9);
  CHECK(chip("b200_sxm").interconnect.bytes_per_s_per_direction == 900e9);
  CHECK(chip("mi300x").interconnect.bytes_per_s_per_peer_per_direction == 64e9);
  for (const auto& [id, one] : bundled_chips()) {
    INFO(id);
    if (id == "drive_thor") continue;  // nobody states its links
    CHECK(one.interconnect.bytes_per_s_bidirectional == 2 * one.interconnect.bytes_per_s_per_direction.value());
  }
  // 72 x 1.8 TB/s is injection; half the rack talking to the other half gets a quarter of it each way.
  CHECK(chip("gb200_nvl72").interconnect.bytes_per_s_bidirectional == 72 * 1.8e12);
  CHECK(chip("gb200_nvl72").interconnect.bisection_bytes_per_s_per_direction == 36 * 0.9e12);
}

TEST_CASE("caches have the sizes that the device reports") {
  CHECK(chip("h100_sxm").l2_bytes == 52428800.0);
  CHECK(chip("b200_sxm").l2_bytes == 126.5 * 1048576);
  CHECK(chip("a100_80_sxm").shared_mem_per_unit_bytes == 164.0 * 1024);  // 228 KiB is H100
  CHECK(chip("h100_sxm").register_file_per_unit_bytes == 65536.0 * 4);
}

TEST_CASE("announced figures stay beside the shipping ones") {
  const Chip& b200 = chip("b200_sxm");
  CHECK(b200.memory_bandwidth_bytes_per_s == 7.7e12);
  CHECK(b200.announced.at("memory_bandwidth_bytes_per_s") == 8e12);
  CHECK(chip("gaudi3").announced.at("peak_flops_per_s.bf16") == 1835e12);
}

TEST_CASE("sources name the nearest pattern: a figure, its group, all") {
  const Chip& a100 = chip("a100_80_sxm");
  CHECK(models::figure_source(a100, "measured.l2_bytes_per_s").find("gpu-benches") != std::string_view::npos);
  CHECK(models::figure_source(a100, "measured.allreduce_busbw_bytes_per_s").find("all-reduce benchmarks") !=
        std::string_view::npos);
  CHECK(models::figure_source(a100, "l2_bytes").find("A100 architecture whitepaper") != std::string_view::npos);
  CHECK(models::figure_source(a100, "l2_bytes").find("llm-analysis") != std::string_view::npos);
}

TEST_CASE("a learner's own chip loads from one object with a few figures") {
  const auto chips =
      models::parse_chips(with(R"(, "compute_units": 64, "sources": {"*": "my data sheet"})"), "my.json");
  INFO(chips.error);
  REQUIRE(chips);
  REQUIRE(chips->size() == 1);
  const Chip& mine = chips->front();
  CHECK(mine.short_name == "My chip");
  CHECK(mine.confidence == "user");
  CHECK(mine.compute_units == 64);
  CHECK(mine.peak_flops_per_s(Format::bf16) == 1e14);
  CHECK_FALSE(mine.peak_flops_per_s(Format::fp8));
  CHECK(models::figure_source(mine, "memory_bytes") == "my data sheet");
}

TEST_CASE("bad chip files get one sentence: file, chip, key, value, what is allowed") {
  CHECK(error_of(with(R"(, "tdp_w": "700 W")")) ==
        R"(my.json: chip "mine": tdp_w is "700 W", but must be a number from 0.001 to 1e+09 W.)");
  CHECK(error_of(with(R"(, "compute_units": 1.5)")) ==
        R"(my.json: chip "mine": compute_units is 1.5, but must be a whole number from 1 to 1e+07.)");
  CHECK(error_of(with(R"(, "peak_flops_per_s": {"bf16": -1})")) ==
        R"(my.json: chip "mine": peak_flops_per_s.bf16 is -1, but must be a number from 1 to 1e+21 FLOP/s.)");
  CHECK(error_of(with(R"(, "peak_flops_per_s": {"bf17": 1})"))
            .find(R"(unknown key "peak_flops_per_s.bf17"; allowed are fp64, fp64_matrix, fp32)") != std::string::npos);
  CHECK(error_of(with(R"(, "memory_gb": 80)"))
            .find(R"(my.json: chip "mine": unknown key "memory_gb"; allowed are id, name,)") == 0);
  CHECK(error_of(with(R"(, "interconnect": 3)")) ==
        R"(my.json: chip "mine": interconnect is 3, but must be an object.)");
  CHECK(
      error_of(
          R"({"id": "mine", "name": "x", "memory_bandwidth_bytes_per_s": 1e12, "peak_flops_per_s": {"bf16": 1e14}})") ==
      R"(my.json: chip "mine": memory_bytes is missing; it must be a number above 0.)");
  CHECK(error_of(R"({"id": "../x", "name": "x"})") ==
        R"(my.json: chip 1: id is "../x", but must be 1 to 64 of a-z, 0-9 and _.)");
  CHECK(error_of("{\"chips\": [" + with("") + "," + with("") + "]}") ==
        R"(my.json: id "mine" appears twice in chips; ids must differ.)");
  CHECK(error_of("{\"chips\": 3}") == "my.json: chips is 3, but must be a list.");
  CHECK(error_of("[]") == R"(my.json holds [], but must hold a chip object or {"chips": [...]}.)");
  CHECK(error_of("{\"model_type\": \"llama\"}")
            .find(R"(my.json: unknown key "model_type"; allowed are references, chips and networks)") == 0);
}

TEST_CASE("hostile chip files are refused, with the place where it helps") {
  CHECK(error_of("") == "my.json is not valid JSON in UTF-8 at line 1, column 1; mend the text there.");
  CHECK(error_of("{\n  \"id\": \"a\",,\n}") ==
        "my.json is not valid JSON in UTF-8 at line 2, column 13; mend the text there.");
  CHECK(error_of(with(", \"tdp_w\": NaN")).find("my.json is not valid JSON in UTF-8 at line 1") == 0);
  CHECK(error_of(with(", \"vendor\": \"\xff\xfe\"")).find("my.json is not valid JSON in UTF-8 at line 1") == 0);
  CHECK(error_of(with(", \"tdp_w\": 1e999")) == "my.json holds a number beyond 1.8e308; give figures in SI units.");
  CHECK(error_of(with(R"(, "vendor": ")" + std::string(500, 'x') + "\"")).find("vendor is \"xxxx") !=
        std::string::npos);
  CHECK(error_of(with(R"(, "vendor": "a\nb")")).find("one line without control characters") != std::string::npos);
  CHECK(error_of(std::string(1000000, '[')) ==
        "my.json nests brackets deeper than 32 levels; a hardware file needs five.");
  CHECK(error_of(with(R"(, "notes": [[[[[[1]]]]]])")).find("notes is [[[[[1]]]]], but must be a text") !=
        std::string::npos);
  CHECK(error_of(std::string((16u << 20) + 1, ' ')) ==
        "my.json is larger than 16 MiB; a hardware file holds a few chips.");
  // Every truncation of a good file is an error with a sentence, never a crash or half a chip.
  const std::string good = with(R"(, "notes": ["a"], "sources": {"*": ["b", "c"]}, "announced": {"tdp_w": 5})");
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK(error_of(good.substr(0, length)).ends_with('.'));
  }
  CHECK(error_of(good).empty());
}

TEST_CASE("figures can be set by key, within their range") {
  Chip c;
  CHECK(models::set_figure(c, "measured.l2_latency_s", 151e-9));
  CHECK(models::figure_value(c, "measured.l2_latency_s") == 151e-9);
  CHECK_FALSE(models::set_figure(c, "tdp_w", std::nan("")));
  CHECK_FALSE(models::set_figure(c, "compute_units", 1e300));
  CHECK_FALSE(models::set_figure(c, "no_such_figure", 1));
  CHECK_FALSE(c.tdp_w);
}

TEST_CASE("networks: rates per direction; PCIe follows from its line coding") {
  const auto networks = models::parse_networks(
      support::read_text(support::source_file("assets/hardware/networks.json")), "networks.json");
  INFO(networks.error);
  REQUIRE(networks);
  CHECK(networks->size() == 17);
  for (const models::Network& network : *networks) {
    INFO(network.id);
    CHECK_FALSE(network.source.empty());
    if (network.id == "infiniband_ndr") CHECK(network.bytes_per_s_per_direction == 50e9);  // 400 Gb/s
    // Ethernet by the name of its rate; what AWS states of a node is an eighth for each of its GPUs.
    if (network.id.starts_with("ethernet_"))
      CHECK(network.bytes_per_s_per_direction == std::stod(network.id.substr(9)) * 1e9 / 8);
    if (network.id == "efa_p4d") CHECK(network.bytes_per_s_per_direction == 400e9 / 8 / 8);
    if (network.id == "efa_p5" || network.id == "efa_p5en") CHECK(network.bytes_per_s_per_direction == 3200e9 / 8 / 8);
    if (network.kind == "pcie") {
      const auto raw = models::pcie_bytes_per_s_per_direction(network.id.back() - '0');
      REQUIRE(raw);
      CHECK(std::abs(*raw / network.bytes_per_s_per_direction - 1) <= 0.001);
    }
  }
  CHECK_FALSE(models::pcie_bytes_per_s_per_direction(9));
  CHECK(models::parse_networks(
            R"({"networks": [{"id": "x", "name": "x", "kind": "carrier pigeon", "source": "RFC 1149", )"
            R"("bytes_per_s_per_direction": 5}]})",
            "n.json")
            .error == R"(n.json: network 1: kind is "carrier pigeon", but must be infiniband, ethernet or pcie.)");
}
