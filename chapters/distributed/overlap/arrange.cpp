#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "chapters/distributed/overlap/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::distributed::overlap {
namespace {

using namespace models::parallel;
using widgets::format_text, widgets::TimelineMark, widgets::Tint;

constexpr std::size_t most_falls = 600;
constexpr double nothing_s = 1e-9;

/// At most what half of an integer holds, 146 years, so that the difference of two is one.
std::int64_t whole_ns(double s) { return std::llround(std::clamp(s * 1e9, -4.6e18, 4.6e18)); }
std::string of_bytes(double bytes) { return format_text(bytes, "B"); }

/// The hue of a unit: the last of the model, whose gradients come first, stands out most. The quarter of the ramp next
/// to the background is left out: no text reads on all of it.
Tint hue_of(std::size_t unit, std::size_t units) {
  const std::size_t left_out = (37 * units + 99) / 100;
  return Tint::ramp(left_out + unit, left_out + units);
}

struct SpanWriter {
  Picture& to;
  std::vector<widgets::TimelineSpan>& lane;

  void add(double start_s, double end_s, std::string name, std::string info, Tint tint, TimelineMark mark) {
    const std::int64_t start_ns = whole_ns(start_s), duration_ns = whole_ns(end_s) - start_ns;
    if (duration_ns <= 0) return;
    lane.push_back({start_ns, duration_ns, static_cast<std::uint32_t>(to.names.size()), 0, tint, mark});
    to.names.push_back(std::move(name));
    to.infos.push_back(std::move(info));
    to.durations_ns.push_back(duration_ns);
  }
};

/// "layer 3": "3"; "layers 3 to 5": "3 to 5".
std::string brief(const std::string& name) {
  const std::size_t space = name.find(' ');
  return space == std::string::npos ? name : name.substr(space + 1);
}

/// Pieces of one unit's pass, which buckets cut, are one block.
void add_compute(const Run& run, Picture& p) {
  SpanWriter write{p, p.compute};
  const auto& tasks = run.plan.tasks;
  double free_s = 0;
  for (std::size_t i = 0; i < tasks.size();) {
    if (is_network(tasks[i].kind)) {
      ++i;
      continue;
    }
    const OverlapTask& task = tasks[i];
    const double start_s = run.run.start_s[i];
    if (start_s - free_s > nothing_s) p.waits.push_back({free_s, start_s, format_text(start_s - free_s, "s")});
    double end_s = run.run.end_s[i], alone_s = task.work_s;
    for (++i; i < tasks.size(); ++i) {
      if (is_network(tasks[i].kind)) continue;
      const bool same =
          tasks[i].kind == task.kind && tasks[i].item == task.item && run.run.start_s[i] - end_s <= nothing_s;
      if (!same) break;
      end_s = run.run.end_s[i];
      alone_s += tasks[i].work_s;
    }
    free_s = end_s;
    if (task.kind == OverlapKind::update) {
      write.add(start_s, end_s, "AdamW", "the optimizer", widgets::Meaning::optimizer, TimelineMark::solid);
      continue;
    }
    const auto unit = static_cast<std::size_t>(task.item);
    const bool forward = task.kind == OverlapKind::forward;
    const std::string& name = run.work.units[unit].name;
    std::string info = (forward ? "forward of " : "backward of ") + name;
    if (end_s - start_s - alone_s > nothing_s) info += ", " + format_text(end_s - start_s - alone_s, "s") + " slowed";
    write.add(start_s, end_s, brief(name), std::move(info), hue_of(unit, run.work.units.size()),
              forward ? TimelineMark::pale : TimelineMark::solid);
    if (!forward) p.backward_end_s = std::max(p.backward_end_s, end_s);
  }
}

/// When the last gradient of each bucket appears; the backward is cut there, whether the bucket is sent then or later.
std::vector<double> full_times(const Run& run) {
  std::vector<double> full_s;
  const auto& tasks = run.plan.tasks;
  std::int32_t unit = -1;
  double done_s = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind == OverlapKind::forward) full_s.clear();  // only the last micro-batch's backward fills buckets
    if (tasks[i].kind != OverlapKind::backward) continue;
    if (tasks[i].item != unit) done_s = 0;
    unit = tasks[i].item;
    done_s += tasks[i].work_s;
    const double whole_s = run.work.units[static_cast<std::size_t>(unit)].backward_s;
    for (; full_s.size() < run.plan.buckets.size(); full_s.push_back(run.run.end_s[i])) {
      const GradientTensor& completes = run.work.tensors[run.plan.buckets[full_s.size()].last - 1];
      if (completes.unit != unit || completes.after_share * whole_s > done_s + nothing_s) break;
    }
  }
  full_s.resize(run.plan.buckets.size(), full_s.empty() ? 0 : full_s.back());
  return full_s;
}

/// When the unit that is gathered runs.
double first_use_s(const Run& run, std::size_t gather) {
  const auto& tasks = run.plan.tasks;
  for (std::size_t i = gather + 1; i < tasks.size(); ++i)
    if (tasks[i].item == tasks[gather].item && !is_network(tasks[i].kind)) return run.run.start_s[i];
  return run.run.end_s[gather];
}

