#include "chapters/profiling/trace_viewer/arrange_ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/profiling/trace_viewer/ranks_text.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::RankStep;
using widgets::format_text;

/// Columns of waits: more collectives than these share them.
constexpr std::size_t max_columns = 64;

double figure(const RankStep& s, RankFigure what) {
  switch (what) {
    case RankFigure::communication:
      return s.comm_s;
    case RankFigure::idle:
      return s.idle_s;
    case RankFigure::step:
      return s.step_s;
    case RankFigure::waiting:
    case RankFigure::computation:
      break;
  }
  return s.comp_s;
}

double median_of_cells(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

/// Differences from the median of the other rows' means, as the sentences compare a rank; of a row alone, from the
/// median of its own cells. The ramp spans at least 5 % either way: scatter must not look like a fault.
void arrange_steps(const Inputs& in, const Run& run, RankMap& map) {
  for (const Row& r : run.rows) map.cols = std::max({map.cols, r.recording->metrics.steps.size(), std::size_t{1}});
  map.rows = run.rows.size();
  map.value_s.assign(map.rows * map.cols, std::nan(""));
  std::vector<std::vector<double>> cells(map.rows);
  for (const auto& s : run.rank_steps) {
    if (run.rows[s.row].device < 0) continue;
    cells[s.row].push_back(map.value_s[s.row * map.cols + s.step] = figure(s, in.rank_figure));
  }
  map.percent = map.value_s;
  for (std::size_t r = 0; r < map.rows; ++r) {
    std::vector<double> others;
    for (std::size_t o = 0; o < map.rows; ++o)
      if (o != r && !cells[o].empty())
        others.push_back(std::accumulate(cells[o].begin(), cells[o].end(), 0.0) / static_cast<double>(cells[o].size()));
    const double median = median_of_cells(others.empty() ? cells[r] : others);
    for (std::size_t c = 0; c < map.cols; ++c) {
      double& v = map.percent[r * map.cols + c];
      v = median > 0 ? 100 * (v / median - 1) : std::isfinite(v) ? 0 : v;
      if (std::isfinite(v)) map.span = std::max(map.span, std::abs(v));
    }
  }
}

/// The step, counted from 1, in which a collective begins on the first rank that takes part; 0 outside of all.
std::int64_t step_of(const std::vector<Row>& rows, const models::trace::Collective& c) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (c.events[r] == models::trace::none) continue;
    const auto& recording = *rows[r].recording;
    const std::int64_t start_ns = recording.trace.events[c.events[r]].start_ns;
    const auto& steps = recording.metrics.steps;
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (start_ns >= steps[s].start_ns && start_ns < steps[s].end_ns) return static_cast<std::int64_t>(s) + 1;
    return 0;
  }
  return 0;
}

/// A column a collective: below 0 what a rank waited, above 0 what it cost the others as the last to arrive.
void arrange_waits(const Run& run, RankMap& map) {
  const auto& all = run.waits.collectives;
  map.waits = true;
  map.rows = run.rows.size();
  map.cols = std::min(all.size(), max_columns);
  map.value_s.assign(map.rows * map.cols, std::nan(""));
  map.culprit = run.waits.stands_out ? run.waits.culprit : -1;
  for (const std::int64_t ns : run.waits.caused_ns) map.totals_s.push_back(seconds(ns));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t col = i * map.cols / all.size();
    for (std::size_t r = 0; r < map.rows; ++r) {
      if (all[i].events[r] == models::trace::none) continue;
      double& cell = map.value_s[r * map.cols + col];
      if (!std::isfinite(cell)) cell = 0;
      cell += r == all[i].last ? seconds(all[i].cost_ns) : -seconds(all[i].waited_ns[r]);
    }
  }
  for (const double v : map.value_s)
    if (std::isfinite(v)) map.largest_s = std::max(map.largest_s, std::abs(v));
  map.span = 100;
  map.percent = map.value_s;
  for (double& v : map.percent) v = map.largest_s > 0 ? 100 * v / map.largest_s : v;
  for (std::size_t c = 0; c < map.cols; ++c) {
    const std::size_t first = (c * all.size() + map.cols - 1) / map.cols;
    map.col_labels.push_back(std::to_string(first + 1));
    map.col_steps.push_back(step_of(run.rows, all[first]));
  }
}

std::string story_of(const Outputs& out, const Run& run, const RankMap& map) {
  if (map.rows == 0) return "No device track was recognised, so there are no ranks to compare.";
  if (run.rows.size() < 2) return "One rank: give the files of the others under Ranks to compare them";
  if (const std::string apart = not_one_job(run.rows, run.waits); !apart.empty()) return apart;
  if (map.waits) return waits_story(run.rows, run.waits);
  if (out.slowest.excess >= 100 * notable_excess)
    return "Rank " + format_text(out.slowest.rank, "", 15) + " computes " + format_text(out.slowest.excess, "%", 3) +
           " longer than " + others_text(run.rows, models::trace::slowest_rank(run.rank_steps).row);
  return "No rank computes more than 5 % longer than the median of the others";
}

}  // namespace

void arrange_ranks(const Inputs& in, const Outputs& out, const Run& run, Picture& pic) {
  RankMap& map = pic.ranks;
  for (const Row& r : run.rows) map.labels.push_back(r.label());
  const bool any = std::any_of(run.rows.begin(), run.rows.end(), [](const Row& r) { return r.device >= 0; });
  if (any && in.rank_figure == RankFigure::waiting && !run.waits.collectives.empty())
    arrange_waits(run, map);
  else if (any)
    arrange_steps(in, run, map);
  pic.rank_story = story_of(out, run, map);
}

}  // namespace chapters::profiling::trace_viewer
