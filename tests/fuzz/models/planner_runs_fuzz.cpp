// A file of published training runs: every run that is accepted has a shape that is there and can be priced, or one
// sentence says why not.
#include "models/parallel/planner/planner_runs.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::parallel;
  const auto read = parse_planner_runs(fuzz::text_of(data, size), "a file");
  if (!fuzz::accepted(read)) return 0;
  models::Chip chip;
  chip.id = "h100_sxm";
  chip.name = chip.short_name = "chip";
  chip.interconnect = {"link", 450e9, 900e9, 18, std::nullopt, std::nullopt};
  for (const PlannerRun& run : read->runs) {
    fuzz::require(run.shape < read->shapes.size(), "a shape that is not there");
    fuzz::require(!run.id.empty() && run.gpus >= 1 && run.global_batch >= 1, "a run without an id or a batch");
    if (const auto job = planner_job_of(*read, run, {&chip, 1}); !job) fuzz::require_sentence(job.error);
  }
  return 0;
}
