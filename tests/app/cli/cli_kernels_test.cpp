#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/kernels_survey.h"
#include "app/kernel_runs/kernel_json.h"
#include "models/measure/timings_csv.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/cli_run.h"

using support::Ran;
using support::refused_by_cli;
using support::run_cli;

namespace {

std::vector<std::string> after_kernels(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "kernels");
  return arguments;
}
Ran run_kernels_cli(std::vector<std::string> arguments) { return run_cli(after_kernels(std::move(arguments))); }
std::string refused_kernels_cli(std::vector<std::string> arguments) {
  return refused_by_cli(after_kernels(std::move(arguments)));
}

std::vector<app::KernelEvent> events(const std::string& out) {
  std::vector<app::KernelEvent> all;
  std::stringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const auto event = app::parse_kernel_event(line);
    INFO(line << event.error);
    REQUIRE(event);
    all.push_back(*event);
  }
  return all;
}

using Kind = app::KernelEvent::Kind;

}  // namespace

TEST_CASE("kernels list names every ladder, its sizes and its rungs") {
  const Ran r = run_kernels_cli({"list", "--json"});
  REQUIRE(r.status == 0);
  const auto all = nlohmann::json::parse(r.out);
  const auto sgemm = std::find_if(all.begin(), all.end(), [](const auto& l) { return l["id"] == "cpu-sgemm"; });
  REQUIRE(sgemm != all.end());
  CHECK((*sgemm)["device"] == "cpu");
  CHECK((*sgemm)["measure"] == "flops_per_s");
  CHECK((*sgemm)["why_not"] == "");
  CHECK((*sgemm)["rungs"][0]["id"] == "naive");
  CHECK((*sgemm)["rungs"][0]["source"].get<std::string>().find("void naive(") == 0);
  const Ran text = run_kernels_cli({"list"});
  CHECK(text.out.find("cpu-copy  Copy; Bytes copied 4 B to 1 GiB") != std::string::npos);
  CHECK(text.out.find("packed panels. A and B are copied") != std::string::npos);
}

TEST_CASE("kernels run says its events a line each and ends with done") {
  const Ran r =
      run_kernels_cli({"run", "cpu-triad", "--size", "4kB", "--seconds", "1ms", "--seed", "9", "--warm", "--json"});
  CHECK(r.status == 0);
  CHECK(r.error == "");
  const auto all = events(r.out);
  REQUIRE(all.size() >= 5);
  CHECK(all.back() == app::KernelEvent{.kind = Kind::done});
  CHECK(std::count_if(all.begin(), all.end(), [](const auto& e) { return e.kind == Kind::result; }) == 3);
  double last = 0;
  for (const auto& e : all) {
    if (e.kind == Kind::progress) CHECK(e.fraction >= std::exchange(last, e.fraction));
    if (e.kind == Kind::result) {
      CHECK(e.result.ladder == "cpu-triad");
      CHECK(e.result.size == 4000);
      CHECK(e.result.bytes == 12000);  // two read, one written
    }
  }
  CHECK(last == 1);
}

TEST_CASE("kernels run names the rungs it is given, and prints a table of them in the ladder's order") {
  const Ran r =
      run_kernels_cli({"run", "cpu-sgemm", "--rung", "ikj", "--rung", "naive", "--size", "24", "--seconds", "0.001"});
  REQUIRE(r.status == 0);
  CHECK(r.out.find("cpu-sgemm  Matmul (SGEMM); Size N 24, cold, ") == 0);
  const auto naive = r.out.find("\n  naive "), ikj = r.out.find("\n  ikj ");
  CHECK(naive < ikj);
  CHECK(ikj != std::string::npos);
  CHECK(r.out.find("packed") == std::string::npos);
  CHECK(r.out.find("% of fma") != std::string::npos);
}

