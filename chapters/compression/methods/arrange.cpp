#include <algorithm>
#include <cmath>

#include "chapters/compression/methods/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::methods {
namespace {

using models::Method;
using widgets::format_text;

void write_headings(const Inputs& in, const Outputs& out, Picture& p) {
  const double rounding = out.error_of(Method::rtn).held_out;
  const double awq_share = rounding > 0 ? out.error_of(Method::awq).held_out / rounding : 1;
  p.verdict = out.best + " loses least at " + format_text(out.study.errors[0].weight_bits, "", 4) +
              " bits a weight: GPTQ " + format_text(out.gptq_ratio_held_out, "") + " and AWQ " +
              format_text(awq_share, "") + " of rounding's error on new tokens";
  p.story = "Squared error of the layer's output; weights " + out.weights + "." +
            (in.sign == Sign::plus ? " The update has the wrong sign, on purpose." : "") +
            (out.note.empty() ? "" : " " + out.note);
  p.awq_story = "best at " + format_text(out.study.awq_alpha, "") + "; 0 is plain rounding";
  p.smooth_story = "best at " + format_text(out.study.smooth_best_alpha, "") + "; largest over median input " +
                   format_text(out.input_spread, "") + ", smoothed " + format_text(out.smoothed_spread, "");
}

/// The error column by column, from 0 before the first one.
void trace_history(const models::MethodHistory& h, Picture& p) {
  p.columns = p.gptq_error = p.rtn_error = {0};
  for (std::size_t i = 0; i < h.gptq_error.size(); ++i) {
    p.columns.push_back(static_cast<double>(i + 1));
    p.gptq_error.push_back(100 * h.gptq_error[i]);
    p.rtn_error.push_back(100 * h.rtn_error[i]);
  }
  const std::size_t weights = h.rows * h.cols;
  p.change.assign(weights + h.change.size(), 0);
  for (std::size_t i = 0; i < h.change.size(); ++i) {
    p.change[weights + i] = std::abs(h.change[i]);
    p.largest_change = std::max(p.largest_change, std::abs(h.change[i]));
  }
}

Curve error_over_alpha(const std::vector<models::AwqPoint>& points) {
  Curve curve;
  for (const models::AwqPoint& p : points) {
    curve.x.push_back(p.alpha);
    curve.y.push_back(100 * p.output_error);
  }
  return curve;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty() || !out.history) return p;
  write_headings(in, out, p);
  for (std::size_t m = 0; m < models::method_count; ++m) {
    p.method_x.push_back(static_cast<double>(m));
    p.calibration.push_back(out.errors[m].calibration);
    p.held_out.push_back(out.errors[m].held_out);
  }
  trace_history(*out.history, p);
  p.awq = error_over_alpha(out.study.awq_curve);
  p.smooth = error_over_alpha(out.study.smooth_curve);
  return p;
}

}  // namespace chapters::compression::methods
