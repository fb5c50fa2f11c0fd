#include "models/gpu/counters/kernel_verdict.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "models/gpu/counters/measured_reports.h"
#include "tests/support/base/near.h"

using namespace models::gpu;
using support::near;

namespace {

/// By whose word class and cause are stated: how many reports, and how many the figures decide alike.
struct Score {
  int reports = 0, bound = 0, cause = 0;
};

std::map<std::string, Score> scores() {
  std::map<std::string, Score> out;
  for (const MeasuredReport& m : measured_reports()) {
    const Diagnosis d = diagnose(m.report);
    Score& score = out[m.decided_by];
    ++score.reports;
    score.bound += d.bound == m.stated_class;
    score.cause += cause_key(d.cause) == m.stated_cause;
  }
  return out;
}

}  // namespace

// NVIDIA's speed-of-light rule (Nsight Compute, SpeedOfLight.py), and the throughputs that six public reports print.
TEST_CASE("verdict: the tool's rule on the figures of six reports") {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  CHECK(sol_verdict(67.89, 67.89, 13107.2) == SolVerdict::balanced);
  CHECK(sol_verdict(58.9, 45.65, unknown) == SolVerdict::latency);
  CHECK(sol_verdict(1.84, 13.68, 0.1) == SolVerdict::small_grid);
  CHECK(sol_verdict(46.74, 75.98, unknown) == SolVerdict::memory_heavier);
  CHECK(sol_verdict(90.2, 90.2, unknown) == SolVerdict::near_roof);
  CHECK(sol_verdict(45.07, 83.54, unknown) == SolVerdict::near_roof);
  CHECK(sol_verdict(70, 55, unknown) == SolVerdict::compute_heavier);
  CHECK(sol_verdict(unknown, 55, unknown) == SolVerdict::undecided);
  CHECK(sol_verdict(unknown, 86, unknown) == SolVerdict::near_roof);
}

TEST_CASE("verdict: the tool's estimates") {
  CHECK(near(small_grid_estimate_pct(64, 84), 23.81, 1e-3));
  CHECK(near(small_grid_estimate_pct(1, 38), 97.37, 1e-3));
  CHECK(near(small_grid_estimate_pct(2, 24), 91.67, 1e-3));
  CHECK(std::isnan(small_grid_estimate_pct(108, 108)));
  CHECK(near(tail_estimate_pct(2.37), 33.33, 1e-3));
  CHECK(tail_estimate_pct(3) == 0);
  CHECK(std::isnan(tail_estimate_pct(0.86)));
  CHECK(near(occupancy_gap_pct(100, 79.36), 20.64, 1e-6));
  CHECK(near(occupancy_gap_pct(16.67, 2.08), 87.5, 1e-3));
  CHECK(names_stall(0.2688, 7.8, 23.1));
  CHECK(names_stall(0.61, 5.404, 17.23));
  CHECK_FALSE(names_stall(0.61, 3.738, 17.23));
}

TEST_CASE("verdict: equal to the tool's on every published report that has both throughputs") {
  int printed = 0;
  for (const MeasuredReport& m : measured_reports()) {
    if (m.verdict == SolVerdict::undecided) continue;
    INFO(m.id);
    CHECK(diagnose(m.report).verdict == m.verdict);
    printed += m.verdict_is_printed;
  }
  CHECK(printed == 18);
}

// How often class and cause follow from figures alone, by who stated them. What is missed is named in the next case.
TEST_CASE("diagnosis: 40 of 41 classes that authors state, and how many causes") {
  const auto by = scores();
  CHECK(by.at("author").reports == 41);
  CHECK(by.at("author").bound == 40);
  CHECK(by.at("author").cause == 39);
  CHECK(by.at("tool").reports == 6);
  CHECK(by.at("tool").bound == 6);
  CHECK(by.at("tool").cause == 5);
  CHECK(by.at("figures").bound == 3);
  CHECK(by.at("figures").cause == 3);
  CHECK(by.at("name").reports == 6);
  CHECK(by.at("name").bound == 6);
  CHECK(by.at("name").cause == 5);
}

