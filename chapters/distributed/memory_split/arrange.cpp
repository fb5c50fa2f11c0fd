#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/described/training_memory.h"
#include "chapters/distributed/memory_split/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::memory_split {
namespace {

using models::memory::MemoryOwner, models::memory::UnitKind, models::parallel::SplitGpu, widgets::figure,
    widgets::format_text;

constexpr MemoryOwner owners[] = {MemoryOwner::weights,   MemoryOwner::gradients, MemoryOwner::master,
                                  MemoryOwner::optimizer, MemoryOwner::buffers,   MemoryOwner::activations,
                                  MemoryOwner::logits,    MemoryOwner::temporary, MemoryOwner::buffers,
                                  MemoryOwner::slack};
constexpr std::size_t whole_layer = 4, buffers_layer = 8;

std::string bytes(double b) { return format_text(b, "B"); }
std::string count(std::int64_t n) { return format_text(static_cast<double>(n), ""); }

/// States are split over groups of the replicas, which are copies of each other.
bool groups(const Inputs& in) {
  return in.details.shard_group > 0 && in.details.shard_group < in.data_parallel * in.context_parallel;
}

/// "tensor parallelism and ZeRO-2"; of two axes and more "TP, PP and ZeRO-2".
std::string split_words(const Inputs& in) {
  struct Axis {
    std::int64_t ranks;
    const char *name, *brief;
  };
  std::string words, briefs;
  int axes = 0;
  for (const Axis& axis : {Axis{in.tensor_parallel, "tensor", "TP"}, Axis{in.pipeline_parallel, "pipeline", "PP"},
                           Axis{in.context_parallel, "context", "CP"}, Axis{in.expert_parallel, "expert", "EP"}}) {
    if (axis.ranks < 2) continue;
    ++axes;
    words = axis.name + std::string(" parallelism");
    briefs += (briefs.empty() ? "" : ", ") + std::string(axis.brief);
  }
  const std::string zero = in.zero_stage == 0 ? "plain DDP"
                                              : "ZeRO-" + std::to_string(in.zero_stage) +
                                                    (groups(in) ? " over " + count(in.details.shard_group) : "");
  if (axes == 0) return zero;
  const std::string cut = axes == 1 ? words : briefs;
  return in.zero_stage == 0 ? cut : cut + " and " + zero;
}

/// Whether the step fits, on each GPU and instead of what.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const bool alone = out.gpus == 1;
  const bool offloads = in.offload != models::memory::Offload::none || in.host_activations;
  std::string says = out.fits ? "The step fits" : "The step does not fit";
  if (!alone) says += " with " + split_words(in) + (offloads ? " and offloading" : "");
  if (alone && offloads) says += " with offloading";
  says += alone ? ": the GPU needs "
                : (in.pipeline_parallel > 1 ? ": the fullest of " : ": each of ") +
                      figure(static_cast<double>(out.gpus), "") + " GPUs needs ";
  says += figure(out.peak_bytes, "B") + (out.fits ? " of its " : " and has ") + figure(out.chip_bytes, "B");
  if (out.alone_bytes > 1.005 * out.peak_bytes)
    says += (out.fits ? ", instead of " : "; under plain DDP it would be ") + figure(out.alone_bytes, "B") +
            (out.fits && !alone ? " under plain DDP" : "");
  return says + ".";
}

/// What takes the most room, and what would split it.
std::string reason_of(const Inputs& in, const Outputs& out) {
  const bool splits = in.tensor_parallel > 1 || in.context_parallel > 1;
  if (out.host_bytes > out.total_bytes && !in.host_activations)
    return "The host's memory keeps " + figure(out.host_bytes, "B") + " of its states; activations and logits, " +
           figure(out.work_bytes, "B") + ", stay on the GPU.";
  if (out.whole_bytes > 0 && out.whole_bytes > out.total_bytes)
    return "Weights and gradients that are whole for a moment take " + figure(out.whole_bytes, "B") +
           ", more than the GPU's own share of the states, " + figure(out.total_bytes, "B") + ".";
  if (out.work_bytes > out.total_bytes)
    return "Activations and logits take " + figure(out.work_bytes, "B") +
           (splits ? ", more than the states, " + figure(out.total_bytes, "B") + "."
                   : "; ZeRO does not split them, tensor or context parallelism would.");
  const double frozen = out.memory.frozen_bytes;
  std::string says =
      frozen > 0 ? "Frozen weights take " + figure(frozen, "B") + " of " + figure(out.total_bytes, "B") + " of states"
                 : "Weights, gradients and optimizer states take " + figure(out.total_bytes, "B") + " of it";
  if (in.zero_stage > 0 && groups(in))
    return says + "; split over more than " + count(in.details.shard_group) + " replicas they would take less.";
  if (in.data_parallel * in.context_parallel > 1 && in.zero_stage < 3)
    return says + (in.zero_stage == 0 ? "; ZeRO would split them over the replicas."
                                      : "; a higher stage of ZeRO would split more of them.");
  if (in.zero_stage == 3) return says + "; with more replicas each GPU would keep less of them.";
  return says + "; there is one replica only, so that ZeRO has nothing to split over.";
}

