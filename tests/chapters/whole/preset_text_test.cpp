#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <string_view>

#include "app/content/content.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_bench.h"

// What a preset's note says of its state is so: the words of the note, and the value that they speak of.

using namespace support;

namespace {

struct Said {
  std::string_view preset, words;  ///< the words stand in its note, or in its name
  std::string_view key;            ///< an output or input
  double least, most;
};
constexpr double any = std::numeric_limits<double>::infinity();

double value_of(const Lab& lab, std::string_view key) {
  const chapters::Field* f = lab.outputs().find(key);
  if (!f) f = lab.inputs().find(key);
  REQUIRE(f);
  return f->kind == chapters::Kind::toggle ? static_cast<double>(f->toggle()) : f->number();
}

void check_said(std::string_view id, std::initializer_list<Said> all) {
  if (sanitized()) return;  // what is computed under sanitizers is the same, and dear
  const app::Content& content = bundled_content();
  for (const Said& said : all) {
    INFO(id << ", " << said.preset << ": " << said.words << " (" << said.key << ")");
    bool there = false;
    for (const auto& preset : content.of(std::string(id)).presets)
      there = there ||
              (preset.name == said.preset && (preset.name + ": " + preset.note).find(said.words) != std::string::npos);
    CHECK(there);
    const LabPtr lab = open_preset(id, said.preset);
    compute_once(*lab);
    REQUIRE(lab->reason().empty());
    const double value = value_of(*lab, said.key);
    INFO(value);
    CHECK(value >= said.least);
    CHECK(value <= said.most);
  }
}

}  // namespace

TEST_CASE("presets say what their states are: the pixel budget") {
  check_said("driving/budget",
             {{"Skip the sides", "Seven of eleven cameras", "cameras", 11, 11},
              {"Skip the sides", "at 10 Hz", "side_rate_hz", 10, 10},
              {"Skip the sides", "55 % of the rows", "kept", 55, 55},
              {"As built", "whole at 30 Hz", "kept", 100, 100},
              {"As built", "an encoder for each of three tasks", "encoders", 3, 3},
              {"Share one encoder", "one encoder's features", "encoders", 1, 1},
              {"Every third frame", "features are used three times", "encode_every", 3, 3},
              {"Every third frame", "the cameras do not notice", "skipping_sensors", 0, 0},
              {"The study: six cameras", "Six of 2 MP", "cameras", 6, 6},
              {"DRIVE Thor", "six times the peak", "peak_flops_per_s", 5.5 * 85e12, 6.5 * 85e12},
              {"DRIVE Thor", "1.3 times the bandwidth", "bandwidth_bytes_per_s", 1.25 * 204.8e9, 1.35 * 204.8e9},
              {"8 MP, 24 bits", "too thin for a single one", "link_load", 100, 200},
              {"A vision transformer", "more than ten times the FLOPs", "image_flops", 10 * 8.784e9, 20 * 8.784e9},
              {"BEVDet's eyes", "Six cameras", "cameras", 6, 6}});
}

TEST_CASE("presets say what their states are: recall and scenarios") {
  check_said(
      "interview/recall",
      {{"Two weeks to go", "Every card seen in fourteen days", "seen_then", 237, 237},
       {"A month ahead", "kept at 90 %", "retention", 90, 90},
       {"Inference alone", "in three weeks", "horizon_days", 21, 21},
       {"Three good answers", "stable for six weeks", "stability_s", 5.5 * 604800, 7 * 604800},
       {"Crammed in one evening", "five good answers on one day count as one", "interval_good_s", 2 * 86400, 2 * 86400},
       {"Asked a month late", "what a late question wins", "interval_good_s", 2 * 46.28 * 86400, any},
       {"Keep 97 %", "Seven points more kept", "retention", 97, 97}});
  check_said("interview/scenarios",
             {{"Serving", "Five of the serving chapter and one from elsewhere", "of_topic", 5, 5},
              {"Serving", "in four minutes", "limit_s", 240, 240},
              {"A slow step", "five causes", "causes", 5, 5},
              {"Serve a 70B", "nine points", "of", 9, 9},
              {"Out of memory", "a snapshot of four minutes", "longest_minutes", 4, 4},
              {"Pitch in 30 s", "30 s", "limit_s", 30, 30}});
}

