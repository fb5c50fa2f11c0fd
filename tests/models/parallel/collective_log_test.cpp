#include "models/parallel/collectives/collective_log.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>

#include "models/parallel/collectives/collective_fit.h"
#include "models/parallel/collectives/collective_published.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models::parallel;
using support::near;

namespace {

struct LogStyle {
  std::string_view after_type = "     sum      -1";  ///< operation and root
  std::string_view before_line;                      ///< what mpirun or a scheduler puts there
  bool in_place = true;
  bool named = true;
};

/// The table that nccl-tests would print of a curve.
std::string printed_log(const CollectiveCurve& curve, const LogStyle& style = {}) {
  std::string out;
  if (style.named) out += "# Collective test starting: " + std::string(primitive_id(curve.primitive)) + "_perf\n";
  for (std::size_t i = 0; i < curve.samples.size(); ++i) {
    const CollectiveSample& s = curve.samples[i];
    const double algbw = s.bytes / s.seconds / 1e9;
    char line[320];
    int n = std::snprintf(line, sizeof line, "%12.0f  %12.0f     float%.*s  %7.2f  %6.2f  %6.2f      0", s.bytes,
                          s.bytes / 4, static_cast<int>(style.after_type.size()), style.after_type.data(),
                          s.seconds * 1e6, algbw, curve.factor() * algbw);
    if (style.in_place && !std::isnan(s.in_place_s))
      n += std::snprintf(line + n, sizeof line - static_cast<std::size_t>(n), "  %7.2f  %6.2f  %6.2f    N/A",
                         s.in_place_s * 1e6, s.bytes / s.in_place_s / 1e9,
                         curve.factor() * s.bytes / s.in_place_s / 1e9);
    out += std::string(style.before_line) + line + "\n";
  }
  return out + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 130.5\n";
}

CollectiveCurve made_up(Primitive primitive, std::int64_t ranks) {
  CollectiveCurve curve{.primitive = primitive, .ranks = ranks};
  for (double bytes = 1024; bytes <= 1 << 30; bytes *= 4) {
    const double seconds = 20e-6 + curve.factor() * bytes / 300e9;
    curve.samples.push_back({bytes, seconds, seconds});
  }
  return curve;
}

}  // namespace

TEST_CASE("a log of nccl-tests: what 47 published runs would print is read back") {
  const auto runs =
      parse_published_collectives(support::read_text(support::source_file("assets/collectives/measured.json")), "it");
  REQUIRE(runs);
  for (const PublishedCollective& run : *runs) {
    // A run that ends at 1 KiB prints its bandwidths with one digit, and nobody can tell its ranks from them.
    if (run.curve.samples.back().bytes < 1 << 20) continue;
    INFO(run.id);
    const auto log = parse_collective_log(printed_log(run.curve, {.named = false}));
    INFO(log.error);
    REQUIRE(log);
    const bool rooted = run.curve.primitive == Primitive::broadcast;
    CHECK(log->curve.samples.size() == run.curve.samples.size());
    CHECK(near(log->curve.samples.back().seconds, run.curve.samples.back().seconds, 1e-6));
    // At most 6 % off for 1,440 ranks at 400 GB/s, and exact for fewer than 200.
    if (!rooted) {
      CHECK(near(static_cast<double>(log->inferred_ranks), static_cast<double>(run.curve.ranks),
                 run.curve.ranks < 200 ? 1e-9 : 0.06));
      CHECK(one_off_spikes(log->curve) == one_off_spikes(run.curve));
    }
  }
}

TEST_CASE("a log of nccl-tests: ranks by the two bandwidths, the test by its name or its rows") {
  for (const std::int64_t ranks : {2, 3, 8, 64, 96, 144}) {
    const auto named = parse_collective_log(printed_log(made_up(Primitive::all_gather, ranks), {"    none      -1"}));
    REQUIRE(named);
    CHECK(named->inferred_ranks == ranks);
    CHECK(named->curve.primitive == Primitive::all_gather);
    CHECK(named->notes.empty());
    // Of releases before 2021: operation and no root, one column.
    const auto old = parse_collective_log(printed_log(made_up(Primitive::all_reduce, ranks),
                                                      {.after_type = "   sum", .in_place = false, .named = false}));
    REQUIRE(old);
    // Two decimals leave 143 to 145 open for 144 ranks.
    CHECK(near(static_cast<double>(old->inferred_ranks), static_cast<double>(ranks), 0.01));
    CHECK(old->curve.primitive == Primitive::all_reduce);
    CHECK(std::isnan(old->curve.samples[0].in_place_s));
  }
  const auto scattered = parse_collective_log(
      printed_log(made_up(Primitive::reduce_scatter, 16), {.before_line = "[1,0]<stdout>: ", .named = false}));
  REQUIRE(scattered);
  CHECK(scattered->curve.primitive == Primitive::reduce_scatter);
  CHECK(scattered->inferred_ranks == 16);

  const auto broadcast = parse_collective_log("#  Rank  0 Group 0\n#  Rank  5 Group 0\n" +
                                              printed_log(made_up(Primitive::broadcast, 6), {"    none       0"}));
  REQUIRE(broadcast);
  CHECK(broadcast->curve.ranks == 6);
  CHECK(broadcast->notes.empty());
}

