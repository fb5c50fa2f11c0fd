#include "models/gpu/occupancy.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/base/paths.h"

namespace gpu = models::gpu;

namespace {

/// The limiting factors as the header's bits: those that stop the blocks at this number, and before the barriers are
/// looked at those of the other four.
std::int64_t named_by_header(const gpu::SmOccupancy& o) {
  constexpr int barriers = static_cast<int>(gpu::OccupancyLimit::barriers);
  std::int64_t least = o.by_warps, bits = 0;
  for (int i = 0; i < barriers; ++i)
    if (const auto by = o.by(static_cast<gpu::OccupancyLimit>(i)); by >= 0) least = std::min(least, by);
  for (int i = 0; i < barriers; ++i)
    if (o.by(static_cast<gpu::OccupancyLimit>(i)) == least) bits |= std::int64_t{1} << i;
  if (o.by_barriers >= 0 && o.by_barriers <= least) bits |= std::int64_t{1} << barriers;
  return bits;
}

}  // namespace

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
    REQUIRE(v.size() == 18);
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
    CHECK(named_by_header(*o) == v[17]);
    CHECK((v[17] >> static_cast<int>(o->limit)) % 2 == 1);
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

TEST_CASE("occupancy: a capability is read as documents and profilers write it, and nothing else is one") {
  CHECK(gpu::read_capability("9.0") == 90);
  CHECK(gpu::read_capability(" 12.1\n") == 121);
  CHECK(gpu::read_capability("8") == 80);
  for (const char* none : {"", ".", "9.", ".9", "9.00", "123.4", "0.0", "sm_90", "9.0)", "9,0", "-9.0"}) {
    CAPTURE(none);
    CHECK_FALSE(gpu::read_capability(none));
  }
  for (const gpu::SmLimits& sm : gpu::known_sm_limits())
    CHECK(gpu::read_capability(gpu::capability_text(sm.capability)) == sm.capability);
}

TEST_CASE("occupancy: what one less gives is what the rule gives of the changed block, and the stairs end where said") {
  for (const int capability : {75, 80, 86, 90, 120}) {
    const gpu::SmLimits& sm = *gpu::sm_limits(capability);
    for (const std::int64_t threads : {32, 96, 256, 640, 1024})
      for (const std::int64_t registers : {24, 33, 64, 128, 255})
        for (const std::int64_t shared : {0, 9000, 49152}) {
          CAPTURE(capability, threads, registers, shared);
          gpu::BlockNeeds block{.threads = threads, .registers = registers, .static_shared_bytes = shared};
          block.max_dynamic_shared_bytes = sm.block_shared_bytes;
          const auto with = [&](std::int64_t r, std::int64_t s) {
            gpu::BlockNeeds other = gpu::with_shared_bytes(block, s);
            other.registers = r;
            return gpu::occupancy(sm, other)->blocks;
          };
          const std::int64_t now = with(registers, shared);
          const auto m = gpu::occupancy_margins(sm, block);
          REQUIRE(m);
          CHECK(m->register_less.blocks == with(registers - 1, shared));
          CHECK(m->register_more.blocks == with(registers + 1, shared));
          if (shared > 0) CHECK(m->byte_less.blocks == with(registers, shared - 1));
          if (m->registers_free_to > 0) {
            CHECK(with(m->registers_free_to, shared) == now);
            CHECK(with(m->registers_free_to + 1, shared) < std::max<std::int64_t>(1, now));
          }
          if (m->registers_for_more > 0) {
            CHECK(with(m->registers_for_more, shared) > now);
            CHECK(with(m->registers_for_more + 1, shared) == now);
          }
          if (m->shared_for_more_bytes >= 0) {
            CHECK(with(registers, m->shared_for_more_bytes) > now);
            CHECK(with(registers, m->shared_for_more_bytes + 1) <= now);
          }
        }
  }
}
