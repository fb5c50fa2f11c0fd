#include <algorithm>
#include <array>

#include "chapters/mechanism/read_once.h"
#include "chapters/profiling/counters/lab.h"
#include "chapters/profiling/counters/words.h"
#include "widgets/number/number.h"

namespace chapters::profiling::counters {
namespace {

using namespace models::gpu;
using widgets::format_text;

using ReportsPtr = std::shared_ptr<const KernelReports>;

models::Result<ReportsPtr> read_fresh(const FileBytes& file) {
  using Read = models::Result<ReportsPtr>;
  if (file.size_bytes > max_report_bytes)
    return Read::fail("The report is larger than 64 MiB: export fewer kernels, or the details page alone.");
  std::string text;
  if (auto all = file.read(text); !all) return Read::fail(std::move(all.error));
  if (text.starts_with("\x1F\x8B"))
    return Read::fail("The report is packed with gzip: unpack it, and open what comes out.");
  auto reports = read_kernel_reports(text);
  if (!reports) return Read::fail(std::move(reports.error));
  return Read::ok(std::make_shared<const KernelReports>(std::move(*reports)));
}

const MeasuredReport* measured_of(std::string_view id) {
  const auto& all = measured_reports();
  const auto at = std::find_if(all.begin(), all.end(), [&](const MeasuredReport& m) { return m.id == id; });
  return at == all.end() ? nullptr : &*at;
}

double time_of(const KernelReport& r) {
  return r.has(Figure::duration_s) ? r[Figure::duration_s] : r[Figure::unprofiled_s];
}

KernelRow row_of(const KernelReport& r, std::string name, const SolThresholds& limits) {
  const Diagnosis d = diagnose(r, limits);
  KernelRow row{.name = std::move(name)};
  row.verdict = verdict_words(d.verdict);
  row.bound = class_words(d.bound);
  row.cause = cause_words(d.cause).name;
  row.time_s = time_of(r);
  row.compute = r[Figure::sm_pct];
  row.memory = r[Figure::memory_pct];
  row.dram = r[Figure::dram_pct];
  return row;
}

double busiest_arithmetic(const KernelReport& r) {
  double most = std::nan("");
  for (const Figure f : {Figure::tensor_pipe_pct, Figure::fp64_pipe_pct, Figure::fma_pipe_pct, Figure::alu_pipe_pct})
    most = std::fmax(most, r[f]);
  return most;
}

void fill_scheduler(const KernelReport& r, Outputs& out) {
  out.no_eligible_percent = r[Figure::no_eligible_pct];
  out.issue_percent = r.has(Figure::eligible_pct)      ? r[Figure::eligible_pct]
                      : r.has(Figure::no_eligible_pct) ? 100 - r[Figure::no_eligible_pct]
                                                       : r[Figure::issue_slots_busy_pct];
  if (std::isnan(out.no_eligible_percent)) out.no_eligible_percent = 100 - out.issue_percent;
  out.active_warps = r[Figure::active_warps_per_scheduler];
  out.eligible_warps = r[Figure::eligible_warps_per_scheduler];
  out.warp_cycles = r[Figure::warp_cycles_per_issued];
  if (const Stall* top = models::gpu::top_stall(r)) {
    out.top_stall = stall_words(top->reason).name;
    out.top_stall_percent = stall_share_pct(r, *top);
    out.top_stall_cycles = top->cycles;
  }
  for (const Stall& s : r.stalls) {
    const StallWords& words = stall_words(s.reason);
    out.stall_rows.push_back({.reason = std::string(words.name),
                              .means = std::string(words.means),
                              .fix = std::string(words.fix),
                              .cycles = s.cycles,
                              .share_percent = stall_share_pct(r, s)});
  }
}

void fill_occupancy(const KernelReport& r, Outputs& out) {
  constexpr std::array<std::pair<Figure, std::string_view>, 4> limits{{{Figure::limit_registers, "registers"},
                                                                       {Figure::limit_shared, "shared memory"},
                                                                       {Figure::limit_warps, "warps"},
                                                                       {Figure::limit_blocks, "blocks"}}};
  double least = std::nan("");
  for (const auto& [figure, name] : limits) {
    if (!(r[figure] < least) && !std::isnan(least)) continue;
    if (!r.has(figure)) continue;
    least = r[figure];
    out.occupancy_limit = name;
  }
  out.achieved_percent = r[Figure::achieved_occupancy_pct];
  out.room_percent = r[Figure::wavefront_occupancy_pct];
  out.no_room_percent = std::fmax(r[Figure::insufficient_lds_pct], r[Figure::insufficient_vgpr_pct]);
}

void fill_estimates(const KernelReport& r, Outputs& out) {
  for (const ToolRule& rule : r.rules) {
    if (std::isnan(rule.estimate_pct)) continue;
    out.largest_estimate_percent = std::fmax(out.largest_estimate_percent, rule.estimate_pct);
    out.estimates_sum_percent =
        (std::isnan(out.estimates_sum_percent) ? 0 : out.estimates_sum_percent) + rule.estimate_pct;
  }
}

std::string number_text(double value, Measure measure) {
  if (std::isnan(value)) return "\xE2\x80\x94";
  switch (measure) {
    case Measure::percent:
      return format_text(value, "%", 4);
    case Measure::seconds:
      return format_text(value, "s", 4);
    case Measure::hertz:
      return format_text(value, "Hz", 4);
    case Measure::bytes:
      return format_text(value, "B", 4);
    case Measure::bytes_per_s:
      return format_text(value, "B/s", 4);
    case Measure::plain:
      break;
  }
  return format_text(value, "", value >= 1000 ? 12 : 4);
}

/// The figures that are printed, and beside them what follows from others.
void fill_figures(const KernelReport& r, Outputs& out) {
  const auto follows = [&](Figure figure) -> std::pair<double, std::string_view> {
    switch (figure) {
      case Figure::elapsed_cycles:
        return {out.also.elapsed_cycles, "time \xC3\x97 clock"};
      case Figure::waves_per_sm:
        return {out.also.waves, "blocks / (SMs \xC3\x97 blocks per SM)"};
      case Figure::theoretical_occupancy_pct:
        return {out.also.theoretical_occupancy_pct, "resident warps / warps of an SM"};
      default:
        return {std::nan(""), ""};
    }
  };
  for (const FigureNames& names : report_figures()) {
    const auto [value, how] = follows(names.figure);
    if (!r.has(names.figure) && std::isnan(value)) continue;
    if (names.figure == Figure::compute_capability) continue;
    std::string name(names.key);
    if (names.figure >= Figure::limit_registers && names.figure <= Figure::limit_blocks) name = "blocks by " + name;
    std::replace(name.begin(), name.end(), '_', ' ');
    if (name.ends_with(" hz")) name.replace(name.size() - 2, 2, "clock");
    for (const std::string_view unit : {" pct", " bytes per s", " bytes", " s"})
      if (name.size() > unit.size() && name.ends_with(unit)) {
        name.resize(name.size() - unit.size());
        break;
      }
    out.figure_rows.push_back({std::move(name), number_text(r[names.figure], names.measure),
                               std::isnan(value) ? std::string() : number_text(value, names.measure),
                               std::isnan(value) ? std::string() : std::string(how)});
  }
}

void fill_report(const Inputs& in, const KernelReport& r, Outputs& out) {
  const SolThresholds limits{in.low_percent, in.roof_percent, in.difference_points};
  out.said = diagnose(r, limits);
  out.printed_verdict = r.printed_verdict;
  KernelReport launched = r;
  if (in.blocks > 0) launched[Figure::grid_blocks] = static_cast<double>(in.blocks);
  if (in.sms > 0) launched[Figure::sm_count] = static_cast<double>(in.sms);
  if (in.blocks > 0 || in.sms > 0) launched[Figure::waves_per_sm] = std::nan("");
  out.also = report_identities(launched);
  out.reported = report_identities(r);
  out.reported_blocks = r[Figure::grid_blocks];
  out.reported_sms = r[Figure::sm_count];
  out.issue_slots_percent = r[Figure::issue_slots_busy_pct];
  out.wavefronts = r[Figure::wavefronts];
  out.grid_blocks = launched[Figure::grid_blocks];
  out.sm_count = launched[Figure::sm_count];
  out.compute_percent = r[Figure::sm_pct];
  out.memory_percent = r[Figure::memory_pct];
  out.dram_percent = r[Figure::dram_pct];
  out.l1_percent = r.has(Figure::l1_pct) ? r[Figure::l1_pct] : r[Figure::l1_utilization_pct];
  out.l2_percent = r.has(Figure::l2_pct) ? r[Figure::l2_pct] : r[Figure::l2_utilization_pct];
  out.pipe_percent = busiest_arithmetic(r);
  out.memory_is_not_dram = r[Figure::dram_pct] < hbm_from_percent && r[Figure::memory_pct] > r[Figure::dram_pct] + 5;
  out.time_s = time_of(r);
  const double active = 100 * r[Figure::sm_active_cycles] / r[Figure::elapsed_cycles];
  if (std::isfinite(active)) out.sm_active_percent = active;
  const double off = 100 * (out.also.elapsed_cycles / r[Figure::elapsed_cycles] - 1);
  if (std::isfinite(off)) out.cycles_off_percent = std::abs(off);
  fill_scheduler(r, out);
  fill_occupancy(r, out);
  fill_estimates(r, out);
  fill_figures(r, out);
  out.evidence = evidence_words(out.said.evidence);
  out.next_step = next_words(out.said, r.amd);
}

void list_measured(const Inputs& in, const MeasuredReport& chosen, Outputs& out, Run& run) {
  const SolThresholds limits{in.low_percent, in.roof_percent, in.difference_points};
  const auto& all = measured_reports();
  run.chosen = static_cast<std::size_t>(&chosen - all.data());
  for (const MeasuredReport& m : all) {
    run.reports.push_back(&m.report);
    KernelRow row = row_of(m.report, m.label, limits);
    row.stated = class_words(m.stated_class);
    row.by = m.decided_by;
    out.kernel_rows.push_back(std::move(row));
  }
  out.name = chosen.label + ", " + chosen.report.chip;
  out.format = chosen.source;
  out.stated = std::string(class_words(chosen.stated_class)) + ", says the " +
               (chosen.decided_by == "figures" ? "report" : chosen.decided_by);
  // The version before it on the ladder.
  if (!chosen.ladder.empty() && run.chosen > 0 && all[run.chosen - 1].ladder == chosen.ladder) {
    const double won = all[run.chosen - 1].time_s() / chosen.time_s();
    if (std::isfinite(won)) out.won_times = won;
  }
}

void list_file(const Inputs& in, const KernelReports& reports, Outputs& out, Run& run) {
  const SolThresholds limits{in.low_percent, in.roof_percent, in.difference_points};
  run.chosen = static_cast<std::size_t>(
      std::clamp<std::int64_t>(in.report_kernel, 1, static_cast<std::int64_t>(reports.kernels.size())) - 1);
  constexpr std::size_t max_rows = 1000;
  for (const KernelReport& r : reports.kernels) {
    run.reports.push_back(&r);
    if (out.kernel_rows.size() < max_rows)
      out.kernel_rows.push_back(row_of(r, r.kernel.empty() ? "a kernel without a name" : r.kernel, limits));
  }
  const KernelReport& chosen = reports.kernels[run.chosen];
  out.name = chosen.kernel.empty() ? "a kernel without a name" : chosen.kernel;
  out.format = reports.format;
  out.kernels_left_out = static_cast<std::int64_t>(reports.left_out);
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  Outputs out;
  Run run;
  const KernelReport* report = nullptr;
  if (in.source == Source::measured) {
    const MeasuredReport* chosen = measured_of(in.kernel);
    if (!chosen) return {{.reason = "There is no kernel of this name: choose one of the list."}};
    list_measured(in, *chosen, out, run);
    report = &chosen->report;
  } else {
    if (!in.report.bytes)
      return {{.reason = "No report is chosen that could have a kernel " + std::to_string(in.report_kernel) +
                         ": open the text, CSV or JSON of a profiler, or take a measured kernel."}};
    auto read = read_once<KernelReports>(in.report, progress, read_fresh);
    if (!read) return {{.reason = std::move(read.error)}};
    run.file = std::move(*read);
    list_file(in, *run.file, out, run);
    report = run.reports[run.chosen];
  }
  out.kernels_read = static_cast<std::int64_t>(run.reports.size());
  if (!(in.low_percent < in.roof_percent))
    return {{.reason = "The lower threshold must stay under the roof: set it below " +
                       format_text(in.roof_percent, "%") + "."}};
  fill_report(in, *report, out);
  if (progress.facts_alone) return {std::move(out)};
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::profiling::counters
