#include <algorithm>
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

std::int64_t whole_ns(double s) { return std::llround(s * 1e9); }
std::string figure(double value, std::string_view unit) { return "`" + format_text(value, unit) + "`"; }
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
void add_compute(const Outputs& out, Picture& p) {
  SpanWriter write{p, p.compute};
  const auto& tasks = out.plan.tasks;
  double free_s = 0;
  for (std::size_t i = 0; i < tasks.size();) {
    if (is_network(tasks[i].kind)) {
      ++i;
      continue;
    }
    const OverlapTask& task = tasks[i];
    const double start_s = out.run.start_s[i];
    if (start_s - free_s > nothing_s) p.waits.push_back({free_s, start_s, format_text(start_s - free_s, "s")});
    double end_s = out.run.end_s[i], alone_s = task.work_s;
    for (++i; i < tasks.size(); ++i) {
      if (is_network(tasks[i].kind)) continue;
      const bool same =
          tasks[i].kind == task.kind && tasks[i].item == task.item && out.run.start_s[i] - end_s <= nothing_s;
      if (!same) break;
      end_s = out.run.end_s[i];
      alone_s += tasks[i].work_s;
    }
    free_s = end_s;
    if (task.kind == OverlapKind::update) {
      write.add(start_s, end_s, "AdamW", "the optimizer", widgets::Meaning::optimizer, TimelineMark::solid);
      continue;
    }
    const auto unit = static_cast<std::size_t>(task.item);
    const bool forward = task.kind == OverlapKind::forward;
    const std::string& name = out.work.units[unit].name;
    std::string info = (forward ? "forward of " : "backward of ") + name;
    if (end_s - start_s - alone_s > nothing_s) info += ", " + format_text(end_s - start_s - alone_s, "s") + " slowed";
    write.add(start_s, end_s, brief(name), std::move(info), hue_of(unit, out.work.units.size()),
              forward ? TimelineMark::pale : TimelineMark::solid);
    if (!forward) p.backward_end_s = std::max(p.backward_end_s, end_s);
  }
}

/// When the last gradient of each bucket appears; the backward is cut there, whether the bucket is sent then or later.
std::vector<double> full_times(const Outputs& out) {
  std::vector<double> full_s;
  const auto& tasks = out.plan.tasks;
  std::int32_t unit = -1;
  double done_s = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind == OverlapKind::forward) full_s.clear();  // only the last micro-batch's backward fills buckets
    if (tasks[i].kind != OverlapKind::backward) continue;
    if (tasks[i].item != unit) done_s = 0;
    unit = tasks[i].item;
    done_s += tasks[i].work_s;
    const double whole_s = out.work.units[static_cast<std::size_t>(unit)].backward_s;
    for (; full_s.size() < out.plan.buckets.size(); full_s.push_back(out.run.end_s[i])) {
      const GradientTensor& completes = out.work.tensors[out.plan.buckets[full_s.size()].last - 1];
      if (completes.unit != unit || completes.after_share * whole_s > done_s + nothing_s) break;
    }
  }
  full_s.resize(out.plan.buckets.size(), full_s.empty() ? 0 : full_s.back());
  return full_s;
}

/// When the unit that is gathered runs.
double first_use_s(const Outputs& out, std::size_t gather) {
  const auto& tasks = out.plan.tasks;
  for (std::size_t i = gather + 1; i < tasks.size(); ++i)
    if (tasks[i].item == tasks[gather].item && !is_network(tasks[i].kind)) return out.run.start_s[i];
  return out.run.end_s[gather];
}

