#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "models/parallel/memory_split/memory_split.h"
#include "models/parallel/planner/planner_schedule.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using models_test::shipped_model;
using support::near;
using namespace models;
using namespace models::memory;
using namespace models::parallel;

TEST_CASE("states that are split over groups of replicas lie whole in every group, and copies of shards are summed") {
  const Architecture a = shipped_model("llama-3-8b").architecture;
  KeptSchedules schedules;
  TrainingPlan p{.micro_batches = 4, .data = 64, .zero_stage = 3, .shard_group = 16};
  const auto split = memory_split(a, p, {}, schedules);
  REQUIRE(split);
  TrainingPlan alone = p;
  alone.data = 16;
  alone.shard_group = 0;
  const auto small = memory_split(a, alone, {}, schedules);
  REQUIRE(small);
  CHECK(split->stages[0].states.total() == small->stages[0].states.total());
  CHECK(owner_part(p, MemoryOwner::weights, gpu_at(p, 17)).parts == 16);
  CHECK(owner_part(p, MemoryOwner::weights, gpu_at(p, 17)).index == 1);
  CHECK(near(zero_traffic(p).reduced, 4 * (1 + 2.0 / 16)));
  CHECK(zero_traffic(p).gathered == 8);
}

TEST_CASE("every stage holds what its order of passes keeps, and the fullest is found") {
  const Architecture a = shipped_model("llama-3-70b").architecture;
  KeptSchedules schedules;
  TrainingPlan p{.micro_batches = 64, .tensor = 8, .pipeline = 8, .data = 4, .sequence_parallel = true};
  for (const PipelineSchedule schedule : {PipelineSchedule::gpipe, PipelineSchedule::zb_h1, PipelineSchedule::zb_h2,
                                          PipelineSchedule::zb_v, PipelineSchedule::dualpipe}) {
    p.schedule = schedule;
    const auto split = memory_split(a, p, {}, schedules);
    REQUIRE(split);
    double fullest = 0;
    for (p.stage = 0; p.stage < p.pipeline; ++p.stage) {
      p.in_flight = schedules.in_flight(p);
      CHECK(p.in_flight > 0);
      if (schedule == PipelineSchedule::gpipe) CHECK(p.in_flight == 64);
      const auto m = training_memory(a, p);
      REQUIRE(m);
      fullest = std::max(fullest, m->total());
    }
    CHECK(split->stages[split->fullest].total() == fullest);
    p.stage = 0;
    p.in_flight = 0;
  }
}
