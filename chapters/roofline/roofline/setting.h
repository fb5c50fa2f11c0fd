#pragma once
#include <optional>

#include "chapters/roofline/roofline/lab.h"
#include "models/transformer/language_model.h"

/// What compute.cpp asks of its helpers: rows of roofs and ceilings, and the decode step.
namespace chapters::roofline::roofline {

/// The things that the Inputs name.
struct Setting {
  const models::Chip& chip;
  const models::LanguageModel* model;  ///< null when there is none
  models::Machine machine;
  models::OpSizes sizes;
  models::LaunchCost launch_cost;

  /// The work on the machine; nothing when no time can be computed.
  std::optional<models::Placement> place(const models::Work& work) const {
    return models::place(machine, work, launch_cost).value;
  }
};

/// Roofs of every chip asked for, `main` first where it has the format, each with the work of `out` placed under it.
void add_roofs(const Inputs& in, const models::Chip& main, Outputs& out);
/// The ceilings that the learner chose to see, and that of main memory.
void add_ceilings(const Inputs& in, const Setting& setting, Outputs& out, Run& run);
/// Rows of the measured file under the machine's roof; its error becomes the reason.
void add_measured(const Inputs& in, const models::Machine& machine, Outputs& out);
/// One decode step of the model, the same with narrower weights, and the walk over batches.
void add_decode(const Inputs& in, const Setting& setting, Outputs& out);

}  // namespace chapters::roofline::roofline
