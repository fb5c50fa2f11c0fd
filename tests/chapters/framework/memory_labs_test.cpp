#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/framework/memory_timeline/lab.h"
#include "chapters/framework/training_memory/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("training memory lab: the owners of the default step, by hand") {
  const LabPtr lab = open_lab("framework/training-memory");
  compute(*lab);
  const double parameters = 8030261248;
  CHECK(near(out(*lab, "weights_bytes"), 2 * parameters));
  CHECK(near(out(*lab, "gradients_bytes"), 2 * parameters));
  CHECK(near(out(*lab, "master_bytes"), 4 * parameters));
  CHECK(near(out(*lab, "optimizer_bytes"), 8 * parameters));
  CHECK(near(out(*lab, "activations_bytes"), 34.0 * 4096 * 4096 * 32));
  CHECK(near(out(*lab, "logits_bytes"), 12.0 * 4096 * 128256));
  // States, activations, logits, the ends of the model, and a gigabyte of fixed buffers.
  const double total = 16 * parameters + 34.0 * 4096 * 4096 * 32 + 12.0 * 4096 * 128256 + 2 * 2.0 * 4096 * 4096 + 1e9;
  CHECK(near(out(*lab, "total_bytes"), total));
  CHECK(lab->answer() ==
        "The step needs `154 GB` and the chip has `80 GB`: too much. Optimizer and master copy take `96.4 GB`, the "
        "weights `16.1 GB`.\nOne change that makes it fit: 8-bit moments and no master copy, `74.1 GB`.");
  // Of a single micro-batch the gradients are not there yet at the loss.
  const double one = out(*lab, "one_micro_batch_bytes");
  CHECK(near(one, total - 2 * parameters));
  set(*lab, "micro_batches", 1.0);
  CHECK(near(computed(*lab, "total_bytes"), one));
}

TEST_CASE(
    "training memory lab: where the second vessel is not the change that the sentence names, it says what that takes") {
  const LabPtr lab = open_preset("framework/training-memory", "Scores kept");
  compute(*lab);
  CHECK(lab->answer().find("\nB takes `137 GB`; one change that makes it fit: tensor and sequence over 8 GPUs, "
                           "`30.9 GB`.") != std::string_view::npos);
  const LabPtr longer = open_preset("framework/training-memory", "Sequence 131,072");
  compute(*longer);
  CHECK(longer->answer().find("\nB takes `201 GB`; no single change makes it fit, the best is tensor and "
                              "sequence over 8 GPUs, `96.7 GB`.") != std::string_view::npos);
  // A second vessel that helps is the one that is named.
  compute(set(*lab, "change", "tensor"));
  CHECK(lab->answer().find("\nOne change that makes it fit: tensor and sequence over 8 GPUs, `30.9 GB`.") !=
        std::string_view::npos);
}

TEST_CASE("training memory lab: adapters hold what the lab of adapters holds, and what cannot have any is refused") {
  const LabPtr tuned = open_lab("training/adapters");
  compute(*tuned);
  const LabPtr lab = open_lab("framework/training-memory", R"({"sequence": 2048, "count": "operations",
      "recompute": "none", "loss": "chunked", "dropout": false, "adapter_rank": 16, "adapter_targets": "all_linear"})");
  compute(*lab);
  CHECK(near(out(*lab, "weights_bytes"), out(*tuned, "base_bytes") + out(*tuned, "added_bytes"), 1e-12));
  for (const char* states : {"gradients_bytes", "master_bytes"})
    CHECK(near(out(*lab, states), out(*tuned, states), 1e-12));
  CHECK(near(out(*lab, "optimizer_bytes"), out(*tuned, "moments_bytes"), 1e-12));
  CHECK(near(out(*lab, "trained"), out(*tuned, "trained"), 1e-12));
  CHECK(near(out(*lab, "frozen_bytes"), out(*tuned, "base_bytes"), 1e-12));
  CHECK(out(*lab, "left_per_parameter") > 100);
  // Beside a bare number of parameters stand the model's own adapters.
  const double trained = out(*lab, "trained");
  CHECK(near(computed(set(*lab, "parameters", 2 * 8030261248.0), "frozen_bytes"), 4 * 8030261248.0, 1e-12));
  CHECK(near(out(*lab, "trained"), trained, 1e-12));
  set(*lab, "parameters", 0.0, "count", "formula");
  CHECK(reason_of(*lab).find("whose weights are trained") != std::string::npos);
  set(*lab, "count", "operations", "adapter_rank", 1024.0, "tensor_parallel", 8.0);
  CHECK(reason_of(*lab).empty());
}

