#include "chapters/profiling/step_trace/hero_plan.h"

#include <algorithm>

namespace chapters::profiling::step_trace {

HeroPlan plan_hero(widgets::Rect area, const HeroNeeds& needs, float scale) {
  HeroPlan plan{.steps = area};
  const float gap = 14 * scale, table = order_table_height(needs.fixes) * scale;
  if (needs.fixes > 0 && area.width() >= 560 * scale && area.height() >= needs.steps_height + gap + table) {
    plan.has_table = true;
    plan.table = {{area.min.x, area.max.y - table}, area.max};
    plan.steps.max.y = plan.table.min.y - gap;
  }
  const float slab = (66 + 42 * static_cast<float>(std::max<std::size_t>(needs.bars, 3))) * scale;
  if (plan.steps.width() >= slab + gap + 430 * scale && plan.steps.height() >= 200 * scale) {
    plan.has_slab = true;
    plan.slab = {{plan.steps.max.x - slab, plan.steps.min.y}, plan.steps.max};
    plan.steps.max.x = plan.slab.min.x - gap;
  }
  return plan;
}

}  // namespace chapters::profiling::step_trace
