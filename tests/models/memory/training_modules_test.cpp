#include <array>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "models/memory/loss_peak.h"
#include "models/memory/saved_tensors.h"
#include "models/memory/training_memory.h"
#include "tests/support/base/near.h"
#include "tests/support/models/decoders.h"

using support::near;
using namespace models;
using namespace models::memory;

TEST_CASE("training memory: chunks that cannot be equal, and stages of folded schedules") {
  const Architecture dense = support::decoder({4096, 32, 32, 8, 128, 14336, 128256});
  const auto sizes = [&](TrainingPlan p) {
    std::vector<std::int64_t> out;
    for (p.stage = 0; p.stage < p.pipeline; ++p.stage) {
      std::int64_t layers = 0;
      for (const auto& [first, end] : stage_layers(dense, p)) layers += end - first;
      out.push_back(layers);
    }
    return out;
  };
  using Sizes = std::vector<std::int64_t>;
  // Rounded up, 32 layers on 7 stages are six of 5 and one of 2; on 12 the last would have none, so that 32 mod 12 = 8
  // stages have 3 and four have 2.
  CHECK(sizes({.pipeline = 7}) == Sizes{5, 5, 5, 5, 5, 5, 2});
  CHECK(sizes({.pipeline = 12}) == Sizes{3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2});
  CHECK(plan_problem(dense, {.pipeline = 12}).empty());
  CHECK(plan_problem(dense, {.micro_batches = 8, .pipeline = 4, .virtual_pipeline = 3}).empty());
  // ZB-V on 4 stages: 8 chunks of 4; stage 0 has the first and the last, stage 3 the middle two.
  const TrainingPlan folded{.micro_batches = 8, .pipeline = 4, .schedule = PipelineSchedule::zb_v};
  CHECK(sizes(folded) == Sizes{8, 8, 8, 8});
  CHECK(stage_layers(dense, folded)[1] == std::array<std::int64_t, 2>{28, 32});
  CHECK(stage_ends(folded).first);
  CHECK(stage_ends(folded).last);
  // DualPipe holds two stages on each rank, one of each direction, so that all layers are there twice.
  TrainingPlan both{.micro_batches = 8, .pipeline = 4, .schedule = PipelineSchedule::dualpipe};
  CHECK(sizes(both) == Sizes{16, 16, 16, 16});
  both.stage = 1;
  CHECK(stage_layers(dense, both)[0] == std::array<std::int64_t, 2>{8, 16});
  CHECK(stage_layers(dense, both)[1] == std::array<std::int64_t, 2>{16, 24});
  CHECK(!stage_ends(both).first);
}

TEST_CASE("training memory: selective recomputation by module and by product") {
  const Architecture dense = support::decoder({4096, 32, 32, 8, 128, 14336, 128256});
  const double tokens = 8192, stream = tokens * 4096 * 2;
  const LayerKind kind = layer_kinds(dense)[0];
  const auto kept = [&](TrainingPlan p) {
    p.sequence = 8192;
    p.recompute = Recompute::selective;
    return layer_memory(dense, layer_operations(dense, kind, workload_of(p)), p).kept(p.recompute);
  };
  const double none = kept({});  // of fused attention core_attn alone gives nothing up
  CHECK(near(
      none,
      layer_memory(dense, layer_operations(dense, kind, workload_of({.sequence = 8192})), {.sequence = 8192}).saved));
  // Both norms' results are what the projections and the feed-forward keep: two streams. The activation's result is the
  // down projection's input: 14,336 of 4,096 streams.
  CHECK(near(none - kept({.modules = bit(RecomputeModule::norms)}), 2 * stream));
  CHECK(near(none - kept({.modules = bit(RecomputeModule::activation)}), 3.5 * stream));
  // The whole feed-forward but its input: gate and up, and the activation's result.
  CHECK(near(none - kept({.modules = bit(RecomputeModule::feed_forward)}), (2 * 3.5 + 3.5) * stream));
  // Every second product: the layer's input, queries and values and row sums, attention's result, the gate, the block's
  // result.
  const double row_sums = tokens * 32 * 4;
  CHECK(near(kept({.every_second_product = true}), (1 + 1 + 0.25 + 1 + 3.5 + 1) * stream + row_sums));
  // Inputs of products in 8 bits with a scale of a byte for 32: queries', attention's, feed-forward's and down's.
  const double halved = (1 + 1 + 1 + 3.5) * stream;
  CHECK(near(none - kept({.kept_input_bytes = 1 + 1.0 / 32}), halved * (1 - (1 + 1.0 / 32) / 2)));
}

// PyTorch's DTensor gathers the input of queries, keys and values and that of gate and up, and the matmuls keep what
// was gathered: two whole streams in place of two parts. The backward pass gathers nothing then. What attention and the
// feed-forward compute is split over the GPUs either way.
TEST_CASE("matmuls that keep gathered inputs hold two whole streams a layer, and gather nothing again") {
  const Architecture dense = support::decoder({4096, 32, 32, 8, 128, 14336, 128256});
  TrainingPlan parts{.sequence = 8192, .tensor = 8, .sequence_parallel = true};
  TrainingPlan whole = parts;
  whole.gathered_inputs = true;
  const double stream = 8192.0 * 4096 * 2;
  const auto operations = layer_operations(dense, layer_kinds(dense)[0], workload_of(parts));
  CHECK(near(layer_memory(dense, operations, whole).saved - layer_memory(dense, operations, parts).saved,
             2 * stream * (1 - 1.0 / 8)));
  double gathered = 0;
  for (const auto& m : operation_memory(dense, operations, whole)) gathered += m.gathered;
  CHECK(gathered == 0);
  // With every second product run again neither keeps them.
  parts.every_second_product = whole.every_second_product = true;
  CHECK(near(layer_memory(dense, operations, whole).kept(Recompute::selective),
             layer_memory(dense, operations, parts).kept(Recompute::selective)));
  // The product with the output matrix keeps its gathered input too.
  CHECK(near(loss_peak(dense, whole, false).ends - loss_peak(dense, parts, false).ends, stream * (1 - 1.0 / 8)));
  // Without tensor parallelism nothing is gathered.
  whole.tensor = parts.tensor = 1;
  CHECK(training_memory(dense, whole)->total() == training_memory(dense, parts)->total());
}