TEST_CASE("diagnosis: a name decides nothing, and a report that prints next to nothing is undecided") {
  for (const MeasuredReport& m : measured_reports()) {
    KernelReport other = m.report;
    other.kernel = "something_else";
    other.chip = other.does = "";
    INFO(m.id);
    CHECK(diagnose(other).cause == diagnose(m.report).cause);
    if (m.id == "gemm_multicast") CHECK(diagnose(m.report).bound == KernelClass::undecided);
  }
  CHECK(diagnose(KernelReport()).bound == KernelClass::undecided);
}

TEST_CASE("identities: what reports print follows from their other figures, within 1 %") {
  int cycles = 0, waves = 0, occupancy = 0, gaps = 0;
  for (const MeasuredReport& m : measured_reports()) {
    INFO(m.id);
    const KernelReport& r = m.report;
    const ReportIdentities also = report_identities(r);
    if (r.has(Figure::elapsed_cycles) && r.has(Figure::duration_s) && r.has(Figure::sm_hz)) {
      CHECK(near(also.elapsed_cycles, r[Figure::elapsed_cycles], 0.01));
      ++cycles;
    }
    if (r.has(Figure::waves_per_sm)) {
      CHECK(near(also.waves, r[Figure::waves_per_sm], 0.01));
      ++waves;
    }
    if (r.has(Figure::theoretical_occupancy_pct) && !std::isnan(also.blocks_per_sm)) {
      CHECK(std::abs(also.theoretical_occupancy_pct - r[Figure::theoretical_occupancy_pct]) <= 0.03);
      ++occupancy;
    }
    if (r.has(Figure::achieved_occupancy_pct) && !std::isnan(also.occupancy_gap_pct)) {
      CHECK(also.occupancy_gap_pct > -1);
      ++gaps;
    }
  }
  CHECK(cycles == 22);
  CHECK(waves == 16);
  CHECK(occupancy >= 13);
  CHECK(gaps >= 14);
}

TEST_CASE("measured reports: 56 rows, each with an id of its own, a source and figures; none is made up of zeros") {
  std::set<std::string> ids;
  for (const MeasuredReport& m : measured_reports()) {
    INFO(m.id);
    CHECK(ids.insert(m.id).second);
    CHECK_FALSE(m.label.empty());
    CHECK_FALSE(m.source.empty());
    CHECK(m.stated_class != KernelClass::undecided);
    // A throughput that is not printed is absent.
    if (m.id == "gemm_one_stage") CHECK_FALSE(m.report.has(Figure::sm_pct));
    if (m.id == "gemm_two_cta") CHECK_FALSE(m.report.has(Figure::dram_pct));
  }
  CHECK(ids.size() == 56);
}

// The thresholds of SignThresholds were chosen on all of these reports, which says nothing of others. So they are
// chosen again on every second report, from a grid of three values each, and tried on the rest; of several settings
// that do best on one half each counts. Chosen on the even ones (28 of 28 right), the worst of these settings is right
// on 27 of the 28 odd ones; chosen on the odd ones (27 of 28), on 26 of the 28 even ones: 53 of 56 held out, against 55
// of 56 with all in view. The rule itself, which signs there are and in which order, was written with all 56 in view
// and is not held out.
TEST_CASE("diagnosis: thresholds chosen on one half of the reports classify the other half") {
  const auto& all = measured_reports();
  const auto right = [&](std::size_t half, const SignThresholds& signs) {
    int n = 0;
    for (std::size_t i = half; i < all.size(); i += 2)
      n += diagnose(all[i].report, {}, signs).bound == all[i].stated_class;
    return n;
  };
  int chosen[2] = {0, 0}, worst[2] = {0, 0};
  for (const double active : {80.0, 90.0, 95.0})
    for (const double idle : {15.0, 30.0, 45.0})
      for (const double few : {10.0, 20.0, 30.0})
        for (const double tail : {15.0, 20.0, 33.0})
          for (const double matter : {62.0, 64.0, 70.0})
            for (const double same : {0.02, 0.05, 0.5}) {
              const SignThresholds signs{active, idle, few, same, tail, matter, 10};
              for (std::size_t half = 0; half < 2; ++half) {
                const int here = right(half, signs);
                if (here < chosen[half]) continue;
                const int there = right(1 - half, signs);
                worst[half] = here > chosen[half] ? there : std::min(worst[half], there);
                chosen[half] = here;
              }
            }
  CHECK(chosen[0] == 28);
  CHECK(worst[0] == 27);
  CHECK(chosen[1] == 27);
  CHECK(worst[1] == 26);
}
