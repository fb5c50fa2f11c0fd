#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/roofline/setting.h"
#include "models/machine/gemm_depth.h"
#include "models/machine/op_cost.h"

namespace chapters::roofline::roofline {
namespace {

using models::NamedWork;
using models::RooflineOp;
using models::Work;

/// The work that was asked for; nothing when the model does not do it.
std::optional<Work> chosen_work(const Inputs& in, const Setting& setting, const std::vector<NamedWork>& works) {
  if (in.operation == "custom") return Work{in.flops, in.bytes, static_cast<double>(in.kernels)};
  if (in.operation == "gemm") {
    const double e = setting.sizes.element_bytes;
    const auto cost =
        models::gemm(static_cast<double>(in.m), static_cast<double>(in.n), static_cast<double>(in.k), e, e, e);
    return Work{cost.flops, cost.bytes(), 1};
  }
  for (const NamedWork& named : works)
    if (models::roofline_op_id(named.op) == in.operation) return named.work;
  return std::nullopt;
}

void place_chosen(const Inputs& in, const Setting& setting, const std::vector<NamedWork>& works, Outputs& out) {
  const auto work = chosen_work(in, setting, works);
  if (!work) {
    out.reason = "This model has no such operation: choose another operation or model.";
    return;
  }
  const auto placement = models::place(setting.machine, *work, in.launch_cost);
  if (!placement) {
    out.reason = placement.error;
    return;
  }
  out.work = *work;
  out.placement = *placement;
  out.share_of_peak_percent = 100 * placement->achieved_flops_per_s / setting.machine.peak_flops_per_s;
  constexpr double hardly = 1.05;
  out.near_ridge = placement->regime == models::Regime::memory &&
                   setting.machine.peak_flops_per_s < hardly * placement->attainable_flops_per_s;
}

/// The format with the next higher ceiling on the chip; what is less than a fifth faster would not be worth the change.
void find_next_format(const models::Chip& chip, Outputs& out) {
  constexpr double worth = 1.2;
  for (const models::Format format : models::all_formats) {
    const auto peak = chip.peak_flops_per_s(format);
    if (!peak || !(*peak > worth * out.machine.peak_flops_per_s) || *peak >= out.next_peak_flops_per_s) continue;
    out.next_format = models::format_label(format);
    out.next_peak_flops_per_s = *peak;
  }
}

void add_operations(const Inputs& in, const Setting& setting, const std::vector<NamedWork>& works, Outputs& out) {
  const auto* unfused = models::find_work(works, RooflineOp::attention_unfused);
  const auto* fused = models::find_work(works, RooflineOp::flash_attention);
  if (unfused && fused) {
    const auto from = setting.place(unfused->work);
    const auto to = setting.place(fused->work);
    if (from && to) out.fusion = {*from, *to, from->time_s / to->time_s, unfused->work.bytes / fused->work.bytes};
  }
  if (!shows(in, "operations")) return;
  for (const NamedWork& named : works)
    if (const auto p = setting.place(named.work))
      out.operations.push_back({named, *p, std::string(models::regime_id(p->regime))});
}

}  // namespace

bool shows(const Inputs& in, const char* what) {
  return std::find(in.show.begin(), in.show.end(), what) != in.show.end();
}

Computed compute(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  Outputs out;
  const auto machine = models::machine_of(**chip, in.format, in.launch_s);
  if (!machine) {
    out.reason = machine.error;
    add_roofs(in, **chip, out);  // those of the other chips can still be seen
    return {.facts = std::move(out)};
  }
  const Setting setting{**chip,
                        catalog().model(in.model),
                        *machine,
                        {in.batch, in.sequence, in.context, models::format_bytes(in.format), in.kv_reads},
                        in.launch_cost};
  out.machine = *machine;
  out.ridge = models::ridge_flops_per_byte(*machine);
  out.square_side = models::square_gemm_side_at(out.ridge, setting.sizes.element_bytes);
  out.depth_at_ridge = models::gemm_depth_at(out.ridge, static_cast<double>(in.m), static_cast<double>(in.n),
                                             setting.sizes.element_bytes);
  Run run;
  if (setting.model) run.works = models::roofline_works(setting.model->architecture, setting.sizes);
  find_next_format(**chip, out);
  place_chosen(in, setting, run.works, out);
  add_roofs(in, **chip, out);
  add_operations(in, setting, run.works, out);
  add_decode(in, setting, out);
  add_ceilings(in, setting, out, run);
  add_measured(in, *machine, out);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::roofline::roofline
