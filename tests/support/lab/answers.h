#pragma once
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "tests/support/lab/lab_bench.h"

namespace support {

/// What a lab answers to these inputs, or why it does not.
inline std::string answer_of(std::string_view id, std::string_view inputs = "{}") {
  const LabPtr lab = open_lab(id, inputs);
  lab->compute();
  return std::string(lab->answer());
}

/// What a lab's own compute function gives for the inputs, with all that its picture needs.
template <class Inputs, class Compute>
auto computed_of(const Inputs& in, Compute compute_lab) {
  use_bundled_catalog();
  if constexpr (std::is_invocable_v<Compute, const Inputs&>) {
    return compute_lab(in);
  } else if constexpr (std::is_invocable_v<Compute, const Inputs&, chapters::Progress&>) {
    chapters::Progress progress;
    return compute_lab(in, progress);
  } else {
    return compute_lab(in, /*facts_alone=*/false);
  }
}

/// The picture of feasible inputs, by the lab's own functions; a picture that draws from the Run holds it.
template <class Inputs, class Compute, class Arrange>
auto picture_of(const Inputs& in, Compute compute_lab, Arrange arrange) {
  const auto computed = computed_of(in, compute_lab);
  if constexpr (requires { computed.facts; }) {
    INFO(computed.facts.reason);
    REQUIRE(computed.facts.reason.empty());
    REQUIRE(computed.run);
    auto picture = arrange(in, computed.facts, *computed.run);
    if constexpr (requires { picture.run = computed.run; }) picture.run = computed.run;
    return picture;
  } else {
    INFO(computed.reason);
    REQUIRE(computed.reason.empty());
    return arrange(in, computed);
  }
}

}  // namespace support