std::string answer_of(const Inputs& in, const Outputs& out) { return verdict_of(in, out) + "\n" + reason_of(in, out); }

std::string unit_name(const models::memory::GatherUnit& u, bool tied) {
  if (u.kind == UnitKind::embedding) return tied ? "embedding, tied" : "embedding";
  return u.kind == UnitKind::head ? "output" : "layer " + std::to_string(u.layer);
}

/// Under a vessel: the coordinates in which the GPUs that are shown differ.
void arrange_vessels(const Outputs& out, const Run& run, Picture& p) {
  for (std::size_t i = 0; i < run.split.shown.size(); ++i) {
    const SplitGpu& g = run.split.shown[i];
    VesselWords words{.label = "GPU " + count(g.rank), .fullest = g.stage == run.split.stage_of[run.split.fullest]};
    const auto coordinate = [&](const char* name, std::int64_t index, const auto& of) {
      const bool differs = std::any_of(run.split.shown.begin(), run.split.shown.end(),
                                       [&](const SplitGpu& other) { return of(other) != index; });
      if (differs) words.sub += (words.sub.empty() ? "" : ", ") + std::string(name) + " " + count(index);
    };
    coordinate("stage", g.stage, [](const SplitGpu& other) { return other.stage; });
    coordinate("tensor", g.tensor, [](const SplitGpu& other) { return other.tensor; });
    coordinate("context", g.context, [](const SplitGpu& other) { return other.context; });
    coordinate("data", g.data, [](const SplitGpu& other) { return other.data; });
    p.vessels.push_back(std::move(words));
  }
  for (std::size_t k = 0; k < run.split.steps.size(); ++k) {
    const models::parallel::SplitStep& step = run.split.steps[k];
    std::vector<SplitStack> stacks;
    std::vector<std::array<models::parallel::OwnerPart, split_layer_count>> parts;
    for (std::size_t i = 0; i < step.gpus.size(); ++i) {
      stacks.push_back(stack_of(step.gpus[i].held, step.gpus[i].whole));
      const models::parallel::SplitGpu g = models::parallel::gpu_at(step.plan, run.split.shown[i].rank);
      parts.emplace_back();
      for (std::size_t layer = 0; layer <= 6; ++layer)
        if (layer != whole_layer) parts.back()[layer] = models::parallel::owner_part(step.plan, owners[layer], g);
    }
    p.stacks.push_back(std::move(stacks));
    p.parts.push_back(std::move(parts));
    p.step_names.push_back(k == 0 ? "DDP" : out.cuts[k].axis.substr(0, out.cuts[k].axis.find(':')));
    p.step_totals.push_back(bytes(out.cuts[k].peak_bytes));
  }
  p.ghost = p.stacks.front().front();
  p.ghost_total = bytes(total_of(p.ghost));
  const double more = total_of(p.ghost) - std::max(out.peak_bytes, out.chip_bytes);
  p.ghost_words = more > 0 ? "+" + bytes(more) : "";
  p.rim_words = bytes(out.chip_bytes);
}

void arrange_moments(const Run& run, Picture& p) {
  p.moment_values.assign(split_layer_count, {});
  double most = -1;
  for (std::size_t i = 0; i < run.moments.size(); ++i) {
    const models::memory::StepMoment& m = run.moments[i];
    const SplitStack stack = stack_of(m.held, m.whole);
    p.moment_stacks.push_back(stack);
    p.moment_at.push_back(static_cast<double>(i));
    for (std::size_t k = 0; k < split_layer_count; ++k) p.moment_values[k].push_back(stack[k]);
    const double total = total_of(stack);
    if (total > most) {
      most = total;
      p.fullest_moment = i;
    }
    const std::string where = m.moment == models::memory::FullestMoment::loss ? "loss and "
                              : m.backward                                    ? "backward, "
                                                                              : "forward, ";
    const std::string unit = p.unit_names[m.unit];
    std::string words = where + unit + ": " + bytes(total);
    if (m.whole.total() > 0) {
      words += ", whole " + bytes(m.whole.total()) + " (";
      std::string list;
      const auto add = [&](double b, const char* name) {
        if (b > 0) list += (list.empty() ? "" : ", ") + std::string(name) + " " + bytes(b);
      };
      add(m.whole.at_work, "weights at work");
      add(m.whole.ahead, "gathered ahead");
      add(m.whole.gradient, "its gradient");
      add(m.whole.reducing, "being reduced");
      words += list + ")";
    }
    p.moment_words.push_back(std::move(words));
  }
}

