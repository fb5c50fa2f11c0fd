#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "models/machine/hardware.h"
#include "models/machine/roofline.h"
#include "models/memory/training_memory.h"
#include "models/memory/training_plan.h"
#include "models/transformer/transformer.h"
#include "widgets/base/tint.h"

/// Names, colours, choices and inputs of a training step's memory, the same in every lab.
namespace chapters {

/// In the order of models::memory::StateRecipe, OptimizerKind, LossKind and models::Recompute.
const Choices& state_recipe_choices();
const Choices& optimizer_choices();
const Choices& loss_choices();
const Choices& recompute_choices();

/// How an owner is drawn.
struct OwnerLook {
  std::string_view name;
  widgets::Tint tint{};
  bool pale = false;
  std::string_view info;  ///< what these bytes are
};
const OwnerLook& owner_look(models::memory::MemoryOwner owner);

/// A number for each owner under the keys weights_bytes, gradients_bytes, ..., with `prefix` before each label.
void describe(Fields& fields, models::memory::HeldBytes& held);

/// What training_memory and memory_split count the bytes of, and the chip that must hold them.
struct TrainingCase {
  models::Architecture architecture;
  const models::Chip* chip = nullptr;
  models::memory::TrainingPlan plan;
  models::memory::TrainingMemoryOptions options;
};
/// The model on the chip with a plan by default; fails with a sentence where either is unknown.
models::Result<TrainingCase> training_case(std::string_view model, std::string_view chip);

/// What a step trains, and on what, at the peaks of the recipe's format.
struct TrainedOn {
  models::Architecture architecture;
  const models::Chip* chip = nullptr;
  models::Machine machine;
};
/// Fails with a sentence where model or chip is unknown, or the chip has no peak for the format.
models::Result<TrainedOn> trained_on(std::string_view model, std::string_view chip, models::memory::StateRecipe recipe);

/// The input `loss`.
void describe_loss(Fields& fields, models::memory::LossKind& loss, bool headline = false);
/// The input `recompute`, a headline.
void describe_recompute(Fields& fields, models::Recompute& recompute);
/// The inputs `recipe` and `optimizer`.
void describe_states(Fields& fields, models::memory::StateRecipe& recipe, models::memory::OptimizerKind& optimizer);

/// Ways to choose the layers that are recomputed, for the choices of a lab.
struct LayersAgain {
  Choice every_layer{"every_layer", "every layer", "Each layer keeps its input alone."};
  Choice pieces{"pieces", "pieces of k layers",
                "Each piece keeps its first input; its layers are recomputed together."};
  Choice square_root{"square_root", "pieces of \xE2\x88\x9AL layers",
                     "As many layers per piece as there are pieces: Chen et al. 2016."};
  Choice first{"first", "the first layers", "A run of layers from the first on, each alone; the others are kept."};
  Choice drawn{"drawn", "drawn by hand", "As the letters say: what pressing the pillars writes."};
};
/// The inputs `again`, `piece` and `letters` of the layers that are recomputed; each matters while the choice `plan`
/// reads first, pieces or drawn. `headline` says whether `again` is one.
void describe_layers_again(Fields& fields, std::string_view plan, std::int64_t& again, std::int64_t& piece,
                           std::string& letters, bool headline);
/// The input `roof_share`.
void describe_roof_share(Fields& fields, double& share);

}  // namespace chapters
