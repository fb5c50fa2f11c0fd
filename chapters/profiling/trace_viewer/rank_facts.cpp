#include "chapters/profiling/trace_viewer/rank_facts.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "chapters/profiling/trace_viewer/ranks_text.h"
#include "chapters/profiling/trace_viewer/replay_facts.h"
#include "models/trace/measure/window.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::DeviceMetrics;

/// Means of the steps of each row, and the steps of the chosen one.
void state_steps(Run& run, Outputs& out) {
  const std::vector<Row>& rows = run.rows;
  run.rank_steps = rank_steps(rows);
  for (const Row& r : rows) out.ranks.push_back({.rank = r.rank(), .device = r.device});
  std::vector<double> counts(rows.size(), 0);
  for (const auto& s : run.rank_steps) {
    RankRow& r = out.ranks[s.row];
    r.step_s += s.step_s;
    r.compute_s += s.comp_s;
    r.communication_s += s.comm_s;
    r.exposed_s += s.exposed_comm_s;
    r.idle_s += s.idle_s;
    counts[s.row] += 1;
    if (s.row == run.chosen && !rows[s.row].recording->metrics.steps.empty() && out.step_rows.size() < max_table_rows)
      out.step_rows.push_back({rows[s.row].recording->metrics.steps[s.step].name, s.step_s, s.busy_s, s.comp_s,
                               s.comm_s, s.exposed_comm_s, s.idle_s});
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (RankRow& r = out.ranks[i]; counts[i] > 0)
      for (double* v : {&r.step_s, &r.compute_s, &r.communication_s, &r.exposed_s, &r.idle_s}) *v /= counts[i];
}

/// Who waits for whom in the collectives.
void state_waits(Run& run, Outputs& out) {
  run.waits = job_waits(run.rows);
  const auto& w = run.waits;
  if (w.collectives.empty()) return;
  out.collectives_waited_s = seconds(w.total_ns);
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    out.ranks[i].waited_s = seconds(w.waited_ns[i]);
    out.ranks[i].caused_s = seconds(w.caused_ns[i]);
    out.ranks[i].times_last = w.times_last[i];
  }
  for (const auto& c : w.collectives) out.collectives.push_back({c.name, run.rows[c.last].rank(), seconds(c.cost_ns)});
  std::stable_sort(out.collectives.begin(), out.collectives.end(),
                   [](const auto& a, const auto& b) { return a.cost_s > b.cost_s; });
  out.collectives.resize(std::min(out.collectives.size(), max_table_rows));
  if (w.culprit < 0) return;
  const auto culprit = static_cast<std::size_t>(w.culprit);
  out.late = {.rank = static_cast<double>(run.rows[culprit].rank()),
              .cost_s = seconds(w.caused_ns[culprit]),
              .idle_cost_s = seconds(w.idle_caused_ns[culprit]),
              .share = 100 * w.culprit_share(),
              .times_last = static_cast<double>(w.times_last[culprit]),
              .collectives = static_cast<double>(w.collectives.size())};
  if (out.steps > 0 && run.rows.size() > 1)
    out.late.each_step_s = out.late.cost_s / static_cast<double>(out.steps) / static_cast<double>(run.rows.size() - 1);
  const RankOnTime on_time = rank_on_time(run.rows, w.culprit);
  if (on_time.replayed) {
    out.late.spared_s = seconds(on_time.spared_ns);
    out.late.won_s = seconds(on_time.won_ns);
  }
  if (!w.stands_out) return;
  const std::string won = on_time_sentence(on_time);
  out.findings.push_back({waits_title(run.rows, w),
                          waits_sentences(run.rows, w, run.rank_steps) + (won.empty() ? "" : " ") + won,
                          out.late.cost_s, out.late.won_s});
}

/// The kernels beside, joined by name. Recordings of different length are compared by the step, where both have steps.
void compare_kernels(const Row& main, const Row& beside, Outputs& out) {
  const DeviceMetrics* d = beside.metrics();
  if (!d) return;
  const auto steps = [](const Row& r) { return static_cast<double>(r.recording->metrics.steps.size()); };
  const double scale = steps(main) > 0 && steps(beside) > 0 ? steps(main) / steps(beside) : 1;
  std::unordered_map<std::string_view, std::size_t> row_of;
  for (std::size_t i = 0; i < out.kernels.size(); ++i) row_of.try_emplace(out.kernels[i].name, i);
  std::vector<KernelRow> only_beside;
  for (const auto& k : d->kernels) {
    const std::string& name = beside.recording->trace.strings[k.name];
    const double total_s = seconds(k.total_ns) * scale;
    if (const auto found = row_of.find(name); found != row_of.end())
      out.kernels[found->second].beside_s = total_s;
    else if (out.kernels.size() + only_beside.size() < max_table_rows)
      only_beside.push_back({.name = name, .beside_s = total_s});
  }
  out.kernels.insert(out.kernels.end(), only_beside.begin(), only_beside.end());
  for (KernelRow& k : out.kernels) k.saved_s = k.total_s - k.beside_s;
}

}  // namespace

void state_ranks(Run& run, Outputs& out) {
  state_steps(run, out);
  state_waits(run, out);
  const auto slowest = models::trace::slowest_rank(run.rank_steps);
  if (slowest.row < 0 || !(slowest.median_comp_s > 0)) return;
  if (!not_one_job(run.rows, run.waits).empty()) return;
  out.slowest = {static_cast<double>(run.rows[static_cast<std::size_t>(slowest.row)].rank()), 100 * slowest.excess};
}

void add_slowest(const Run& run, Outputs& out) {
  const std::vector<Row>& rows = run.rows;
  const auto& diagnosis = run.main().recording->metrics.diagnosis;
  const auto slowest = models::trace::slowest_rank(run.rank_steps);
  if (slowest.row < 0 || slowest.excess < notable_excess || !(slowest.median_comp_s > 0)) return;
  if (!run.waits.collectives.empty() || !not_one_job(rows, run.waits).empty()) return;
  const auto row = static_cast<std::uint32_t>(slowest.row);
  const auto steps =
      std::count_if(run.rank_steps.begin(), run.rank_steps.end(), [&](const auto& s) { return s.row == row; });
  const double more_s = slowest.mean_comp_s - slowest.median_comp_s, all_s = more_s * static_cast<double>(steps);
  const auto at = std::find_if(out.findings.begin(), out.findings.end(), [&](const Finding& f) {
    if (f.diagnosis < 0) return false;
    const auto kind = diagnosis[static_cast<std::size_t>(f.diagnosis)].kind;  // one that leads is no loss
    return f.covers_s < all_s || kind == models::trace::DiagnosisKind::one_kernel_leads;
  });
  out.findings.insert(
      at, {"Rank " + std::to_string(rows[row].rank()) + " computes longer", slowest_sentence(rows, slowest), more_s});
}

void state_beside(const Inputs& in, Run& run, Outputs& out) {
  const Row &main = run.main(), &beside = *run.beside;
  const models::trace::WindowMetrics m = measure(beside, in.step);
  const double ours = mean_step_s(main, in.step), theirs = mean_step_s(beside, in.step);
  out.beside.busy_share = percent(m.busy_ns, m.window_ns);
  if (theirs > 0) out.beside.step_time_s = theirs;
  if (ours > 0 && theirs > 0) out.beside.speedup = ours / theirs;
  compare_kernels(main, beside, out);
  run.windows.push_back(m);
}

}  // namespace chapters::profiling::trace_viewer