TEST_CASE("kernels turns prints every run in the order that is asked for, as CSV or as events") {
  const Ran r = run_kernels_cli(
      {"turns", "cpu-sgemm", "--rung", "ikj", "--rung", "naive", "--size", "24", "--turns", "ABB", "--runs", "5"});
  REQUIRE(r.status == 0);
  const auto read = models::measure::read_timings(r.out);
  REQUIRE(read);
  CHECK(read->names[0] == "ikj");
  REQUIRE(read->runs.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) CHECK(read->runs[k].is_b == (k % 3 > 0));
  const Ran same =
      run_kernels_cli({"turns", "cpu-copy", "--rung", "simd", "--rung", "simd", "--size", "4kB", "--runs", "4"});
  CHECK(same.out.find("simd again,") != std::string::npos);
  const Ran json = run_kernels_cli(
      {"turns", "cpu-sgemm", "--rung", "ikj", "--rung", "naive", "--size", "24", "--turns", "BA", "--json"});
  const auto all = events(json.out);
  REQUIRE(all.size() >= 3);
  CHECK((all[0].kind == Kind::turn && all[0].turn.is_b && all[0].turn.time_s > 0));
  CHECK(all.back() == app::KernelEvent{.kind = Kind::done});
  CHECK(refused_kernels_cli({"turns"}) == "Name a ladder: `ridgeline kernels list` shows them all.");
  CHECK(refused_kernels_cli({"turns", "cpu-copy", "--rung", "simd"}) ==
        "Name the two rungs to compare, A first: --rung A --rung B; the same one twice is fine.");
  CHECK(refused_kernels_cli({"turns", "cpu-copy", "--rung", "simd", "--rung", "simd", "--runs", "1000"}) ==
        "--runs is a whole number from 1 to 400; it is \"1000\".");
  CHECK(refused_kernels_cli({"turns", "cpu-copy", "--rung", "simd", "--rung", "simd", "--runs", "2.5"}) ==
        "--runs is a whole number from 1 to 400; it is \"2.5\".");
}

TEST_CASE("kernels roofline prints ceilings, and as events the device comes first") {
  const Ran r = run_kernels_cli({"roofline", "--seconds", "0.01", "--json"});
  REQUIRE(r.status == 0);
  const auto all = events(r.out);
  const auto device = std::find_if(all.begin(), all.end(), [](const auto& e) { return e.kind == Kind::device; });
  const auto roof = std::find_if(all.begin(), all.end(), [](const auto& e) { return e.kind == Kind::roof; });
  REQUIRE(device < roof);
  REQUIRE(roof < all.end());
  CHECK(device->device == kernels::Device::cpu);
  CHECK(std::any_of(roof, all.end(), [](const auto& e) {
    return e.roof.id == "dram_read" && e.roof.unit == "B/s" && e.roof.value > 0;
  }));
  CHECK(all.back().kind == Kind::done);
}

