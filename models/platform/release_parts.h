#pragma once
#include "models/platform/release.h"

/// The two halves of a release, which release.cpp puts together.
namespace models::platform {

/// Means of the steady state; fails as simulate_steps does.
Result<StepMeans> steady_step(const StepSetup& setup);
/// The training run and a profile of it. Infeasible as estimate_release says.
Result<RunFigures> estimate_run(const Architecture& architecture, const ReleaseSetup& setup);
/// Replicas and what a request takes. Infeasible: slots that do not fit, loads beyond a million requests at once.
Result<ServiceFigures> estimate_service(const Architecture& architecture, const ReleaseSetup& setup);

}  // namespace models::platform
