// Pointer chase: a run is one load whose address comes from the load before it. Every 64-byte line of the working set
// holds, in its slots, the number of the next line in several orders; each order starts at line 0, visits every line
// once and ends at the last. n is the number of lines; a lies in 2 MiB pages (where the system has them), b in 4 KiB
// pages; c[0] is the line that was reached.
//
// cpu-latency:
//   random        every load waits for the one before it and misses the caches; 4 KiB pages
//   huge-pages    the same order in 2 MiB pages: no page walks
//   in-page       random inside each page: prefetchers and open rows help
//   eight-chains  random again, eight loads under way together
//   sequential    line after line: the prefetcher is ahead
//
//   ridgeline kernels run cpu-latency --size 256MiB
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/cpu/operation.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t line_bytes = 64, line_floats = 16, page_lines = 64, chain_count = 8;
enum Slot : int { random_slot, in_page_slot, sequential_slot, start_slot };

std::uint32_t number_at(const float* lines, std::uint32_t line, int slot) {
  return std::bit_cast<std::uint32_t>(
      lines[static_cast<std::size_t>(line) * line_floats + static_cast<std::size_t>(slot)]);
}

// rung: random
void random_small_pages(std::int64_t n, const float*, const float* b, float* c, float*) {
  std::uint32_t line = 0;
  for (std::int64_t i = 1; i < n; ++i) line = number_at(b, line, random_slot);  // b: 4 KiB pages
  c[0] = static_cast<float>(line);
}
// end rung

// rung: huge-pages
void random_huge_pages(std::int64_t n, const float* a, const float*, float* c, float*) {
  std::uint32_t line = 0;
  for (std::int64_t i = 1; i < n; ++i) line = number_at(a, line, random_slot);  // a: 2 MiB pages
  c[0] = static_cast<float>(line);
}
// end rung

// rung: in-page
void random_in_page(std::int64_t n, const float* a, const float*, float* c, float*) {
  std::uint32_t line = 0;
  for (std::int64_t i = 1; i < n; ++i)
    line = number_at(a, line, in_page_slot);  // all 64 lines of a page, then the next page
  c[0] = static_cast<float>(line);
}
// end rung

// rung: eight-chains
void eight_chains(std::int64_t n, const float* a, const float*, float* c, float*) {
  // The random order cut into eight pieces. The eight loads of a step do not wait for each other.
  std::uint32_t start[chain_count], line[chain_count];
  for (std::uint32_t j = 0; j < chain_count; ++j) start[j] = line[j] = number_at(a, j, start_slot);
  for (std::int64_t i = 1; i < n / chain_count; ++i) {
    UNROLLED
    for (int j = 0; j < chain_count; ++j) line[j] = number_at(a, line[j], random_slot);
  }
  bool met = true;  // each piece ends where the next begins
  for (int j = 0; j + 1 < chain_count; ++j) met = met && number_at(a, line[j], random_slot) == start[j + 1];
  for (std::int64_t i = 0; i < n % chain_count; ++i) line[7] = number_at(a, line[7], random_slot);
  c[0] = met ? static_cast<float>(line[7]) : -1;
}
// end rung

// rung: sequential
void sequential(std::int64_t n, const float* a, const float*, float* c, float*) {
  std::uint32_t line = 0;
  for (std::int64_t i = 1; i < n; ++i) line = number_at(a, line, sequential_slot);  // the prefetcher is there before us
  c[0] = static_cast<float>(line);
}
// end rung

constexpr Version latency_versions[] = {
    make_version("random", "random lines, 4 KiB pages",
                 "Every load waits for the one before it, misses the caches, and mostly the table of pages too.",
                 "cpu/latency.cpp:random", "latency_dram", random_small_pages),
    make_version("huge-pages", "2 MiB pages",
                 "The same order in large pages: the page walks go, the memory's own latency stays.",
                 "cpu/latency.cpp:huge-pages", "latency_dram", random_huge_pages),
    make_version("in-page", "random inside each page",
                 "Neighbours in time are neighbours in memory: open rows, and prefetchers that fetch around a miss.",
                 "cpu/latency.cpp:in-page", "latency_dram", random_in_page),
    make_version("eight-chains", "eight chains at once",
                 "Random again, but eight loads are under way together: each still takes as long, eight finish "
                 "in that time.",
                 "cpu/latency.cpp:eight-chains", "latency_dram", eight_chains),
    make_version("sequential", "line after line",
                 "The hardware prefetcher sees the pattern and has the line before it is asked for.",
                 "cpu/latency.cpp:sequential", "latency_dram", sequential),
};

Shape latency_shape(std::int64_t size) {
  const std::int64_t n = size / line_bytes;
  return {
      .n = n,
      .a = n * line_floats,
      .b = n * line_floats,
      .c = 1,
      .runs = n,
  };
}

/// Writes an order of all lines into a slot of each.
void write_order(const std::vector<std::uint32_t>& order, float* lines, int slot) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t next = order[(i + 1) % order.size()];
    lines[static_cast<std::size_t>(order[i]) * line_floats + static_cast<std::size_t>(slot)] =
        std::bit_cast<float>(next);
  }
}

/// Shuffles order[from, to) with its own generator, so that a seed means the same order everywhere.
void shuffle(std::vector<std::uint32_t>& order, std::size_t from, std::size_t to, std::uint64_t& state) {
  for (std::size_t left = to; left > from + 1; --left) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    std::swap(order[left - 1], order[from + (state >> 33) % (left - from)]);
  }
}

void latency_fill(const Shape& s, std::uint64_t seed, float* a, float* b) {
  const auto n = static_cast<std::size_t>(s.n);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  write_order(order, a, sequential_slot);
  std::uint64_t state = seed + 0x9e3779b97f4a7c15u;
  for (std::size_t page = 0; page < n; page += page_lines)  // line 0 stays first, the last line last
    shuffle(order, std::max<std::size_t>(page, 1), std::min(page + page_lines, n - 1), state);
  write_order(order, a, in_page_slot);
  shuffle(order, 1, n - 1, state);
  write_order(order, a, random_slot);
  for (std::size_t j = 0; j < chain_count; ++j)
    a[j * line_floats + start_slot] = std::bit_cast<float>(order[j * (n / chain_count)]);
  std::copy_n(a, s.a, b);
}

double latency_error(const Shape& s, const float*, const float*, const float* c) {
  return std::abs(static_cast<double>(c[0]) - static_cast<double>(s.n - 1));
}

}  // namespace

const Operation& latency_operation() {
  static const Operation operation = {
      .ladder =
          {
              .id = "cpu-latency",
              .title = "Latency of a load",
              .device = Device::cpu,
              .measure = Measure::latency_s,
              .size_label = "Working set",
              .size_unit = "B",
              .size_lo = 1 << 10,
              .size_default = 32 << 20,
              .size_hi = 1 << 29,
              .cost = [](std::int64_t) { return models::OpCost{.read_bytes = line_bytes}; },
          },  // a run is one load, which moves one line
      .versions = latency_versions,
      .shape = latency_shape,
      .fill = latency_fill,
      .error = latency_error,
      .error_bound = [](const Shape&) { return 0.0; },
      .b_in_small_pages = true,
  };
  return operation;
}

}  // namespace kernels::cpu
