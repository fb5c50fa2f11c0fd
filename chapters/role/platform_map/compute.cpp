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

double as_double(std::int64_t n) { return static_cast<double>(n); }

void fill_shares(const models::platform::ReleaseSetup& s, Outputs& out) {
  const models::platform::Release& r = out.release;
  for (std::size_t i = 0; i < parts; ++i) {
    out.time_share[i] = 100 * r.parts[i].time_s / r.total.time_s;
    out.usd_share[i] = r.total.usd > 0 ? 100 * r.parts[i].usd / r.total.usd : 0;
  }
  out.bottleneck = holder_of(r);
  out.dearest = static_cast<Part>(r.dearest);
  out.bottleneck_share = out.bottleneck == Holder::data_and_training ? out.time_share[0] + out.time_share[1]
                                                                     : out.time_share[r.bottleneck];
  out.bottleneck_saves_s = holder_saves_s(r);
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

GpuRow gpu_row(const models::Architecture& a, const models::platform::ReleaseSetup& setup, const Outputs& out,
               std::int64_t gpus) {
  models::platform::ReleaseSetup s = setup;
  s.gpus = gpus;
  const auto release = released(a, s, {.service = &out.release.service});
  GpuRow row{.gpus = gpus, .release = {}, .bottleneck = {}, .refused = release.error};
  if (release) {
    row.release = *release;
    row.bottleneck = holder_name(holder_of(*release));
  }
  return row;
}

void add_stretch(const GpuRow& row, Outputs& out) {
  const std::string name = row.refused.empty() ? row.bottleneck : "does not fit";
  if (!out.stretches.empty() && out.stretches.back().bottleneck == name)
    out.stretches.back().to_gpus = row.gpus;
  else
    out.stretches.push_back({row.gpus, row.gpus, name, holder_of(row.release), !row.refused.empty()});
}

/// Goes from one number of GPUs to another, and halves the way between while the two ends differ.
void bisect(const models::Architecture& a, const models::platform::ReleaseSetup& setup, const GpuRow& lo,
            const GpuRow& hi, Outputs& out, std::vector<GpuRow>& looked) {
  const bool same = lo.bottleneck == hi.bottleneck;
  if (!same && hi.gpus - lo.gpus > 1) {
    const GpuRow middle = gpu_row(a, setup, out, (lo.gpus + hi.gpus) / 2);
    bisect(a, setup, lo, middle, out, looked);
    return bisect(a, setup, middle, hi, out, looked);
  }
  add_stretch(hi, out);
  looked.push_back(hi);
}

/// Stretches from `ends` and what lies between them; returns every release that was looked at.
std::vector<GpuRow> fill_stretches(const models::Architecture& a, const models::platform::ReleaseSetup& setup,
                                   const std::vector<GpuRow>& ends, Outputs& out) {
  out.stretches.clear();
  add_stretch(ends.front(), out);
  std::vector<GpuRow> looked{ends.front()};
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) bisect(a, setup, ends[i], ends[i + 1], out, looked);
  return looked;
}

/// By powers of two and to a GPU between them; your own number is looked at too where it would be said to be another
/// part's, so that sentence and strip agree. Returns every release that was looked at, yours among them.
std::vector<GpuRow> fill_by_gpus(const models::Architecture& a, const models::platform::ReleaseSetup& setup,
                                 Outputs& out) {
  for (std::int64_t n = 1; n <= std::min(setup.batch, max_swept); n *= 2)
    out.by_gpus.push_back(gpu_row(a, setup, out, n));
  const auto place_in = [&](std::vector<GpuRow>& rows) {
    return std::lower_bound(rows.begin(), rows.end(), setup.gpus,
                            [](const GpuRow& row, std::int64_t gpus) { return row.gpus < gpus; });
  };
  const GpuRow yours{.gpus = setup.gpus,
                     .release = out.release,
                     .bottleneck = std::string(holder_name(out.bottleneck)),
                     .refused = {}};
  std::vector<GpuRow> looked = fill_stretches(a, setup, out.by_gpus, out);
  const auto said = std::find_if(out.stretches.begin(), out.stretches.end(),
                                 [&](const StretchRow& row) { return setup.gpus <= row.to_gpus; });
  const bool agrees = said != out.stretches.end() && !said->refused && said->holder == out.bottleneck;
  if (auto at = place_in(looked); at == looked.end() || at->gpus != setup.gpus) {
    if (agrees) {
      looked.insert(at, yours);
      return looked;
    }
    std::vector<GpuRow> ends = out.by_gpus;
    ends.insert(place_in(ends), yours);
    looked = fill_stretches(a, setup, ends, out);
  }
  return looked;
}

/// Where the bottleneck goes when GPUs are added.
void find_next(std::int64_t gpus, Outputs& out) {
  out.leaves_at = out.next_at = missing;
  for (const StretchRow& row : out.stretches) {
    if (row.refused) continue;
    if (row.holder == Holder::training) out.leaves_at = missing;
    if (row.holder != Holder::training && std::isnan(out.leaves_at)) out.leaves_at = as_double(row.from_gpus);
    if (row.from_gpus <= gpus || !std::isnan(out.next_at)) continue;
    out.next_at = as_double(row.from_gpus);
    out.next_bottleneck = row.bottleneck;
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

std::string_view holder_name(Holder holder) {
  if (holder == Holder::data_and_training) return "data and training";
  return models::platform::part_name(static_cast<Part>(holder));
}

Holder holder_of(const models::platform::Release& r) {
  const double data = r.twice_saves_s[0], training = r.twice_saves_s[1];
  double other = 0;
  for (std::size_t i = 2; i < parts; ++i) other = std::max(other, r.twice_saves_s[i]);
  const double both = r.run.time_s / 2;  // all of a run twice as fast is half the run
  if (both > other && std::max(data, training) < both / 2) return Holder::data_and_training;
  return static_cast<Holder>(r.bottleneck);
}

double holder_saves_s(const models::platform::Release& r) {
  return holder_of(r) == Holder::data_and_training ? r.run.time_s / 2 : r.twice_saves_s[r.bottleneck];
}

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
  std::vector<GpuRow> looked = fill_by_gpus(a, *setup, out);
  find_next(setup->gpus, out);
  fill_techniques(a, *setup, out);
  Run run{models::platform::release_step(a, *setup, setup->gpus).value, std::move(looked)};
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::role::platform_map
