#include "chapters/kernels/lab/rate.h"

#include <algorithm>
#include <array>

namespace chapters::kernels::lab {
namespace {

using ::kernels::Ladder, ::kernels::Measure, models::KernelLimit;

/// What the ids of roofs in operations have in them.
constexpr std::array<std::string_view, 3> arithmetic_roofs{"fma", "gemm", "bf16"};

Bound bound_of(KernelLimit limit) {
  return limit == KernelLimit::latency ? Bound::latency
         : limit == KernelLimit::memory || limit == KernelLimit::sectors || limit == KernelLimit::shared_memory
             ? Bound::memory
             : Bound::compute;
}

/// Where a ladder's vector kernels are held against AVX2, its scalar ones are too: bars of one ladder are comparable.
std::string_view roof_of(const Ladder& ladder, const ::kernels::Rung& rung) {
  const bool avx2 =
      std::any_of(ladder.rungs.begin(), ladder.rungs.end(), [](const auto& r) { return r.roof == "fma_avx2"; });
  return rung.roof == "fma" && avx2 ? "fma_avx2" : rung.roof;
}

/// The model's bound, as a share of the rung's roof.
void predict(const Inputs& in, const Ladder& ladder, const ::kernels::Rung& rung, RatedRung& out) {
  out.prediction = models::predict_kernel(ladder.id, rung.id, out.ceilings.ports);
  if (!out.prediction) return;
  out.limit = out.prediction->bound;
  // Bounds are shares of the FMA rate; where a library's product is the roof, they are held against that.
  const bool product_is_roof = rung.roof == "gpu_sgemm";
  const RoofRow* fma = product_is_roof ? measured_roof(in, "cuda", "gpu_fma") : nullptr;
  if (fma && out.ceilings.arithmetic_measured)
    out.limit.share = std::min(1.0, out.limit.share * fma->value / out.ceilings.machine.peak_flops_per_s);
  // No chain measures what Tensor Cores can do: their peak is the chosen chip's, where that can be the one measured.
  const models::GpuPorts& gpu = out.ceilings.ports.gpu;
  const double tensor = gpu.tensor_flops_per_cycle * gpu.clock_hz * gpu.multiprocessors,
               over_product = tensor / out.ceilings.machine.peak_flops_per_s;
  if (rung.roof == "gpu_bf16" && out.ceilings.arithmetic_measured && over_product > 1 && over_product < 2)
    out.limit.share = std::min(1.0, out.limit.share * over_product);
  out.predicted = out.limit.share;
  out.bound = bound_of(out.limit.limit);
  // A share of a library's product stands on the axis only where such a product is the roof; else the share of the
  // peak of the chip that it was measured on.
  const bool against_peak = product_is_roof && !out.ceilings.arithmetic_measured;
  const double published = against_peak ? out.prediction->published_peak_share : out.prediction->published_share;
  if (published > 0) out.published = published;
  out.predicted_s = out.floor_s > 0 ? out.floor_s / out.limit.share : 0;
}

/// What the learner expects of the rung and what its latest run measured.
void compare(const Inputs& in, const Ladder& ladder, const ::kernels::Rung& rung, std::int64_t size, RatedRung& out) {
  for (const PredictionRow& p : in.predictions)
    if (p.ladder == ladder.id && p.rung == rung.id) out.yours = p.share > 0 ? p.share / 100 : -1;
  const RunRow* latest = run_of(in, ladder, rung.id, size, false);
  if (!latest) return;
  out.run = std::make_shared<const RunRow>(*latest);
  out.checked = out.run->checked;
  out.failed = !out.run->failure.empty() && !out.checked;
  out.hidden = !out.failed && !out.checked && in.predict_first && !(out.yours > 0);
  if (!timed(latest)) return;
  const bool no_roof = ladder.measure == Measure::latency_s && out.floor_s <= 0;
  out.measured = no_roof ? -1 : std::min(out.floor_s / out.run->time_s, 1e6);
  out.above_roof = out.measured > 1.02;
}

}  // namespace

bool against_bandwidth(const Inputs& in, const Ladder& ladder, std::string_view roof) {
  for (const RoofRow& r : in.roofs)
    if (r.id == roof) return r.unit != "FLOP/s";
  if (!roof.empty())
    return std::none_of(arithmetic_roofs.begin(), arithmetic_roofs.end(),
                        [&](std::string_view part) { return roof.find(part) != std::string_view::npos; });
  return ladder.measure != Measure::flops_per_s;
}

const RunRow* run_of(const Inputs& in, const Ladder& ladder, std::string_view rung, std::int64_t size, bool edited) {
  for (auto r = in.runs.rbegin(); r != in.runs.rend(); ++r)
    if (r->ladder == ladder.id && r->rung == rung && r->size == size && r->cold == in.cold && r->edited == edited)
      return &*r;
  return nullptr;
}

std::string_view above_roof_text(const RatedRung& r) {
  if (r.bandwidth) return "it ran from a cache, or counts other bytes";
  return r.ceilings.arithmetic_measured ? "the roof was measured while the machine was busier or its clock lower"
                                        : "the clock that is assumed is too low; measure the ceilings";
}

bool noisy(const RunRow* r) { return timed(r) && r->samples > 1 && r->spread_s > noisy_spread * r->time_s; }

bool timed(const RunRow* r) { return r && r->failure.empty() && r->time_s > 0; }

models::Result<std::vector<RatedRung>> rate_rungs(const Inputs& in, const Ladder& ladder, std::int64_t size) {
  using Rated = models::Result<std::vector<RatedRung>>;
  const models::OpCost cost = ladder.cost(size);
  std::vector<RatedRung> rated;
  for (const ::kernels::Rung& rung : ladder.rungs) {
    auto ceilings = ceilings_of(in, ladder, roof_of(ladder, rung));
    if (!ceilings) return Rated::fail(std::move(ceilings.error));
    RatedRung& r = rated.emplace_back();
    r.ceilings = std::move(*ceilings);
    const models::Machine& m = r.ceilings.machine;
    r.bandwidth = against_bandwidth(in, ladder, rung.roof) || cost.flops <= 0;
    r.floor_s = r.bandwidth ? cost.bytes() / m.bandwidth_bytes_per_s : cost.flops / m.peak_flops_per_s;
    predict(in, ladder, rung, r);
    compare(in, ladder, rung, size, r);
  }
  return Rated::ok(std::move(rated));
}

}  // namespace chapters::kernels::lab