TEST_CASE("training memory lab: contract keys follow the formula's variants") {
  const LabPtr lab = open_lab("framework/training-memory", R"({"model": "gpt-3", "sequence": 2048})");
  const double sbh = 2048.0 * 12288, scores = 5.0 * 96 * 2048 / 12288;
  const auto layer = [&](const char* recompute, double tensor, double sequence_parallel) {
    set(*lab, "recompute", recompute, "tensor_parallel", tensor, "sequence_parallel", sequence_parallel);
    return computed(*lab, "activations_bytes") / 96 / sbh;
  };
  CHECK(near(layer("none", 1, 0), 34 + scores));
  CHECK(near(layer("selective", 1, 0), 34));
  CHECK(near(layer("none", 8, 0), 10 + (24 + scores) / 8));
  CHECK(near(layer("selective", 8, 0), 13));
  CHECK(near(layer("none", 8, 1), (34 + scores) / 8));
  CHECK(near(layer("selective", 8, 1), 34.0 / 8));
  CHECK(near(layer("full", 8, 0), 2));
}

TEST_CASE("training memory lab: one step has one peak, here and on the timeline") {
  const char* step = R"({"recipe": "no_master", "optimizer": "adamw_8bit", "batch": 2, "micro_batches": 1})";
  const LabPtr lab = open_lab("framework/training-memory", step);
  set(*lab, "recompute", "none", "count", "operations", "dropout", 0.0, "fixed_bytes", 0.0);
  const LabPtr timeline = open_lab("framework/memory-timeline", R"({"which": "none"})");
  const double peak = computed(*timeline, "peak_bytes");
  CHECK(near(computed(*lab, "total_bytes"), peak, 1e-9));
  set(*lab, "micro_batches", 4.0);
  set(*timeline, "micro_batches", 4.0);
  CHECK(near(computed(*lab, "total_bytes"), computed(*timeline, "peak_bytes"), 1e-9));
  CHECK(out(*lab, "total_bytes") > peak + 15e9);
  // The same where eight GPUs share the layers, whether or not they split the norms by tokens.
  for (const double by_tokens : {0.0, 1.0}) {
    set(*lab, "tensor_parallel", 8.0, "sequence_parallel", by_tokens);
    set(*timeline, "tensor_parallel", 8.0, "sequence_parallel", by_tokens);
    CHECK(near(computed(*lab, "total_bytes"), computed(*timeline, "peak_bytes"), 1e-9));
  }
}

TEST_CASE("no lab of memory counts half a key head: more ranks than there are heads are refused alike") {
  for (const char* id : {"framework/training-memory", "framework/memory-timeline", "training/checkpointing"}) {
    const LabPtr lab = open_lab(id, R"({"model": "llama-3-8b", "tensor_parallel": 16})");
    INFO(id);
    CHECK(reason_of(*lab) ==
          "Tensor parallel 16 is more than the 8 key and value heads, and copies of a head are not counted here; "
          "choose 8 or fewer.");
  }
}

TEST_CASE("training memory lab: the formula follows dropout, and what cannot be laid out is refused") {
  const LabPtr lab = open_lab("framework/training-memory", R"({"model": "llama-2-7b", "sequence": 2048})");
  set(*lab, "recompute", "none");
  const double with = computed(*lab, "layer_sbh");
  CHECK(near(with, 34 + 5.0 * 32 * 2048 / 4096));
  set(*lab, "dropout", 0.0);
  CHECK(near(computed(*lab, "layer_sbh"), 32 + 2.0 * 32 * 2048 / 4096));
  set(*lab, "pipeline", 4.0, "stage", 5.0);
  CHECK(reason_of(*lab) == "Stage 5 is none of the 4 stages of the pipeline; choose one of them.");
  set(*lab, "split", "one_gpu");  // leaves the cuts aside
  CHECK(reason_of(*lab) == "");
  set(*lab, "model", "mixtral-8x7b");
  CHECK(reason_of(*lab).starts_with("Korthikanti's formula is of a dense GPT layer"));
}

TEST_CASE("training memory lab: clicking a row of the strip takes its recipe") {
  const LabPtr lab = open_lab("framework/training-memory");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(2);
  const double before = out(*lab, "bytes_per_parameter");
  CHECK(before == 16);
  canvas.ui.click_at(canvas.ui.point_in("bytes", {0.5f, 0.95f}));
  canvas.ui.frames(2);
  CHECK(input(*lab, "recipe").choice_id() != "mixed");
}

