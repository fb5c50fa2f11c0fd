#include "models/gpu/access/warp_access.h"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "models/gpu/access/swizzle.h"
#include "tests/support/base/paths.h"

namespace gpu = models::gpu;

namespace {

/// "32+16*lane ffff", or a list.
gpu::LaneAddresses case_addresses(const std::string& text) {
  const std::size_t by_lane = text.find("*lane ");
  if (by_lane == std::string::npos) return *gpu::read_addresses(text);
  std::size_t read = 0;
  const long long first = std::stoll(text, &read);
  const long long step = std::stoll(text.substr(read));
  const unsigned long mask = std::stoul(text.substr(by_lane + 6), nullptr, 16);
  gpu::LaneAddresses out;
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = (mask >> lane) & 1U ? first + step * static_cast<long long>(lane) : gpu::inactive_lane;
  return out;
}

gpu::LaneAddresses of_index(const std::string& text, std::int64_t element, std::int64_t block = 0) {
  const auto index = gpu::read_index(text);
  INFO(text << ": " << index.error);
  REQUIRE(index);
  const auto addresses = gpu::lane_addresses(*index, {}, block, 0, element);
  INFO(addresses.error);
  REQUIRE(addresses);
  return *addresses;
}

}  // namespace

TEST_CASE("warp access: 313 cases of global and shared memory, each exact") {
  std::ifstream file(support::data_file("warp_access_cases.csv"));
  std::string line;
  int global = 0, shared = 0, refused = 0;
  std::getline(file, line);
  while (std::getline(file, line)) {
    CAPTURE(line);
    std::vector<std::string> v;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) v.push_back(cell);
    REQUIRE(v.size() == 10);
    const gpu::LaneAddresses a = case_addresses(v[9]);
    const int width = std::stoi(v[2]);
    if (v[3] == "x") {
      CHECK_FALSE(gpu::global_access(a, width));
      CHECK_FALSE(gpu::shared_access(a, width));
      ++refused;
    } else if (v[1] == "g") {
      const auto g = gpu::global_access(a, width);
      REQUIRE(g);
      CHECK(g->sectors == std::stoi(v[3]));
      CHECK(g->lines == std::stoi(v[4]));
      CHECK(g->useful_bytes == std::stoi(v[5]));
      CHECK(g->requested_bytes == std::stoi(v[6]));
      CHECK(std::abs(g->efficiency * 1e4 - std::stod(v[7])) < 0.51);
      ++global;
    } else {
      const auto s = gpu::shared_access(a, width);
      REQUIRE(s);
      CHECK(s->wavefronts == std::stoi(v[3]));
      CHECK(s->ideal == std::stoi(v[4]));
      std::string phases = std::to_string(s->phase_wavefronts[0]);
      for (std::size_t p = 1; p < static_cast<std::size_t>(s->phases); ++p)
        phases += " " + std::to_string(s->phase_wavefronts[p]);
      CHECK(phases == v[8]);
      ++shared;
    }
  }
  CHECK(global == 142);
  CHECK(shared == 168);
  CHECK(refused == 3);
}

TEST_CASE("warp access: touched bytes and words one by one give the same counts") {
  std::uint64_t state = 12345;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  for (int round = 0; round < 200; ++round) {
    const std::int64_t width = std::int64_t{1} << draw(5);
    gpu::LaneAddresses a;
    for (std::int64_t& x : a) x = draw(8) == 0 ? gpu::inactive_lane : width * draw(1 + (round % 5) * 200U);
    std::set<std::int64_t> bytes, sectors, lines;
    int wavefronts = 0;
    const int lanes = width <= 4 ? 32 : width == 8 ? 16 : 8;
    for (int begin = 0; begin < 32; begin += lanes) {
      std::array<std::set<std::int64_t>, 32> bank;
      for (int lane = begin; lane < begin + lanes; ++lane) {
        const std::int64_t x = a[static_cast<std::size_t>(lane)];
        for (std::int64_t b = x; x >= 0 && b < x + width; ++b) {
          bytes.insert(b);
          sectors.insert(b / 32);
          lines.insert(b / 128);
          bank[static_cast<std::size_t>(b / 4 % 32)].insert(b / 4);
        }
      }
      std::size_t most = 0;
      for (const auto& words : bank) most = std::max(most, words.size());
      wavefronts += static_cast<int>(most);
    }
    const auto g = gpu::global_access(a, width);
    const auto s = gpu::shared_access(a, width);
    REQUIRE((g && s));
    CHECK(g->useful_bytes == static_cast<std::int64_t>(bytes.size()));
    CHECK(g->sectors == static_cast<int>(sectors.size()));
    CHECK(std::set<std::int64_t>(g->sector_ids.begin(), g->sector_ids.begin() + g->sectors) == sectors);
    CHECK(g->lines == static_cast<int>(lines.size()));
    CHECK(s->wavefronts == wavefronts);
    CHECK(gpu::distinct_sectors({&a, 1}) == g->sectors);
  }
}

