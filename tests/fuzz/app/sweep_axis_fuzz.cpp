// An axis of a sweep as a command line writes it: as many values as were asked for, or one sentence.
#include <cmath>

#include "app/content/load_catalog.h"
#include "app/explore/explore.h"
#include "chapters/mechanism/registry.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/base/paths.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto lab = [] {
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    return chapters::make_lab_by_id("roofline/roofline");
  }();
  const auto axis = app::parse_sweep_axis(*lab, fuzz::text_of(data, size));
  if (!fuzz::accepted(axis)) return 0;
  fuzz::require(!axis->values.empty() && axis->values.size() <= 65'536, "an axis of no or too many values");
  fuzz::require(axis->labels.empty() || axis->labels.size() == axis->values.size(), "labels that are not one a value");
  for (const double v : axis->values) fuzz::require(std::isfinite(v), "a value that is not a number");
  return 0;
}
