#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/roofline/setting.h"
#include "models/machine/op_cost.h"

namespace chapters::roofline::roofline {
namespace {

using models::RooflineOp;
using models::Work;

/// The work that was asked for; nothing when the model does not do it.
std::optional<Work> chosen_work(const Inputs& in, const Setting& setting, const Outputs& out) {
  if (in.operation == "custom") return Work{in.flops, in.bytes, static_cast<double>(in.kernels)};
  if (in.operation == "gemm") {
    const double e = setting.sizes.element_bytes;
    const auto cost =
        models::gemm(static_cast<double>(in.m), static_cast<double>(in.n), static_cast<double>(in.k), e, e, e);
    return Work{cost.flops, cost.bytes(), 1};
  }
  for (const auto& named : out.works)
    if (models::roofline_op_id(named.op) == in.operation) return named.work;
  return std::nullopt;
}

void place_chosen(const Inputs& in, const Setting& setting, Outputs& out) {
  const auto work = chosen_work(in, setting, out);
  if (!work) {
    out.reason = "This model has no such operation: choose another operation or model.";
    return;
  }
  const auto placement = models::place(setting.machine, *work, in.launch_cost);
  if (!placement) {
    out.reason = "No time can be computed: " + placement.error + ".";
    return;
  }
  out.work = *work;
  out.placement = *placement;
  out.share_of_peak_percent = 100 * placement->achieved_flops_per_s / setting.machine.peak_flops_per_s;
}

void add_operations(const Inputs& in, const Setting& setting, Outputs& out) {
  const auto* unfused = models::find_work(out.works, RooflineOp::attention_unfused);
  const auto* fused = models::find_work(out.works, RooflineOp::flash_attention);
  if (unfused && fused) {
    const auto from = setting.place(unfused->work);
    const auto to = setting.place(fused->work);
    if (from && to) out.fusion = {*from, *to, from->time_s / to->time_s, unfused->work.bytes / fused->work.bytes};
  }
  if (!shows(in, "operations")) return;
  for (const auto& named : out.works)
    if (const auto p = setting.place(named.work))
      out.operations.push_back({named, *p, std::string(models::regime_id(p->regime))});
}

}  // namespace

bool shows(const Inputs& in, const char* what) {
  return std::find(in.show.begin(), in.show.end(), what) != in.show.end();
}

Outputs compute(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.reason = chip.error};
  Outputs out;
  const auto machine = models::machine_of(**chip, in.format, in.launch_s);
  if (!machine) {
    out.reason = machine.error + ".";
    add_roofs(in, **chip, out);  // those of the other chips can still be seen
    return out;
  }
  const Setting setting{**chip,
                        catalog().model(in.model),
                        *machine,
                        {in.batch, in.sequence, in.context, models::format_bytes(in.format), in.kv_reads},
                        in.launch_cost};
  out.machine = *machine;
  out.ridge = models::ridge_flops_per_byte(*machine);
  out.square_side = models::square_gemm_side_at(out.ridge, setting.sizes.element_bytes);
  if (setting.model) out.works = models::roofline_works(setting.model->architecture, setting.sizes);
  place_chosen(in, setting, out);
  add_roofs(in, **chip, out);
  add_operations(in, setting, out);
  add_decode(in, setting, out);
  add_ceilings(in, setting, out);
  add_measured(in, *machine, out);
  return out;
}

}  // namespace chapters::roofline::roofline
