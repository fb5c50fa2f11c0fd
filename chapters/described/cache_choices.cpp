#include "chapters/described/cache_choices.h"

#include <string>

#include "models/compression/deployment.h"

namespace chapters {

const Choices& kv_recipe_choices() {
  static const Choices choices = [] {
    Choices out;
    for (const models::KvRecipe& r : models::kv_recipes())
      out.push_back({std::string(r.id), std::string(r.label), std::string(r.loss_source)});
    return out;
  }();
  return choices;
}

}  // namespace chapters
