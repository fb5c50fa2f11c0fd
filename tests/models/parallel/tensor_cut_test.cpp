#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/parallel/tensor/tensor_layer.h"
#include "models/parallel/tensor/tensor_overlap.h"
#include "models/parallel/tensor/tensor_run.h"
#include "tests/support/base/near.h"
#include "tests/support/models/decoders.h"

using support::near;
using namespace models;
using namespace models::parallel;

namespace {

Architecture gpt_22b() {
  Architecture a = support::decoder({6144, 48, 64, 64, 96, 24576, 51200});
  a.gated = a.rotary = false;
  a.norm = NormKind::layer;
  a.norm_bias = true;
  a.activation = Activation::gelu;
  return a;
}

Workload published_step() {
  Workload w;
  w.phase = Phase::train;
  w.batch = 4;
  w.sequence = 2048;
  w.fused_attention = w.fused_elementwise = false;
  return w;
}

TensorSplit eight_a100() {
  TensorSplit s;
  s.machine = {0.7 * 312e12, 0.85 * 2039e9, 0};
  s.sm_count = 108;
  s.dropout = true;
  s.links = {240e9, 23.5e9, 0.6e-6, 2.7e-6, 6.6e-6};
  return s;
}

}  // namespace

TEST_CASE("tensor cut: every cut of either block gives the whole from its pieces, on 1 to 16 ranks") {
  for (const TensorBlock block : {TensorBlock::attention, TensorBlock::feed_forward})
    for (std::size_t cut = 0; cut < tensor_cut_count; ++cut)
      for (const std::int64_t ranks : {1, 2, 3, 4, 5, 7, 8, 16}) {
        const auto run =
            run_tensor_cut({.cut = static_cast<TensorCut>(cut), .block = block, .ranks = ranks, .seed = 7 + ranks});
        REQUIRE(run);
        INFO(tensor_cut_name(static_cast<TensorCut>(cut)) << " on " << ranks);
        CHECK(run->error <= 1e-14);
        CHECK(run->gradient_error <= 1e-13);
        CHECK(run->result_pieces.size() == static_cast<std::size_t>(ranks));
        const bool between = cut != 0 && ranks > 1;
        CHECK(std::isfinite(run->error_without_between) == between);
        if (between) CHECK(run->error_without_between > 0.05);
      }
  const auto copies = run_tensor_cut({.block = TensorBlock::attention, .ranks = 4, .kv_copies = 2});
  REQUIRE(copies);
  // Ranks 0 and 1 hold the same keys and values, and queries of their own.
  for (std::size_t row = 0; row < copies->a.rows; ++row) {
    CHECK(copies->a.at(row, 2) == copies->a.at(row, copies->a_cols[1].first + 2));
    CHECK(copies->a.at(row, 0) != copies->a.at(row, copies->a_cols[1].first));
  }
  CHECK(copies->error <= 1e-14);
  CHECK_FALSE(run_tensor_cut({.ranks = 17}));
  CHECK_FALSE(run_tensor_cut({.ranks = 4, .kv_copies = 3}));
}

TEST_CASE("tensor cut: the gradient of the small block is its derivative") {
  // A change of one input moves sum(z) by its gradient for dZ = 1; the run's own check uses a random dZ, so that the
  // same function is held against differences here through the error of a run whose pieces are the whole.
  for (const TensorBlock block : {TensorBlock::attention, TensorBlock::feed_forward}) {
    const auto one = run_tensor_cut({.block = block, .ranks = 1});
    REQUIRE(one);
    CHECK(one->gradient_error == 0);
  }
}

TEST_CASE("tensor cut: what each cut sends, in elements of its arrays") {
  const BlockSizes z{.rows = 10, .hidden = 4, .projected = 32, .inner = 16};
  const auto sent = [&](TensorCut cut, bool split, bool backward) {
    double sum = 0;
    for (const TensorCollective& c : block_collectives(cut, z, 4, split, true))
      if (c.backward == backward) sum += sent_elements(c, 4);
    return sum;
  };
  CHECK(near(sent(TensorCut::column_row, false, false), 1.5 * 40));
  CHECK(near(sent(TensorCut::column_row, false, true), 1.5 * 40));
  CHECK(near(sent(TensorCut::column_row, true, false), 1.5 * 40));
  CHECK(near(sent(TensorCut::column_row, true, true), 2.25 * 40));
  CHECK(near(sent(TensorCut::column_column, false, false), 0.75 * (160 + 40)));
  CHECK(near(sent(TensorCut::column_column, false, true), 0.75 * 160 + 1.5 * 40));
  CHECK(near(sent(TensorCut::row_column, false, false), 1.5 * 320 + 0.75 * 40));
  CHECK(near(sent(TensorCut::row_column, false, true), 1.5 * 160 + 0.75 * 40));
  CHECK(near(sent(TensorCut::row_row, false, false), 0.75 * 320 + 1.5 * 40));
  CHECK(near(sent(TensorCut::row_row, false, true), 0.75 * 320 + 0.75 * 40));
  CHECK(block_collectives(TensorCut::column_row, z, 1, false, true).empty());
}

