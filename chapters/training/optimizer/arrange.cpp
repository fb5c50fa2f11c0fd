#include <algorithm>

#include "chapters/training/optimizer/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::optimizer {
namespace {

using widgets::format_text;

std::string ticked(double value, std::string_view unit, int digits = 3) {
  return "`" + format_text(value, unit, digits) + "`";
}

std::string in_and_out(const models::OptimizerPass& p) {
  return format_text(p.read_bytes(), "") + " in, " + format_text(p.write_bytes(), "") + " out";
}

PassLane lane_of(std::string head, const std::vector<models::OptimizerPass>& passes, const models::OptimizerTime& time,
                 double temporary_bytes) {
  PassLane lane;
  constexpr std::size_t round = 3;  // products of a Newton-Schulz step
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const models::OptimizerPass& p = passes[i];
    lane.all_bytes += p.bytes();
    if (p.product() && i >= round && passes[i - round].product()) {
      PassColumn& first = *std::find_if(lane.columns.begin(), lane.columns.end(),
                                        [&](const PassColumn& c) { return c.name == p.name; });
      ++first.times;
      continue;
    }
    lane.columns.push_back({.from = lane.bytes,
                            .name = std::string(p.name),
                            .figure = in_and_out(p),
                            .reads = p.reads,
                            .writes = p.writes,
                            .bytes = p.bytes()});
    lane.bytes += p.bytes();
  }
  for (PassColumn& c : lane.columns)
    if (c.times > 1) c.name = std::to_string(c.times) + "\xC3\x97 " + c.name;
  lane.head = std::move(head);
  const bool muon = time.passes.size() > passes.size();
  lane.more = std::to_string(passes.size()) + (passes.size() == 1 ? " pass, " : " passes, ") +
              format_text(lane.all_bytes, "B") + (muon ? " a parameter of a hidden matrix, " : " a parameter, ") +
              format_text(time.launches, "", 6) + " kernels";
  if (temporary_bytes > 0)
    lane.more += ", temporaries of " + format_text(temporary_bytes, "B") + " alive for all at once";
  lane.times = time.passes;
  lane.time_s = time.time_s;
  return lane;
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string name = kind_choices()[static_cast<std::size_t>(in.kind)].label;
  const std::string share = ticked(out.time.time_s, "s") + ", " + ticked(out.step_share, "%") + " of the step";
  double products = 0;
  for (const models::OptimizerPassTime& t : out.time.passes) products += t.product_s;
  if (in.code == models::UpdateCode::fused || in.kind == models::OptimizerKind::adamw_8bit) {
    const std::string passes =
        out.passes.size() == 1 ? "in one pass" : "in `" + std::to_string(out.passes.size()) + "` passes";
    if (in.kind == models::OptimizerKind::adamw_8bit)
      return name + " moves " + ticked(out.traffic_bytes, "B") + " a parameter " + passes +
             ", always a kernel a tensor, and takes " + share + ".";
    if (in.kind == models::OptimizerKind::muon)
      return name + " moves " + ticked(out.traffic_bytes, "B") + " a parameter (" + ticked(out.matrix_bytes, "B") +
             " in hidden matrices, AdamW's " + ticked(out.vector_bytes, "B") + " elsewhere) and takes " + share + "; " +
             ticked(100 * products / out.time.time_s, "%") + " of that is matrix products.";
    return name + " moves " + ticked(out.traffic_bytes, "B") + " a parameter " + passes + " and takes " + share + ".";
  }
  return name + " in `" + std::to_string(out.passes.size()) + "` passes moves " + ticked(out.traffic_bytes, "B") +
         " a parameter, fused " + ticked(out.fused_bytes, "B") + "; fusing makes the optimizer " +
         ticked(out.speedup, "", 2) + "\xC3\x97 as fast and the step " + ticked(out.step_speedup, "") + "\xC3\x97.";
}

}  // namespace

double PassLane::travelled(double at) const {
  double bytes_gone = 0;
  for (const PassColumn& c : columns) bytes_gone += c.times * std::clamp(at - c.from, 0.0, c.bytes);
  return bytes_gone;
}

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  using models::OptimizerKind;
  using models::UpdateCode;
  const std::string name = kind_choices()[static_cast<std::size_t>(in.kind)].label;
  if (in.kind == OptimizerKind::adamw_8bit) {
    p.upper = lane_of("AdamW, fused", models::optimizer_passes(OptimizerKind::adamw, UpdateCode::fused, in.recipe),
                      out.compared_time, 0);
    p.lower = lane_of(name, out.passes, out.time, 0);
    p.chosen_lower = true;
  } else {
    p.chosen_lower = in.code == UpdateCode::fused;
    const UpdateCode code = p.chosen_lower ? UpdateCode::looped : in.code;
    p.upper = lane_of(name + ", " + code_choices()[static_cast<std::size_t>(code)].label,
                      models::optimizer_passes(in.kind, code, in.recipe), p.chosen_lower ? out.compared_time : out.time,
                      models::optimizer_storage(in.kind, code, in.recipe).temporary_bytes);
    p.lower = lane_of(
        name + ", fused" + (models::optimizer_home(in.kind, UpdateCode::fused).empty() ? " (hypothetical)" : ""),
        out.fused_passes, out.fused_time, 0);
  }
  (p.chosen_lower ? p.lower : p.upper).chosen = true;
  p.axis_bytes = p.upper.bytes;
  p.axis_s = std::max({p.upper.time_s, p.lower.time_s, 1e-12});
  return p;
}

}  // namespace chapters::training::optimizer
