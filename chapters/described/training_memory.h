#pragma once
#include <array>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "models/memory/training_plan.h"
#include "widgets/base/tint.h"

/// Names, colours and choices of a training step's memory, the same in every lab.
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

}  // namespace chapters