TEST_CASE("memory timeline lab: the peak is the loss, and running eight layers again frees 8.6 GB") {
  const LabPtr lab = open_lab("framework/memory-timeline");
  compute(*lab);
  // 24 layers of 34 bytes and row sums, 8 inputs, the ends, and three FP32 copies of the logits.
  const double tokens = 8192, layer = tokens * (34.0 * 4096 + 4 * 32), input_bytes = tokens * 2 * 4096;
  const double states = 8030261248.0 * (2 + 2 * (1 + 4.0 / 256));
  CHECK(near(out(*lab, "peak_bytes"), states + 24 * layer + 8 * input_bytes + 2 * input_bytes + 12 * tokens * 128256,
             1e-9));
  CHECK(near(out(*lab, "saved_bytes"), 8 * (layer - input_bytes), 1e-9));
  CHECK(output(*lab, "peak_phase").text() == "loss");
  CHECK(out(*lab, "layers_needed") == 2);
  set(*lab, "which", "every_layer");
  CHECK(computed(*lab, "peak_bytes") < 50e9);
  CHECK(output(*lab, "peak_phase").text() == "backward");
  set(*lab, "which", "drawn", "letters", "rrx");
  CHECK(reason_of(*lab).starts_with("Letter 3 of the plan is none of k"));
}

TEST_CASE("memory timeline lab: phases follow each other through the step, and the tensors of the peak add up to it") {
  const LabPtr lab = open_lab("framework/memory-timeline", R"({"micro_batches": 2})");
  compute(*lab);
  const std::size_t phases = rows(*lab, "phases"), tensors = rows(*lab, "tensors");
  REQUIRE(phases == 7);  // forward, loss and backward twice, and the optimizer
  double end_s = 0, fullest = 0, held = 0;
  for (std::size_t i = 0; i < phases; ++i) {
    CHECK(near(cell(*lab, "phases", i, "begin_s"), end_s, 1e-9));
    end_s += cell(*lab, "phases", i, "takes_s");
    fullest = std::max(fullest, cell(*lab, "phases", i, "fullest_bytes"));
  }
  CHECK(near(end_s, out(*lab, "step_s"), 1e-9));
  CHECK(fullest == out(*lab, "peak_bytes"));
  CHECK(near(cell(*lab, "phases", 1, "takes_s"), out(*lab, "loss_s"), 1e-9));
  for (std::size_t i = 0; i < tensors; ++i) held += cell(*lab, "tensors", i, "total_bytes");
  CHECK(near(held, out(*lab, "peak_bytes"), 1e-9));
}

TEST_CASE("memory timeline lab: pressing a pillar has its layer recomputed") {
  const LabPtr lab = open_lab("framework/memory-timeline", R"({"which": "none"})");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(2);
  canvas.ui.click_at(canvas.ui.point_in("layers", {0.5f, 0.5f}));
  canvas.ui.frames(2);
  CHECK(input(*lab, "which").choice_id() == "drawn");
  const std::string letters = input(*lab, "letters").text();
  CHECK(std::count(letters.begin(), letters.end(), 'r') == 1);
  CHECK(letters.size() == 32);
}

TEST_CASE("memory timeline lab: a recording stands beside the model with the residual of its peak") {
  const LabPtr lab = open_lab("framework/memory-timeline");
  input(*lab, "file").file().path = "snapshot.json";
  input(*lab, "file").file().text = R"({"segments": [], "device_traces": [[
    {"action": "alloc", "size": 73000000000, "time_us": 1},
    {"action": "free_completed", "size": 73000000000, "time_us": 9}]]})";
  compute(*lab);
  CHECK(output(*lab, "recorded_kind").text() == "PyTorch snapshot");
  CHECK(out(*lab, "recorded_peak_bytes") == 73e9);
  CHECK(near(out(*lab, "residual"), 100 * (out(*lab, "peak_bytes") / 73e9 - 1), 1e-9));
}

