#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/framework/compilers/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("compilers: blocks of seconds are paid by slivers of milliseconds") {
  const LabPtr lab = open_lab("framework/compilers", R"({"lengths": "same"})");
  compute(*lab);
  CHECK(out(*lab, "graphs") == 1);
  CHECK(near(out(*lab, "compile_s"), 25.2, 1e-12));
  CHECK(near(out(*lab, "pays_after"), out(*lab, "compile_s") / out(*lab, "saving_s"), 1e-12));
  // More than a thousand calls go by first: 1,290 launches of 16.2 us eager, 419 compiled.
  CHECK(out(*lab, "ahead_from") > 1000);
  CHECK(out(*lab, "eager_launches") == 1290);
  CHECK(out(*lab, "launches") == 419);
  CHECK(near(out(*lab, "won_s"), out(*lab, "eager_s") - out(*lab, "compile_s") - out(*lab, "run_s"), 1e-12));
  CHECK(near(out(*lab, "mean_call_s"), out(*lab, "total_s") / 6000, 1e-12));
  compute(set(*lab, "calls", 1000));
  CHECK(std::isnan(out(*lab, "ahead_from")));
  CHECK(out(*lab, "won_s") < 0);
  CHECK(out(*lab, "pays_after") > 1000);
}

TEST_CASE("compilers: the rule for lengths decides how many graphs there are and what is padded") {
  const LabPtr lab = open_lab("framework/compilers");
  compute(*lab);
  CHECK(out(*lab, "graphs") == 2);
  CHECK(out(*lab, "recompilations") == 1);
  CHECK(out(*lab, "padding") == 0);
  CHECK(out(*lab, "distinct_lengths") > 300);
  CHECK(computed(set(*lab, "policy", "dynamic"), "graphs") == 1);
  compute(set(*lab, "policy", "exact"));
  CHECK(out(*lab, "graphs") == 8);
  CHECK(out(*lab, "eager_percent") > 80);
  compute(set(*lab, "policy", "longest"));
  CHECK(out(*lab, "graphs") == 1);
  CHECK(near(out(*lab, "padding"), 100 * (1 - out(*lab, "mean_length") / 1024), 1e-9));
  // Buckets of 128 up to 1,024 are eight graphs, which is just the limit; half as wide ones are not.
  compute(set(*lab, "policy", "multiples"));
  CHECK(out(*lab, "graphs") <= 8);
  CHECK(out(*lab, "eager_calls") == 0);
  CHECK(computed(set(*lab, "bucket", 32), "eager_calls") > 0);
}

TEST_CASE("compilers: the faster mode loses where every length is captured, and wins in buckets") {
  const LabPtr lab = open_lab("framework/compilers");
  const double standard_won_s = computed(*lab, "won_s");
  compute(set(*lab, "way", "reduce_overhead"));
  CHECK(out(*lab, "captures") > 200);
  CHECK(out(*lab, "won_s") < standard_won_s);
  compute(set(*lab, "lengths", "same"));
  const double same_won_s = out(*lab, "won_s");
  CHECK(out(*lab, "captures") == 1);
  CHECK(same_won_s > computed(set(*lab, "way", "standard"), "won_s"));
  // Padded to buckets first, one dynamic graph is captured eight times, and the mode pays.
  compute(set(*lab, "way", "reduce_overhead", "lengths", "lognormal", "policy", "any_padded"));
  CHECK(out(*lab, "graphs") == 1);
  CHECK(out(*lab, "captures") <= 8);
  CHECK(out(*lab, "won_s") > standard_won_s);
  set(*lab, "policy", "automatic");
  // XLA has no dynamic lengths: a graph for each.
  compute(set(*lab, "way", "xla", "lengths", "lognormal"));
  CHECK(out(*lab, "graphs") == out(*lab, "distinct_lengths"));
  CHECK(out(*lab, "eager_calls") == 0);
}