TEST_CASE("presets say what their states are: money, time and tax") {
  check_said(
      "fleet/cost",
      {{"70B, 8,000 tokens/s", "two thirds of the hours", "filled", 62, 70},
       {"Every hour filled", "no hour without work", "part_empty", 0, 0},
       {"One user", "more than a hundred times the price", "dollars_per_million_tokens", 104.2, any},
       {"FP8 all through", "the same share of the bandwidth", "reach", 55.7, 55.8},
       {"Night and day", "a third of the hours", "filled", 30, 36},
       {"405B, a training", "most of it pays for a peak that is never reached", "part_not_reached", 3.72 / 2, any}});
  check_said("fleet/train-time",
             {{"405B, every 2 h", "too long by far", "over_best_s", 20 * 86400, any},
              {"At the best", "keeps most", "over_best_s", 0, 1},
              {"Every minute", "what it saves it pays for", "share_saving", 15, 25},
              {"70B on 512", "A failure in four days", "mtbf_s", 4 * 86400, 4.3 * 86400},
              {"Slow storage", "even the best interval loses more than a quarter", "best_efficiency", 0, 75},
              {"A hundred thousand", "a failure every 23 minutes", "mtbf_s", 22.5 * 60, 23.5 * 60}});
  check_said("fleet/scaling-tax",
             {{"405B on 8,192", "95.5 GB of 80", "memory_bytes", 95.45e9, 95.55e9},
              {"MegaScale, 12,288", "the published run is faster than this model", "unexplained_points", -20, 0}});
  check_said("fleet/frontier", {{"A tenth of a point", "The 795 image classifiers", "points_count", 795, 795},
                                {"Quality for an eighth", "far less than the eighth", "against_times", 0, 0.1}});
}

TEST_CASE("presets say what their states are: the capstone") {
  check_said("capstone/train",
             {{"405B in 75 days", "one of them bounced", "wasted", 1, 1},
              {"405B in 75 days", "the run is a week too long", "over_s", 6.5 * 86400, 7.5 * 86400},
              {"Saved more often", "in time", "met", 1, 1},
              {"70B on 512", "The two cards that are played bring 50", "wall_s", 49.5 * 86400, 50.5 * 86400}});
  check_said("capstone/serve-70b",
             {{"The wall", "it does not fit, and the round counts all the same", "bounced_rounds", 1, 2},
              {"Long prompts", "one prompt alone takes longer than the first token may", "ttft_s", 0.5, any}});
  check_said("capstone/perception",
             {{"From 42 to 33", "one of them lost", "wasted", 1, 1},
              {"From 42 to 33", "the typical frame is in time", "p50_s", 0, 1.0 / 30},
              {"From 42 to 33", "nearly three in a hundred are not", "late", 2.5, 3},
              {"A fresh board", "42 ms", "latency_s", 0.04199, 0.04201},
              {"In four moves", "31 ms undisturbed", "latency_s", 0.03099, 0.03101},
              {"In four moves", "99 in 100 arrive", "arrives", 1, 1},
              {"The study: 48 to 27", "48", "start_latency_s", 0.04799, 0.04801},
              {"The study: 48 to 27", "27 ms undisturbed", "latency_s", 0.02699, 0.02701},
              {"One frame at a time", "every second frame comes while the stack is busy", "unseen", 49, 51},
              {"A hot day", "nearly three frames in a hundred are late", "late", 2.5, 3},
              {"The average won", "5 ms less on average", "mean_won_s", 0.00495, 0.00505},
              {"The average won", "next to nothing at 99 in 100", "won_s", 0, 0.0005},
              {"To the DLA", "the frame waits for it longer", "won_s", -any, 0}});
}
