#include "models/trace/measure/ranks.h"

#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "models/trace/writers/sample.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"
#include "tests/support/base/files.h"

// Who comes last to the collectives of a job, and what that costs the others.

using namespace models::trace;
using trace_test::made_kernel;
using trace_test::made_recording;
using trace_test::opened_made;

namespace {

constexpr const char* all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

JobWaits waits(const std::vector<Trace>& traces) {
  std::vector<RankWork> ranks;
  for (const Trace& t : traces) ranks.push_back({&t, measure(t).devices.at(0).device});
  return waits_of(ranks);
}

/// A rank whose all-reduces start at these times and end together at 1000, 2000, ... us, as its clock shows them.
Trace rank(const std::vector<double>& starts_us, double clock_us = 0, const std::string& more = "") {
  std::vector<std::string> events;
  for (std::size_t i = 0; i < starts_us.size(); ++i)
    events.push_back(made_kernel(all_reduce, starts_us[i] + clock_us,
                                 1000.0 * static_cast<double>(i + 1) - starts_us[i], static_cast<int>(i) + 1, more));
  return opened_made(made_recording(events));
}

}  // namespace

TEST_CASE("the last to arrive is the culprit, not the one that waits longest", "[trace]") {
  // Rank 0 waits longest; rank 2 comes last twice, rank 1 once.
  const JobWaits w = waits({rank({100, 1100, 2950}), rank({500, 1600, 2990}), rank({900, 1900, 2960})});
  CHECK(w.one_clock);
  CHECK(w.spread_ns == 0);
  REQUIRE(w.collectives.size() == 3);
  CHECK(w.collectives[0].waited_ns == std::vector<std::int64_t>{800'000, 400'000, 0});
  CHECK(w.collectives[0].last == 2);
  CHECK(w.collectives[0].cost_ns == 1'200'000);
  CHECK(w.waited_ns == std::vector<std::int64_t>{1'640'000, 700'000, 30'000});
  CHECK(w.caused_ns == std::vector<std::int64_t>{0, 70'000, 2'300'000});
  CHECK(w.times_last == std::vector<std::int64_t>{0, 1, 2});
  CHECK(w.total_ns == 2'370'000);
  CHECK(w.culprit == 2);
  CHECK(w.culprit_share() == Catch::Approx(2300.0 / 2370));
  CHECK(w.stands_out);
  CHECK(w.unmatched == 0);
}

TEST_CASE("without a common clock the shortest participation tells who came last", "[trace]") {
  const JobWaits w = waits({rank({100, 1100}), rank({500, 1600}, 40'000), rank({900, 1900}, -7'000)});
  CHECK_FALSE(w.one_clock);
  CHECK(w.ends_agree);
  CHECK(w.spread_ns == 47'000'000);
  CHECK(w.waited_ns == std::vector<std::int64_t>{1'600'000, 700'000, 0});
  CHECK(w.culprit == 2);
  CHECK(w.times_last[2] == 2);
}

TEST_CASE("what ends together by no fixed difference of clocks is not judged", "[trace]") {
  const auto at = [](std::vector<std::pair<double, double>> spans) {
    std::vector<std::string> events;
    for (const auto& [start, end] : spans) events.push_back(made_kernel(all_reduce, start, end - start, 1));
    return opened_made(made_recording(events));
  };
  std::vector<Trace> traces;
  traces.push_back(at({{0, 1000}, {2000, 3000}, {4000, 5000}, {6000, 7000}}));
  traces.push_back(at({{0, 1700}, {2000, 2600}, {4000, 5900}, {6000, 6200}}));
  const JobWaits w = waits(traces);
  CHECK_FALSE(w.one_clock);
  CHECK_FALSE(w.ends_agree);
  CHECK(w.collectives.empty());
  CHECK(w.culprit == -1);
  CHECK(w.unmatched == 8);
}

TEST_CASE("clocks that count from different starts are put on one by their base time", "[trace]") {
  Trace a = rank({100, 1100}), b = rank({500, 1600}, -300);
  a.base_ns = 1'700'000'000'000'000'000;
  b.base_ns = a.base_ns + 300'000;
  const JobWaits w = waits({std::move(a), std::move(b)});
  CHECK(w.one_clock);
  CHECK(w.waited_ns == std::vector<std::int64_t>{900'000, 0});
}

TEST_CASE("ranks that come last in turn are no culprit", "[trace]") {
  const JobWaits w = waits({rank({990, 1900, 2900}), rank({900, 1990, 2910}), rank({900, 1900, 2990})});
  CHECK(w.total_ns == 180'000 + 180'000 + 170'000);
  CHECK_FALSE(w.stands_out);
  const JobWaits level = waits({rank({990, 1990}), rank({990, 1990})});
  CHECK(level.culprit == -1);
  CHECK(level.culprit_share() == 0);
}

TEST_CASE("waiting under computation is told apart from waiting with nothing to do", "[trace]") {
  // Rank 0 waits from 100 to 900 and computes until 600 meanwhile.
  std::vector<Trace> traces;
  traces.push_back(opened_made(
      made_recording({made_kernel(all_reduce, 100, 900, 1),
                      trace_test::made_span("kernel", "gemm", 0, 8, 0, 400, R"("device":0,"stream":8)"),
                      trace_test::made_span("kernel", "gemm", 0, 8, 450, 150, R"("device":0,"stream":8)")})));
  traces.push_back(rank({900}));
  const JobWaits w = waits(traces);
  CHECK(w.caused_ns[1] == 800'000);
  CHECK(w.idle_caused_ns[1] == 800'000 - 300'000 - 150'000);
  CHECK(w.collectives.at(0).idle_cost_ns == 350'000);
}

TEST_CASE("collectives are matched within their process group, by Seq where there is one", "[trace]") {
  const auto in_group = [](const char* name, const char* members, int seq) {
    return std::string(R"(,"Process Group Name":")") + name + R"(","Process Group Ranks":")" + members +
           R"(","Collective name":"allreduce","Seq":)" + std::to_string(seq);
  };
  // Ranks 0 and 1 reduce in one group, 2 and 3 in another at the same time; rank 1's recording lacks the first.
  const std::vector<Trace> traces = [&] {
    std::vector<Trace> out;
    out.push_back(opened_made(made_recording({made_kernel(all_reduce, 100, 900, 1, in_group("a", "[0, 1]", 1)),
                                              made_kernel(all_reduce, 1100, 900, 2, in_group("a", "[0, 1]", 2))})));
    out.push_back(opened_made(made_recording({made_kernel(all_reduce, 1700, 300, 1, in_group("a", "[0, 1]", 2))})));
    out.push_back(opened_made(made_recording({made_kernel(all_reduce, 300, 700, 1, in_group("b", "[2, 3]", 1))})));
    out.push_back(opened_made(made_recording({made_kernel(all_reduce, 450, 550, 1, in_group("b", "[2, 3]", 1))})));
    return out;
  }();
  const JobWaits w = waits(traces);
  REQUIRE(w.collectives.size() == 2);
  CHECK(w.collectives[0].events[0] == none);
  CHECK(w.collectives[0].waited_ns == std::vector<std::int64_t>{0, 0, 150'000, 0});
  CHECK(w.collectives[1].waited_ns == std::vector<std::int64_t>{600'000, 0, 0, 0});
  CHECK(w.collectives[1].last == 1);
  CHECK(w.unmatched == 1);
}

TEST_CASE("a rank that recorded one more is matched where the ends agree, and sends are no collectives", "[trace]") {
  std::vector<Trace> traces;
  traces.push_back(rank({100, 1100, 2100}));
  traces.push_back(
      opened_made(made_recording({made_kernel(all_reduce, 1300, 700, 1), made_kernel(all_reduce, 2600, 400, 2)})));
  const JobWaits w = waits(traces);
  REQUIRE(w.collectives.size() == 2);
  CHECK(w.waited_ns == std::vector<std::int64_t>{700'000, 0});
  CHECK(w.unmatched == 1);
  const std::string send = R"(,"Process Group Name":"p","Collective name":"send")";
  CHECK(waits({rank({100}, 0, send), rank({500}, 0, send)}).collectives.empty());
  CHECK(waits({rank({100})}).collectives.empty());
}

TEST_CASE("ranks that number their streams differently are matched by name", "[trace]") {
  std::vector<Trace> traces;
  traces.push_back(rank({100, 1100}));
  traces.push_back(opened_made(
      made_recording({trace_test::made_span("kernel", all_reduce, 0, 20, 400, 600, R"("device":0,"stream":20)"),
                      trace_test::made_span("kernel", all_reduce, 0, 20, 1600, 400, R"("device":0,"stream":20)")})));
  CHECK(waits(traces).waited_ns == std::vector<std::int64_t>{800'000, 0});
}

TEST_CASE("the made-up run with a straggler: rank 2 causes all of the waiting, of the healthy run nobody", "[trace]") {
  const auto job = [](models::SampleFault fault) {
    std::vector<Trace> traces;
    for (const std::string& text : models::sample_traces({.fault = fault})) traces.push_back(opened_made(text));
    return waits(traces);
  };
  const JobWaits late = job(models::SampleFault::straggler);
  CHECK(late.one_clock);
  CHECK(late.culprit == 2);
  CHECK(late.stands_out);
  CHECK(late.culprit_share() > 0.9);
  const JobWaits healthy = job(models::SampleFault::none);
  CHECK_FALSE(healthy.stands_out);
  CHECK(2 * late.idle_caused_ns[2] < late.caused_ns[2]);  // most buckets wait under the backward pass
}

TEST_CASE("two real ranks out of 128 exchange with other partners, which is no collective of theirs", "[trace]") {
  const auto folder = trace_test::real_traces();
  if (folder.empty() || !std::filesystem::exists(folder / "pair_rank0of128.json.gz"))
    SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  std::vector<Trace> traces;
  for (const char* file : {"pair_rank0of128.json.gz", "pair_rank1of128.json.gz"})
    traces.push_back(opened_made(support::read_text(folder / file)));
  const JobWaits w = waits(traces);
  CHECK_FALSE(w.ends_agree);
  CHECK(w.collectives.empty());
}

// Found by an independent reader: facebookresearch/param, et_replay/tests/inputs/dlrm_kineto.tar.gz.
TEST_CASE("eight real ranks: the seventh costs the others 35.6 ms, though the first waits longest", "[trace]") {
  const auto folder = trace_test::real_traces();
  if (folder.empty() || !std::filesystem::exists(folder / "ranks/dlrm_param_worker0.json.gz"))
    SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  std::vector<Trace> traces;
  for (int r = 0; r < 8; ++r)
    traces.push_back(
        opened_made(support::read_text(folder / ("ranks/dlrm_param_worker" + std::to_string(r) + ".json.gz"))));
  const JobWaits w = waits(traces);
  CHECK(w.one_clock);
  CHECK(w.spread_ns <= 7'000);
  CHECK(w.collectives.size() == 8);
  CHECK(w.unmatched == 0);
  CHECK(w.waited_ns == std::vector<std::int64_t>{5'580'000, 11'125'000, 3'280'000, 9'571'000, 6'370'000, 6'041'000,
                                                 3'342'000, 1'534'000});
  CHECK(w.caused_ns == std::vector<std::int64_t>{0, 0, 0, 0, 5'009'000, 6'282'000, 0, 35'552'000});
  CHECK(w.times_last == std::vector<std::int64_t>{0, 0, 0, 0, 1, 2, 0, 5});
  CHECK(w.culprit == 7);
  CHECK(w.stands_out);
  CHECK(w.idle_caused_ns[7] == 35'248'000);  // nearly all of it with nothing to compute
  CHECK(w.culprit_share() == Catch::Approx(0.7589607838951391));
}
