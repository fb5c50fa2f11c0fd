#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/debugging/divergence/lab.h"
#include "tests/support/base/files.h"
#include "tests/support/base/gzip.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

namespace lab_divergence = chapters::debugging::divergence;

lab_divergence::Picture divergence_picture(const lab_divergence::Inputs& in) {
  chapters::Progress progress;
  lab_divergence::HealthyRuns runs;
  const auto computed = lab_divergence::compute(in, progress, runs);
  return lab_divergence::arrange(in, computed.facts, *computed.run);
}

}  // namespace

TEST_CASE("divergence lab: one bit flips at step 60, and the loss shows it a hundred steps later") {
  const LabPtr lab = open_lab("debugging/divergence");
  compute(*lab);
  CHECK(out(*lab, "first_step") == 60);
  CHECK(out(*lab, "first_layer") == 3);
  CHECK(out(*lab, "equal") == 0);
  CHECK(out(*lab, "layers_next") == 8);
  CHECK(out(*lab, "loss_parts_step") == 177);
  CHECK(out(*lab, "silent_steps") == 117);
  CHECK(out(*lab, "loudest_layer") != 3);
  CHECK(out(*lab, "norm_layer") != 3);
  CHECK(out(*lab, "comparisons") == 1 + 8 + 5);
  CHECK(out(*lab, "in_order") == 61 + 4);
}

TEST_CASE("divergence lab: what the answer says of each kind of end") {
  const auto says = [](const char* inputs) { return answer_of("debugging/divergence", inputs); };
  CHECK(
      says("{}") ==
      "One bit of a weight flips in layer `3` at step `60`; the loss shows it at step `177`: `117` steps later.\n`14` "
      "comparisons of hashes find step and layer; read in order, it takes `65`.");
  CHECK(says(R"({"fault": "none"})").starts_with("Trained twice, the runs are equal bit for bit: every tensor "));
  CHECK(says(R"({"fault": "none", "fixed_order": false})")
            .starts_with("With sums in order of arrival the runs part at step `0`, fault or no fault"));
  CHECK(says(R"({"fault": "sum_order"})").find("the loss never shows it: `195` steps of silence") != std::string::npos);
  CHECK(says(R"({"interval": 16})").find("leave `16` steps; a second run of them is healthy") != std::string::npos);
  CHECK(says(R"({"ecc": true})").starts_with("ECC gives the flipped bit back"));
  CHECK(says(R"({"ecc": true, "upsets": 2})").starts_with("ECC sees `2` flipped bits that it cannot correct"));
  CHECK(says(R"({"tensor": "activation", "layer": 7, "entry": 12, "bit": 22})").find("It leaves no trace") !=
        std::string::npos);
  CHECK(says(R"({"steps": 64, "step": 64})") ==
        "The runs end after 64 steps, before step 64: plant the fault earlier, or train longer.");
}

TEST_CASE("divergence lab: facts alone are the facts of the picture's run, and sweeps reach every bit") {
  const LabPtr lab = open_lab("debugging/divergence");
  for (const int bit : {0, 12, 30, 31}) {
    set(*lab, "bit", bit);
    chapters::Progress alone, whole;
    alone.facts_alone = true;
    lab->compute(alone);
    const double parts = out(*lab, "silent_steps"), end = out(*lab, "apart_end");
    lab->compute(whole);
    CHECK(out(*lab, "silent_steps") == parts);
    CHECK(out(*lab, "apart_end") == end);
    CHECK(std::isfinite(parts));
  }
}

