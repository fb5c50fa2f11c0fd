#include "app/workspace/tried_scenario.h"

#include <utility>

#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app {

models::Result<TriedScenario> try_scenario(std::string_view id, std::shared_ptr<const Json> inputs,
                                           std::shared_ptr<const Json> view) {
  using Tried = models::Result<TriedScenario>;
  std::shared_ptr<chapters::Lab> trial = chapters::make_lab_by_id(id);
  if (!trial) return Tried::fail(unknown_lab(id));
  if (auto set = apply_inputs(*trial, *inputs); !set) return Tried::fail(std::move(set.error));
  if (auto set = apply_view(*trial, *view); !set) return Tried::fail(std::move(set.error));
  return Tried::ok({std::string(id), std::move(inputs), std::move(view), std::move(trial)});
}

}  // namespace app