TEST_CASE("warp access: an offset of one float is 5 sectors for a warp and 33 for the 32 of a block") {
  std::vector<gpu::LaneAddresses> warps;
  const auto index = gpu::read_index("x[threadIdx.x + 1]");
  REQUIRE(index);
  for (int warp = 0; warp < 8; ++warp) {
    warps.push_back(*gpu::lane_addresses(*index, {}, 0, warp, 4));
    CHECK(gpu::global_access(warps.back(), 4)->sectors == 5);
  }
  CHECK(gpu::distinct_sectors(warps) == 33);
  CHECK(gpu::global_access(of_index("2*lane", 4), 4)->sectors == 8);
  CHECK(gpu::global_access(of_index("lane < 16 ? lane : off", 4), 4)->active == 16);
}

TEST_CASE("warp access: words of one bank stand in wavefronts, lanes that want one word share it") {
  const auto s = gpu::shared_access(of_index("lane % 2 * 32", 4), 4);
  REQUIRE(s);
  REQUIRE(s->word_count == 2);
  CHECK(s->words[0].lanes == 0x55555555U);
  CHECK(s->words[1].lanes == 0xaaaaaaaaU);
  CHECK(s->words[1].wavefront == 1);
  CHECK(s->words[1].bank == 0);
  CHECK(gpu::shared_access(of_index("off", 4), 4)->wavefronts == 0);
}

TEST_CASE("warp access: what faults has no cost, and the sentence says which lane") {
  gpu::LaneAddresses a{};
  a[7] = 6;
  CHECK(gpu::global_access(a, 4).error ==
        "Lane 7 is misaligned: its address 6 is no multiple of 4 B, so the instruction faults.");
  a[7] = -2;
  CHECK(gpu::check_access(a, 1).error.starts_with("Lane 7 has the address -2"));
  for (const int width : {0, -4, 3, 12, 32}) CHECK_FALSE(gpu::check_access({}, width));
  for (const char* text : {"", "1 2 x", "-2", "999999999999999999999", "281474976710657"})
    CHECK_FALSE(gpu::read_addresses(text));
  std::string many;
  for (int i = 0; i < 33; ++i) many += "0 ";
  CHECK_FALSE(gpu::read_addresses(many));
  CHECK((*gpu::read_addresses("[0, 0x20, off]"))[1] == 32);
  CHECK((*gpu::read_addresses("[0, 0x20, off]"))[2] == gpu::inactive_lane);
  const auto before = gpu::read_index("tid - 1");
  CHECK(gpu::lane_addresses(*before, {}, 0, 0, 4).error.starts_with("Lane 0 has the index -1"));
  CHECK(gpu::lane_addresses(*before, {}, 0, 1, 4));
  const auto far = gpu::read_index("1 << 60");
  CHECK(gpu::lane_addresses(*far, {}, 0, 0, 4).error.starts_with("Lane 0 has the index 1152921504606846976"));
  // A block of 40 threads: its second warp has 8.
  CHECK(gpu::global_access(*gpu::lane_addresses(*gpu::read_index("tid"), {.width = 40}, 0, 1, 4), 4)->active == 8);
}

TEST_CASE("swizzle: its own inverse, the 128-byte mode sends a column of chunks to eight places") {
  for (const gpu::Swizzle s : {gpu::Swizzle{3, 4, 3}, gpu::Swizzle{2, 4, 3}, gpu::Swizzle{1, 4, 3},
                               gpu::Swizzle{0, 4, 3}, gpu::Swizzle{2, 1, -3}}) {
    REQUIRE(s.admissible());
    for (std::int64_t i = 0; i < 2048; ++i) REQUIRE(s(s(i)) == i);
  }
  std::set<std::int64_t> slots;
  for (std::int64_t row = 0; row < 8; ++row) slots.insert(gpu::Swizzle{3, 4, 3}(128 * row) % 128);
  CHECK(slots.size() == 8);
  CHECK(gpu::Swizzle{2, 0, -2}(1) == 5);
  CHECK_FALSE(gpu::Swizzle{3, 4, 2}.admissible());
  CHECK_FALSE(gpu::Swizzle{-1, 4, 3}.admissible());
  CHECK(gpu::shared_access(of_index("swizzle(3, 4, 3, 128 * lane)", 1), 16)->wavefronts == 4);
  CHECK(gpu::shared_access(of_index("swizzle(1, 4, 3, 128 * lane)", 1), 16)->wavefronts == 16);
}
