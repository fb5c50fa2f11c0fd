#include <algorithm>
#include <array>

#include "chapters/profiling/counters/lab.h"
#include "chapters/profiling/counters/words.h"
#include "widgets/number/number.h"

namespace chapters::profiling::counters {
namespace {

using namespace models::gpu;
using widgets::Curve, widgets::format_text, widgets::Marker, widgets::Meaning, widgets::Tint;

Curve ground_of(std::string label, Tint tint, float alpha) {
  return {.kind = Curve::Kind::area,
          .label = std::move(label),
          .tint = tint,
          .alpha = alpha,
          .width = 0,
          .legend = false,
          .given = true};
}

void add_span(Curve& area, double x, double lower, double upper) {
  area.x.push_back(x);
  area.lower.push_back(lower);
  area.y.push_back(std::max(lower, upper));
}

/// The regions of the rule in the plane of memory (to the right) and compute (upwards).
std::vector<Curve> ground(const Inputs& in) {
  const double low = in.low_percent, roof = in.roof_percent, d = in.difference_points;
  Curve memory_roof = ground_of("near the memory roof", Meaning::memory_bound, 0.34f);
  add_span(memory_roof, roof, 0, 100);
  add_span(memory_roof, 100, 0, 100);
  Curve compute_roof = ground_of("near the compute roof", Meaning::compute_bound, 0.24f);
  add_span(compute_roof, 0, roof, 100);
  add_span(compute_roof, roof, roof, 100);
  Curve memory = ground_of("memory heavier", Meaning::memory_bound, 0.17f);
  Curve compute = ground_of("compute heavier", Meaning::compute_bound, 0.12f);
  Curve balanced = ground_of("balanced", Tint(), 0.10f);
  Curve neither = ground_of("neither", Tint::series(1), 0.13f);
  constexpr int steps = 50;
  for (int i = 0; i <= steps; ++i) {
    const double x = roof * i / steps;
    // A column of the plane: under `floor` both are low.
    const double floor = x < low ? low : 0;
    add_span(compute, x, std::clamp(x + d, floor, roof), roof);
    if (x >= low) add_span(memory, x, 0, std::clamp(x - d, 0.0, roof));
    if (x + d >= floor) add_span(balanced, x, std::clamp(x - d, floor, roof), std::clamp(x + d, floor, roof));
  }
  add_span(neither, 0, 0, low);
  add_span(neither, low, 0, low);
  std::vector<Curve> out;
  for (Curve* c : {&neither, &balanced, &compute, &memory, &compute_roof, &memory_roof}) out.push_back(std::move(*c));
  return out;
}

struct ClassLook {
  std::string_view name;
  Tint tint;
  Marker marker;
};
constexpr std::array<ClassLook, kernel_class_count> looks{{{"not decided", Tint(), Marker::circle},
                                                           {"memory", Meaning::memory_bound, Marker::circle},
                                                           {"compute", Meaning::compute_bound, Marker::square},
                                                           {"latency", Tint::series(1), Marker::triangle},
                                                           {"launch", Meaning::launch_bound, Marker::diamond}}};

bool is_hollow(const KernelReport& r) {
  return r[Figure::dram_pct] < hbm_from_percent && r[Figure::memory_pct] > r[Figure::dram_pct] + 5;
}

void add_dots(const Inputs& in, const Run& run, Picture& p) {
  const SolThresholds limits{in.low_percent, in.roof_percent, in.difference_points};
  const bool own = in.source == Source::file;
  for (const ClassLook& look : looks)
    p.dots.push_back({.kind = Curve::Kind::dots,
                      .label = std::string(look.name),
                      .tint = look.tint,
                      .marker = look.marker,
                      .radius = 5});
  p.hollow = {.kind = Curve::Kind::dots, .label = "hollow", .radius = 2.6f, .legend = false};
  const auto add = [&](const KernelReport& r, std::size_t at, bool choosable) {
    const double memory = r[Figure::memory_pct], compute = r[Figure::sm_pct];
    if (std::isnan(memory) || std::isnan(compute)) return;
    p.dots[static_cast<std::size_t>(diagnose(r, limits).bound)].add(memory, compute);
    if (is_hollow(r)) p.hollow.add(memory, compute);
    if (choosable) p.choices.push_back({memory, compute, at});
  };
  if (own)
    for (const MeasuredReport& m : measured_reports()) add(m.report, 0, false);
  if (!own) {
    for (std::size_t i = 0; i < run.reports.size(); ++i) add(*run.reports[i], i, true);
    for (const MeasuredReport& m : measured_reports()) p.ids.push_back(m.id);
  }
  if (own) {
    Curve mine{.kind = Curve::Kind::dots, .label = "your kernels", .tint = Tint::yours(), .radius = 4};
    for (std::size_t i = 0; i < run.reports.size(); ++i) {
      const KernelReport& r = *run.reports[i];
      if (std::isnan(r[Figure::memory_pct]) || std::isnan(r[Figure::sm_pct])) continue;
      mine.add(r[Figure::memory_pct], r[Figure::sm_pct]);
      p.choices.push_back({r[Figure::memory_pct], r[Figure::sm_pct], i});
    }
    p.dots.push_back(std::move(mine));
  }
  std::erase_if(p.dots, [](const Curve& c) { return c.x.empty(); });
}

/// The versions of the kernel: their way over the map, and their times.
void add_ladder(const Inputs& in, const Run& run, Picture& p) {
  const SolThresholds limits{in.low_percent, in.roof_percent, in.difference_points};
  p.path = {
      .label = "versions", .tint = Tint::strong(), .width = 1.3f, .dashed = true, .named = false, .legend = false};
  const auto add = [&](const KernelReport& r, std::string name, std::size_t number, bool chosen) {
    const double time = r.has(Figure::duration_s) ? r[Figure::duration_s] : r[Figure::unprofiled_s];
    const Diagnosis d = diagnose(r, limits);
    if (!std::isnan(r[Figure::memory_pct]) && !std::isnan(r[Figure::sm_pct])) {
      p.path.add(r[Figure::memory_pct], r[Figure::sm_pct]);
      p.path_numbers.push_back(std::to_string(number));
    }
    const bool decided = d.verdict != SolVerdict::undecided;
    p.ladder.push_back({.number = std::to_string(number),
                        .name = std::move(name),
                        .time = std::isnan(time) ? "no time" : format_text(time, "s"),
                        .verdict = std::string(decided ? verdict_words(d.verdict) : class_words(d.bound)),
                        .time_s = std::isnan(time) ? 0 : time,
                        .tint = looks[static_cast<std::size_t>(d.bound)].tint,
                        .chosen = chosen});
    p.longest_s = std::max(p.longest_s, p.ladder.back().time_s);
  };
  constexpr std::size_t most = 9;
  if (in.source == Source::file) {
    if (run.reports.size() < 2) return;
    p.ladder_title = "Kernels of your file, in its order";
    for (std::size_t i = 0; i < std::min(most, run.reports.size()); ++i)
      add(*run.reports[i], run.reports[i]->kernel, i + 1, i == run.chosen);
    p.path.x.clear();
    p.path.y.clear();
    p.path_numbers.clear();
    return;
  }
  const auto& all = measured_reports();
  const std::string& ladder = all[run.chosen].ladder;
  if (ladder.empty()) return;
  p.ladder_title = "Versions of one kernel";
  std::size_t number = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].ladder == ladder) add(all[i].report, all[i].label, ++number, i == run.chosen);
  if (p.path.x.size() < 2) p.path_numbers.clear();
}

