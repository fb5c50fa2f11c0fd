#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/described/training_memory.h"
#include "chapters/distributed/memory_split/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::memory_split {
namespace {

using models::memory::MemoryOwner, models::memory::UnitKind, models::parallel::SplitGpu, widgets::format_text;

constexpr MemoryOwner owners[] = {MemoryOwner::weights,   MemoryOwner::gradients, MemoryOwner::master,
                                  MemoryOwner::optimizer, MemoryOwner::buffers,   MemoryOwner::activations,
                                  MemoryOwner::logits,    MemoryOwner::temporary, MemoryOwner::buffers,
                                  MemoryOwner::slack};
constexpr std::size_t whole_layer = 4, buffers_layer = 8;

std::string ticked(const std::string& s) { return "`" + s + "`"; }
std::string bytes(double b) { return format_text(b, "B"); }
std::string count(std::int64_t n) { return format_text(static_cast<double>(n), ""); }

std::string answer_of(const Inputs& in, const Outputs& out) {
  const models::memory::HeldBytes& held = out.memory.held;
  std::string says = out.fits ? "It fits: " : "It does not fit: ";
  says += ticked(bytes(out.peak_bytes)) + " of " + ticked(bytes(out.chip_bytes));
  if (out.alone_bytes > 1.005 * out.peak_bytes) says += ", where plain DDP needs " + ticked(bytes(out.alone_bytes));
  const double activations = held[MemoryOwner::activations] + held[MemoryOwner::logits];
  if (out.host_bytes > out.total_bytes)
    return says + ". In the host's memory wait " + ticked(bytes(out.host_bytes)) + " of its states.";
  if (out.whole_bytes > 0 && out.whole_bytes > out.total_bytes)
    return says + ". The units that are whole, " + ticked(bytes(out.whole_bytes)) + ", are more than the shards, " +
           ticked(bytes(out.total_bytes)) + ".";
  const bool splits = in.tensor_parallel > 1 || in.context_parallel > 1;
  if (activations > out.total_bytes)
    return says + ". Activations and logits, " + ticked(bytes(activations)) +
           (splits ? ", are the larger part." : ", are not split by ZeRO.");
  return says + ". States are " + ticked(bytes(out.total_bytes)) + " of it.";
}

std::string unit_name(const models::memory::GatherUnit& u, bool tied) {
  if (u.kind == UnitKind::embedding) return tied ? "embedding, tied" : "embedding";
  return u.kind == UnitKind::head ? "output" : "layer " + std::to_string(u.layer);
}

/// Under a vessel: the coordinates in which the GPUs that are shown differ.
void arrange_vessels(const Outputs& out, Picture& p) {
  for (std::size_t i = 0; i < out.split.shown.size(); ++i) {
    const SplitGpu& g = out.split.shown[i];
    VesselWords words{.label = "GPU " + count(g.rank)};
    const auto coordinate = [&](const char* name, std::int64_t index, const auto& of) {
      const bool differs = std::any_of(out.split.shown.begin(), out.split.shown.end(),
                                       [&](const SplitGpu& other) { return of(other) != index; });
      if (differs) words.sub += (words.sub.empty() ? "" : ", ") + std::string(name) + " " + count(index);
    };
    coordinate("stage", g.stage, [](const SplitGpu& other) { return other.stage; });
    coordinate("tensor", g.tensor, [](const SplitGpu& other) { return other.tensor; });
    coordinate("context", g.context, [](const SplitGpu& other) { return other.context; });
    coordinate("data", g.data, [](const SplitGpu& other) { return other.data; });
    p.vessels.push_back(std::move(words));
  }
  for (std::size_t k = 0; k < out.split.steps.size(); ++k) {
    const models::parallel::SplitStep& step = out.split.steps[k];
    std::vector<SplitStack> stacks;
    std::vector<std::array<models::parallel::OwnerPart, split_layer_count>> parts;
    for (std::size_t i = 0; i < step.gpus.size(); ++i) {
      stacks.push_back(stack_of(step.gpus[i].held, step.gpus[i].whole));
      const models::parallel::SplitGpu g = models::parallel::gpu_at(step.plan, out.split.shown[i].rank);
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

void arrange_moments(const Outputs& out, Picture& p) {
  p.moment_values.assign(split_layer_count, {});
  double most = -1;
  for (std::size_t i = 0; i < out.moments.size(); ++i) {
    const models::memory::StepMoment& m = out.moments[i];
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

/// The peak of the fullest stage against replicas, for each stage of ZeRO; offloaded where that stage of ZeRO allows
/// it.
void arrange_replicas(const Inputs& in, const Outputs& out, Picture& p) {
  p.by_zero.assign(4, {});
  for (std::int64_t n = 1; n <= 16384; n *= 2) {
    p.over_data.push_back(static_cast<double>(n));
    for (std::int64_t zero = 0; zero <= 3; ++zero) {
      Inputs other = in;
      other.data_parallel = n;
      other.zero_stage = zero;
      const bool allowed = zero >= (in.offload == models::memory::Offload::parameters ? 3 : 1);
      if (!allowed) other.offload = models::memory::Offload::none;
      double peak = std::numeric_limits<double>::quiet_NaN();
      if (const auto s = read_setting(other)) {
        models::memory::TrainingPlan plan = s->plan;
        plan.stage = out.split.stage_of[out.split.fullest];
        const auto m = models::memory::training_memory(s->architecture, plan, s->options);
        if (m) peak = m->total();
      }
      p.by_zero[static_cast<std::size_t>(zero)].push_back(peak);
    }
  }
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

Picture arrange(const Inputs& set, const Outputs& out) {
  Picture p;
  const Inputs in = in_force(set);
  const auto setting = read_setting(in);
  if (!out.reason.empty() || !setting) return p;
  p.answer = answer_of(in, out);
  const bool tied = setting->architecture.tied && in.pipeline_parallel == 1;
  for (const auto& unit : out.units) p.unit_names.push_back(unit_name(unit, tied));
  arrange_vessels(out, p);
  arrange_moments(out, p);
  arrange_replicas(in, out, p);
  const bool gathers = models::memory::gathers_units(setting->plan);
  p.strip_title = gathers ? "The weights, unit by unit" : "The weights";
  if (in.pipeline_parallel > 1) p.strip_title += ", stage " + count(out.split.stage_of[out.split.fullest]);
  p.strip_words = gathers ? "each unit is cut into shards, and whole only while it computes"
                          : "every replica holds all of its units all the time";
  p.hosted = gathers && in.offload == models::memory::Offload::parameters;
  if (p.hosted) p.strip_words = "each unit waits in the host's memory, and comes whole where it computes";
  const std::int64_t rows = in.data_parallel * in.context_parallel;
  if (gathers && rows > 4) p.strip_rest = "and " + count(rows - 4) + " more";
  return p;
}

}  // namespace chapters::distributed::memory_split
