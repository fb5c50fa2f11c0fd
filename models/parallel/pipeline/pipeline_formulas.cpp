#include "models/parallel/pipeline/pipeline_formulas.h"

#include <algorithm>
#include <cmath>

namespace models::parallel {

PipelineFormula closed_form(const PipelineSpec& spec, const PipelineTimes& t) {
  const auto p = static_cast<double>(spec.ranks), m = static_cast<double>(spec.micro_batches);
  const double f = t.forward_s, i = t.input_gradient_s, w = t.weight_gradient_s, b = i + w;
  const bool equal_ranks = std::all_of(t.rank_factor.begin(), t.rank_factor.end(), [](double x) { return x == 1; });
  const bool serial_pairs = std::isnan(t.pair_s) || t.pair_s == f + b;
  if (!equal_ranks || spec.ranks < 1) return {};
  const bool no_link = t.link_s == 0;
  switch (spec.schedule) {
    case PipelineSchedule::gpipe:
      if (no_link) return {"(P-1)(F+B)", (p - 1) * (f + b)};
      return {"(P-1)(F+B+2c)", (p - 1) * (f + b + 2 * t.link_s)};
    case PipelineSchedule::one_f_one_b:
    case PipelineSchedule::pipedream:
    case PipelineSchedule::pipedream_2bw:
      if (no_link) return {"(P-1)(F+B)", (p - 1) * (f + b)};
      return {};
    case PipelineSchedule::interleaved:
      if (no_link && spec.round == 0) return {"(P-1)(F+B)", (p - 1) * (f + b)};
      return {};
    case PipelineSchedule::zb_h1:
      if (no_link && m >= p) return {"(P-1)max(F,I,F+I-W)", (p - 1) * std::max({f, i, f + i - w})};
      return {};
    case PipelineSchedule::zb_h2:
      if (no_link && m >= 2 * p - 1) return {"(P-1)max(F,I-F,F+I-2W)", (p - 1) * std::max({f, i - f, f + i - 2 * w})};
      return {};
    case PipelineSchedule::dualpipe:
      if (no_link && serial_pairs && f == i && w <= i) return {"(P/2-1)(F&B+B-3W)", (p / 2 - 1) * (f + b + b - 3 * w)};
      return {};
    case PipelineSchedule::dualpipe_v:
      if (no_link && serial_pairs && f == i && w <= i) return {"(P-1)(F&B+B-3W)", (p - 1) * (f + b + b - 3 * w)};
      return {};
    case PipelineSchedule::interleaved_zb:
      if (no_link && spec.round == 0 && m >= p) return {"(P-1)max(F,I,F+I-W)", (p - 1) * std::max({f, i, f + i - w})};
      return {};
    case PipelineSchedule::breadth_first:
      if (no_link && m >= p) return {"(P-1)(F+B)", (p - 1) * (f + b)};
      return {};
    case PipelineSchedule::zb_v:
    case PipelineSchedule::v_half:
    case PipelineSchedule::v_min:
      return {};
  }
  return {};
}

}  // namespace models::parallel