/// Which units of the strip stand out at each moment, and where a unit is found.
void arrange_strip(const Run& run, Picture& p) {
  const models::memory::TrainingPlan& plan = run.split.steps.back().plan;
  const auto ahead = static_cast<std::size_t>(plan.gather_ahead), count_of = run.units.size();
  p.shards = static_cast<std::int64_t>(models::memory::zero_ranks(plan));
  double parameters = 0;
  for (const auto& unit : run.units) p.unit_ends.push_back(parameters += unit.parameters);
  p.backward_of_unit.assign(count_of, -1);
  for (std::size_t i = 0; i < run.moments.size(); ++i) {
    const models::memory::StepMoment& m = run.moments[i];
    MomentUnits units{.unit = m.unit, .gathers = m.whole.unit >= 0};
    if (units.gathers) {
      units.whole_first = m.whole.at_work > 0 && !plan.reshard ? 0 : m.unit;
      units.whole_end = m.unit + 1;
    }
    if (units.gathers && m.whole.ahead > 0) {
      units.ahead_first = m.backward ? m.unit - std::min(ahead, m.unit) : m.unit + 1;
      units.ahead_end = m.backward ? m.unit : std::min(m.unit + 1 + ahead, count_of);
    }
    p.moment_units.push_back(units);
    std::int64_t& first = p.backward_of_unit[m.unit];
    if (m.backward && first < 0) first = static_cast<std::int64_t>(i);
  }
}

void add_replicas(const Run& run, Picture& p) {
  static constexpr std::array<const char*, 4> names{"DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3"};
  if (run.replicas.empty()) return;
  for (std::size_t i = 0; i < names.size(); ++i)
    p.replicas.push_back({.label = names[i],
                          .info = "of the fullest stage; offloaded where this stage of ZeRO allows it",
                          .tint = widgets::Tint::ramp(i, names.size()),
                          .x = run.replicas,
                          .y = run.peak_by_zero[i]});
}

}  // namespace

const LayerLook& layer_look(std::size_t layer) {
  static const std::vector<LayerLook> looks = [] {
    std::vector<LayerLook> all;
    for (std::size_t k = 0; k < split_layer_count; ++k) {
      const OwnerLook& look = owner_look(owners[k]);
      all.push_back({look.name, look.tint, look.pale, false, look.info});
    }
    all[whole_layer] = {"whole units", widgets::Meaning::communication, false, true,
                        "gathered weights, and gradients that are not yet reduced to shards"};
    all[buffers_layer] = {"buffers", widgets::Meaning::communication, true, false, "buckets, CUDA context, libraries"};
    return all;
  }();
  return looks[std::min(layer, split_layer_count - 1)];
}

SplitStack stack_of(const models::memory::HeldBytes& held, const models::memory::WholeUnits& whole) {
  SplitStack out{};
  for (std::size_t k = 0; k < split_layer_count; ++k) out[k] = held[owners[k]];
  out[whole_layer] = whole.total();
  out[buffers_layer] = held[MemoryOwner::buffers] - whole.total();
  return out;
}

Picture arrange(const Inputs& set, const Outputs& out, const Run& run) {
  Picture p;
  const Inputs in = in_force(set);
  if (!out.reason.empty() || run.split.steps.empty()) return p;
  p.answer = answer_of(in, out);
  for (const auto& unit : run.units) p.unit_names.push_back(unit_name(unit, run.tied));
  arrange_vessels(out, run, p);
  arrange_moments(run, p);
  arrange_strip(run, p);
  add_replicas(run, p);
  p.calculators = out.calculators;
  for (CalculatorRow& row : p.calculators)
    if (!std::isfinite(row.bytes)) row.leaves_out = "It does not know such a plan.";
  p.strip_title = run.gathers ? "The weights, unit by unit" : "The weights";
  if (in.pipeline_parallel > 1) p.strip_title += ", stage " + count(run.split.stage_of[run.split.fullest]);
  p.strip_words = run.gathers ? "each unit is cut into shards, and whole only while it computes"
                              : "every replica holds all of its units all the time";
  p.hosted = run.gathers && in.offload == models::memory::Offload::parameters;
  if (p.hosted) p.strip_words = "each unit waits in the host's memory, and comes whole where it computes";
  const std::int64_t rows = p.shards;
  if (run.gathers && rows > 4) p.strip_rest = "and " + count(rows - 4) + " more";
  return p;
}

}  // namespace chapters::distributed::memory_split
