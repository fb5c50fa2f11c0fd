#include <algorithm>
#include <cctype>
#include <cmath>

#include "chapters/described/training_memory.h"
#include "chapters/framework/training_memory/lab.h"
#include "models/memory/state_bytes.h"
#include "widgets/number/number.h"

namespace chapters::framework::training_memory {
namespace {

using models::memory::MemoryOwner, models::memory::OptimizerKind, models::memory::StateRecipe, widgets::figure,
    widgets::format_text;

/// An owner as the end of "the largest part is ...".
std::string_view part_words(MemoryOwner owner) {
  switch (owner) {
    case MemoryOwner::weights:
      return "the weights";
    case MemoryOwner::gradients:
      return "the gradients";
    case MemoryOwner::master:
      return "the master copy of the weights";
    case MemoryOwner::optimizer:
      return "the optimizer's moments";
    case MemoryOwner::activations:
      return "the activations";
    case MemoryOwner::logits:
      return "the logits";
    case MemoryOwner::temporary:
      return "temporary tensors";
    case MemoryOwner::buffers:
      return "buffers";
    case MemoryOwner::slack:
      return "the allocator's slack";
  }
  return {};
}

/// One change to the plan in words.
std::string change_words(const Inputs& in, Change change, const std::string& name) {
  switch (change) {
    case Change::no_master:
      return "no master copy";
    case Change::eight_bit_no_master:
      return "8-bit moments and no master copy";
    case Change::shard:
      return in.data_parallel > 1 ? "ZeRO-3 over eight times as many GPUs" : name;
    case Change::tensor:
      return in.tensor_parallel > 1 ? "tensor and sequence over eight times as many GPUs"
                                    : "tensor and sequence over 8 GPUs";
    default:
      return name;
  }
}

/// What would make it fit, or where it fits what another plan would take.
std::string help_of(const Inputs& in, const Outputs& out, std::size_t shown) {
  const auto words = [&](const ChangeRow& row) { return change_words(in, row.change, row.name); };
  if (out.fits)
    return shown < out.changes.size() ? "With one change, " + words(out.changes[shown]) + ", it would take " +
                                            figure(out.changes[shown].total_bytes, "B") + "."
                                      : std::string();
  const ChangeRow* second = shown < out.changes.size() ? &out.changes[shown] : nullptr;
  const auto helps = [](const ChangeRow& row) { return row.possible && row.change != Change::plain; };
  const ChangeRow *fitting = nullptr, *least = nullptr;
  for (const ChangeRow& row : out.changes) {
    if (!helps(row)) continue;
    if (row.fits && (!fitting || &row == second)) fitting = &row;
    if (!least || row.total_bytes < least->total_bytes) least = &row;
  }
  if (!least) return "No single change makes it fit.";
  // Where the second vessel shows another change than the sentence names, the sentence says so.
  const ChangeRow* named = fitting ? fitting : least;
  const bool other = second && second != named;
  const std::string before = other ? "B takes " + figure(second->total_bytes, "B") + "; " : "";
  const std::string says = fitting ? "one change that makes it fit: " : "no single change makes it fit, the best is ";
  std::string help = before + says + words(*named) + ", " + figure(named->total_bytes, "B") + ".";
  help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
  return help;
}

std::string answer_of(const Inputs& in, const Outputs& out, std::size_t shown) {
  const models::memory::HeldBytes& held = out.memory.held;
  const bool split = in.tensor_parallel * in.pipeline * in.data_parallel * in.context_parallel * in.expert_parallel > 1;
  std::string says = (split ? "This GPU needs " : "The step needs ") + figure(out.total_bytes, "B") +
                     (split ? " and has " : " and the chip has ") + figure(out.chip_bytes, "B") +
                     (out.fits ? ": it fits." : ": too much.");
  const double largest = *std::max_element(held.bytes.begin(), held.bytes.end());
  const auto owner =
      static_cast<MemoryOwner>(std::max_element(held.bytes.begin(), held.bytes.end()) - held.bytes.begin());
  if (out.kept_bytes >= largest && out.kept_bytes > held[MemoryOwner::weights])
    says += " Optimizer and master copy take " + figure(out.kept_bytes, "B") + ", the weights " +
            figure(held[MemoryOwner::weights], "B") + ".";
  else
    says += " The largest part is " + std::string(part_words(owner)) + ", " + figure(largest, "B") + ".";
  const std::string help = help_of(in, out, shown);
  return help.empty() ? says : says + "\n" + help;
}

/// When the vessel is fullest, and whose gradients stand in it.
std::string moment_of(const models::memory::TrainingMemory& memory) {
  using models::memory::FullestMoment;
  std::string says = " Fullest in the backward pass of a layer";
  if (memory.moment == FullestMoment::loss) says = " Fullest at the loss";
  if (memory.moment == FullestMoment::end_of_backward) says = " Fullest at the end of the backward pass";
  if (!memory.gradients_late) return says + ", with gradients that were there before.";
  if (memory.moment == FullestMoment::loss) return says + ", before there are gradients.";
  return says + ".";
}

struct StripChoice {
  const char *name, *note;
  StateRecipe recipe;
  OptimizerKind optimizer;
};
constexpr StripChoice strips[] = {
    {"both gradients", "nanotron", StateRecipe::accumulate, OptimizerKind::adamw},
    {"FP32 gradients", "Megatron-LM", StateRecipe::megatron, OptimizerKind::adamw},
    {"mixed AdamW", "ZeRO", StateRecipe::zero, OptimizerKind::adamw},
    {"Lion", "one moment", StateRecipe::zero, OptimizerKind::lion},
    {"8-bit moments", "", StateRecipe::zero, OptimizerKind::adamw_8bit},
    {"all in BF16", "", StateRecipe::pure_bf16, OptimizerKind::adamw},
    {"8-bit moments, no master", "", StateRecipe::no_master, OptimizerKind::adamw_8bit},
};

RecipeStrip strip_of(const models::Architecture& a, const char* name, const char* note, StateRecipe recipe,
                     OptimizerKind optimizer, double parameters) {
  const auto b = models::memory::bytes_per_parameter(a, recipe, optimizer);
  RecipeStrip strip{.name = name, .note = note, .figure = format_text(b.total() * parameters, "B")};
  strip.bytes = {b.weights, b.gradients, b.master, b.optimizer};
  strip.recipe = recipe;
  strip.optimizer = optimizer;
  return strip;
}

/// The recipes that people use, those of the two vessels among them.
void arrange_strips(const Inputs& in, const Outputs& out, const TrainingCase& s, Picture& p) {
  const auto same = [](const RecipeStrip& strip, const Inputs& i) {
    return strip.recipe == i.recipe && strip.optimizer == i.optimizer;
  };
  for (const StripChoice& c : strips)
    p.recipes.push_back(strip_of(s.architecture, c.name, c.note, c.recipe, c.optimizer, out.memory.trained));
  const auto add = [&](const Inputs& i) {
    if (std::any_of(p.recipes.begin(), p.recipes.end(), [&](const RecipeStrip& r) { return same(r, i); })) return;
    const auto& recipe = state_recipe_choices()[static_cast<std::size_t>(i.recipe)].label;
    const auto& optimizer = optimizer_choices()[static_cast<std::size_t>(i.optimizer)].label;
    p.recipes.push_back(
        strip_of(s.architecture, optimizer.c_str(), recipe.c_str(), i.recipe, i.optimizer, out.memory.trained));
  };
  add(in);
  const bool second = p.shown_change < out.changes.size();
  const Inputs changed = second ? with_change(in, out.changes[p.shown_change].change) : in;
  if (second) add(changed);
  std::stable_sort(p.recipes.begin(), p.recipes.end(), [](const RecipeStrip& a, const RecipeStrip& b) {
    return a.bytes[0] + a.bytes[1] + a.bytes[2] + a.bytes[3] > b.bytes[0] + b.bytes[1] + b.bytes[2] + b.bytes[3];
  });
  for (RecipeStrip& strip : p.recipes) {
    strip.is_a = same(strip, in);
    strip.is_b = second && !strip.is_a && same(strip, changed);
  }
}

void arrange_sequences(const Inputs& in, const TrainingCase& s, Picture& p) {
  constexpr int points = 33;
  const double top = std::max(16384.0, 2.0 * static_cast<double>(in.sequence));
  const std::int64_t step = sequence_step(in);
  for (int i = 0; i < points; ++i) {
    models::memory::TrainingPlan plan = s.plan;
    const double wanted = std::max(128.0, top * i / (points - 1));
    plan.sequence = std::max<std::int64_t>(step, static_cast<std::int64_t>(wanted) / step * step);
    const auto m = models::memory::training_memory(s.architecture, plan, s.options);
    if (!m) continue;
    p.sequences.push_back(static_cast<double>(plan.sequence));
    for (std::size_t k = 0; k < models::memory::memory_owner_count; ++k) p.by_sequence[k].push_back(m->held.bytes[k]);
  }
}

/// What stands beside: the change that was asked for, else the first that makes it fit. Where it fits, the plain step
/// before any measure, unless that is so large that nothing else would be seen, and else the change that saves most.
std::size_t shown_change(const Inputs& in, const Outputs& out) {
  const std::size_t none = out.changes.size();
  if (in.change == Change::none) return none;
  const auto first = [&](const auto& wanted) {
    const auto at = std::find_if(out.changes.begin(), out.changes.end(),
                                 [&](const ChangeRow& row) { return row.possible && wanted(row); });
    return static_cast<std::size_t>(at - out.changes.begin());
  };
  if (in.change != Change::best) return first([&](const ChangeRow& row) { return row.change == in.change; });
  if (!out.fits)
    if (const std::size_t fits = first([](const ChangeRow& r) { return r.fits && r.change != Change::plain; });
        fits < none)
      return fits;
  constexpr double max_times = 3;
  const double seen = max_times * std::max(out.total_bytes, out.chip_bytes), same = 1e-9 * out.total_bytes;
  const std::size_t plain = first([&](const ChangeRow& row) {
    return row.change == Change::plain && std::abs(row.saved_bytes) > same && row.total_bytes <= seen;
  });
  if (plain < none) return plain;
  std::size_t most = none;
  for (std::size_t i = 0; i < none; ++i)
    if (out.changes[i].possible && out.changes[i].saved_bytes > same &&
        (most == none || out.changes[i].saved_bytes > out.changes[most].saved_bytes))
      most = i;
  return most;
}

/// The names of the two vessels and what they leave free.
void arrange_labels(const Inputs& in, const Outputs& out, Picture& p) {
  const auto& recipe = state_recipe_choices()[static_cast<std::size_t>(in.recipe)].label;
  p.a_label = "A  " + recipe;
  p.a_note = out.fits ? format_text(out.free_bytes, "B") + " free" : "";
  if (p.shown_change < out.changes.size()) {
    const ChangeRow& row = out.changes[p.shown_change];
    p.b_label = "B  " + row.name;
    const std::int64_t replicas = with_change(in, row.change).data_parallel;
    if (row.change == Change::shard && in.data_parallel > 1)
      p.b_label = "B  ZeRO-3 over " + format_text(static_cast<double>(replicas), "") + " GPUs";
    p.b_note = row.fits ? format_text(out.chip_bytes - row.total_bytes, "B") + " free"
                        : format_text(row.total_bytes - out.chip_bytes, "B") + " over";
  }
  p.over_bold = format_text(std::abs(out.free_bytes), "B");
  p.over_words = out.fits ? "are free" : "do not fit";
  p.share_bold = format_text(std::round(10 * out.weights_share) / 10, "%", 3);
}

/// What the chip leaves for a parameter, beside what a recipe takes of it.
void arrange_limit(const Inputs& in, const Outputs& out, Picture& p) {
  const bool adapters = in.details.adapters.rank > 0;
  const std::string each = adapters ? " per trained parameter" : " per parameter";
  const std::string held =
      adapters ? " of frozen weights, activations, logits and buffers" : " of activations, logits and buffers";
  double rest = out.total_bytes + out.memory.frozen_bytes;
  for (const MemoryOwner owner :
       {MemoryOwner::weights, MemoryOwner::gradients, MemoryOwner::master, MemoryOwner::optimizer})
    rest -= out.memory.held[owner];
  const double own = (out.states_bytes - out.memory.frozen_bytes) / out.memory.trained;
  const bool split = own < 0.999 * out.memory.bytes_per_parameter;
  p.limit = split || out.memory.gradients_late ? 0 : out.left_per_parameter;
  if (out.memory.gradients_late)
    p.limit_words = format_text(out.left_per_parameter, "B") + each + " are left for states at the peak, once " +
                    format_text(rest, "B") + held + " are in.";
  else if (split)
    p.limit_words = "Split over the replicas, " + format_text(out.memory.bytes_per_parameter, "B") + each + " are " +
                    format_text(own, "B") + " on this GPU; " + format_text(out.left_per_parameter, "B") +
                    " are left for it.";
  else
    p.limit_words = out.left_per_parameter > 0
                        ? format_text(out.left_per_parameter, "B") + each + " are left once " + format_text(rest, "B") +
                              held + " are in: a recipe fits if it ends before the line."
                        : std::string(adapters ? "Frozen weights, activations" : "Activations") +
                              ", logits and buffers alone take " + format_text(rest, "B") + ": no recipe fits.";
  p.limit_words += moment_of(out.memory);
}

}  // namespace

Picture arrange(const Inputs& set, const Outputs& out, Schedules& schedules) {
  Picture p;
  const Inputs in = in_force(set);
  const auto setting = read_setting(in, schedules);
  if (!out.reason.empty() || !setting) return p;
  p.shown_change = shown_change(in, out);
  p.answer = answer_of(in, out, p.shown_change);
  arrange_labels(in, out, p);
  arrange_limit(in, out, p);
  p.layer_words = "The formula gives " + format_text(out.memory.formula_layer_bytes, "B") +
                  " per layer, the operations of this model " + format_text(out.memory.operations_layer_bytes, "B") +
                  ".";
  arrange_strips(in, out, *setting, p);
  arrange_sequences(in, *setting, p);
  return p;
}

}  // namespace chapters::framework::training_memory
