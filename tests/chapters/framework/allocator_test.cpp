#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <string>

#include "chapters/framework/allocator/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_of = chapters::framework::allocator;

namespace {

std::string says(const char* inputs) {
  const LabPtr lab = open_lab("framework/allocator", inputs);
  lab->compute();
  return std::string(lab->answer());
}

}  // namespace

TEST_CASE("allocator lab: the answer says what fails, what lies free and what empty_cache returns") {
  CHECK(says("{}") ==
        "Request 365 of 800 asks for `688 MiB` and fails although `7.78 GiB` are free: the largest of `114` holes has "
        "`504 MiB`.\nCalling empty_cache returns `0 B`. With expandable segments nothing fails.");
  CHECK(says(R"({"expandable_segments": true})") ==
        "Nothing fails: at most `79.4 GiB` are reserved and at most `73.2 GiB` in use; `7.77 %` of what is reserved is "
        "above need.\nWith the "
        "default settings it fails at request 365 of 800.");
  CHECK(says(R"({"source": "lengths", "sequences": 3, "longest": 4096, "seed": 3})") ==
        "Step 2 of 8 asks for `5.66 GiB` and fails: `2.62 GiB` free in holes and `3.73 GiB` not reserved would only do "
        "together.\nWith expandable segments nothing fails.");
  CHECK(says(R"({"sequences": 160})").find("memory is full, not fragmented; only `") != std::string::npos);
  CHECK(says(R"({"source": "list", "events": "b"})") ==
        "Event 1, 'b', is not a<id> <bytes>, f<id>, r<id> <stream>, s<stream>, e or set key=value.");
  // What fails before any request is a weight, and a list that is given is what the program is then.
  CHECK(says(R"({"capacity_bytes": 4294967296})").starts_with("A weight before the first request asks for `"));
  CHECK(says(R"({"source": "list", "events": "a0 1048576"})").starts_with("Nothing fails: "));
  CHECK(says(R"({"source": "list"})").starts_with("The list of events is empty: "));
  // An expandable segment is no cudaMalloc that is alive; a snapshot lists it.
  const LabPtr growing = open_lab("framework/allocator", R"({"expandable_segments": true})");
  growing->compute();
  CHECK(out(*growing, "segments") == 0);
  CHECK(out(*growing, "snapshot_segments") >= 1);
  // Pages of 2 MiB leave less of the last one unused than pages of 20.
  const double twenty = out(*growing, "peak_reserved_bytes");
  CHECK(computed(set(*growing, "large_segment_bytes", 2097152.0), "peak_reserved_bytes") < twenty);
  CHECK(says(R"({"source": "snapshot"})") ==
        "Choose a file: torch.cuda.memory._snapshot() written as JSON, or a list of events.");
  CHECK(
      says(R"({"shortest": 4096, "longest": 1024})") ==
      "The shortest sequence, 4,096 tokens, is longer than the longest, 1,024 tokens: lower the shortest or raise the "
      "longest.");
  CHECK(says(R"({"source": "pins", "shortest": 4096, "longest": 1024})").find("shortest") == std::string::npos);
  CHECK(says(R"({"max_split_size_bytes": 1e6})") == "PyTorch refuses this: max_split_size must be above 20 MiB.");
}

TEST_CASE("allocator lab: the contract's figures at the end of a list of events, which goes on behind a failure") {
  const LabPtr lab = open_lab("framework/allocator",
                              R"({"source": "list", "capacity_bytes": 67108864,
    "events": "a0 9437184;a1 9437184;a2 9437184;a3 9437184;a4 9437184;a5 9437184;f0;f2;f4;a6 12582912;a7 512"})");
  lab->compute();
  const auto value = [&](const char* key) { return lab->outputs().find(key)->number(); };
  CHECK(value("allocated_bytes") == 28311552 + 512);
  CHECK(value("reserved_bytes") == 62914560 + 2097152);
  CHECK(value("ooms") == 1);
  CHECK(value("retries") == 1);
  CHECK(value("failed_bytes") == 12582912);
  CHECK(value("hole_bytes") == 34603008);
  CHECK(value("largest_hole_bytes") == 9437184);
  CHECK(value("events_done") == 11);
}