TEST_CASE("compilers: the table has every way that the chip can take, and what cannot be is refused") {
  const LabPtr lab = open_lab("framework/compilers", R"({"calls": 50})");
  compute(*lab);
  CHECK(rows(*lab, "ways") == 7);
  CHECK(cell(*lab, "ways", 0, "won_s") == 0);
  // What is paid back can be divided from the table: compiling over what a call is faster than eager.
  CHECK(near(cell(*lab, "ways", 1, "compile_s") / (cell(*lab, "ways", 0, "call_s") - cell(*lab, "ways", 1, "call_s")),
             out(*lab, "pays_after"), 1e-9));
  CHECK(reason_of(set(*lab, "way", "tensorrt", "chip", "mi300x")).find("NVIDIA") != std::string::npos);
  CHECK(rows(compute(set(*lab, "way", "standard")), "ways") == 6);
  CHECK_FALSE(reason_of(set(*lab, "chip", "h100_sxm", "model", "mixtral-8x7b")).empty());
  // 1,024 sequences of 2,048 tokens hold 131,072 B a token: 275 GB. As many as are padded to hold none.
  CHECK(reason_of(set(*lab, "model", "llama-3-8b", "phase", "decode")).find("275 GB") != std::string::npos);
  CHECK(reason_of(set(*lab, "lengths", "same", "median", 64, "policy", "longest")).empty());
}

TEST_CASE("compilers: launches are those of the shared host, and kernels those of the graph that took the calls") {
  const LabPtr lab = open_lab("framework/compilers", R"({"lengths": "same", "calls": 50})");
  compute(*lab);
  const double device_s = out(*lab, "device_s");
  // A recording of an H100: 16.7 us a launch, for 419 launches.
  compute(set(*lab, "host", "h100_qwen"));
  CHECK(near(out(*lab, "host_s") / 419, models::recorded_launches()[0].interval_s, 1e-9));
  // Drawn without a spread all lengths are alike: one exact graph, and no kernel for any length.
  compute(set(*lab, "host", "own", "lengths", "lognormal", "spread", 0));
  CHECK(out(*lab, "graphs") == 1);
  CHECK(near(out(*lab, "device_s"), device_s, 1e-12));
}

TEST_CASE("compilers: the answer says from which call on, or that it is behind") {
  const auto says = [](const char* inputs) { return answer_of("framework/compilers", inputs); };
  CHECK(says(R"({"lengths": "same"})").starts_with("PyTorch's torch.compile stays ahead of eager from call `"));
  CHECK(says(R"({"lengths": "same", "calls": 100})").find("to eager here") != std::string::npos);
  CHECK(says(R"({"policy": "exact"})").find("of the calls run eager") != std::string::npos);
  CHECK(says(R"({"way": "eager"})").starts_with("Eager calls take `"));
  // New lengths go on being captured: the calls that it needs hold only where none is.
  CHECK(says(R"({"way": "reduce_overhead"})").find("with no new graph it needs") != std::string::npos);
  // Guards of an assumed time take more than is saved: a count of calls would be that time's, not the compiler's.
  CHECK(says(R"({"policy": "exact"})").find("needs") == std::string::npos);
  CHECK(says(R"({"way": "xla"})").find("(one length each)") != std::string::npos);
}

namespace {

/// The link of the door that leads to the lab.
models::Result<std::string> door_to(const chapters::framework::compilers::Inputs& in, std::string_view lab) {
  use_bundled_catalog();
  chapters::Progress progress;
  const auto doors =
      chapters::framework::compilers::doors_of(in, chapters::framework::compilers::compute(in, progress).facts);
  for (const auto& door : doors)
    if (door.link ? door.link->starts_with(lab) : lab == "shut") return door.link;
  return models::Result<std::string>::fail("There is no such door.");
}

}  // namespace

TEST_CASE("compilers: its doors open the same call, the same lengths, and say why where nothing is packed") {
  chapters::framework::compilers::Inputs in;
  in.lengths = chapters::framework::compilers::Lengths::same;
  const LabPtr here = open_lab("framework/compilers", R"({"lengths": "same"})");
  compute(*here);
  const LabPtr launch = open_link(*door_to(in, "framework/launch"));
  compute(*launch);
  CHECK(out(*launch, "launches") == out(*here, "eager_launches"));
  CHECK(out(*launch, "beside_launches") == out(*here, "launches"));
  CHECK(near(out(*launch, "step_s"), out(*here, "eager_call_s"), 0.02));
  CHECK(input(*open_link(*door_to(in, "framework/fusion")), "tokens").number() == 300);
  in.launching.host = chapters::LaunchedBy::a100;
  CHECK(input(*open_link(*door_to(in, "framework/launch")), "host").choice_id() == "a100");
  in.lengths = chapters::framework::compilers::Lengths::sharegpt;
  const LabPtr packing = open_link(*door_to(in, "training/packing"));
  CHECK(input(*packing, "lengths").choice_id() == "sharegpt");
  CHECK(input(*packing, "sequence").number() == 1024);
  in.phase = chapters::LaunchedPhase::decode;
  in.longest = 64;
  CHECK(door_to(in, "shut").error.find("nothing is packed") != std::string::npos);
}
