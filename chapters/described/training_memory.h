#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "chapters/described/adapter_inputs.h"
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
/// The same where another input says which parts selective recomputation gives up.
const Choices& recomputed_part_choices();

/// The order of a pipeline's passes; chunks make 1F1B an interleaved one.
enum class PassOrder : std::uint8_t {
  one_f_one_b,
  gpipe,
  zb_h1,
  zb_h2,
  zb_v,
  dualpipe,
  dualpipe_v,
  interleaved_zb,
  breadth_first,
  v_half,
  v_min
};
const Choices& pass_order_choices();
models::PipelineSchedule schedule_of(PassOrder order);
PassOrder order_of(models::PipelineSchedule schedule);

/// What selective recomputation gives up: attention's scores; norms, activation functions or MLA's up projections
/// alone; the feed-forward or the experts alone; the small ones together; those with the block; every second product.
enum class GivenUp : std::uint8_t { attention, norms, activations, latent, block_alone, small, block, second_products };
inline constexpr std::size_t given_up_count = 8;
/// Choices for labs where every second product can be given up (all), and where the software says so (all but that).
const Choices& given_up_choices();
/// The modules, of which MLA's up projections are none in a model without; those of attention for the last, which knows
/// none.
std::uint8_t modules_given_up(const models::Architecture& architecture, GivenUp given_up);
/// The way back; `second_products` where the plan says so.
GivenUp given_up_of(std::uint8_t modules, bool second_products);

/// In what products keep the inputs that their weight gradients read.
enum class KeptFormat : std::uint8_t { wide, eight_bits, four_bits };
/// TrainingPlan::kept_input_bytes: with the scales of MXFP8 and NVFP4.
double kept_input_bytes(KeptFormat kept);

/// What of a plan is neither an axis nor a recipe.
struct PlanDetails {
  PassOrder order = PassOrder::one_f_one_b;
  bool ends_take_slots = false, step_gradients = false;
  std::int64_t shard_group = 0;
  GivenUp given_up = GivenUp::attention;
  KeptFormat kept_inputs = KeptFormat::wide;
  bool gathered_inputs = false;  ///< TrainingPlan::gathered_inputs
  AdapterInputs adapters;
  bool operator==(const PlanDetails&) const = default;
};
/// The inputs `given_up`, `kept_inputs` and `gathered_inputs`.
void describe_kept(Fields& fields, PlanDetails& details);
/// The inputs `order`, `ends_take_slots`, `shard_group` and `step_gradients`; the first two matter while `cut` holds.
void describe_layout(Fields& fields, PlanDetails& details, When cut);
/// Puts them into a plan that has its axes and its stage. Fails with a sentence where the order cannot run, and where
/// put_adapters does. What a stage holds at once (TrainingPlan::in_flight) is left to KeptSchedules.
models::Status put_details(const models::Architecture& architecture, const PlanDetails& details,
                           models::memory::TrainingPlan& plan);

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
/// The input `recompute`, a headline, in a lab that has describe_kept's inputs too.
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
