#pragma once
#include <memory>
#include <string>

#include "app/platform/json.h"
#include "chapters/mechanism/lab.h"
#include "models/base/result.h"

namespace app {

/// A scenario that a lab of its own has taken, with the files that it names: opening it reads none of them again.
struct TriedScenario {
  std::string lab;
  std::shared_ptr<const Json> inputs, view;  ///< objects
  std::shared_ptr<const chapters::Lab> trial;
};

/// Tries it. Reads the files that it names: for a job where it names any. Fails with what the lab refuses.
models::Result<TriedScenario> try_scenario(std::string_view lab, std::shared_ptr<const Json> inputs,
                                           std::shared_ptr<const Json> view);

}  // namespace app
