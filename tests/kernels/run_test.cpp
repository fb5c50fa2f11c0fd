// The protocol of a run, with kernels that are wrong on purpose.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/operation.h"

using namespace kernels;
using cpu::Version;

namespace {

std::vector<char>& calls() {
  static std::vector<char> all;
  return all;
}

void right(std::int64_t n, const float* a, const float*, float* c, float*) {
  calls().push_back('r');
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i];
}
void also_right(std::int64_t n, const float* a, const float*, float* c, float*) {
  calls().push_back('s');
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i];
}
void writes_nothing(std::int64_t, const float*, const float*, float*, float*) {}
void forgets_the_last(std::int64_t n, const float* a, const float*, float* c, float*) {
  for (std::int64_t i = 0; i + 1 < n; ++i) c[i] = a[i];
}
void writes_nan(std::int64_t n, const float*, const float*, float* c, float*) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = std::numeric_limits<float>::quiet_NaN();
}
void doubles(std::int64_t n, const float* a, const float*, float* c, float*) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = 2 * a[i];
}
void overruns(std::int64_t n, const float* a, const float*, float* c, float*) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i];
  c[n] = 0;
}
void breaks_after_a_while(std::int64_t n, const float* a, const float*, float* c, float* work) {
  work[0] += 1;
  for (std::int64_t i = 0; i < n; ++i) c[i] = work[0] > 2 ? 0 : a[i];
}

/// The copy ladder with kernels of ours.
cpu::Operation copy_with(const std::vector<Version>& versions) {
  cpu::Operation operation = cpu::copy_operation();
  operation.versions = versions;
  operation.shape = [](std::int64_t size) {
    return cpu::Shape{
        .n = size / 4,
        .a = size / 4,
        .c = size / 4,
        .work = 1,
    };
  };
  return operation;
}

Request small() {
  return {
      .ladder = "cpu-copy",
      .size = 400,
      .cold = false,
      .seconds_per_rung = 1e-3,
  };
}

std::map<std::string, Result> results_of(const cpu::Operation& operation, Request request = small()) {
  std::map<std::string, Result> all;
  CHECK(cpu::run(request, operation, {.result = [&](const Result& r) { return all.emplace(r.rung, r).second; }}));
  return all;
}

}  // namespace

TEST_CASE("a wrong kernel is refused with what is wrong and is not timed; right ones beside it are") {
  const std::vector<Version> versions = {{.rung = {.id = "right"}, .call = right},
                                         {.rung = {.id = "nothing"}, .call = writes_nothing},
                                         {.rung = {.id = "last"}, .call = forgets_the_last},
                                         {.rung = {.id = "nan"}, .call = writes_nan},
                                         {.rung = {.id = "twice"}, .call = doubles},
                                         {.rung = {.id = "over"}, .call = overruns},
                                         {.rung = {.id = "later"}, .call = breaks_after_a_while}};
  const auto all = results_of(copy_with(versions));
  REQUIRE(all.size() == versions.size());
  CHECK(all.at("right").failure.empty());
  CHECK(all.at("right").time_s > 0);
  for (const char* id : {"nothing", "last", "nan"})
    CHECK(all.at(id).failure ==
          "The rung " + std::string(id) + " left results that are not numbers, so it was not timed.");
  CHECK(all.at("twice").failure == "The rung twice is wrong: its error is 1 where 0 is allowed, so it was not timed.");
  CHECK(all.at("over").failure == "The rung over wrote outside its arrays, so it was not timed.");
  CHECK(all.at("later").failure ==
        "The rung later is wrong: its error is 1 where 0 is allowed, so it was not timed.");  // the check after the
                                                                                              // timing
  for (const auto& [id, r] : all)
    if (id != "right") CHECK((r.time_s == 0 && r.samples == 0));
}