TEST_CASE(
    "divergence lab: the map is dark before the fault, has the ring at the first cell, and no shade without one") {
  const auto dark = divergence_picture({.fault = lab_divergence::PlantedFault::none});
  CHECK(dark.stretches.empty());
  CHECK(dark.ring_layer == -1);
  const auto flipped = divergence_picture({});
  REQUIRE_FALSE(flipped.stretches.empty());
  for (const auto& s : flipped.stretches) CHECK(s.from >= 60);
  CHECK((flipped.ring_layer == 3 && flipped.ring_step == 60));
  CHECK(flipped.loudest[59] == -1);
  CHECK(flipped.loudest[60] == 3);
  CHECK(flipped.probes.size() == 9);
  int differing = 0;
  for (std::size_t k = 0; k < 32; ++k) differing += flipped.bits[0][k] != flipped.bits[1][k];
  CHECK(differing == 1);
  CHECK(flipped.bits[0][31 - 20] != flipped.bits[1][31 - 20]);
}

namespace {

/// The lab with two logs.
LabPtr lab_of_logs(const Folder& folder, const std::string& more = "") {
  return open_lab("debugging/divergence", R"({"runs": "logs", "first_log": ")" + (folder / "a").string() +
                                              R"(", "second_log": ")" + (folder / "b").string() + "\"" + more + "}");
}

}  // namespace

TEST_CASE("divergence lab: two logs of one's own part at the first step beyond the noise, and the picture shows it") {
  const Folder folder;
  std::string a = "step,loss,grad_norm,step_time\n", b;
  for (int s = 100; s < 400; ++s) {
    const double loss = 4.0 / (1 + s * 0.01), norm = 1 + 0.001 * s;
    a += std::to_string(s) + "," + std::to_string(loss) + "," + std::to_string(norm) + ",1\n";
    b += "{\"_step\": " + std::to_string(s) + ", \"loss\": " + std::to_string(s < 250 ? loss : loss * 1.004) +
         ", \"grad_norm\": " + std::to_string(s < 310 ? norm : norm * 1.2) + ", \"step_time\": 2}\n";
  }
  folder.write("a", a);
  folder.write("b", gzipped(b));
  const LabPtr lab = lab_of_logs(folder);
  CHECK(computed(*lab, "loss_parts_step") == 310);
  CHECK(out(*lab, "first_step") == 250);
  CHECK(out(*lab, "silent_steps") == 60);
  CHECK(text_of(*lab, "log_quantity") == "grad_norm");
  CHECK(std::abs(out(*lab, "log_percent") - 20) <= 0.01);
  CHECK(out(*lab, "log_steps") == 300);
  CHECK(out(*lab, "log_quantities") == 2);
  CHECK(std::isnan(out(*lab, "comparisons")));
  CHECK(text_of(*lab, "log_notes") == "Not compared, since it measures the machine: step_time.");
  lab->arrange();
  CHECK(lab->answer() ==
        "At step `310` your runs part beyond `1 %`: grad_norm by `20.0 %`.\nThey differ from step `250` on: `60` steps "
        "within the noise.");
  set(*lab, "noise_percent", 0.1);
  CHECK(computed(*lab, "loss_parts_step") == 250);
  set(*lab, "noise_percent", 50);
  compute(*lab);
  CHECK(lab->answer() == "Your runs never part by more than `50 %`; they differ from step `250` on.");
  folder.write("b", a);
  const LabPtr same = lab_of_logs(folder);
  CHECK(computed(*same, "equal") == 1);
  CHECK(same->answer() == "Your logs are equal: `2` quantities, the same numbers at all `300` common steps.");
}

