#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "models/parallel/planner/planner_price.h"
#include "widgets/base/theme.h"
#include "widgets/base/tint.h"

/// The causes of a step's time as the pictures group and colour them, for the .cpp files of this folder alone.
namespace chapters::distributed::planner {

/// Causes as the cards group them. Both kinds of communication have its hue, that of data parallelism pale.
struct CauseGroup {
  std::string_view name;
  widgets::Meaning meaning;
  std::array<models::parallel::PlanCause, 4> causes;
  std::size_t count;
  bool pale = false;
};
inline constexpr std::array<CauseGroup, 6> cause_groups{{
    {"arithmetic",
     widgets::Meaning::compute_bound,
     {models::parallel::PlanCause::products, models::parallel::PlanCause::attention},
     2},
    {"elements, optimizer, host",
     widgets::Meaning::memory_bound,
     {models::parallel::PlanCause::elements, models::parallel::PlanCause::optimizer, models::parallel::PlanCause::other,
      models::parallel::PlanCause::host},
     4},
    {"recomputed", widgets::Meaning::forward, {models::parallel::PlanCause::recompute}, 1},
    {"tensor, context, expert",
     widgets::Meaning::communication,
     {models::parallel::PlanCause::tensor, models::parallel::PlanCause::context, models::parallel::PlanCause::expert},
     3},
    {"bubble, between stages",
     widgets::Meaning::idle,
     {models::parallel::PlanCause::bubble, models::parallel::PlanCause::pipeline},
     2},
    {"data parallel", widgets::Meaning::communication, {models::parallel::PlanCause::data}, 1, true},
}};
inline constexpr double least_share = 1e-4;  // What takes less of a step is not listed.

inline double seconds_of(const CauseGroup& g, const models::parallel::StepParts& parts) {
  double sum = 0;
  for (std::size_t i = 0; i < g.count; ++i) sum += parts[g.causes[i]];
  return sum;
}

inline ImU32 hue_of(const CauseGroup& g) {
  const auto& t = widgets::theme();
  return g.pale ? widgets::with_alpha(t.of(g.meaning), 0.5f) : t.of(g.meaning);
}

}  // namespace chapters::distributed::planner
