#pragma once
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "tests/support/lab/lab_bench.h"

namespace support {

/// What a lab answers to these inputs, or why it does not.
inline std::string answer_of(std::string_view id, std::string_view inputs = "{}") {
  const LabPtr lab = open_lab(id, inputs);
  lab->compute();
  return std::string(lab->answer());
}

/// The picture of feasible inputs, by the lab's own functions.
template <class Inputs, class Compute, class Arrange>
auto picture_of(const Inputs& in, Compute compute_outputs, Arrange arrange) {
  use_bundled_catalog();
  const auto o = compute_outputs(in);
  INFO(o.reason);
  REQUIRE(o.reason.empty());
  return arrange(in, o);
}

}  // namespace support