/// A hundred cycles of one scheduler: issues evenly spread, the longest stall among those that wait.
void add_cycles(const Outputs& out, Picture& p) {
  if (std::isnan(out.issue_percent)) {
    p.no_cycles = "The report does not print in how many cycles a warp goes.";
    return;
  }
  const double issues = std::clamp(std::round(out.issue_percent), 0.0, 100.0);
  const double share = std::isnan(out.top_stall_percent) ? 0 : std::clamp(out.top_stall_percent / 100, 0.0, 1.0);
  double owed_issue = 0.5, owed_stall = 0.5;
  for (int i = 0; i < 100; ++i) {
    owed_issue += issues / 100;
    if (owed_issue >= 1) {
      owed_issue -= 1;
      p.cycles.push_back(2);
      continue;
    }
    owed_stall += share;
    const bool top = owed_stall >= 1;
    if (top) owed_stall -= 1;
    p.cycles.push_back(top ? 0 : 1);
  }
  p.cycles_words = format_text(issues, "", 3) + (issues == 1 ? " issues" : " issue");
  p.wait_words = format_text(100 - issues, "", 3) + " no warp can go";
  if (!std::isnan(out.active_warps) && !std::isnan(out.eligible_warps))
    p.wait_words +=
        ": " + format_text(out.active_warps, "") + " warps there, " + format_text(out.eligible_warps, "") + " ready";
}

void add_pieces(const KernelReport& r, const Outputs& out, Picture& p) {
  const Stall* top = top_stall(r);
  if (!(out.warp_cycles > 0) || !top) return;
  std::vector<Stall> stalls;
  for (const Stall& s : r.stalls)
    if (s.cycles > 0 && s.reason != StallReason::selected) stalls.push_back(s);
  std::sort(stalls.begin(), stalls.end(), [](const Stall& a, const Stall& b) { return a.cycles > b.cycles; });
  double named = 0;
  for (std::size_t i = 0; i < stalls.size() && i < 3; ++i) {
    const double cycles = std::min(stalls[i].cycles, out.warp_cycles - named);
    named += cycles;
    p.pieces.push_back({std::string(stall_words(stalls[i].reason).name) + " " + format_text(stalls[i].cycles, ""),
                        cycles, stalls[i].reason == top->reason});
  }
  if (p.pieces.empty()) return;
  const double issues = std::min(1.0, std::max(0.0, out.warp_cycles - named));
  if (out.warp_cycles - named - issues > 0.05)
    p.pieces.push_back({"other stalls", out.warp_cycles - named - issues, false});
  p.piece_cycles = out.warp_cycles;
  p.pieces_words = format_text(out.warp_cycles, "") + " cycles";
}

