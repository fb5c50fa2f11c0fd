#include "models/machine/all_reduce_time.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/near.h"

using namespace models;
using support::near;

// Recorded rows of topic nccl: latencies by ncclTopoTuneModel, protocol LL, LL128 and Simple, NVLink inside.
TEST_CASE("all-reduce: latencies of ring and tree are those of NCCL's tuner") {
  struct Row {
    AllReduceAlgorithm algorithm;
    double base_us, inside_us, between_us;
    std::int64_t ranks;
    double latency_us;
  };
  // Inside a node a ring of several nodes takes a step of at least the network's overhead: 1 us, 3 us with Simple.
  for (const Row& r :
       {Row{AllReduceAlgorithm::ring, 6.6, 1, 2.7, 16, 40.0}, Row{AllReduceAlgorithm::ring, 14, 1.9, 4, 16, 75.2},
        Row{AllReduceAlgorithm::ring, 6.6, 1, 2.7, 128, 311.6}, Row{AllReduceAlgorithm::ring, 14, 1.9, 4, 128, 559.6},
        Row{AllReduceAlgorithm::ring, 8.4, 3.4, 14, 128, 1190.0},
        Row{AllReduceAlgorithm::ring, 6.6, 1, 2.7, 1024, 2484.4}, Row{AllReduceAlgorithm::tree, 6.8, 0.6, 5, 8, 15.2},
        Row{AllReduceAlgorithm::tree, 8.4, 4, 14, 8, 64.4}, Row{AllReduceAlgorithm::tree, 6.8, 0.6, 5, 128, 55.2},
        Row{AllReduceAlgorithm::tree, 14, 1.25, 8.5, 128, 99.5},
        Row{AllReduceAlgorithm::tree, 6.8, 0.6, 5, 1024, 85.2}}) {
    const AllReduceLinks links{1e12, 1e12, r.inside_us * 1e-6, r.between_us * 1e-6, r.base_us * 1e-6};
    INFO(r.ranks << " ranks, " << r.latency_us);
    CHECK(near(all_reduce_time(r.algorithm, {r.ranks, 8}, links, 0).total_s(), r.latency_us * 1e-6, 1e-9));
  }
}

TEST_CASE("all-reduce: a ring moves 2 (N - 1) / N of the buffer, over all ports of a node at once") {
  CHECK(ring_all_reduce_bytes(1, 1e9) == 0);
  for (const auto& [ranks, factor] : {std::pair{2, 1.0}, {4, 1.5}, {8, 1.75}, {64, 1.96875}})
    CHECK(near(ring_all_reduce_bytes(ranks, 1e9), factor * 1e9));
  const AllReduceLinks no_latency{450e9, 50e9, 0, 0, 0};
  // 24.5 GB on A100s' NVLink of 300 GB/s a direction, in the limit of many ranks 163 ms; 8 of them 142.9.
  CHECK(near(all_reduce_time(AllReduceAlgorithm::ring, {8, 8}, {300e9, 50e9, 0, 0, 0}, 24.5e9).total_s(),
             1.75 * 24.5 / 300));
  // 1 GB on 8 nodes of 8 with a port each: a flat ring 4.92 ms, hierarchical 3.89 inside and 4.375 between.
  CHECK(near(all_reduce_time(AllReduceAlgorithm::ring, {64, 8}, no_latency, 1e9).total_s(), 4.92e-3, 1e-3));
  const AllReduceTime two_levels = all_reduce_time(AllReduceAlgorithm::hierarchical, {64, 8}, no_latency, 1e9);
  CHECK(near(two_levels.total_s(), 8.26e-3, 1e-3));
  CHECK(near(all_reduce_time(AllReduceAlgorithm::tree, {64, 8}, no_latency, 1e9).total_s(), 2e9 / 400e9));
  // Between two nodes each tree sends its half once there and once back, so that the links inside are the slower ones.
  CHECK(near(all_reduce_time(AllReduceAlgorithm::tree, {16, 8}, no_latency, 1e9).total_s(), 2e9 / 450e9));
  CHECK(near(all_reduce_time(AllReduceAlgorithm::tree, {2, 1}, no_latency, 1e9).total_s(), 1e9 / 50e9));
  // Twelve ranks are six on each of two nodes, with six ports.
  CHECK(near(all_reduce_time(AllReduceAlgorithm::ring, {12, 8}, no_latency, 1e9).total_s(), 22e9 / 12 / 300e9));
  // One rank a node has one port.
  CHECK(near(all_reduce_time(AllReduceAlgorithm::ring, {64, 1}, no_latency, 1e9).total_s(), 1.96875e9 / 50e9));
}

TEST_CASE("all-reduce: the fastest is a tree for small buffers on many nodes and a ring for large ones") {
  const AllReduceLinks links{370e9, 47e9, 1e-6, 5e-6, 6e-6};
  CHECK(all_reduce_time(AllReduceAlgorithm::fastest, {1024, 8}, links, 1e6).algorithm == AllReduceAlgorithm::tree);
  CHECK(all_reduce_time(AllReduceAlgorithm::fastest, {1024, 8}, links, 1e12).algorithm == AllReduceAlgorithm::ring);
  for (const std::int64_t ranks : {1, 2, 7, 8, 9, 100, 4096})
    for (const auto a : {AllReduceAlgorithm::ring, AllReduceAlgorithm::tree, AllReduceAlgorithm::hierarchical})
      CHECK(all_reduce_time(AllReduceAlgorithm::fastest, {ranks, 8}, links, 1e8).total_s() <=
            all_reduce_time(a, {ranks, 8}, links, 1e8).total_s());
}
