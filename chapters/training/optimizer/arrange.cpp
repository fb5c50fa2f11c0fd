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

PassLane lane_of(std::string head, const std::vector<models::OptimizerPass>& passes) {
  PassLane lane;
  for (const models::OptimizerPass& p : passes) {
    lane.columns.push_back({.from = lane.bytes,
                            .name = std::string(p.name),
                            .figure = in_and_out(p),
                            .reads = p.reads,
                            .writes = p.writes,
                            .bytes = p.bytes()});
    lane.bytes += p.bytes();
  }
  lane.head = std::move(head);
  lane.more = std::to_string(passes.size()) + (passes.size() == 1 ? " pass, " : " passes, ") +
              format_text(lane.bytes, "B") + " a parameter";
  return lane;
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string name = kind_choices()[static_cast<std::size_t>(in.kind)].label;
  const std::string share = ticked(out.time.time_s, "s") + ", " + ticked(out.step_share, "%") + " of the step";
  if (in.code == models::UpdateCode::fused || in.kind == models::OptimizerKind::adamw_8bit) {
    const std::string passes =
        out.passes.size() == 1 ? "in one pass" : "in `" + std::to_string(out.passes.size()) + "` passes";
    return name + " moves " + ticked(out.traffic_bytes, "B") + " a parameter " + passes + " and takes " + share + ".";
  }
  return name + " in `" + std::to_string(out.passes.size()) + "` passes moves " + ticked(out.traffic_bytes, "B") +
         " a parameter, fused " + ticked(out.fused_bytes, "B") + "; fusing makes the optimizer " +
         ticked(out.speedup, "", 2) + "\xC3\x97 as fast and the step " + ticked(out.step_speedup, "") + "\xC3\x97.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  using models::OptimizerKind;
  using models::UpdateCode;
  const std::string name = kind_choices()[static_cast<std::size_t>(in.kind)].label;
  if (in.kind == OptimizerKind::adamw_8bit) {
    p.upper = lane_of("AdamW, fused", models::optimizer_passes(OptimizerKind::adamw, UpdateCode::fused, in.recipe));
    p.lower = lane_of(name, out.passes);
    p.chosen_lower = true;
  } else {
    p.chosen_lower = in.code == UpdateCode::fused;
    const UpdateCode code = p.chosen_lower ? UpdateCode::looped : in.code;
    p.upper = lane_of(name + ", " + code_choices()[static_cast<std::size_t>(code)].label,
                      models::optimizer_passes(in.kind, code, in.recipe));
    p.lower = lane_of(name + ", fused", out.fused_passes);
  }
  (p.chosen_lower ? p.lower : p.upper).chosen = true;
  p.axis_bytes = p.upper.bytes;
  return p;
}

}  // namespace chapters::training::optimizer
