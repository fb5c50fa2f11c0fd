#pragma once
#include <catch2/catch_test_macros.hpp>

#include "models/machine/iron_law.h"
#include "models/machine/iron_law_effects.h"

/// 10 s of memory, 30 s of compute, 2 s of latency.
inline const models::IronLaw iron_law_example{100, 10, 300, 20, 0.5, 2, models::Combine::added};

inline const models::Technique& technique(const char* id) {
  const models::Technique* found = models::find_technique(id);
  INFO(id);
  REQUIRE(found);
  return *found;
}
