// Published measurements: whatever the file holds, rows that are read are whole, and every fault is a sentence.
#include <cmath>

#include "app/content/load_published.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> errors;
  const auto rows = app::parse_published(fuzz::text_of(data, size), "published.json", errors);
  for (const auto& error : errors) fuzz::require_sentence(error);
  for (const auto& row : rows) {
    fuzz::require(std::isfinite(row.measured), "a measurement that is no number", row.id);
    fuzz::require(!(row.tolerance <= 0), "a tolerance that nothing can meet", row.id);
  }
  return 0;
}