void add_pipes(const KernelReport& r, Picture& p) {
  const auto add = [&](Figure figure, std::string_view name, std::string_view output, bool active = false) {
    if (!r.has(figure) || p.pipes.size() >= 7) return;
    p.pipes.push_back(
        {std::string(name), format_text(r[figure], "%"), std::clamp(r[figure], 0.0, 100.0), active, output});
  };
  add(Figure::memory_pct, "memory", "memory_percent");
  add(Figure::dram_pct, "DRAM", "dram_percent");
  add(Figure::l2_pct, "L2", "l2_percent");
  add(Figure::l1_pct, "L1, while it works", "l1_percent", true);
  add(Figure::l2_utilization_pct, "L2", "l2_percent");
  add(Figure::l1_utilization_pct, "L1", "l1_percent");
  add(Figure::sm_pct, "compute", "compute_percent");
  add(Figure::tensor_pipe_pct, "tensor pipe", "pipe_percent");
  add(Figure::fp64_pipe_pct, "FP64 pipe", "pipe_percent");
  add(Figure::fma_pipe_pct, "FMA pipe", "pipe_percent");
  add(Figure::issue_slots_busy_pct, "issue slots", "", true);
}

/// What keeps blocks from an SM: of NVIDIA's chips how many each resource allows, of AMD's how often one was used up.
void add_room(const KernelReport& r, const Outputs& out, Picture& p) {
  const auto percent = [&](Figure figure, std::string_view name, bool limit) {
    if (r.has(figure))
      p.room.push_back({std::string(name), format_text(r[figure], "%"), std::clamp(r[figure] / 100, 0.0, 1.0), limit});
  };
  p.room_decides = out.said.evidence == Evidence::low_occupancy || out.said.evidence == Evidence::amd_resource;
  if (r.amd) {
    p.room_title = "Room for wavefronts on a compute unit";
    percent(Figure::insufficient_lds_pct, "no LDS free", out.said.cause == Cause::occupancy_shared);
    percent(Figure::insufficient_vgpr_pct, "no registers free", out.said.cause == Cause::occupancy_registers);
    percent(Figure::wavefront_occupancy_pct, "places taken", false);
    return;
  }
  constexpr std::array<std::pair<Figure, std::string_view>, 4> limits{{{Figure::limit_registers, "registers"},
                                                                       {Figure::limit_shared, "shared memory"},
                                                                       {Figure::limit_warps, "warps"},
                                                                       {Figure::limit_blocks, "blocks"}}};
  double most = 0;
  for (const auto& [figure, name] : limits) most = std::fmax(most, r[figure]);
  if (most > 0)
    for (const auto& [figure, name] : limits)
      if (r.has(figure))
        p.room.push_back({std::string(name), format_text(r[figure], ""), std::max(0.0, r[figure] / most),
                          r[figure] <= out.also.blocks_per_sm});
  if (!p.room.empty()) p.room_title = "Blocks that fit on an SM, by what they take";
  const double fit = out.reported.theoretical_occupancy_pct, there = out.achieved_percent;
  if (std::isnan(fit) && std::isnan(there)) return;
  if (p.room_title.empty()) p.room_title = "Warps of an SM";
  p.room_words = (std::isnan(fit) ? std::string() : format_text(fit, "%") + " of the warps fit") +
                 (std::isnan(fit) || std::isnan(there) ? "" : ", ") +
                 (std::isnan(there) ? std::string() : format_text(there, "%") + " were there");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (run.chosen >= run.reports.size()) return p;
  const KernelReport& r = *run.reports[run.chosen];
  p.answer = answer_of(out);
  p.ground = ground(in);
  p.low = in.low_percent;
  p.roof = in.roof_percent;
  add_dots(in, run, p);
  add_ladder(in, run, p);
  add_cycles(out, p);
  add_pieces(r, out, p);
  add_pipes(r, p);
  add_room(r, out, p);
  p.on_map = !std::isnan(out.memory_percent) && !std::isnan(out.compute_percent);
  p.memory = out.memory_percent;
  p.compute = out.compute_percent;
  if (!p.on_map)
    p.off_map = r.amd ? "not on the map: no such pair"
                      : std::string("not on the map: ") + (std::isnan(out.memory_percent) ? "memory" : "compute") +
                            " is not printed";
  if (out.memory_is_not_dram) p.hollow_words = "hollow: DRAM at " + format_text(out.dram_percent, "%");
  return p;
}

}  // namespace chapters::profiling::counters