TEST_CASE("allocator lab: the strip at any cursor adds up to what the allocator says") {
  for (const bool expandable : {false, true}) {
    lab_of::Inputs in;
    in.expandable_segments = expandable;
    in.sequences = 30;
    in.steps = 1;
    chapters::Progress progress;
    const lab_of::Computed made = lab_of::compute(in, progress);
    const lab_of::Outputs& out = made.facts;
    lab_of::Picture picture = lab_of::arrange(in, out, *made.run);
    picture.run = made.run;
    lab_of::StripState strip;
    for (std::size_t i = 0; i < made.run->at.size(); i += 7) {
      lab_of::lay_strip(picture, static_cast<std::int64_t>(made.run->at[i]), strip);
      CHECK(static_cast<double>(strip.reserved) == made.run->reserved[i]);
      CHECK(static_cast<double>(strip.in_use) == made.run->allocated[i]);
      CHECK(strip.reserved == strip.in_use + strip.hole_bytes);
      // Both runs below the strip: what empty_cache returns, and the holes that are left.
      CHECK(std::accumulate(strip.returns.begin(), strip.returns.end(), std::uint64_t{0}) == strip.emptiable);
      CHECK(std::accumulate(strip.holes.begin(), strip.holes.end(), strip.emptiable) == strip.hole_bytes);
      std::uint64_t at = 0;  // pieces follow each other without a gap
      for (const auto& piece : strip.pieces) {
        CHECK(piece.from == at);
        at += piece.bytes;
      }
    }
    lab_of::lay_strip(picture, picture.events, strip);
    CHECK(static_cast<double>(strip.largest) == out.largest_hole_bytes);
    CHECK(static_cast<double>(strip.emptiable) == out.emptiable_bytes);
    CHECK(strip.segments.size() == static_cast<std::size_t>(out.snapshot_segments));
  }
}

TEST_CASE("allocator lab: empty_cache for each request is 3.5 times the cudaMallocs, where both runs complete") {
  for (const bool empty : {false, true}) {
    lab_of::Inputs in;
    in.sequences = 70;
    in.empty_cache = empty;
    chapters::Progress progress;
    const lab_of::Outputs out = lab_of::compute(in, progress).facts;
    CHECK(out.failed_at.empty());
    CHECK(out.device_allocs == (empty ? 994 : 285));
  }
}

TEST_CASE(
    "allocator lab: the strip opens where the picture is: the failure, the peak of a program, the end of a list") {
  const auto picture_of = [](const lab_of::Inputs& in) {
    return support::picture_of(in, lab_of::compute, lab_of::arrange);
  };
  lab_of::Inputs in;
  CHECK(picture_of(in).opening == 856);
  in.source = lab_of::Source::lengths;
  in.sequences = 2;
  in.longest = 4096;
  in.order = models::memory::LengthOrder::falling;
  const lab_of::Picture falling = picture_of(in);
  CHECK(falling.failed_event == -1);
  const auto most = std::max_element(falling.run->reserved.begin(), falling.run->reserved.end());
  CHECK(falling.opening > 0);
  // The first of eight steps reserves all that is ever needed; the curve is noted every few events.
  CHECK(static_cast<double>(falling.opening) <=
        falling.run->at[static_cast<std::size_t>(most - falling.run->reserved.begin())]);
  CHECK(falling.opening < falling.events / 8);
  lab_of::StripState strip;
  lab_of::lay_strip(falling, falling.opening, strip);
  CHECK(static_cast<double>(strip.reserved) == *most);
  in.source = lab_of::Source::list;
  in.events = "a0 2097152;f0";
  CHECK(picture_of(in).opening == 2);
}

TEST_CASE("allocator lab: the button goes back to the beginning, and the strip is empty there") {
  const LabPtr lab = open_lab("framework/allocator");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(3);
  const auto pieces = [&] {
    for (const auto& t : canvas.ui.record().tables)
      if (t.name == "strip") return t.rows.size();
    return std::size_t{99999};
  };
  CHECK(pieces() > 200);
  canvas.ui.click("Start");
  canvas.ui.frames(2);
  CHECK(pieces() == 0);
  canvas.ui.click("The failure");
  canvas.ui.frames(2);
  CHECK(lab->view().find("cursor")->number() == 856);
}

TEST_CASE("allocator lab: what a written list asks for first is given, and of other programs nothing is") {
  const auto asked = [](const lab_of::Inputs& in) {
    return support::picture_of(in, lab_of::compute, lab_of::arrange).asked;
  };
  lab_of::Inputs in;
  CHECK(asked(in).empty());
  in.source = lab_of::Source::list;
  in.events = "a0 11534336;f0;a1 512";
  CHECK(asked(in) == std::vector<double>{11534336, 512});
}

TEST_CASE("allocator lab: figures do not depend on whether the history is written") {
  const lab_of::Inputs in;
  chapters::Progress seen, alone;
  alone.facts_alone = true;
  const lab_of::Computed drawn = lab_of::compute(in, seen), read = lab_of::compute(in, alone);
  CHECK(read.facts.failed_at == drawn.facts.failed_at);
  CHECK(read.facts.hole_bytes == drawn.facts.hole_bytes);
  CHECK(read.facts.peak_reserved_bytes == drawn.facts.peak_reserved_bytes);
  REQUIRE(read.facts.settings.size() == drawn.facts.settings.size());
  for (std::size_t i = 0; i < read.facts.settings.size(); ++i)
    CHECK(read.facts.settings[i].outcome == drawn.facts.settings[i].outcome);
  CHECK(read.run->blocks.empty());
  CHECK_FALSE(drawn.run->blocks.empty());
}
