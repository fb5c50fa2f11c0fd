#pragma once
#include <catch2/catch_test_macros.hpp>

#include "models/machine/tiling.h"

/// The tiling of a product that can be tiled.
inline models::TilingResult tiled(const models::TilingInputs& inputs) {
  const auto result = models::tile_matmul(inputs);
  INFO(result.error);
  REQUIRE(result);
  return *result;
}