TEST_CASE("a rung that this build, CPU or size cannot run says why") {
  const std::vector<Version> versions = {{.rung = {.id = "elsewhere"}, .needs = cpu::Isa::avx512, .call = nullptr},
                                         {
                                             .rung = {.id = "slow"},
                                             .call = right,
                                             .size_hi = 100,
                                             .flops_per_s = 2e8,
                                         }};
  cpu::Operation operation = copy_with(versions);
  operation.ladder.cost = [](std::int64_t size) { return models::OpCost{.flops = 2e7 * static_cast<double>(size)}; };
  const auto all = results_of(operation);
  CHECK(all.at("elsewhere").failure ==
        "The rung elsewhere is written for x86-64, and this program was built for another architecture.");
  CHECK(all.at("slow").failure ==
        "The rung slow is not run at 400: one call is 8 GFLOP, about 40 s at 0.2 GFLOP/s; choose a size up to 100, or "
        "leave this rung out.");
}

TEST_CASE("rungs are checked first and then timed in turns") {
  calls().clear();
  const std::vector<Version> versions = {{.rung = {.id = "first"}, .call = right},
                                         {.rung = {.id = "second"}, .call = also_right}};
  Request request = small();
  request.cold = true;  // one call a sample
  request.seconds_per_rung = 5e-3;
  CHECK(results_of(copy_with(versions), request).size() == 2);
  // A first call each, to be checked, then at least three samples each, in turns.
  CHECK(std::string(calls().begin(), calls().end()).substr(0, 8) == "rsrsrsrs");
  calls().clear();
  request.seconds_per_rung = 1e-12;  // a first call that takes all the time is the only one, and counts
  CHECK(results_of(copy_with(versions), request).at("first").samples == 1);
  CHECK(std::string(calls().begin(), calls().end()) == "rs");
  CHECK(results_of(copy_with(versions),
                   {
                       .ladder = "cpu-copy",
                       .rungs = {"second"},
                       .size = 400,
                       .seconds_per_rung = 1e-9,
                   })
            .count("first") == 0);
}

TEST_CASE("progress grows from 0 to 1, and a false answer stops the run at once") {
  const std::vector<Version> versions = {{.rung = {.id = "first"}, .call = right},
                                         {.rung = {.id = "second"}, .call = also_right}};
  const auto operation = copy_with(versions);
  std::vector<double> fractions;
  Request request = small();
  request.seconds_per_rung = 0.1;
  CHECK(cpu::run(request, operation, {.progress = [&](double f) {
                   fractions.push_back(f);
                   return true;
                 }}));
  REQUIRE(fractions.size() >= 2);
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  CHECK(fractions.front() < 0.5);
  CHECK(fractions.back() == 1);
  int reports = 0, results = 0;
  request.seconds_per_rung = 60;
  CHECK(cpu::run(
      request, operation,
      {.result = [&](const Result&) { return ++results > 0; }, .progress = [&](double) { return ++reports < 2; }}));
  CHECK(reports == 2);
  CHECK(results == 0);
  const std::vector<Version> wrong_first = {{.rung = {.id = "bad"}, .call = doubles},
                                            {.rung = {.id = "good"}, .call = right}};
  CHECK(cpu::run(request, copy_with(wrong_first), {.result = [&](const Result&) { return ++results < 1; }}));
  CHECK(results == 1);
}

