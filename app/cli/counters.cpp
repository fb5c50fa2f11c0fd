#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/platform/file_bytes.h"
#include "app/platform/json.h"
#include "app/platform/quoted_text.h"
#include "chapters/profiling/counters/words.h"
#include "models/gpu/counters/kernel_report_file.h"
#include "models/gpu/counters/kernel_verdict.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

namespace words = chapters::profiling::counters;
using models::gpu::Diagnosis, models::gpu::Figure, models::gpu::KernelReport, models::gpu::ReportIdentities;

Json or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Figures by their keys; what is not printed is not there.
Json figures_json(const KernelReport& r) {
  Json out = Json::object();
  for (const auto& names : models::gpu::report_figures()) {
    if (!r.has(names.figure)) continue;
    const bool limit = names.figure >= Figure::limit_registers && names.figure <= Figure::limit_blocks;
    out[limit ? "limit_" + std::string(names.key) : std::string(names.key)] = r[names.figure];
  }
  return out;
}

Json kernel_json(const KernelReport& r) {
  const Diagnosis d = models::gpu::diagnose(r);
  const ReportIdentities also = models::gpu::report_identities(r);
  Json out = {{"kernel", r.kernel},
              {"verdict", models::gpu::sol_verdict_key(d.verdict)},
              {"class", models::gpu::kernel_class_key(d.bound)},
              {"cause", models::gpu::cause_key(d.cause)},
              {"evidence", words::evidence_words(d.evidence)},
              {"next_step", words::next_words(d, r.amd)},
              {"waves", or_null(also.waves)},
              {"tail_percent", or_null(also.tail_pct)},
              {"small_grid_percent", or_null(also.small_grid_pct)},
              {"theoretical_occupancy_percent", or_null(also.theoretical_occupancy_pct)},
              {"occupancy_gap_percent", or_null(also.occupancy_gap_pct)},
              {"figures", figures_json(r)},
              {"stalls", Json::array()}};
  const bool printed = r.printed_verdict != models::gpu::SolVerdict::undecided;
  out["printed_verdict"] = printed ? Json(models::gpu::sol_verdict_key(r.printed_verdict)) : Json(nullptr);
  for (const auto& s : r.stalls)
    out["stalls"].push_back({{"reason", models::gpu::stall_key(s.reason)},
                             {"cycles", or_null(s.cycles)},
                             {"share_percent", or_null(models::gpu::stall_share_pct(r, s))}});
  return out;
}

/// "compute 47.2 %, memory 49 %": of the figures that are printed.
std::string throughputs(const KernelReport& r) {
  std::string out;
  const auto add = [&](const char* name, double value, const char* unit) {
    if (!std::isnan(value))
      out += (out.empty() ? "" : ", ") + std::string(name) + " " + widgets::format_text(value, unit);
  };
  const ReportIdentities also = models::gpu::report_identities(r);
  add("time", r[Figure::duration_s], "s");
  add("compute", r[Figure::sm_pct], "%");
  add("memory", r[Figure::memory_pct], "%");
  add("DRAM", r[Figure::dram_pct], "%");
  add("waves", also.waves, "");
  add("theoretical occupancy", also.theoretical_occupancy_pct, "%");
  add("no LDS free", r[Figure::insufficient_lds_pct], "%");
  add("no vector registers free", r[Figure::insufficient_vgpr_pct], "%");
  add("wavefront occupancy", r[Figure::wavefront_occupancy_pct], "%");
  return out.empty() ? "no throughput is printed" : out;
}

void print_kernel(std::ostream& out, const KernelReport& r) {
  const Diagnosis d = models::gpu::diagnose(r);
  out << (r.kernel.empty() ? "a kernel without a name" : r.kernel) << "\n";
  out << "  verdict " << words::verdict_words(d.verdict) << ", bound by " << words::class_words(d.bound) << ", cause "
      << words::cause_words(d.cause).name << "\n";
  out << "  " << throughputs(r) << "\n";
  out << "  because " << words::evidence_words(d.evidence);
  if (const auto* top = models::gpu::top_stall(r); top && d.evidence == models::gpu::Evidence::top_stall) {
    out << ": " << words::stall_words(top->reason).name;
    const double share = models::gpu::stall_share_pct(r, *top);
    if (!std::isnan(share)) out << ", " << widgets::format_text(share, "%");
  }
  out << "\n  next: " << words::next_words(d, r.amd) << "\n";
  const auto printed = r.printed_verdict;
  if (printed != models::gpu::SolVerdict::undecided && printed != d.verdict)
    out << "  the report itself says " << words::verdict_words(printed) << "\n";
}

models::Result<models::gpu::KernelReports> read_report(const std::string& path) {
  using Read = models::Result<models::gpu::KernelReports>;
  const auto file = read_file_bytes(path);
  if (!file) return Read::fail(file.error);
  if ((*file)->size_bytes > models::gpu::max_report_bytes)
    return Read::fail(path_text(path) + ": the report is larger than 64 MiB: export fewer kernels.");
  std::string text;
  if (const auto all = (*file)->read(text); !all) return Read::fail(all.error);
  auto read = models::gpu::read_kernel_reports(text);
  return read ? std::move(read) : Read::fail(path_text(path) + ": " + read.error);
}

}  // namespace

/// One that cannot be read is a sentence and exit status 2, after the others were printed.
int counters(const Arguments& a, const Streams& s) {
  if (a.words.empty())
    return complain(s,
                    "Name a report: ridgeline counters REPORT... reads text and CSV of Nsight Compute, tables of "
                    "rocprof-compute, and JSON.");
  int status = 0;
  Json all = Json::array();
  for (const std::string& path : a.words) {
    const auto read = read_report(path);
    if (!read) {
      status = complain(s, read.error);
      continue;
    }
    if (a.has("--json")) {
      Json file = {{"file", path}, {"format", read->format}, {"left_out", read->left_out}, {"kernels", Json::array()}};
      for (const KernelReport& r : read->kernels) file["kernels"].push_back(kernel_json(r));
      all.push_back(std::move(file));
      continue;
    }
    for (const KernelReport& r : read->kernels) print_kernel(s.out, r);
    if (read->left_out > 0)
      s.out << read->left_out << (read->left_out == 1 ? " kernel is" : " kernels are")
            << " left out: without a known figure, or beyond the first 4,096.\n";
  }
  if (a.has("--json") && !all.empty()) s.out << to_text(all, 2) << "\n";
  return status;
}

}  // namespace app::cli
