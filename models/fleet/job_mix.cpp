#include "models/fleet/job_mix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "models/base/counter_random.h"

namespace models::fleet {
namespace {

constexpr PrintedJobs philly_jobs{1.928, 128, 18'006.055, 874, 3'760.604, 189},
    helios_jobs{3.716, 2048, 6'651.681, 206, 862.047, 0}, seren_jobs{5.68, 1024, 1'414.335, 122, 445.984, 1},
    kalos_jobs{26.77, 1024, 1'259.689, 124, 214.179, 17};

/// Gavel's generator of jobs after Philly's: 70 % on one GPU, 10 % on two, 15 % on four, 5 % on eight. Source: Gavel,
/// OSDI 2020, section 7.1, and its published trace generator.
constexpr std::array<SizeShare, 4> gavel_sizes{{{1, 0.7}, {2, 0.1}, {4, 0.15}, {8, 0.05}}};

/// Slices of a GPU by profile: an example, since no cluster has printed such shares.
constexpr std::array<double, mig_profile_count> slice_shares{0.45, 0, 0.25, 0.15, 0.05, 0.1};

JobKind kind_of(std::int64_t gpus, double share) {
  JobKind kind;
  kind.share = share;
  kind.shape.places = static_cast<int>(std::min<std::int64_t>(gpus, shelf_places));
  kind.shape.shelves = static_cast<int>(std::max<std::int64_t>(1, gpus / shelf_places));
  return kind;
}

std::vector<SizeShare> geometric_sizes(double factor, std::int64_t least, double max_gpus) {
  std::vector<SizeShare> sizes;
  double share = 1, sum = 0;
  for (std::int64_t gpus = least; static_cast<double>(gpus) <= max_gpus; gpus *= 2) {
    sizes.push_back({gpus, share});
    sum += share;
    share *= factor;
  }
  for (SizeShare& s : sizes) s.share /= sum;
  return sizes;
}

double mean_of(const std::vector<SizeShare>& sizes) {
  double mean = 0;
  for (const SizeShare& s : sizes) mean += s.share * static_cast<double>(s.gpus);
  return mean;
}

/// The law whose mean is this; the mean grows with the factor.
std::vector<SizeShare> fitted_law(double mean, std::int64_t least, double max_gpus) {
  double lo = 0, hi = 64;
  for (int i = 0; i < 200; ++i) {
    const double middle = (lo + hi) / 2;
    (mean_of(geometric_sizes(middle, least, max_gpus)) < mean ? lo : hi) = middle;
  }
  return geometric_sizes((lo + hi) / 2, least, max_gpus);
}

}  // namespace

double RunTimes::mean() const {
  if (law != DurationLaw::two_decades) return mean_s;
  // 60 x (0.8 x mean of 10^U(1.5, 3) + 0.2 x mean of 10^U(3, 4)).
  const double ln10 = std::numbers::ln10;
  return 60 * (0.8 * (1000 - std::pow(10, 1.5)) / (1.5 * ln10) + 0.2 * (10'000 - 1000) / ln10);
}

double RunTimes::at(double u) const {
  switch (law) {
    case DurationLaw::exponential:
      return -mean_s * std::log(u);
    case DurationLaw::log_normal: {
      const double sigma = std::sqrt(2 * std::log(std::max(1.0, mean_s / median_s)));
      return median_s * std::exp(-sigma * upper_normal_quantile(u));
    }
    case DurationLaw::two_decades:
      break;
  }
  return 60 * std::pow(10, u < 0.8 ? 1.5 + 1.5 * u / 0.8 : 3 + (u - 0.8) / 0.2);
}

const PrintedJobs* printed_jobs(Mix mix) {
  switch (mix) {
    case Mix::philly:
      return &philly_jobs;
    case Mix::helios:
      return &helios_jobs;
    case Mix::seren:
      return &seren_jobs;
    case Mix::kalos:
      return &kalos_jobs;
    case Mix::gavel:
    case Mix::single:
    case Mix::slices:
      break;
  }
  return nullptr;
}

std::vector<SizeShare> fitted_sizes(double mean_gpus, double max_gpus) {
  std::vector<SizeShare> sizes = fitted_law(mean_gpus, 1, max_gpus);
  if (sizes.front().share >= 0.5) return sizes;
  sizes = fitted_law(2 * mean_gpus - 1, 2, max_gpus);
  for (SizeShare& s : sizes) s.share /= 2;
  sizes.insert(sizes.begin(), {1, 0.5});
  return sizes;
}

JobMix job_mix(Mix mix, std::int64_t max_gpus) {
  JobMix out;
  if (mix == Mix::slices) {
    for (std::size_t p = 0; p < mig_profile_count; ++p) {
      const MigProfile& profile = mig_profiles()[p];
      if (slice_shares[p] > 0)
        out.kinds.push_back({{.places = profile.memory_slices, .at = profile.at}, slice_shares[p], profile.name});
    }
    return out;
  }
  std::vector<SizeShare> sizes{{1, 1}};
  if (const PrintedJobs* printed = printed_jobs(mix)) {
    sizes = fitted_sizes(printed->mean_gpus, printed->max_gpus);
    out.durations = {DurationLaw::log_normal, printed->mean_run_s, printed->median_run_s};
  } else if (mix == Mix::gavel) {
    sizes.assign(gavel_sizes.begin(), gavel_sizes.end());
    out.durations.law = DurationLaw::two_decades;
  }
  double kept = 0;
  for (const SizeShare& s : sizes) kept += s.gpus <= max_gpus ? s.share : 0;
  for (const SizeShare& s : sizes)
    if (s.gpus <= max_gpus) out.kinds.push_back(kind_of(s.gpus, s.share / kept));
  out.left_out = 1 - kept;
  return out;
}

}  // namespace models::fleet
