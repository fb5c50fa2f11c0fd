#pragma once
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/practice/drill.h"
#include "tests/support/lab/catalog.h"

/// The drills of assets/drills.
inline const std::vector<chapters::Drill>& bundled_drills() {
  support::use_bundled_catalog();
  return chapters::catalog().drills;
}

/// How many questions of each template the tests that look at many make: fewer the more templates there are, 12 at
/// least. Both tests take the same ones, which are made once.
inline std::uint64_t instances_of_each() { return std::max<std::uint64_t>(12, 7000 / bundled_drills().size()); }

/// An instance of one of bundled_drills(), which must be one that can be asked. It is made once and kept for every test
/// that looks at its words.
inline const chapters::DrillQuestion& bundled_question(const chapters::Drill& drill, std::uint64_t seed,
                                                       chapters::DrillWords words = chapters::DrillWords::following) {
  static chapters::DrillLabs labs;
  static std::map<std::tuple<const chapters::Drill*, std::uint64_t, chapters::DrillWords>, chapters::DrillQuestion>
      made_before;
  // What follows nothing is asked in the same words.
  if (drill.follows.empty()) words = chapters::DrillWords::alone;
  const std::tuple key{&drill, seed, words};
  if (const auto at = made_before.find(key); at != made_before.end()) return at->second;
  auto made = make_question(drill, bundled_drills(), seed, labs, words);
  INFO(drill.id << " seed " << seed << ": " << made.error);
  REQUIRE(made);
  return made_before.emplace(key, std::move(*made)).first->second;
}
