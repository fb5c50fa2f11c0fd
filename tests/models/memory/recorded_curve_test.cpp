#include "models/memory/recorded_curve.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models;
using namespace models::memory;

namespace {

/// The folder of public recordings: RIDGELINE_RECORDINGS may name it.
std::filesystem::path recordings() { return support::public_folder("RIDGELINE_RECORDINGS", "shared/data"); }

}  // namespace

TEST_CASE("real recordings of memory give the curve that a sum over their rows gives") {
  const auto folder = recordings();
  if (folder.empty())
    SKIP("the public recordings are not beside the source; RIDGELINE_RECORDINGS may name their folder");
  struct Row {
    const char *file, *kind;
    std::int64_t events;
    double first_bytes, peak_bytes, last_bytes;
  };
  // Summed apart from this program over the rows of each file.
  for (const Row& row :
       {Row{"memory/snapshot_gpt_medium_training_512.json.gz", "PyTorch snapshot", 14961, 5104415228.0, 12435476996.0,
            6838108672.0},
        Row{"memory/snapshot_complete_weighted_sum.json.gz", "PyTorch snapshot", 62, 508, 0, 31719936},
        Row{"traces/memory_timeline.raw.json.gz", "memory timeline", 16845, 0, 3082832104.0, 332060904}}) {
    INFO(row.file);
    const auto curve = read_memory_curve(trace::in_memory(support::read_text(folder / row.file)), row.file);
    INFO(curve.error);
    REQUIRE(curve);
    CHECK(curve->kind == row.kind);
    CHECK(curve->events == row.events);
    if (row.first_bytes > 0) CHECK(curve->first_bytes == row.first_bytes);
    if (row.peak_bytes > 0) CHECK(curve->peak_bytes == row.peak_bytes);
    CHECK(curve->last_bytes == row.last_bytes);
  }
  const auto trace = read_memory_curve(
      trace::in_memory(support::read_text(folder / "traces/h100_qwen_infer_mem_pystack.json.gz")), "trace");
  REQUIRE(trace);
  CHECK(trace->kind == "trace");
  CHECK(trace->events == 2250);
}
