#include "models/gpu/occupancy.h"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/base/paths.h"

namespace gpu = models::gpu;

TEST_CASE("occupancy: 275 cases of cuda_occupancy.h on thirteen capabilities, each exact") {
  std::ifstream file(support::data_file("occupancy_cases.csv"));
  std::string line;
  REQUIRE(std::getline(file, line));
  int cases = 0;
  while (std::getline(file, line)) {
    CAPTURE(line);
    std::vector<std::int64_t> v;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) v.push_back(std::stoll(cell));
    REQUIRE(v.size() == 17);
    const gpu::SmLimits* sm = gpu::sm_limits(static_cast<int>(v[0]));
    REQUIRE(sm);
    const auto o = gpu::occupancy(*sm, {.threads = v[1],
                                        .registers = v[2],
                                        .static_shared_bytes = v[3],
                                        .dynamic_shared_bytes = v[4],
                                        .max_dynamic_shared_bytes = v[5],
                                        .carveout_percent = static_cast<int>(v[6]),
                                        .barriers = v[7]});
    REQUIRE(o);
    CHECK(o->blocks == v[8]);
    CHECK(o->warps == v[9]);
    CHECK(o->by_registers == v[10]);
    CHECK(o->by_shared == v[11]);
    CHECK(o->by_warps == v[12]);
    CHECK(o->by_blocks == v[13]);
    CHECK(o->by_barriers == v[14]);
    CHECK(o->block_registers == v[15]);
    CHECK(o->block_shared_bytes == v[16]);
    ++cases;
  }
  CHECK(cases == 275);
}

TEST_CASE("occupancy: one register more costs two of eight blocks, and nine warps of 255 registers fit nowhere") {
  const gpu::SmLimits& sm = *gpu::sm_limits(80);
  CHECK(gpu::occupancy(sm, {.threads = 256, .registers = 32})->blocks == 8);
  const auto one_more = gpu::occupancy(sm, {.threads = 256, .registers = 33});
  CHECK(one_more->blocks == 6);
  CHECK(one_more->share == 0.75);
  CHECK(one_more->limit == gpu::OccupancyLimit::registers);
  CHECK(gpu::occupancy(sm, {.threads = 257, .registers = 255})->blocks == 0);
  CHECK_FALSE(gpu::occupancy(sm, {.threads = 0}));
  CHECK_FALSE(gpu::occupancy(sm, {.threads = 1025}));
}

TEST_CASE("occupancy: the capability is read from a chip's architecture") {
  CHECK(gpu::capability_in("Hopper sm_90") == 90);
  CHECK(gpu::capability_in("Blackwell sm_100") == 100);
  CHECK_FALSE(gpu::capability_in("CDNA 3 gfx942"));
  CHECK(gpu::sm_limits(61) == nullptr);
}
