#include "models/gpu/layout/layout_parts.h"

#include <catch2/catch_test_macros.hpp>

namespace gpu = models::gpu;

namespace {

gpu::LayoutParts parts_of(const gpu::LayoutQuestion& q) {
  const auto answer = gpu::answer_layout(q);
  REQUIRE(answer);
  return gpu::layout_parts(q, *answer);
}

}  // namespace

// By rows, in tiles of 2 x 2: the places of a tile are 0, 1, 4, 5 and the like.
TEST_CASE("layout parts: every divide says the same of a place: to which tile it belongs") {
  for (const auto op : {gpu::LayoutOperation::logical_divide_tiler, gpu::LayoutOperation::zipped_divide,
                        gpu::LayoutOperation::tiled_divide, gpu::LayoutOperation::flat_divide}) {
    const auto parts = parts_of({.operation = op, .a = "(4,4):(4,1)", .b = "[2:1,2:1]"});
    CHECK(parts.kind == gpu::PartKind::tile);
    CHECK(parts.count == 4);
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t column = 0; column < 4; ++column)
        CHECK(parts.in_a(4 * row + column) == row / 2 + 2 * (column / 2));
    CHECK(parts.in_result(16) == -1);
  }
}

TEST_CASE("layout parts: a product has copies, a complement the room that is left, a slice what it reaches") {
  // Four elements, three times, one after another.
  for (const auto op : {gpu::LayoutOperation::logical_product, gpu::LayoutOperation::blocked_product}) {
    const auto copies = parts_of({.operation = op, .a = "4:1", .b = "3:1"});
    CHECK(copies.kind == gpu::PartKind::copy);
    CHECK(copies.count == 3);
    for (std::int64_t place = 0; place < 12; ++place) CHECK(copies.in_result(place) == place / 4);
  }
  // 4:2 leaves 0, 1 and 8, 9 and so on of 24 places.
  const auto room = parts_of({.operation = gpu::LayoutOperation::complement, .a = "4:2", .n = 24});
  CHECK(room.kind == gpu::PartKind::room);
  CHECK(room.count == 6);
  for (std::int64_t place = 0; place < 24; ++place) CHECK(room.in_result(place) == place / 8 * 2 + place % 2);
  const auto kept = parts_of({.operation = gpu::LayoutOperation::slice, .a = "(4,4):(4,1)", .coordinate = "(_,3)"});
  CHECK(kept.kind == gpu::PartKind::chosen);
  CHECK(kept.in_a(7) == 0);
  CHECK(kept.in_a(6) == -1);
  const auto wider = parts_of({.operation = gpu::LayoutOperation::upcast, .a = "(16,8):(1,16)", .n = 4});
  CHECK(wider.kind == gpu::PartKind::element);
  CHECK(wider.in_a(7) == wider.in_result(1));
}

TEST_CASE("layout parts: what is refused, or changes no element, has none") {
  CHECK(parts_of({.operation = gpu::LayoutOperation::coalesce, .a = "(4,4):(1,4)"}).kind == gpu::PartKind::none);
  CHECK(parts_of({.operation = gpu::LayoutOperation::composition, .a = "(4,8):(8,1)", .b = "(2,4):(6,4)"}).kind ==
        gpu::PartKind::none);
}
