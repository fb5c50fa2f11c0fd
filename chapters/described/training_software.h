#pragma once
#include "chapters/mechanism/field.h"

/// Choices of the labs that price a training step with the planner's model.
namespace chapters {

/// What matrix products inside the layers run in.
const Choices& training_format_choices();
/// In the order of models::parallel::StackId.
const Choices& training_software_choices();

}  // namespace chapters