TEST_CASE("a request that fits no ladder is one sentence that says what would") {
  const auto fault = [](Request r) {
    if (r.ladder.empty()) r.ladder = "cpu-sgemm";
    return run(r, {}).error;
  };
  CHECK(fault({.ladder = "cpu-gemm"}).find("There is no ladder \"cpu-gemm\": there are cpu-copy, cpu-triad, ") == 0);
  CHECK(
      fault({.rungs = {"packed", "quick"}}) ==
      "The ladder cpu-sgemm has no rung \"quick\": it has naive, ikj, simd, blocked, tile, spill, packed and avx512.");
  CHECK(fault({.size = 5000}) == "The ladder cpu-sgemm takes sizes (Size N) from 1 to 2048; 5000 is outside.");
  CHECK(fault({.size = -1}) == "The ladder cpu-sgemm takes sizes (Size N) from 1 to 2048; -1 is outside.");
  for (const double seconds :
       {0.0, -1.0, 61.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK(fault({.seconds_per_rung = seconds}) == "The time for a rung must be more than 0 s and at most 60 s.");
  CHECK(fault({.edited_rung = "packed", .edited_source = "x"}) ==
        "Only kernels of a GPU can be edited: the rungs of cpu-sgemm are part of the program.");
  CHECK(fault({.rungs = {"naive"}, .size = 1536}).empty());  // that rung's own result says how long it would take
}

TEST_CASE("turns: both rungs are checked, then every run is timed in the order that is asked for") {
  calls().clear();
  const std::vector<Version> versions = {{.rung = {.id = "first"}, .call = right},
                                         {.rung = {.id = "second"}, .call = also_right}};
  const auto operation = copy_with(versions);
  std::vector<TimedTurn> all;
  const TakeTurn take = [&](const TimedTurn& turn) {
    all.push_back(turn);
    return all.size() < 5;
  };
  TurnsRequest request{.ladder = "cpu-copy", .a = "second", .b = "first", .turns = "ABBA", .size = 400};
  CHECK(cpu::run_turns(request, operation, take));
  CHECK(std::string(calls().begin(), calls().end()) == "srsrrs");  // cold: one call a run
  REQUIRE(all.size() == 4);
  for (std::size_t k = 0; k < all.size(); ++k) {
    CHECK(all[k].place == static_cast<std::int64_t>(k));
    CHECK(all[k].is_b == (request.turns[k] == 'B'));
    CHECK(all[k].time_s > 0);
  }
  // A rung against itself; the fifth run says that it is enough.
  all.clear();
  request.b = "second";
  request.turns = "AABBAABB";
  CHECK(cpu::run_turns(request, operation, take));
  CHECK(all.size() == 5);
}

TEST_CASE("turns: a wrong rung is not timed, one that goes wrong is found out, and an order is letters A and B") {
  const std::vector<Version> versions = {{.rung = {.id = "right"}, .call = right},
                                         {.rung = {.id = "twice"}, .call = doubles},
                                         {.rung = {.id = "later"}, .call = breaks_after_a_while}};
  const auto operation = copy_with(versions);
  int taken = 0;
  const TakeTurn count = [&](const TimedTurn&) { return ++taken > 0; };
  TurnsRequest request{.ladder = "cpu-copy", .a = "right", .b = "twice", .turns = "AB", .size = 400};
  CHECK(cpu::run_turns(request, operation, count).error ==
        "The rung twice is wrong: its error is 1 where 0 is allowed, so it was not timed.");
  CHECK(taken == 0);
  request.b = "later";
  request.turns = "ABBB";
  CHECK_FALSE(cpu::run_turns(request, operation, count));
  CHECK(taken == 4);
  const auto fault = [](TurnsRequest r) { return run_turns(r, [](const TimedTurn&) { return true; }).error; };
  CHECK(fault({.ladder = "cpu-copy", .a = "scalar", .b = "simd", .turns = "ABC"}) ==
        "The order of the runs is written in letters A and B, from 1 to 400 of them; it is \"ABC\".");
  CHECK_FALSE(fault({.ladder = "cpu-copy", .a = "scalar", .b = "simd"}).empty());
  CHECK_FALSE(fault({.ladder = "cpu-copy", .a = "scalar", .b = "simd", .turns = std::string(401, 'A')}).empty());
  CHECK(fault({.ladder = "cpu-copy", .a = "scalar", .b = "quick", .turns = "AB"})
            .starts_with("The ladder cpu-copy has no rung \"quick\""));
  CHECK(fault({.ladder = "cuda-copy", .a = "scalar", .b = "float4", .turns = "AB"}) ==
        "Runs are kept one by one for ladders of the CPU alone; cuda-copy runs on a GPU.");
}