void add_network(const Inputs& in, const Outputs& out, Picture& p) {
  SpanWriter write{p, p.network};
  const bool ddp = in.method == OverlapMethod::ddp;
  const std::size_t units = out.work.units.size();
  double ready_s = 0;  // when the gradients that are exchanged begin to appear
  for (std::size_t i = 0; i < out.plan.tasks.size(); ++i)
    if (out.plan.tasks[i].kind == OverlapKind::forward) ready_s = out.run.end_s[i];
  const std::vector<double> full_s = ddp ? full_times(out) : std::vector<double>{};
  for (std::size_t i = 0; i < out.plan.tasks.size(); ++i) {
    const OverlapTask& task = out.plan.tasks[i];
    if (!is_network(task.kind)) continue;
    const auto item = static_cast<std::size_t>(task.item);
    const double start_s = out.run.start_s[i], end_s = out.run.end_s[i];
    p.last_s = std::max(p.last_s, end_s);
    const std::size_t unit =
        ddp ? static_cast<std::size_t>(out.work.tensors[out.plan.buckets[item].last - 1].unit) : item;
    const Tint tint = hue_of(unit, units);
    if (task.kind == OverlapKind::all_gather) {
      const double used_s = first_use_s(out, i);
      write.add(start_s, end_s, brief(out.work.units[unit].name),
                "all-gather of " + out.work.units[unit].name + ", " + of_bytes(task.bytes), tint, TimelineMark::pale);
      p.falls.push_back({used_s, used_s, start_s, end_s, tint, true});
      continue;
    }
    // From which part of the compute lane the buffer comes.
    const auto pass = static_cast<std::size_t>(task.needs[0]);
    const double from_s = ddp ? ready_s : out.run.start_s[pass], to_s = ddp ? full_s[item] : out.run.end_s[pass];
    ready_s = to_s;
    std::string what = ddp ? "bucket " + std::to_string(item) + ", " +
                                 std::to_string(out.plan.buckets[item].last - out.plan.buckets[item].first) +
                                 " gradients"
                       : task.kind == OverlapKind::reduce_scatter ? "reduce-scatter of " + out.work.units[unit].name
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

void add_held(const Inputs& in, const Outputs& out, Picture& p) {
  const auto scenario = read_scenario(in);
  if (!scenario) return;
  for (const HeldWeights& held : held_weights(out.work, scenario->setup, out.plan, out.run)) {
    const std::int64_t at = whole_ns(held.time_s);
    if (!p.held.empty() && p.held.back().time_ns == at) p.held.pop_back();
    const bool corner = p.held.empty() || std::abs(p.held.back().value - held.bytes) > 1;
    if (corner) p.held.push_back({at, held.bytes});
  }
  if (p.held.empty()) return;
  if (p.held.front().time_ns > 0) p.held.insert(p.held.begin(), {0, 0});
  p.held.push_back({whole_ns(out.run.makespan_s), p.held.back().value});
}

/// The scenario's step with another input, or NaN where it cannot be.
template <class Change>
double step_with(Inputs in, const Change& change) {
  change(in);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto scenario = read_scenario(in);
  if (!scenario) return none;
  const auto stepped = run_scenario(*scenario);
  return stepped ? stepped->run.makespan_s : none;
}

/// The values of a sweep with the scenario's own among them, so that its point lies on the line.
template <class Value>
std::vector<Value> with_yours(std::vector<Value> values, Value yours) {
  values.push_back(yours);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}
std::vector<std::int64_t> doubled(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> values;
  for (; from <= to; from *= 2) values.push_back(from);
  return values;
}

void add_sweeps(const Inputs& in, const Outputs& out, Picture& p) {
  if (auto scenario = read_scenario(in); scenario && in.method == OverlapMethod::ddp) {
    p.sizes = with_yours(bucket_sizes_of(*scenario), in.bucket_bytes);
    for (const double bytes : p.sizes) {
      scenario->setup.bucket_bytes = bytes;
      const OverlapRun run = step_of(*scenario);
      p.size_step_s.push_back(run.makespan_s);
      p.size_apart_s.push_back(run.compute_s + run.network_s);
    }
    p.least_size = out.best_bucket_bytes;
    p.least_size_s = out.best_step_s;
  } else if (in.method == OverlapMethod::fsdp) {
    const auto most = static_cast<std::int64_t>(out.work.units.size()) * in.layers_per_unit;
    for (const std::int64_t layers : with_yours(doubled(1, std::min<std::int64_t>(most, 128)), in.layers_per_unit)) {
      const double step_s = step_with(in, [&](Inputs& i) { i.layers_per_unit = layers; });
      p.sizes.push_back(models::as_double(layers));
      p.size_step_s.push_back(step_s);
      if (std::isfinite(step_s) && (p.least_size == 0 || step_s < p.least_size_s)) {
        p.least_size = models::as_double(layers);
        p.least_size_s = step_s;
      }
    }
  }
  for (const std::int64_t gpus : with_yours(doubled(in.gpus_per_node, 16384), in.gpus)) {
    p.gpus.push_back(models::as_double(gpus));
    for (const OverlapMethod method : {OverlapMethod::ddp, OverlapMethod::fsdp})
      p.gpu_step_s[static_cast<std::size_t>(method)].push_back(step_with(in, [&](Inputs& i) {
        i.gpus = gpus;
        i.method = method;
        i.hybrid = i.hybrid && method == OverlapMethod::fsdp && gpus % i.shards == 0;
      }));
  }
  for (const std::int64_t batch : with_yours(doubled(1, 64), in.batch)) {
    Inputs other = in;
    other.batch = batch;
    const auto scenario = read_scenario(other);
    if (!scenario) continue;
    const OverlapRun run = step_of(*scenario);
    p.tokens.push_back(scenario->work.tokens);
    p.tokens_exposed.push_back(100 * run.exposed_s / run.makespan_s);
  }
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.collectives == 0) return "One GPU exchanges nothing: a step takes " + figure(out.run.makespan_s, "s") + ".";
  const bool ddp = in.method == OverlapMethod::ddp;
  std::string text = "Of " + figure(out.run.network_s, "s") + " of collectives " + figure(out.run.exposed_s, "s") +
                     " stick out of a step of " + figure(out.run.makespan_s, "s");
  if (!ddp) {
    text += ": " + figure(out.forward_wait_s, "s") + " in the forward, " + figure(out.backward_wait_s, "s") +
            " in the backward, " + figure(out.tail_wait_s, "s") + " behind it";
    const bool latency = out.work.tokens >= out.critical_tokens && out.work.tokens < out.balance_tokens;
    if (latency && out.forward_wait_s + out.backward_wait_s > 0.05 * out.run.makespan_s)
      return text + ". For its bytes the network would be fast enough; latency is what it waits for.";
    return text + ". At most " + figure(out.held_peak_bytes, "B") + " are gathered or not yet reduced.";
  }
  if (!in.beside_backward) return text + ": nothing overlaps.";
  text += ", and the last bucket alone, " + figure(out.last_bytes, "B") + ", takes " + figure(out.last_s, "s") + ".";
  const double gain_s = out.run.makespan_s - out.best_step_s;
  if (gain_s > 0.002 * out.run.makespan_s)
    return text + " With buckets of `" + format_text(out.best_bucket_bytes, "B", 3, widgets::Prefix::binary) +
           "` the step is " + figure(gain_s, "s") + " shorter.";
  if (out.collectives == 1) return text + " The first bucket takes every gradient, whatever size the others may have.";
  return text + " No bucket size that was tried makes the step shorter by more than 0.2 %.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty() || out.plan.tasks.empty()) return p;
  add_compute(out, p);
  add_network(in, out, p);
  add_held(in, out, p);
  add_sweeps(in, out, p);
  const bool ddp = in.method == OverlapMethod::ddp;
  p.compute_words = "forward, backward, AdamW";
  p.network_words = ddp ? "one at a time" : "gathers, reductions";
  p.held_words = ddp ? "fall in full buckets" : "weights up, gradients down";
  if (out.run.tail_s > nothing_s) p.tail_said = format_text(out.run.tail_s, "s") + " tail";
  p.answer = answer_of(in, out);
  return p;
}

}  // namespace chapters::distributed::overlap
