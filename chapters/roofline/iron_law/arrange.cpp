#include "chapters/roofline/iron_law/lab.h"
#include "chapters/roofline/iron_law/tints.h"

namespace chapters::roofline::iron_law {

Picture arrange(const Inputs&, const Outputs& out) {
  Picture pic;
  for (const models::TechniqueEffect& step : out.steps)
    pic.steps.push_back({
        .label = step.technique->label,
        .value = step.after.time_s - step.before.time_s,
        .tint = tint_of(step.part),
        .info = step.technique->why,
    });
  return pic;
}

}  // namespace chapters::roofline::iron_law
