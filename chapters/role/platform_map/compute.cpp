#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/mechanism/catalog.h"
#include "chapters/role/platform_map/lab.h"
#include "models/platform/techniques.h"
#include "widgets/number/number.h"

namespace chapters::role::platform_map {
namespace {

using models::platform::Part;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t max_swept = 65536;

void fill_shares(const models::platform::ReleaseSetup& s, Outputs& out) {
  const models::platform::Release& r = out.release;
  for (std::size_t i = 0; i < parts; ++i) {
    out.time_share[i] = 100 * r.parts[i].time_s / r.total.time_s;
    out.usd_share[i] = r.total.usd > 0 ? 100 * r.parts[i].usd / r.total.usd : 0;
  }
  out.bottleneck = static_cast<Part>(r.bottleneck);
  out.dearest = static_cast<Part>(r.dearest);
  out.bottleneck_share = out.time_share[r.bottleneck];
  out.bottleneck_saves_s = r.twice_saves_s[r.bottleneck];
  out.compute_share = 100 * r.compute_share;
  const auto& run = r.run;
  out.training_waits = run.kernels_s >= run.network_s && run.kernels_s >= run.host_s ? "kernels"
                       : run.network_s >= run.host_s                                 ? "the network"
                                                                                     : "launches";
  out.run_gpu_s = run.time_s * static_cast<double>(s.gpus);
  out.run_usd = out.run_gpu_s / 3600 * s.usd_per_gpu_hour;
  out.busy = run.time_s > 0 ? 100 * run.kernels_s / run.time_s : 0;
  out.training_kernels_share = 100 * run.kernels_s / r.total.time_s;
}

/// The release; where a GPU's memory is too small for its training run, why there is none, with the figures.
models::Result<models::platform::Release> released(const models::Architecture& a,
                                                   const models::platform::ReleaseSetup& s,
                                                   const models::platform::KnownHalves& known = {}) {
  if (const auto held = models::platform::release_training_bytes(a, s); held && *held > s.chip->memory_bytes)
    return models::Result<models::platform::Release>::fail("A GPU would hold " + widgets::format_text(*held, "B") +
                                                           " in training and has " +
                                                           widgets::format_text(s.chip->memory_bytes, "B") +
                                                           ": this map splits optimizer states alone; take a smaller "
                                                           "model or micro-batch, more recomputation, or a larger "
                                                           "chip.");
  return models::platform::estimate_release(a, s, known);
}

void fill_by_gpus(const models::Architecture& a, const models::platform::ReleaseSetup& setup, Outputs& out) {
  out.leaves_at = missing;
  for (std::int64_t n = 1; n <= std::min(setup.batch, max_swept); n *= 2) {
    models::platform::ReleaseSetup s = setup;
    s.gpus = n;
    const auto release = released(a, s, {.service = &out.release.service});
    GpuRow row{.gpus = n, .release = {}, .bottleneck = {}, .refused = release.error};
    if (release) {
      row.release = *release;
      row.bottleneck = models::platform::part_name(static_cast<Part>(release->bottleneck));
      const bool training = release->bottleneck == static_cast<std::size_t>(Part::training);
      if (training) out.leaves_at = missing;
      if (!training && std::isnan(out.leaves_at)) out.leaves_at = static_cast<double>(n);
    }
    out.by_gpus.push_back(std::move(row));
  }
}

/// The release again with each technique, by the models that made it.
void fill_techniques(const models::Architecture& a, const models::platform::ReleaseSetup& setup, Outputs& out) {
  for (const models::platform::Technique& technique : models::platform::techniques()) {
    models::platform::ReleaseSetup s = setup;
    // What acts up to the profile leaves the service as it is, and the other way round.
    const bool trains = technique.part <= Part::profiling;
    const models::platform::KnownHalves known{trains ? nullptr : &out.release.run,
                                              trains ? &out.release.service : nullptr};
    TechniqueRow row{.part = std::string(models::platform::part_name(technique.part)),
                     .name = std::string(technique.name),
                     .lab = std::string(technique.lab),
                     .saves_s = missing,
                     .saves_usd = missing,
                     .then = {}};
    if (!technique.apply(s)) {
      row.then = "in use";
    } else if (const auto with = released(a, s, known); !with) {
      row.then = with.error;
    } else {
      // Differences below a millionth of the whole are rounding of the simulated nanoseconds.
      const auto saved = [](double before, double after, double whole) {
        return std::abs(before - after) < 1e-6 * whole ? 0.0 : before - after;
      };
      row.added = true;
      row.saves_s = saved(out.release.total.time_s, with->total.time_s, out.release.total.time_s);
      row.saves_usd = saved(out.release.total.usd, with->total.usd, out.release.total.usd);
      row.then = models::platform::part_name(static_cast<Part>(with->bottleneck));
    }
    out.techniques.push_back(std::move(row));
  }
}

}  // namespace

models::Result<models::platform::ReleaseSetup> setup_of(const Inputs& in) {
  using Outcome = models::Result<models::platform::ReleaseSetup>;
  const auto chip = find_chip(in.chip);
  if (!chip) return Outcome::fail(chip.error);
  models::platform::ReleaseSetup s = in.setup;
  s.chip = *chip;
  s.recipe = models::find_recipe(in.recipe);
  s.kv = models::find_kv_recipe(in.kv);
  s.product = models::format_from_id(in.format).value_or(models::Format::bf16);
  if (!s.recipe || !s.kv) return Outcome::fail("There is no such recipe or cache: choose one of the lists.");
  return Outcome::ok(s);
}

Computed compute(const Inputs& in) {
  Outputs out;
  const auto model = find_model(in.model);
  const auto setup = setup_of(in);
  if (!model || !setup) {
    out.reason = !model ? model.error : setup.error;
    return {.facts = std::move(out)};
  }
  const models::Architecture& a = (*model)->architecture;
  auto release = released(a, *setup);
  if (!release) {
    out.reason = release.error;
    return {.facts = std::move(out)};
  }
  out.release = std::move(*release);
  fill_shares(*setup, out);
  models::platform::ReleaseSetup twice = *setup;
  twice.gpus *= 2;
  const auto doubled = released(a, twice, {.service = &out.release.service});
  out.twice_gain = doubled ? 100 * (1 - doubled->total.time_s / out.release.total.time_s) : missing;
  if (std::abs(out.twice_gain) < 1e-4) out.twice_gain = 0;  // rounding of the simulated nanoseconds
  fill_by_gpus(a, *setup, out);
  fill_techniques(a, *setup, out);
  Run run{models::platform::release_step(a, *setup, setup->gpus).value};
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::role::platform_map
