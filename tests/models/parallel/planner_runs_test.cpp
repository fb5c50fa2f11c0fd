#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "models/parallel/planner/planner_accuracy.h"
#include "models/parallel/planner/planner_known.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using support::near;
using namespace models;
using namespace models::parallel;

namespace {

std::vector<Chip> run_chips() {
  return *parse_chips(support::read_text(support::source_file("assets/hardware/nvidia.json")), "nvidia");
}

const PlannerRuns& shipped_runs() {
  static const PlannerRuns runs = *parse_planner_runs(
      support::read_text(support::source_file("assets/measured/training-runs.json")), "training-runs.json");
  return runs;
}

const std::vector<PricedRun>& priced_shipped_runs() {
  static const std::vector<PricedRun> priced = price_runs(shipped_runs(), run_chips());
  return priced;
}

}  // namespace

TEST_CASE("planner: step times of published runs") {
  const PlannerReport report = planner_report(shipped_runs(), priced_shipped_runs());
  REQUIRE(report.accuracy.size() == 9);
  for (const PlannerAccuracy& row : report.accuracy) {
    INFO(row.name << ": median " << row.median << ", mean " << row.mean << ", ninetieth " << row.ninetieth << ", worst "
                  << row.worst << " " << row.worst_run);
    CHECK(row.runs >= 8);
    CHECK(row.holds());
    // A model that explains something is nearer than one share of the peak for each chip; among the other GPUs and
    // nanotron's runs it is not always.
    if (row.median_bar > 0 || row.mean_bar > 0) CHECK(row.median < row.constant_median);
    // The bars hold for the runs that set nothing too; Korthikanti's four are held by their mean below.
    if (row.median_bar > 0) CHECK(row.judging_median <= row.median_bar);
    if (row.median_bar > 0) CHECK(row.judging_ninetieth <= row.ninetieth_bar);
  }
  std::size_t ordered = 0;
  for (const PlannerOrder& o : report.orders) {
    INFO(o.set << " " << o.spearman);
    // Five of the six runs of that set lie within 4 % of each other, and the sixth, with 14 heads a GPU, is a reading
    // that nothing in the plan explains.
    if (o.set == "bloom.h14336.L72.2022-02-23.g384") continue;
    CHECK(o.spearman >= 0.8);
    ++ordered;
  }
  CHECK(ordered >= 6);
}

// docs/planner.md has a row for each set, and the lab's prose the figures of all runs together.
TEST_CASE("planner: the errors that are written down are those that are computed") {
  const PlannerReport report = planner_report(shipped_runs(), priced_shipped_runs());
  const std::string table = support::read_text(support::source_file("docs/planner.md"));
  const std::string prose = support::read_text(support::source_file("assets/labs/distributed/planner.md"));
  const auto percent = [](double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return std::string(text);
  };
  for (const PlannerAccuracy& row : report.accuracy) {
    const std::string written = "| " + std::to_string(row.runs) + " | " + percent(row.median) + " | " +
                                percent(row.mean) + " | " + percent(row.ninetieth) + " | " + percent(row.worst) + ", " +
                                row.worst_run + " | " + std::to_string(row.judging) + ": " +
                                percent(row.judging_median) + ", " + percent(row.judging_ninetieth) + " | " +
                                percent(row.constant_median) + ", " + percent(row.constant_ninetieth) + " |";
    INFO(row.name << " " << written);
    CHECK(table.find(written) != std::string::npos);
  }
  const PlannerAccuracy& all = report.accuracy.back();
  const std::string written = "the step times of the " + std::to_string(all.runs) +
                              " published runs in `docs/planner.md` by " + percent(all.constant_median) +
                              " in the median, and one in ten of them by more than " + percent(all.constant_ninetieth) +
                              "; the counts here miss them by " + percent(all.median) +
                              ", and one in ten by more than " + percent(all.ninetieth) + ".";
  INFO(written);
  CHECK(prose.find(written) != std::string::npos);
}