TEST_CASE("divergence lab: what the trained runs write down parts later than their bits, and as their numbers say") {
  const LabPtr lab = open_lab("debugging/divergence", R"({"runs": "written"})");
  CHECK(computed(*lab, "bits_step") == 60);
  CHECK(out(*lab, "log_quantities") == 3);
  CHECK(out(*lab, "log_steps") == 256);
  CHECK(text_of(*lab, "log_quantity") == "grad_norm");
  // The length of the gradients is beyond 1 % long before the losses are a spread apart, at step 177.
  CHECK(out(*lab, "loss_parts_step") == 91);
  CHECK(out(*lab, "log_percent") > 1);
  CHECK(
      lab->answer() ==
      "At step `91` the runs part beyond `1 %`: grad_norm by `1.67 %`.\nIn bits the runs differ from step `60` on, in "
      "six digits from step `60` on.");
  // Another order of sums changes the last bits: six digits show that sixteen steps later.
  choose(*lab, "fault", "sum_order");
  CHECK(computed(*lab, "first_step") == 76);
  CHECK(out(*lab, "bits_step") == 60);
  CHECK(std::isnan(out(*lab, "loss_parts_step")));
  // A corrected flip leaves both logs equal, and a run that ECC stops has no line more.
  choose(*lab, "fault", "flipped_bit");
  set(*lab, "ecc", true);
  CHECK(computed(*lab, "equal") == 1);
  CHECK(std::isnan(out(*lab, "bits_step")));
  set(*lab, "upsets", 2);
  CHECK(computed(*lab, "log_steps") == 60);
}

TEST_CASE(
    "divergence lab: a log alone waits for the other; one that is damaged and two that share nothing are refused") {
  const Folder folder;
  const LabPtr none = open_lab("debugging/divergence", R"({"runs": "logs"})");
  none->compute();
  CHECK(
      none->reason() ==
      "No log is chosen that could part by more than 1 %: give those of two runs, CSV or JSON lines with their steps.");
  folder.write("a", "step,loss\n1,2\n");
  const LabPtr one =
      open_lab("debugging/divergence", R"({"runs": "logs", "second_log": ")" + (folder / "a").string() + "\"}");
  compute(*one);
  CHECK(one->reason().empty());
  CHECK(out(*one, "equal") == 0);
  CHECK(one->answer() == "One log: `1` quantity at `1` step. Give the other run's, too, and see where they part.");
  folder.write("b", "step,loss\n1\n");
  const LabPtr lab = lab_of_logs(folder);
  lab->compute();
  CHECK(lab->reason() == "b: Line 2 of the log has 1 value, its first line names 2.");
  folder.write("b", "step,loss\n2,2\n");
  const LabPtr apart = lab_of_logs(folder);
  apart->compute();
  CHECK(apart->reason() == "The logs share no step: the first has steps 1 to 1, the second 2 to 2.");
}

TEST_CASE("divergence lab: a number on which nothing depends is no silence: the runs are equal after it") {
  const LabPtr lab =
      open_lab("debugging/divergence", R"({"tensor": "activation", "layer": 7, "entry": 12, "bit": 22})");
  CHECK(computed(*lab, "first_step") == 60);
  CHECK(std::isnan(out(*lab, "silent_steps")));
  CHECK(lab->answer() ==
        "One bit of an activation flips in layer `7` at step `60`, and nothing reads it: the weights of both runs "
        "stay equal bit for bit.\nIt leaves no trace in weights and moments: one comparison of hashes finds nothing.");
}

TEST_CASE("divergence lab: what is not in both logs is drawn as neither equal nor different") {
  std::string a = "step,loss,eval\n";
  for (int s = 0; s < 40; ++s) a += std::to_string(s) + ",2," + (s % 10 == 0 ? "3" : "") + "\n";
  const auto log = models::debugging::read_run_log(a);
  REQUIRE(log);
  const auto logs = models::debugging::compare_logs(*log, *log, 0);
  REQUIRE(logs);
  lab_divergence::Inputs in;
  in.runs = lab_divergence::Runs::logs;
  const auto picture = lab_divergence::arrange_logs(in, {}, *logs);
  CHECK(picture.gaps);
  // Four stretches of nine steps between those at which the second quantity was logged; the loss has none.
  REQUIRE(picture.stretches.size() == 4);
  for (const auto& s : picture.stretches) {
    CHECK(s.shade == -1);
    CHECK(s.to - s.from == 9);
    CHECK(picture.row_names[static_cast<std::size_t>(s.layer)] == "eval");
  }
}
