// A file of language models as assets/models holds them.
#include "models/transformer/language_model.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto read = models::parse_language_models(fuzz::text_of(data, size), "models.json"); fuzz::accepted(read))
    for (const auto& model : *read) {
      fuzz::require(!model.id.empty() && !model.name.empty(), "a model without a name");
      fuzz::require(models::count_parameters(model.architecture).total > 0, "a model without parameters", model.id);
    }
  return 0;
}