TEST_CASE("planner: published runs of grade A fit, and those out of memory do not, with one exception") {
  const PlannerReport report = planner_report(shipped_runs(), priced_shipped_runs());
  CHECK(report.fits.ran > 200);
  CHECK(report.fits.out_of_memory >= 8);
  // It ran out of memory by less than the allocator's fragments.
  CHECK(report.fits.misses == std::vector<std::string>{"bloom.l957.oom"});
}

// What the lab says stands behind its figures (planner_known.cpp).
TEST_CASE("planner: runs and errors by software and chip that are written down are those that are computed") {
  const PlannerRuns& all = shipped_runs();
  const auto stated = [&](const PricedRun& p) {
    const PlannerRun& r = all.runs[p.run];
    return r.step_s > 0 && p.reason.empty() && !r.adapters;
  };
  for (std::size_t i = 0; i < stack_count; ++i)
    for (const bool experts : {false, true}) {
      const auto stack = static_cast<StackId>(i);
      if (stack == StackId::deepseek) continue;  // its one step is not in the list
      std::int64_t runs = 0;
      std::vector<double> errors;
      for (const PricedRun& p : priced_shipped_runs()) {
        const PlannerRun& r = all.runs[p.run];
        if (!stated(p) || r.stack != stack_name(stack) || (all.shapes[r.shape].moe.routed > 0) != experts) continue;
        ++runs;
        if (r.judges) errors.push_back(std::abs(p.error));
      }
      std::sort(errors.begin(), errors.end());
      const auto at = [&](double share) {
        if (errors.empty()) return 0.0;
        return errors[static_cast<std::size_t>(std::llround(share * (static_cast<double>(errors.size()) - 1)))];
      };
      const KnownRuns known = known_runs(stack, experts);
      INFO(stack_name(stack) << (experts ? ", experts: " : ", dense: ") << runs << ", " << errors.size() << ", "
                             << at(0.5) << ", " << at(0.9));
      CHECK(known.runs == runs);
      CHECK(known.judging == static_cast<std::int64_t>(errors.size()));
      CHECK(std::abs(known.judging_median - at(0.5)) <= 5.1e-5);
      CHECK(std::abs(known.judging_ninetieth - at(0.9)) <= 5.1e-5);
    }
  const PlannerReport report = planner_report(all, priced_shipped_runs());
  const auto adapters = std::find_if(report.accuracy.begin(), report.accuracy.end(),
                                     [](const PlannerAccuracy& row) { return row.name.starts_with("adapters"); });
  REQUIRE(adapters != report.accuracy.end());
  CHECK(known_adapters().runs == static_cast<std::int64_t>(adapters->runs));
  CHECK(known_adapters().judging == static_cast<std::int64_t>(adapters->judging));
  CHECK(std::abs(known_adapters().judging_median - adapters->judging_median) <= 5.1e-5);
  CHECK(std::abs(known_adapters().judging_ninetieth - adapters->judging_ninetieth) <= 5.1e-5);
  std::int64_t by_chip = 0;
  for (const Chip& chip : run_chips()) {
    const std::string id = chip.id == "v100_sxm2" ? "v100_32" : chip.id == "v100_16_sxm2" ? "v100_16" : chip.id;
    const auto runs = std::count_if(priced_shipped_runs().begin(), priced_shipped_runs().end(),
                                    [&](const PricedRun& p) { return stated(p) && all.runs[p.run].chip == id; });
    INFO(chip.id);
    CHECK(known_runs_of_chip(chip.id) == (chip.id == "h800_sxm" ? 1 : runs));
    by_chip += runs;
  }
  CHECK(by_chip == 454);  // of 471 that train all weights; 17 are torchtitan's H100 of 96 GB
  const PlannerFits fits = planner_report(all, priced_shipped_runs()).fits;
  CHECK(known_fits().runs == static_cast<std::int64_t>(fits.ran + fits.out_of_memory));
  // Rows that are left out, all and by the makers whose chips have no constants.
  std::int64_t left_out = 0;
  std::map<std::string, std::int64_t> makers{{"Google", 0}, {"AWS", 0}, {"AMD", 0}, {"NVIDIA", 0}};
  for (const LeftOutRuns& some : all.left_out) {
    left_out += some.runs;
    const char* maker = some.reason.starts_with("TPUs")       ? "Google"
                        : some.reason.starts_with("Trainium") ? "AWS"
                        : some.reason.starts_with("AMD")      ? "AMD"
                                                              : "";
    if (makers.contains(maker)) makers[maker] += some.runs;
  }
  CHECK(known_left_out().runs == left_out);
  const std::string prose = support::read_text(support::source_file("assets/labs/distributed/planner.md"));
  CHECK(prose.find("Of " + std::to_string(left_out + 487) + " published rows " + std::to_string(left_out) +
                   " are left out.") != std::string::npos);
  for (const LeftOutRuns& some : all.left_out) CHECK(prose.find(std::to_string(some.runs) + " ") != std::string::npos);
  CHECK(known_left_out().published == left_out + 487);
  for (const auto& [maker, runs] : makers) CHECK(left_out_of_vendor(maker) == runs);
  CHECK(known_fits().right == static_cast<std::int64_t>(fits.ran_fit + fits.out_of_memory_refused));
}

