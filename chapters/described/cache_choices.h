#pragma once
#include "chapters/mechanism/field.h"

/// How a cache of keys and values is stored, the same in every lab.
namespace chapters {

/// In the order of models::kv_recipes.
const Choices& kv_recipe_choices();

}  // namespace chapters
