// The steps of the caches. One rung is one working set, read again and again: what fits into a cache comes at that
// cache's rate and latency, and each step from rung to rung is the end of a cache. The size is the largest working set
// that there is room for; a run reads that many bytes whatever the set (cpu-read-sets), or is one load
// (cpu-latency-sets).
//
// cpu-read-sets:
//   4k    4 KiB, in the first cache
//   16k   16 KiB, in the first cache
//   64k   64 KiB, in the second cache
//   256k  256 KiB, in the second cache
//   1m    1 MiB, in the second or the last cache
//   4m    4 MiB, in the last cache
//   16m   16 MiB, in the last cache
//   64m   64 MiB, in main memory, or in a server's last cache
//   256m  256 MiB, in main memory
//
// cpu-latency-sets:
//   4k    4 KiB: the first cache
//   16k   16 KiB: the first cache
//   64k   64 KiB: the second cache
//   256k  256 KiB: the second cache
//   1m    1 MiB: the second or the last cache
//   4m    4 MiB: the last cache
//   16m   16 MiB: the last cache
//   64m   64 MiB: main memory, or a server's last cache
//   256m  256 MiB: main memory
//
//   ridgeline kernels run cpu-read-sets --size 256MiB --warm
//   ridgeline kernels run cpu-latency-sets --size 256MiB --warm
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/cpu/operation.h"

namespace kernels::cpu {
namespace {

constexpr int set_count = 9;
constexpr std::int64_t kib = 1024;
constexpr std::int64_t set_bytes(int set) { return (4 * kib) << (2 * set); }
constexpr std::int64_t line_floats = 16, period_floats = 1024;

// rung: read
#if RIDGELINE_X86
AVX2 float read_once(std::int64_t n, const float* a) {
  __m256 sum[8];
  UNROLLED
  for (int j = 0; j < 8; ++j) sum[j] = _mm256_setzero_ps();
  for (std::int64_t i = 0; i < n; i += 64) {
    UNROLLED
    for (int j = 0; j < 8; ++j) sum[j] = _mm256_add_ps(sum[j], _mm256_loadu_ps(a + i + 8 * j));
  }
  for (int j = 1; j < 8; ++j) sum[0] = _mm256_add_ps(sum[0], sum[j]);
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, sum[0]);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/// Reads n floats in all: those of the set over and over, and the last time only as many as are left.
template <int set>
void read_set(std::int64_t n, const float* a, const float*, float* c, float*) {
  double sum = 0;
  for (std::int64_t left = n; left > 0; left -= set_bytes(set) / 4)
    sum += static_cast<double>(read_once(std::min(left, set_bytes(set) / 4), a));
  c[0] = static_cast<float>(sum);
}
#endif
// end rung

// rung: chase
/// n loads, each of which waits for the one before: its address is what that one brought. Line 0 comes round again.
template <int set>
void chase_set(std::int64_t n, const float* a, const float*, float* c, float*) {
  const std::int64_t lines = set_bytes(set) / 64;
  std::uint32_t line = 0;
  bool round = true;
  for (std::int64_t left = n; left > 0; left -= lines) {
    const std::int64_t steps = std::min(left, lines);
    for (std::int64_t i = 0; i < steps; ++i)
      line = std::bit_cast<std::uint32_t>(a[static_cast<std::int64_t>(line) * line_floats + set]);
    round = round && (steps < lines || line == 0);  // all lines of the set, and back at the first
  }
  c[0] = round ? 1 : 0;
}
// end rung

#if RIDGELINE_X86
#define READ_SET(set) read_set<set>
#else
#define READ_SET(set) nullptr
#endif

constexpr Version at_least(int set, Version v) {
  v.size_lo = set_bytes(set);
  return v;
}
constexpr Version read_version(int set, std::string_view id, std::string_view title, std::string_view roof,
                               std::string_view change, Kernel call) {
  return at_least(set, make_version(id, title, change, "cpu/working_sets.cpp:read", roof, call, Isa::avx2));
}
constexpr Version read_versions[] = {
    read_version(0, "4k", "4 KiB", "l1_read", "A page: nothing but the core's load ports.", READ_SET(0)),
    read_version(1, "16k", "16 KiB", "l1_read", "Half of a first cache of 32 KiB: the same rate.", READ_SET(1)),
    read_version(2, "64k", "64 KiB", "l2_read",
                 "Beyond a first cache of 32 or 48 KiB: each line comes from the second.", READ_SET(2)),
    read_version(3, "256k", "256 KiB", "l2_read", "Still in the second cache: the same rate.", READ_SET(3)),
    read_version(4, "1m", "1 MiB", "l3_read",
                 "Beyond a second cache of 512 KiB; one of 1 or 2 MiB holds it, and the step comes later.",
                 READ_SET(4)),
    read_version(5, "4m", "4 MiB", "l3_read", "In the last cache, which the cores share.", READ_SET(5)),
    read_version(6, "16m", "16 MiB", "l3_read", "Still in the last cache, unless others fill it.", READ_SET(6)),
    read_version(7, "64m", "64 MiB", "dram_read", "Beyond a last cache of 32 MiB: the memory's rate.", READ_SET(7)),
    read_version(8, "256m", "256 MiB", "dram_read", "Beyond the last cache of most servers too.", READ_SET(8)),
};

constexpr Version chase_version(int set, std::string_view id, std::string_view title, std::string_view change,
                                Kernel call) {
  return at_least(set, make_version(id, title, change, "cpu/working_sets.cpp:chase", "l1_read", call));
}
constexpr Version chase_versions[] = {
    chase_version(0, "4k", "4 KiB", "The first cache answers in four or five cycles: one line in that time.",
                  chase_set<0>),
    chase_version(1, "16k", "16 KiB", "Still the first cache: the same time.", chase_set<1>),
    chase_version(2, "64k", "64 KiB", "The second cache: about three times as long.", chase_set<2>),
    chase_version(3, "256k", "256 KiB", "Still the second cache: about the same time.", chase_set<3>),
    chase_version(4, "1m", "1 MiB", "Where the second cache has 512 KiB, most of the loads already go to the last one.",
                  chase_set<4>),
    chase_version(5, "4m", "4 MiB", "The last cache: some ten times as long as the first.", chase_set<5>),
    chase_version(6, "16m", "16 MiB", "Still the last cache, unless others fill it.", chase_set<6>),
    chase_version(7, "64m", "64 MiB", "Main memory: two orders of magnitude beyond the first cache.", chase_set<7>),
    chase_version(8, "256m", "256 MiB",
                  "Main memory, and tables of pages that no longer fit where the pages are small.", chase_set<8>),
};

/// Floats of [0, 1) that repeat every 4 KiB, so that every set's sum is the same for the same bytes read.
void read_fill(const Shape& s, std::uint64_t seed, float* a, float*) {
  fill_uniform(seed, 0, 1, a, std::min(period_floats, s.a));
  for (std::int64_t i = period_floats; i < s.a; i += period_floats)
    std::copy_n(a, std::min(period_floats, s.a - i), a + i);
}

double read_error(const Shape& s, const float* a, const float*, const float* c) {
  double sum = 0;
  for (std::int64_t i = 0; i < period_floats; ++i) sum += static_cast<double>(a[i]);
  ErrorNorm norm;
  norm.add(static_cast<double>(c[0]), sum * static_cast<double>(s.n / period_floats));
  return norm.value();
}

/// Each set that there is room for has a random order of its own lines in its slot of them: one cycle over all.
void chase_fill(const Shape& s, std::uint64_t seed, float* a, float*) {
  std::uint64_t state = seed + 0x9e3779b97f4a7c15u;
  std::vector<std::uint32_t> order;
  for (int set = 0; set < set_count && set_bytes(set) / 4 <= s.a; ++set) {
    const auto lines = static_cast<std::size_t>(set_bytes(set) / 64);
    order.resize(lines);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t left = lines; left > 2; --left) {              // line 0 stays the first
      state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
      std::swap(order[left - 1], order[1 + (state >> 33) % (left - 1)]);
    }
    for (std::size_t i = 0; i < lines; ++i)
      a[static_cast<std::int64_t>(order[i]) * line_floats + set] = std::bit_cast<float>(order[(i + 1) % lines]);
  }
}

double chase_error(const Shape&, const float*, const float*, const float* c) {
  return std::abs(static_cast<double>(c[0]) - 1);
}

/// Both ladders have the same sets.
Ladder sets_ladder(std::string_view id, std::string_view title, Measure measure, models::OpCost (*cost)(std::int64_t)) {
  return {
      .id = id,
      .title = title,
      .device = Device::cpu,
      .measure = measure,
      .size_label = "Largest working set",
      .size_unit = "B",
      .size_lo = set_bytes(0),
      .size_default = set_bytes(set_count - 1),
      .size_hi = set_bytes(set_count - 1),
      .rungs = {},
      .cost = cost,
  };
}

}  // namespace