TEST_CASE("kernels refuses what it cannot do in one sentence") {
  const support::Folder folder;
  CHECK(refused_kernels_cli({}) ==
        "`ridgeline kernels` is followed by list, run LADDER, turns LADDER, check, measure or roofline.");
  CHECK(refused_kernels_cli({"walk"}) ==
        "`ridgeline kernels` is followed by list, run LADDER, turns LADDER, check, measure or roofline; \"walk\" is "
        "none of them.");
  CHECK(refused_kernels_cli({"list", "cpu-copy"}) ==
        "\"cpu-copy\" is one word too many: ridgeline kernels list takes options alone.");
  CHECK(refused_kernels_cli({"run"}) == "Name a ladder: `ridgeline kernels list` shows them all.");
  CHECK(refused_kernels_cli({"run", "cpu-sgem"}).find("There is no ladder \"cpu-sgem\": there are cpu-copy, ") == 0);
  CHECK(refused_kernels_cli({"run", "cpu-sgemm", "--size", "4096"}) ==
        "The ladder cpu-sgemm takes sizes (Size N) from 1 to 2048; 4096 is outside.");
  CHECK(refused_kernels_cli({"run", "cpu-sgemm", "--size", "0"}).find("--size must be a whole number from 1") == 0);
  CHECK(refused_kernels_cli({"run", "cpu-sgemm", "--size", "many"}).find("many") != std::string::npos);
  CHECK(refused_kernels_cli({"run", "cpu-sgemm", "--seed", "-1"}).find("--seed must be a whole number from 0") == 0);
  CHECK(refused_kernels_cli({"run", "cpu-sgemm", "--seconds", "0"}) ==
        "The time for a rung must be more than 0 s and at most 60 s.");
  CHECK(refused_kernels_cli({"run", "cpu-sgemm", "--source", "x.cu"}) ==
        "--source replaces the source of one rung: name it with one --rung.");
  CHECK(refused_kernels_cli({"run", "cuda-copy", "--rung", "scalar", "--source", (folder.path / "none.cu").string()})
            .find("none.cu") != std::string::npos);
  CHECK(refused_kernels_cli({"roofline", "--device", "tpu"}) == "--device is cpu, cuda or opengl; it is \"tpu\".");
  const Ran unknown = run_kernels_cli({"run", "cpu-sgem", "--json"});  // a process that listens hears it too
  CHECK(unknown.status == 2);
  REQUIRE(events(unknown.out).size() == 1);
  CHECK(events(unknown.out)[0].failure.find("There is no ladder \"cpu-sgem\"") == 0);
}

TEST_CASE("kernels check says of every rung whether it is right, and where none can run that none was") {
  CHECK(refused_kernels_cli({"check", "cpu-copy"}) ==
        "Only CUDA ladders are checked alone: a CPU's are checked whenever they run.");
  CHECK(refused_kernels_cli({"check", "cuda-cpy"}) ==
        "There is no ladder \"cuda-cpy\": `ridgeline kernels list` shows them all.");
  using app::cli::Verdict;
  CHECK(app::cli::verdict_of({.rung = "a"}, true) == Verdict::right);
  CHECK(app::cli::verdict_of({.rung = "a", .failure = "The result is wrong."}, true) == Verdict::wrong);
  CHECK(app::cli::verdict_of({.rung = "a", .compiled = false, .failure = "Other hardware."}, true) ==
        Verdict::elsewhere);
  CHECK(app::cli::verdict_of({.rung = "a",
                              .compiled = false,
                              .failure = "It does not compile.",
                              .diagnostics = {{.line = 2, .text = "x", .error = true}}},
                             true) == Verdict::wrong);
  CHECK(app::cli::verdict_of({.rung = "a", .failure = "Not timed: no device."}, false) == Verdict::elsewhere);
}

TEST_CASE("kernels measure writes chip, date, ceilings and a row for each rung") {
  const support::Folder folder;
  const std::string path = (folder.path / "measured.json").string();
  const Ran r = run_kernels_cli({"measure", "cpu-triad", "--seconds", "1ms", "--note", "driver 1.2", "-o", path});
  REQUIRE(r.status == 0);
  const auto doc = nlohmann::json::parse(support::read_text(path));
  CHECK(doc["chip"].get<std::string>().size() > 3);
  CHECK(doc["date"].get<std::string>().size() == 10);
  CHECK(doc["note"] == "driver 1.2");
  CHECK(doc["roofs"].size() > 3);
  REQUIRE(doc["rows"].size() == 3);
  for (const auto& row : doc["rows"]) {
    CHECK(row["ladder"] == "cpu-triad");
    CHECK(row["time_s"].get<double>() > 0);
    CHECK(row["error"].get<double>() <= row["error_bound"].get<double>());
  }
  const kernels::Result failed{.ladder = "cuda-copy", .rung = "scalar", .failure = "It failed."};
  const app::Json rows = app::cli::survey_document({}, {failed}, "2026-11-29", "")["rows"];
  CHECK(rows[0]["failure"] == "It failed.");
  CHECK_FALSE(rows[0].contains("time_s"));
}
