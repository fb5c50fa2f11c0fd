#include <algorithm>

#include "chapters/training/optimizer/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::optimizer {
namespace {

using widgets::format_text;

std::string in_and_out(const models::OptimizerPass& p) {
  return format_text(p.read_bytes(), "") + " in, " + format_text(p.write_bytes(), "") + " out";
}

PassLane lane_of(std::string head, const CodeRun& run, double temporary_bytes) {
  PassLane lane;
  const std::vector<models::OptimizerPass>& passes = run.passes;
  const models::TimedOptimizer& time = run.time;
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
              format_text(lane.all_bytes, "B") + (muon ? " per parameter of a hidden matrix, " : " per parameter, ") +
              format_text(time.launches, "", 6) + " kernels";
  if (temporary_bytes > 0)
    lane.more += ", temporaries of " + format_text(temporary_bytes, "B") + " alive for all at once";
  lane.times = time.passes;
  lane.time_s = time.time_s;
  return lane;
}

using widgets::figure;

std::string passes_text(double n) { return n == 1 ? std::string("one pass") : figure(n, "") + " passes"; }

/// The row of the same optimizer in the table of every choice.
const ChoiceRow* row_of(const Outputs& out, std::string_view optimizer, models::UpdateCode code) {
  for (const ChoiceRow& row : out.choices)
    if (row.optimizer == optimizer && row.code == code_choices()[static_cast<std::size_t>(code)].label) return &row;
  return nullptr;
}

/// The optimizer as what is chosen: "Looped AdamW", "Fused Lion", "8-bit AdamW".
std::string chosen_name(const Inputs& in) {
  const std::string kind = kind_choices()[static_cast<std::size_t>(in.kind)].label;
  if (in.kind == models::OptimizerKind::adamw_8bit) return kind;
  return (in.code == models::UpdateCode::looped    ? "Looped "
          : in.code == models::UpdateCode::foreach ? "Foreach "
                                                   : "Fused ") +
         kind;
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  // Under Muon hidden matrices are updated in one way and the others in another: the picture shows a hidden one.
  const bool mean = in.kind == models::OptimizerKind::muon;
  const std::string moves = chosen_name(in) + " moves " + figure(out.traffic_bytes, "B") +
                            (mean ? " per parameter on average in " : " per parameter in ") +
                            passes_text(out.passes_count);
  if (in.code == models::UpdateCode::fused || in.kind == models::OptimizerKind::adamw_8bit)
    return moves + " and takes " + figure(out.time.time_s, "s") + ", " + figure(out.step_share, "%") + " of the step.";
  return moves + "; fused it would move " + figure(out.fused_bytes, "B") + ".";
}

/// What another way would change.
std::string why_of(const Inputs& in, const Outputs& out) {
  using models::OptimizerKind;
  using models::UpdateCode;
  const std::string kind = kind_choices()[static_cast<std::size_t>(in.kind)].label;
  if (in.kind == OptimizerKind::adamw_8bit) {
    const ChoiceRow* adamw = row_of(out, "AdamW", UpdateCode::fused);
    return "Its moments take " + figure(out.state_bytes, "B") + " per parameter" +
           (adamw ? " instead of " + figure(adamw->state_bytes, "B") : std::string()) +
           "; it is one kernel per tensor, however it is written.";
  }
  if (in.kind == OptimizerKind::muon && out.product_time_share > 0)
    return figure(out.product_time_share, "%") + " of its time is matmuls, " + figure(out.product_share, "%") +
           " of the FLOPs of forward and backward.";
  if (in.code == UpdateCode::fused) {
    const ChoiceRow* looped = row_of(out, kind, UpdateCode::looped);
    return "Written as separate operations it would move " + figure(looped ? looped->traffic_bytes : 0, "B") +
           " and take " + figure(looped ? looped->time_s : 0, "s") + ".";
  }
  return "Fusing would make the optimizer " + figure(out.speedup, widgets::times_unit, 2) +
         " as fast, and the whole step " + figure(out.step_speedup, widgets::times_unit) + ".";
}

}  // namespace

double PassLane::travelled(double at) const {
  double bytes_gone = 0;
  for (const PassColumn& c : columns) bytes_gone += c.times * std::clamp(at - c.from, 0.0, c.bytes);
  return bytes_gone;
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = verdict_of(in, out) + "\n" + why_of(in, out);
  using models::OptimizerKind;
  using models::UpdateCode;
  const std::string name = kind_choices()[static_cast<std::size_t>(in.kind)].label;
  p.chosen_lower = run.chosen_lower;
  if (in.kind == OptimizerKind::adamw_8bit) {
    p.upper = lane_of("AdamW, fused", run.upper, 0);
    p.lower = lane_of(name, run.lower, 0);
  } else {
    p.upper = lane_of(name + ", " + code_choices()[static_cast<std::size_t>(run.upper.code)].label, run.upper,
                      run.upper.temporary_bytes);
    p.lower = lane_of(
        name + ", fused" + (models::optimizer_home(in.kind, UpdateCode::fused).empty() ? " (hypothetical)" : ""),
        run.lower, 0);
  }
  (p.chosen_lower ? p.lower : p.upper).chosen = true;
  p.axis_bytes = p.upper.bytes;
  p.axis_s = std::max({p.upper.time_s, p.lower.time_s, 1e-12});
  return p;
}

}  // namespace chapters::training::optimizer
