#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "models/hang/flight_dump.h"
#include "models/hang/hang_simulation.h"
#include "models/hang/plain_tree.h"
#include "models/hang/watchdog_log.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using namespace models::hang;
using Catch::Matchers::ContainsSubstring;
using std::string_literals::operator""s;

namespace {

std::string pickle(const std::string& body) { return "\x80\x02"s + body + "."; }

}  // namespace

TEST_CASE("versions compare as two numbers") {
  CHECK(*parse_flight_version("2.10") > *parse_flight_version("2.9"));
  CHECK(*parse_flight_version("2.10") == FlightVersion{2, 10});
  CHECK_FALSE(parse_flight_version("2"));
  CHECK_FALSE(parse_flight_version("2.x"));
}

TEST_CASE("the rank is the number at the end of a file's name") {
  CHECK(rank_of_file_name("/tmp/a1/nccl_trace_rank_12") == 12);
  CHECK(rank_of_file_name("rank3.json") == 3);
  CHECK(rank_of_file_name("rank3.pickle.gz") == 3);
  CHECK(rank_of_file_name("dump.json") == -1);
}

TEST_CASE("a pickle of plain values is read") {
  const auto tree =
      read_plain_pickle(pickle("}q\x00(X\x01\x00\x00\x00"
                               "aK\x07X\x01\x00\x00\x00"
                               "b](K\x01M\x01\x02J\xff\xff\xff\xff\x8a\x02\xff\x7fNe\x86u"s));
  CHECK_FALSE(tree);  // a pair where a value must stand alone
  const auto good =
      read_plain_pickle(pickle("}(X\x01\x00\x00\x00"
                               "aK\x07X\x01\x00\x00\x00"
                               "b](K\x01M\x01\x02J\xff\xff\xff\xff\x8a\x02\xff\x7fNeu"s));
  REQUIRE(good);
  CHECK(good->at(good->value(good->root, "a")).integer == 7);
  const auto& list = good->at(good->value(good->root, "b")).items;
  REQUIRE(list.size() == 5);
  CHECK(good->at(list[1]).integer == 513);
  CHECK(good->at(list[2]).integer == -1);
  CHECK(good->at(list[3]).integer == 32767);
  CHECK(good->value(good->root, "c") == -1);
}

TEST_CASE("a pickle that would run code is refused with a sentence") {
  for (const std::string body :
       {"cos\nsystem\n", "cos\nsystem\n(X\x02\x00\x00\x00ls\x85R", "\x8c\x02os\x8c\x06system\x93", "(ios\nsystem\n",
        "}(K\x01K\x02ub", "\x82\x01", "Pabc\n"}) {
    const auto read = read_plain_pickle(pickle(body));
    CHECK_FALSE(read);
    CHECK_THAT(read.error, ContainsSubstring("run code") || ContainsSubstring("a value is missing") ||
                               ContainsSubstring("sets the state"));
  }
  CHECK_THAT(read_plain_pickle(pickle("h\x05")).error, ContainsSubstring("memo"));
  CHECK_THAT(read_plain_pickle(pickle("(((e")).error, ContainsSubstring("."));
  CHECK_THAT(read_plain_pickle("\x80\x02X\xff\xff\xff\xff"s).error, ContainsSubstring("longer than the file"));
}

TEST_CASE("a dump that is cut anywhere is a sentence") {
  for (const char* name : {"hangs/p2p_missing_send/rank0.json", "hangs/skip_call/rank2.pickle"}) {
    const std::string whole = support::read_text(support::data_file(name));
    REQUIRE(read_flight_dump(whole));
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const auto cut = read_flight_dump(std::string_view(whole).substr(0, n));
      INFO(n);
      REQUIRE_FALSE(cut);
      REQUIRE(cut.error.ends_with("."));
      REQUIRE(cut.error.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("what is no dump, or no such version, is said") {
  CHECK_THAT(read_flight_dump("[]").error, ContainsSubstring("no dump"));
  CHECK_THAT(read_flight_dump("{}").error, ContainsSubstring("no version"));
  CHECK_THAT(read_flight_dump(R"({"version": "3.1", "entries": []})").error, ContainsSubstring("2.x"));
  CHECK_THAT(read_flight_dump(R"({"version": "2.10", "entries": [7]})").error, ContainsSubstring("Record 0"));
  CHECK_THAT(read_flight_dump(std::string(100'000, '[')).error, ContainsSubstring("deeper"));
  CHECK(read_flight_dump(R"({"version": "2.10", "entries": []})"));
}

TEST_CASE("a dump that was made up reads back as it was") {
  for (FlightDump& dump : simulate_hang({.tensor_parallel = 2, .data_parallel = 2, .pipeline_parallel = 2}).dumps) {
    const auto read = read_flight_dump(flight_dump_json(dump));
    REQUIRE(read);
    CHECK(read->entries == dump.entries);
    CHECK(read->calls == dump.calls);
    CHECK(read->groups == dump.groups);
  }
}

// Sources: issues of ArcticTraining (219), vLLM (5484) and OpenRLHF (1126).
TEST_CASE("lines of the watchdog say which call is stuck") {
  const auto lines = read_watchdog_log(
      "[Rank 5] failure detected by watchdog at work sequence id: 120049 PG status: last enqueued work: 120051, last "
      "completed work: 120048\n"
      "nothing of interest\n"
      "[Rank 3] Timeout at NCCL work: 158046, last enqueued NCCL work: 158046, last completed NCCL work: 158045.\n"
      "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=158046, OpType=GATHER, "
      "NumelIn=2867200, NumelOut=0, Timeout(ms)=600000) ran for 600027 milliseconds before timing out.\n"
      "[Rank 5] Received a dump signal due to a collective timeout from  rank 34 and we will try our best to dump. "
      "Last "
      "enqueued NCCL work: 460631, last completed NCCL work: 460630.\n");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].rank == 5);
  CHECK(lines[0].stuck == 120049);
  CHECK(lines[0].queued_behind == 2);
  CHECK(lines[1].stuck == 158046);
  CHECK(lines[1].queued_behind == 0);
  CHECK(lines[2].operation == "GATHER");
  CHECK(lines[2].elements_out == 0);
  CHECK(lines[2].timeout_ms == 600000);
  CHECK(lines[2].ran_ms == 600027);
  CHECK(lines[3].timed_out_rank == 34);
  CHECK(lines[3].stuck == 460631);
  CHECK(read_watchdog_log("").empty());
  // Numbers that no job reaches are damaged, and nothing is counted on from them.
  CHECK(read_watchdog_log("last completed work: 9223372036854775807\n").empty());
}
