#pragma once
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "models/parallel/planner/planner_price.h"
#include "models/transformer/language_model.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

/// Jobs on H100s, as the tests of the planner's choices price them.
namespace support {

inline const models::Chip& chosen_chip(const std::string& id) {
  static const std::vector<models::Chip> chips =
      *models::parse_chips(support::read_text(support::source_file("assets/hardware/nvidia.json")), "nvidia");
  return *std::find_if(chips.begin(), chips.end(), [&](const models::Chip& c) { return c.id == id; });
}

inline models::parallel::PlannerJob chosen_job(const char* file, const char* model, models::parallel::PlannerSite site,
                                               std::int64_t batch, models::parallel::StackId stack) {
  const auto known = models::parse_language_models(
      support::read_text(support::source_file("assets/models/" + std::string(file) + ".json")), file);
  models::parallel::PlannerJob job;
  job.architecture = std::find_if(known->begin(), known->end(), [&](const models::LanguageModel& m) {
                       return m.id == model;
                     })->architecture;
  job.cluster = *models::parallel::planner_cluster(chosen_chip("h100_sxm"), site, models::Format::bf16);
  job.stack = models::parallel::planner_stack(stack);
  job.global_batch = batch;
  job.sequence = 8192;
  return job;
}

inline models::parallel::PricedPlan priced(const models::parallel::PlannerJob& job,
                                           const models::memory::TrainingPlan& plan) {
  const auto price = price_plan(job, planned(job, plan));
  INFO(price.error);
  REQUIRE(price);
  return *price;
}

}  // namespace support