TEST_CASE("a log whose heading lies: the bandwidths are believed") {
  const std::string rows = printed_log(made_up(Primitive::all_reduce, 96));
  const auto log = parse_collective_log("#  Rank  0 Group 0\n#  Rank 63 Group 0 Pid 1\n" + rows);
  REQUIRE(log);
  CHECK(log->inferred_ranks == 96);
  CHECK(log->notes ==
        std::vector<std::string>{"The log lists 64 ranks, but its bandwidths are those of 96, which are taken."});
  // Topic collectives_measured, trap.infer_ranks: the heading of 1,440 ranks agrees as far as two decimals tell.
  const auto many = parse_collective_log("#  Rank 1439 Group 0\n" + printed_log(made_up(Primitive::all_reduce, 1440)));
  REQUIRE(many);
  CHECK(many->inferred_ranks == 1440);
}

TEST_CASE("a log of nccl-tests: spikes are flagged, wrong results and odd bandwidths said") {
  CollectiveCurve curve = made_up(Primitive::all_reduce, 8);
  curve.samples[2].seconds *= 5;
  std::string text = printed_log(curve);
  const auto log = parse_collective_log(text);
  REQUIRE(log);
  CHECK(log->spike_bytes == std::vector<double>{curve.samples[2].bytes});

  text.insert(text.find("      0", text.find("1073741824")) + 6, "7");  // 70 wrong results
  const auto wrong = parse_collective_log(text);
  REQUIRE(wrong);
  CHECK(wrong->wrong_rows == 1);
  CHECK(wrong->notes ==
        std::vector<std::string>{"1 row has wrong results: what was timed did not compute the collective."});
}

TEST_CASE("of a long log the lines that tell are kept") {
  const std::string rows = "#  Rank  0 Group 0\n#  Rank  7 Group 0\n" + printed_log(made_up(Primitive::all_reduce, 8));
  std::string noisy;
  for (const char c : rows) {
    noisy += c;
    if (c == '\n') noisy += "host1:4242:4250 [3] NCCL INFO Channel 02/0 : 3[3] -> 4[4] via P2P/CUMEM/read\n";
  }
  const std::string kept = lines_of_collective_log(noisy);
  CHECK(kept.size() < rows.size());
  CHECK(kept.find("NCCL INFO") == std::string::npos);
  const auto whole = parse_collective_log(noisy), short_one = parse_collective_log(kept);
  REQUIRE(whole);
  REQUIRE(short_one);
  CHECK(short_one->curve.samples.size() == whole->curve.samples.size());
  CHECK(short_one->listed_ranks == 8);
  CHECK(short_one->curve.primitive == Primitive::all_reduce);
}

TEST_CASE("what is no log of a collective is refused with one whole sentence") {
  const auto refusal = [](std::string_view text) {
    const auto read = parse_collective_log(text);
    CHECK_FALSE(read);
    CHECK(read.error.ends_with("."));
    return read.error;
  };
  const std::string none =
      "There is no row of results in the log: give the whole output of all_reduce_perf or one of its kin, with the "
      "columns size, count, type, time, algbw and busbw.";
  CHECK(refusal("") == none);
  CHECK(refusal("hello\n1 2 3\n") == none);
  CHECK(refusal("1048576 262144 float sum -1 27.37\n") == none);
  CHECK(refusal("1048576 262144 float sum -1 nan inf 5 0\n") == none);
  // Eight copies of the test on one GPU each: S0's trap of 850 GB/s.
  CHECK(refusal("# Rank 0\n67108864 16777216 float sum -1 80.8 830.12 0.00 0 80.1 837.1 0.00 0\n") ==
        "At the largest size the bus bandwidth is 0 next to an algorithm bandwidth of 830.12 GB/s: one rank ran alone "
        "and nothing was sent, so start the test with mpirun or with -g.");
  CHECK(refusal("8 2 float sum -1 13.67 0.00 0.00 0\n") ==
        "Every bandwidth in the log is 0, so that the ranks do not follow: add larger sizes (-e 128M).");
  CHECK(
      refusal("1048576 262144 float sum -1 27.37 38.31 167.04 0\n") ==
      "At the largest size the bus bandwidth is 4.36 times the algorithm bandwidth, which no collective of nccl-tests "
      "gives: the log is damaged.");
  CHECK(
      refusal("all_gather_perf\n1048576 262144 float none -1 27.37 38.31 67.04 0\n") ==
      "The log is of all_gather, but its bus bandwidth is 1.75 times its algorithm bandwidth at the largest size: the "
      "test and the table are of two runs.");
  CHECK(refusal("sendrecv_perf\n1048576 262144 float none -1 27.37 38.31 38.31 0\n") ==
        "The log is of sendrecv_perf or hypercube_perf, which time pairs of ranks and no collective.");
  CHECK(refusal(std::string((1 << 20) + 1, ' ')) == "The log is larger than 1 MiB: give one run of a test.");
}
