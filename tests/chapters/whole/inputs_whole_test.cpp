#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string_view>

#include "app/explore/random_inputs.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/lab/catalog.h"

// What holds between the inputs of labs, and of the random inputs by which the generic tests try them.

using chapters::Field;
using chapters::Kind;
using support::use_bundled_catalog;

TEST_CASE("inputs that share a name between labs agree on unit and kind, so that a value carries over") {
  use_bundled_catalog();
  std::map<std::string_view, std::pair<Kind, std::string_view>> seen;
  std::size_t shared = 0;
  for (const auto& entry : chapters::all_labs()) {
    const auto lab = entry.make();
    for (const Field& f : lab->inputs()) {
      if (f.spec.shared.empty()) continue;
      const auto [at, first] = seen.try_emplace(f.spec.shared, f.kind, f.spec.unit);
      INFO(entry.id << "." << f.key << " is shared as " << f.spec.shared);
      CHECK(at->second.first == f.kind);
      CHECK(at->second.second == f.spec.unit);
      shared += !first;
    }
  }
  CHECK(shared > 0);  // at least one choice does follow the learner
}

TEST_CASE("random inputs are the same for a seed on every machine, differ between seeds, and reach the ends") {
  use_bundled_catalog();
  const auto a = chapters::all_labs().front().make(), b = chapters::all_labs().front().make();
  app::randomize(*a, 42);
  app::randomize(*b, 42);
  CHECK(a->same_inputs(*b));
  app::randomize(*b, 43);
  CHECK_FALSE(a->same_inputs(*b));
  for (const Field& f : a->inputs()) {
    if (f.kind != Kind::real) continue;
    bool low = false, high = false, inside = false;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      app::randomize(*a, seed);
      const double v = f.real();
      REQUIRE((v >= f.spec.range.lo && v <= f.spec.range.hi));
      low |= v == f.spec.range.lo;
      high |= v == f.spec.range.hi;
      inside |= v > f.spec.range.lo && v < f.spec.range.hi;
    }
    INFO(f.key);
    CHECK((low && high && inside));
  }
}