TEST_CASE("memory timeline: the answer speaks of what the curve shows") {
  const auto answer = [](const char* state) {
    const LabPtr lab = open_lab("framework/memory-timeline", state);
    compute(*lab);
    return std::string(lab->answer());
  };
  const std::string leak = answer(R"({"which": "every_layer", "loss": "fused", "steps": 4, "keep_outputs": true})");
  CHECK(
      leak ==
      "A leak: each step ends `2.10 GB` higher than it began, mostly kept outputs. Step `15` no longer fits.\nThe peak "
      "is `57.1 GB`, `22.9 GB` under the chip's `80 GB`.");
  const std::string plateau = answer(R"({"which": "every_layer", "loss": "fused", "steps": 3, "first_step": true})");
  CHECK(plateau.starts_with("No leak: only the first step ends higher than it began, by `16.3 GB` of moments."));
  CHECK(answer(R"({"steps": 3})").starts_with("No leak: every step climbs to its peak and ends where it began"));
  CHECK(answer(R"({"which": "none", "fused_attention": false, "batch": 1, "loss": "fused"})")
            .ends_with("\nAttention scores are `33.3 GB` of it; FlashAttention stores none of them."));
  CHECK(answer(R"({"again": 20, "micro_batches": 4})").find("\nGradients of the first micro-batch stay") !=
        std::string::npos);
  CHECK(answer("{}").starts_with("Memory peaks while the loss is computed: `73.1 GB`, `6.94 GB` under"));
}

TEST_CASE("memory timeline: the plot's points keep every owner's edge within half a pixel, and are few") {
  use_bundled_catalog();
  namespace lab = chapters::framework::memory_timeline;
  chapters::Progress progress;
  const lab::Computed c = lab::compute({}, progress);
  const std::size_t columns = 300;
  const double tolerance = c.facts.peak_bytes / 500;
  lab::Curve all, few;
  lab::sample_curve(c.run->timeline, columns, 0, all);
  lab::sample_curve(c.run->timeline, columns, tolerance, few);
  CHECK(few.time_s.size() < columns * 3 / 4);
  CHECK(few.shown == all.shown);
  CHECK(*std::max_element(all.total.begin(), all.total.end()) == c.facts.peak_bytes);
  const auto edge = [](const lab::Curve& curve, std::size_t owners, std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < owners; ++k) sum += curve.owners[k * curve.time_s.size() + i];
    return sum;
  };
  for (std::size_t owners = 1; owners <= all.shown.size(); ++owners) {
    std::size_t k = 0;
    for (std::size_t i = 0; i < all.time_s.size(); ++i) {
      while (k + 2 < few.time_s.size() && few.time_s[k + 1] <= all.time_s[i]) ++k;
      const double share = (all.time_s[i] - few.time_s[k]) / (few.time_s[k + 1] - few.time_s[k]);
      const double drawn = edge(few, owners, k) + share * (edge(few, owners, k + 1) - edge(few, owners, k));
      CHECK(std::abs(drawn - edge(all, owners, i)) <= tolerance * (1 + 1e-9));
    }
  }
}

TEST_CASE("memory timeline: the loss stands under a lens only where it is the peak") {
  use_bundled_catalog();
  namespace lab = chapters::framework::memory_timeline;
  const auto lens = [](const lab::Inputs& in) {
    chapters::Progress progress;
    const lab::Computed c = lab::compute(in, progress);
    return lab::arrange(in, c.facts, *c.run).lens;
  };
  CHECK(lens({}));
  CHECK_FALSE(lens({.which = lab::Which::every_layer}));  // the peak is in the backward pass
}

TEST_CASE("training memory: every preset opens with a second vessel, and where it fits that is the plain step") {
  use_bundled_catalog();
  namespace lab = chapters::framework::training_memory;
  lab::Inputs in;
  lab::Schedules schedules;
  const auto shown = [&]() -> const lab::ChangeRow {
    const lab::Outputs o = lab::compute(in, schedules);
    const lab::Picture p = lab::arrange(in, o, schedules);
    REQUIRE(p.shown_change < o.changes.size());
    CHECK(!p.b_label.empty());
    return o.changes[p.shown_change];
  };
  CHECK(shown().change == lab::Change::eight_bit_no_master);
  in.recipe = models::memory::StateRecipe::no_master;
  in.optimizer = models::memory::OptimizerKind::adamw_8bit;
  const lab::ChangeRow plain = shown();
  CHECK(plain.change == lab::Change::plain);
  CHECK(near(plain.total_bytes, lab::compute({}, schedules).total_bytes));
  // A plain step many times as large would leave nothing else to be seen: the largest saving stands there.
  in = {};
  in.model = "llama-3-70b";
  in.zero_stage = 3;
  in.data_parallel = 64;
  in.recompute = models::Recompute::full;
  CHECK(shown().saved_bytes > 0);
  in.change = lab::Change::none;
  const lab::Outputs o = lab::compute(in, schedules);
  CHECK(lab::arrange(in, o, schedules).shown_change == o.changes.size());
}