// The half that set no constant, on its own: the mean of Korthikanti's table 5, and the ninetieth percentile of all
// models with experts.
TEST_CASE("planner: the runs that judge keep the bars of their tables") {
  double table5 = 0, rows = 0;
  std::vector<double> experts;
  for (const PricedRun& p : priced_shipped_runs()) {
    const PlannerRun& r = shipped_runs().runs[p.run];
    if (!r.judges || !(r.step_s > 0)) continue;
    if (r.id.starts_with("kor22.table5")) {
      table5 += std::abs(p.error);
      rows += 1;
    }
    if (shipped_runs().shapes[r.shape].moe.routed > 0) experts.push_back(std::abs(p.error));
  }
  CHECK(rows == 4);
  CHECK(table5 / rows <= 0.037);
  std::sort(experts.begin(), experts.end());
  CHECK(experts.size() == 55);
  CHECK(experts[49] <= 0.25);
}

// The memory that torchtitan printed, of which nothing was set: within a fifth, and all but one row within a sixth.
TEST_CASE("planner: torchtitan's compiled runs of 2024 hold what they print but for a sixth") {
  int near_by = 0, rows = 0;
  for (const PricedRun& p : priced_shipped_runs()) {
    const PlannerRun& r = shipped_runs().runs[p.run];
    if (r.stack != "fsdp_compiled_2024" || !(r.memory_bytes > 0)) continue;
    const double share = p.price.memory_bytes / r.memory_bytes;
    INFO(r.id << " " << share);
    CHECK(share > 0.8);
    CHECK(share <= 1.001);  // they print tenths of a GiB, of which half are 0.07 % of 73
    ++rows;
    near_by += share > 0.84 ? 1 : 0;
  }
  CHECK(rows == 13);
  CHECK(near_by == 12);
}

TEST_CASE("planner: rank correlation") {
  const std::vector<double> a{1, 2, 3, 4}, up{10, 20, 30, 40}, down{4, 3, 2, 1};
  CHECK(near(spearman(a, up, 0), 1));
  CHECK(near(spearman(a, down, 0), -1));
  // Within the tie all four share a rank: nothing is said.
  CHECK(spearman(a, std::vector<double>{100, 100.5, 101, 101.5}, 0.03) == 0);
}

TEST_CASE("planner: a list of runs that is none gets one sentence") {
  CHECK(parse_planner_runs("[1, 2", "x.json").error.starts_with("x.json is no list of training runs"));
  CHECK(!parse_planner_runs(R"({"columns": ["id"], "judging": [], "left_out": [], "shapes": [], "rows": [["a"]]})",
                            "x.json"));
}
