#include <nlohmann/json.hpp>

#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/registry.h"
#include "tests/app/workspace/person.h"

namespace person_test {

TEST_CASE("a plan that was opened in another lab comes back as it was typed, and what was changed there stays there") {
  namespace planner = chapters::distributed::planner;
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open("distributed/planner"));
  planner::Inputs typed;
  typed.model = "llama-3-8b";
  typed.gpus = 64;
  typed.global_batch = 64;
  typed.tensor_parallel = 2;
  typed.pipeline_parallel = 4;
  typed.virtual_pipeline = 1;
  typed.context_parallel = 2;
  typed.micro_batch = 2;
  const app::Json inputs = {{"model", "llama-3-8b"},  {"gpus", 64},
                            {"global_batch", 64},     {"tensor_parallel", 2},
                            {"pipeline_parallel", 4}, {"virtual_pipeline", 1},
                            {"context_parallel", 2},  {"micro_batch", 2}};
  CHECK(w->open_with("distributed/planner", inputs, app::Json::object()).error == "");
  w->update(false);
  const auto before = w->lab().clone();
  const auto job = planner::job_of(typed);
  REQUIRE(job);
  const planner::PlanCard card = planner::price_card(*job, planner::point_of(typed));
  REQUIRE_FALSE(card.name.empty());
  int opened = 0;
  for (const chapters::DoorTo& door : planner::plan_doors()) {
    const auto link = planner::link_to(typed, card, door.lab);
    if (!link) continue;
    ++opened;
    INFO(*link);
    CHECK(w->open_link(*link).error == "");
    CHECK(open_lab(*w) == door.lab);
    CHECK_FALSE(w->lab().same_inputs(*chapters::make_lab_by_id(door.lab)));
    w->undo();
    REQUIRE(open_lab(*w) == "distributed/planner");
    CHECK(w->lab().same_inputs(*before));
  }
  CHECK(opened >= 5);
}

}  // namespace person_test
