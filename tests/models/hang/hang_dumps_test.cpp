#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "models/hang/hang_diagnosis.h"
#include "models/hang/recorded_hangs.h"
#include "models/hang/stock_analyzer.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using namespace models::hang;

namespace {

using Ranks = std::vector<std::int64_t>;

/// The dumps of a recorded run, read from its files.
std::vector<FlightDump> dumps_of(const std::string& run, std::string_view suffix = ".json") {
  std::vector<FlightDump> out;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string path = support::data_file("hangs/" + run + "/rank" + std::to_string(rank) + std::string(suffix));
    if (!std::filesystem::exists(path)) continue;
    auto dump = read_flight_dump(support::read_text(path));
    INFO(path);
    REQUIRE(dump);
    dump->rank = rank_of_file_name(path);
    CHECK(dump->rank == rank);
    out.push_back(std::move(*dump));
  }
  return out;
}
FlightJob job_of(const std::string& run) {
  auto job = make_flight_job(dumps_of(run));
  REQUIRE(job);
  return std::move(*job);
}

struct Expected {
  std::string run;
  HangFault fault;
  Ranks culprits;
  bool decidable;
  std::int64_t sequence;
  Ranks stock;
};
// Recorded with torch 2.15.0 and gloo; what was planted is known. `stock` is what the analyzer printed first.
const std::vector<Expected> expected_runs{{"healthy", HangFault::none, {}, true, -1, {}},
                                          {"straggler", HangFault::straggler, {1}, true, -1, {}},
                                          {"skip_call", HangFault::skipped_collective, {2}, true, 8, {2}},
                                          {"shape", HangFault::shape, {1}, true, 7, {1}},
                                          {"dtype", HangFault::dtype, {3}, true, 7, {3}},
                                          {"order_type", HangFault::order, {0}, true, 7, {1, 2, 3}},
                                          {"order_buckets", HangFault::order, {3}, true, 4, {3}},
                                          {"loader_stuck", HangFault::not_arrived, {2}, true, 10, {2}},
                                          {"rank_died", HangFault::died, {1}, true, 7, {}},
                                          {"wrong_root", HangFault::undecided, {}, false, 6, {}},
                                          {"groups_cross", HangFault::group_order, {0, 1, 2, 3}, true, 3, {1}},
                                          {"p2p_missing_send", HangFault::undecided, {}, false, 1, {1}},
                                          {"ring_wrapped", HangFault::not_arrived, {3}, true, 13, {3}}};

}  // namespace

TEST_CASE("thirteen recorded runs: the planted rank is named, or the records do not decide") {
  for (const Expected& e : expected_runs) {
    INFO(e.run);
    const FlightJob job = job_of(e.run);
    const HangDiagnosis d = diagnose_hang(job);
    CHECK(d.fault == e.fault);
    CHECK(d.culprits == e.culprits);
    CHECK(d.decidable == e.decidable);
    CHECK(d.sequence == e.sequence);
    CHECK(stock_verdict(job).ranks == e.stock);
  }
}

TEST_CASE("the runs that the program carries are those of the files") {
  for (const Expected& e : expected_runs) {
    INFO(e.run);
    auto carried = make_flight_job(recorded_dumps(e.run)), read = make_flight_job(dumps_of(e.run));
    REQUIRE(carried);
    REQUIRE(read);
    CHECK(carried->missing == read->missing);
    REQUIRE(carried->dumps.size() == read->dumps.size());
    for (std::size_t d = 0; d < read->dumps.size(); ++d) {
      const auto &a = carried->dumps[d], &b = read->dumps[d];
      CHECK(a.rank == b.rank);
      CHECK(a.status == b.status);
      REQUIRE(a.entries.size() == b.entries.size());
      for (std::size_t i = 0; i < a.entries.size(); ++i) {
        FlightEntry x = a.entries[i], y = b.entries[i];
        CHECK(carried->call(x) == read->call(y));
        CHECK(carried->group(x).name == read->group(y).name);
        CHECK(carried->group(x).members == read->group(y).members);
        x.group = y.group;
        x.call = y.call;
        CHECK(x == y);
      }
    }
  }
  CHECK(recorded_dumps("no such run").empty());
}

TEST_CASE("a pickle of a dump holds what its JSON holds") {
  for (const std::string run : {"healthy", "skip_call"}) {
    const auto json = dumps_of(run), pickles = dumps_of(run, ".pickle");
    REQUIRE(pickles.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(json[i].entries == pickles[i].entries);
      CHECK(json[i].calls == pickles[i].calls);
      CHECK(json[i].groups == pickles[i].groups);
      CHECK(json[i].status == pickles[i].status);
      CHECK(json[i].listed_ranks == pickles[i].listed_ranks);
    }
    // Both together are one job: what is there twice counts once.
    auto both = json;
    both.insert(both.end(), pickles.begin(), pickles.end());
    const auto job = make_flight_job(std::move(both));
    REQUIRE(job);
    CHECK(job->dumps.size() == 4);
    CHECK(job->notes.front() == "Dumps that a second file of the same rank repeats: 4.");
  }
}

TEST_CASE("facts of each rank are those recorded beside the dumps") {
  const auto skip = dumps_of("skip_call");
  CHECK(skip[2].entries.size() == 8);
  CHECK(skip[2].entries.front().record == 0);
  CHECK(skip[2].calls[static_cast<std::size_t>(skip[2].entries.back().call)].operation == "broadcast");
  CHECK(skip[2].status == std::vector<FlightStatus>{{"0", 8, -1, 7}});
  CHECK(std::count_if(skip[2].entries.begin(), skip[2].entries.end(), [](const auto& e) { return !e.retired; }) == 1);
  const auto ring = dumps_of("ring_wrapped");
  CHECK(ring[0].entries.size() == 8);
  CHECK(ring[0].entries.front().record > 0);
  const auto shape = dumps_of("shape");  // ended by the transport, and yet retired
  CHECK(shape[0].entries.back().retired);
  CHECK_FALSE(shape[3].entries.back().retired);
}

TEST_CASE("the alarm of the stuck loader comes from rank 1, 1.33 ms before the last") {
  const HangDiagnosis d = diagnose_hang(job_of("loader_stuck"));
  CHECK(d.rings_first == 1);
  CHECK(d.ring_order == Ranks{1, 3, 0});
  CHECK(d.ring_spread_ns > 1'320'000);
  CHECK(d.ring_spread_ns < 1'340'000);
  CHECK(d.chain == Ranks{1, 2});
  const HangDiagnosis late = diagnose_hang(job_of("straggler"));
  CHECK(late.late.times_last == 4);
  CHECK(late.late.largest_ns > 345'000'000);
  CHECK(late.late.largest_ns < 360'000'000);
}

TEST_CASE("a missing dump, or two that differ, is said") {
  auto three = dumps_of("loader_stuck");
  three.erase(three.begin() + 2);
  const auto job = make_flight_job(three);
  REQUIRE(job);
  CHECK(job->missing == Ranks{2});
  CHECK(diagnose_hang(*job).culprits == Ranks{2});
  auto two = dumps_of("healthy");
  two.push_back(dumps_of("skip_call")[1]);
  CHECK(make_flight_job(two).error == "Two dumps of rank 1 differ: give one of each rank, all of one moment.");
  CHECK_FALSE(make_flight_job({}));
}