const Operation& read_sets_operation() {
  static const Operation operation = {
      .ladder = sets_ladder("cpu-read-sets", "Bandwidth by working set", Measure::bytes_per_s,
                            [](std::int64_t size) {
                              const std::int64_t whole = size / (4 * kib) * (4 * kib);
                              return models::OpCost{.read_bytes = static_cast<double>(whole)};
                            }),
      .versions = read_versions,
      .shape =
          [](std::int64_t size) {
            const std::int64_t floats = size / (4 * kib) * period_floats;
            return Shape{.n = floats, .a = floats, .c = 1};
          },
      .fill = read_fill,
      .error = read_error,
      .error_bound = [](const Shape& s) { return 2 * float_epsilon * std::sqrt(static_cast<double>(s.n)); },
  };
  return operation;
}

const Operation& latency_sets_operation() {
  static const Operation operation = {
      .ladder = sets_ladder("cpu-latency-sets", "Latency by working set", Measure::latency_s,
                            [](std::int64_t) { return models::OpCost{.read_bytes = 64}; }),
      .versions = chase_versions,
      .shape =
          [](std::int64_t size) {
            const std::int64_t lines = size / (4 * kib) * 64;
            return Shape{.n = lines, .a = lines * line_floats, .c = 1, .runs = lines};
          },
      .fill = chase_fill,
      .error = chase_error,
      .error_bound = [](const Shape&) { return 0.0; },
  };
  return operation;
}

}  // namespace kernels::cpu