void add_network(const Inputs& in, const Run& run, Picture& p) {
  SpanWriter write{p, p.network};
  const bool ddp = in.method == OverlapMethod::ddp;
  const std::size_t units = run.work.units.size();
  double ready_s = 0;  // when the gradients that are exchanged begin to appear
  for (std::size_t i = 0; i < run.plan.tasks.size(); ++i)
    if (run.plan.tasks[i].kind == OverlapKind::forward) ready_s = run.run.end_s[i];
  const std::vector<double> full_s = ddp ? full_times(run) : std::vector<double>{};
  for (std::size_t i = 0; i < run.plan.tasks.size(); ++i) {
    const OverlapTask& task = run.plan.tasks[i];
    if (!is_network(task.kind)) continue;
    const auto item = static_cast<std::size_t>(task.item);
    const double start_s = run.run.start_s[i], end_s = run.run.end_s[i];
    p.last_s = std::max(p.last_s, end_s);
    const std::size_t unit =
        ddp ? static_cast<std::size_t>(run.work.tensors[run.plan.buckets[item].last - 1].unit) : item;
    const Tint tint = hue_of(unit, units);
    if (task.kind == OverlapKind::all_gather) {
      const double used_s = first_use_s(run, i);
      write.add(start_s, end_s, brief(run.work.units[unit].name),
                "all-gather of " + run.work.units[unit].name + ", " + of_bytes(task.bytes), tint, TimelineMark::pale);
      p.falls.push_back({used_s, used_s, start_s, end_s, tint, true});
      continue;
    }
    // From which part of the compute lane the buffer comes.
    const auto pass = static_cast<std::size_t>(task.needs[0]);
    const double from_s = ddp ? ready_s : run.run.start_s[pass], to_s = ddp ? full_s[item] : run.run.end_s[pass];
    ready_s = to_s;
    std::string what = ddp ? "bucket " + std::to_string(item) + ", " +
                                 std::to_string(run.plan.buckets[item].last - run.plan.buckets[item].first) +
                                 " gradients"
                       : task.kind == OverlapKind::reduce_scatter ? "reduce-scatter of " + run.work.units[unit].name
                                                                  : "all-reduce over replicas";
    if (start_s - to_s > nothing_s) what += ", waited " + format_text(start_s - to_s, "s");
    write.add(start_s, end_s, of_bytes(task.bytes), what + ", " + of_bytes(task.bytes), tint, TimelineMark::solid);
    if (ddp || task.kind == OverlapKind::reduce_scatter) p.falls.push_back({from_s, to_s, start_s, end_s, tint});
  }
  if (p.falls.size() > most_falls) {  // of more none could be told from its neighbours
    const std::size_t each = p.falls.size() / most_falls + 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < p.falls.size(); ++i)
      if (i % each == 0 || i + 1 == p.falls.size()) p.falls[kept++] = p.falls[i];
    p.falls.resize(kept);
  }
}

void add_held(const Run& run, Picture& p) {
  for (const HeldWeights& held : run.held) {
    const std::int64_t at = whole_ns(held.time_s);
    if (!p.held.empty() && p.held.back().time_ns == at) p.held.pop_back();
    const bool corner = p.held.empty() || std::abs(p.held.back().value - held.bytes) > 1;
    if (corner) p.held.push_back({at, held.bytes});
  }
  if (p.held.empty()) return;
  if (p.held.front().time_ns > 0) p.held.insert(p.held.begin(), {0, 0});
  p.held.push_back({whole_ns(run.run.makespan_s), p.held.back().value});
}

void add_curves(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const bool ddp = in.method == OverlapMethod::ddp;
  p.sizes = {.label = "one step",
             .info = "the step on two streams",
             .output = "step_s",
             .tint = Tint::yours(),
             .named = false,
             .legend = false,
             .x = run.sizes.at,
             .y = run.sizes.step_s};
  p.best_size = {.kind = widgets::Curve::Kind::dots,
                 .label = "best",
                 .output = ddp ? "best_step_s" : "",
                 .tint = Tint::good(),
                 .marker = widgets::Marker::diamond,
                 .radius = 6};
  const double best = ddp ? out.best_bucket_bytes : out.best_unit_layers;
  if (out.collectives > 0 && std::isfinite(best) && best > 0)
    p.best_size.add(best, ddp ? out.best_step_s : out.best_unit_step_s);
  constexpr std::array<std::string_view, overlap_method_count> names{"DDP", "FSDP"};
  for (std::size_t m = 0; m < names.size(); ++m) {
    const bool yours = m == static_cast<std::size_t>(in.method);
    const std::vector<double>& step_s = run.gpu_step_s[m];
    if (std::none_of(step_s.begin(), step_s.end(), [](double s) { return std::isfinite(s); })) continue;
    p.gpus.push_back({.label = std::string(names[m]),
                      .info = "the same batch on each GPU; none where the states do not fit",
                      .tint = yours ? Tint::yours() : Tint::strong(),
                      .dashed = !yours,
                      .x = run.gpus,
                      .y = step_s});
  }
  p.tokens = {.label = "exposed",
              .output = "exposed_share",
              .tint = Tint::bad(),
              .named = false,
              .legend = false,
              .x = run.tokens,
              .y = run.tokens_exposed};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.plan.tasks.empty()) return p;
  add_compute(run, p);
  add_network(in, run, p);
  add_held(run, p);
  add_curves(in, out, run, p);
  const bool ddp = in.method == OverlapMethod::ddp;
  p.compute_words = "forward, backward, AdamW";
  p.network_words = ddp ? "one at a time" : "gathers, reductions";
  p.held_words = ddp ? "fall in full buckets" : "weights up, gradients down";
  if (out.step.tail_s > nothing_s) p.tail_said = format_text(out.step.tail_s, "s") + " tail";
  if (out.step.exposed_s - out.step.tail_s > 0.05 * out.step.exposed_s)
    p.waits_said = format_text(out.step.exposed_s, "s") + " waiting in all";
  p.answer = answer_of(in, out);
  return p;
}

}  // namespace chapters::distributed::overlap