TEST_CASE("tensor layer: Narayanan's bytes, Korthikanti's times of one layer") {
  const Architecture a = gpt_22b();
  TensorSplit split = eight_a100();
  const auto kind = layer_kinds(a)[0];
  const auto plain = tensor_layer(a, kind, published_step(), split);
  REQUIRE(plain);
  // 8bsh (t - 1) / t numbers of two bytes: Narayanan et al. 2021, section 3.2.
  CHECK(near(plain->sent_bytes(), 2 * 8.0 * 4 * 2048 * 6144 * 7 / 8));
  CHECK(plain->forward.collectives == 2);
  CHECK(plain->backward.collectives == 2);
  // Measured 7.7 and 7.2 ms: the difference is what norms and residuals take on all tokens.
  CHECK(std::abs(plain->forward.total_s() / 7.7e-3 - 1) <= 0.05);
  split.sequence_parallel = true;
  split.overlap = TensorOverlap::weight_gradient;
  const auto tokens = tensor_layer(a, kind, published_step(), split);
  REQUIRE(tokens);
  CHECK(std::abs(tokens->forward.total_s() / 7.2e-3 - 1) <= 0.05);
  CHECK(std::abs(tokens->backward.total_s() / 11.8e-3 - 1) <= 0.1);
  CHECK(std::abs((plain->forward.total_s() - tokens->forward.total_s()) / 0.5e-3 - 1) <= 0.2);
  CHECK(near(tokens->forward.sent_bytes, plain->forward.sent_bytes));
  CHECK(near(plain->rank_parameters, (plain->parameters - 4.0 * 6144) / 8 + 4.0 * 6144, 1e-3));
  split.overlap = TensorOverlap::ring;
  const auto ring = tensor_layer(a, kind, published_step(), split);
  REQUIRE(ring);
  CHECK(ring->exposed_s() < tokens->exposed_s());
  for (const TensorOperation& op : plain->operations) {
    if (op.whole.name == "up projection") CHECK((op.part == TensorPart::by_column && op.shape.n == 3072));
    if (op.whole.name == "down projection") CHECK((op.part == TensorPart::by_row && op.shape.k == 3072));
    if (op.whole.name == "softmax") CHECK(op.part == TensorPart::by_head);
    if (op.whole.name == "attention norm") CHECK(op.part == TensorPart::whole);
  }
}

TEST_CASE("tensor layer: what cannot be cut is refused in a sentence") {
  Architecture a = gpt_22b();
  TensorSplit split = eight_a100();
  split.ranks = 3;
  CHECK(tensor_problem(a, published_step(), split).find("64 query heads") != std::string::npos);
  split.ranks = 16;
  a.kv_heads = 12;
  CHECK(tensor_problem(a, published_step(), split).find("12 key and value heads") != std::string::npos);
  a.kv_heads = 8;
  CHECK(tensor_problem(a, published_step(), split).empty());
  CHECK(rank_architecture(a, 16).kv_heads == 1);
  CHECK(rank_architecture(a, 4).kv_heads == 2);
  split.overlap = TensorOverlap::ring;
  CHECK(tensor_problem(a, published_step(), split).find("sequence parallelism") != std::string::npos);
  split.sequence_parallel = true;
  Workload odd = published_step();
  odd.batch = 1;
  odd.sequence = 2047;
  CHECK(tensor_problem(a, odd, split).find("2047 tokens") != std::string::npos);
  split.cut = TensorCut::row_row;
  CHECK(tensor_problem(a, published_step(), split).find("column, then row") != std::string::npos);
  CHECK(possible_ranks(a, 16) == std::vector<std::int64_t>{1, 2, 4, 8, 16});
}

TEST_CASE("tensor overlap: a ring of blocks takes what its closed form says, and every block is computed once") {
  for (const RingKind kind : {RingKind::gather, RingKind::scatter})
    for (const std::int64_t ranks : {1, 2, 5, 8})
      for (const double transfer_s : {0.0, 0.4, 1.0, 3.0}) {
        const RingRun run = run_ring_overlap(kind, ranks, 0.9 * static_cast<double>(ranks), 1, transfer_s);
        CHECK(near(run.total_s, run.closed_form_s));
        CHECK(near(run.total_s, 1 + static_cast<double>(ranks - 1) * std::max(1.0, transfer_s)));
        std::vector<int> computed(static_cast<std::size_t>(ranks));
        std::int64_t transfers = 0;
        for (const RingSpan& span : run.spans) {
          if (span.transfer)
            ++transfers;
          else
            ++computed[static_cast<std::size_t>(span.block)];
        }
        CHECK(transfers == ranks - 1);
        for (const int times : computed) CHECK(times == 1);
      }
}
