#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

namespace {

struct Row {
  std::string name, kind, regime;
  double count = 0, parameters = 0, flops = 0, bytes = 0, intensity = 0, time_s = 0, all_s = 0, share = 0;
};

std::vector<Row> operations(const Lab& lab) {
  std::vector<Row> out;
  chapters::Fields cells;
  for (std::size_t i = 0; i < rows(lab, "operations"); ++i) {
    output(lab, "operations").table_row(i, cells);
    const auto number = [&](const char* key) { return cells.find(key)->number(); };
    out.push_back({cells.find("name")->text(), cells.find("kind")->text(),
                   std::string(cells.find("regime")->choice_id()), number("count"), number("parameters"),
                   number("flops"), number("bytes"), number("intensity"), number("time_s"), number("all_s"),
                   number("share")});
  }
  return out;
}
Row operation(const Lab& lab, const std::string& name) {
  for (const Row& row : operations(lab))
    if (row.name == name) return row;
  FAIL("no operation " << name);
  return {};
}
void give_config(Lab& lab, const std::string& file) {
  input(lab, "config").file() = {"some/where/" + file, read_text(data_file("configs/" + file))};
}

constexpr double h100_flops_per_s = 989.4e12, h100_bytes_per_s = 3.35e12;  // NVIDIA H100 SXM data sheet, dense BF16

}  // namespace

TEST_CASE("transformer layer: parameters are the published ones to the last") {
  // Tensor sizes of the Hugging Face checkpoints; active counts as in the Mixtral paper (12.9 G) and DeepSeek-V3's (37
  // G).
  const std::map<std::string, double> published{{"llama-3-8b", 8030261248.0},       {"llama-3-70b", 70553706496.0},
                                                {"llama-3.1-405b", 405853388800.0}, {"deepseek-v3", 671026419200.0},
                                                {"mixtral-8x7b", 46702792704.0},    {"gpt2-124m", 124439808.0}};
  const LabPtr lab = open_lab("roofline/transformer-layer");
  for (const auto& [id, count] : published) {
    INFO(id);
    compute(set(*lab, "model", id));
    CHECK(out(*lab, "parameters_total") == count);
    CHECK(out(*lab, "parameters_attention") + out(*lab, "parameters_feed_forward") + out(*lab, "parameters_embedding") +
              out(*lab, "parameters_norms") ==
          count);
    double in_rows = 0;
    for (const Row& row : operations(*lab)) in_rows += row.count * row.parameters;
    CHECK(in_rows == count);
  }
  CHECK(near(computed(set(*lab, "model", "mixtral-8x7b"), "parameters_active"), 12.9e9, 0.005));
  CHECK(near(computed(set(*lab, "model", "deepseek-v3"), "parameters_active"), 37e9, 0.02));
}

TEST_CASE(
    "transformer layer: a config.json says the same as the bundled model of that shape, whatever model is chosen") {
  const std::pair<const char*, const char*> forms[] = {
      {"llama-3-8b.json", "llama-3-8b"}, {"deepseek-v3.json", "deepseek-v3"}, {"gpt2.json", "gpt2-124m"}};
  for (const auto& [file, id] : forms) {
    for (const char* phase : {"train", "prefill", "decode"}) {
      INFO(file << ", " << phase);
      const LabPtr bundled = open_lab("roofline/transformer-layer"), own = open_lab("roofline/transformer-layer");
      compute(set(*bundled, "model", id, "phase", phase, "sequence", 1000, "context", 1000));
      set(*own, "model", "llama-3-70b", "phase", phase, "sequence", 1000, "context", 1000);
      give_config(*own, file);
      compute(*own);
      for (const char* key :
           {"parameters_total", "parameters_active", "flops_total", "bytes_total", "time_s", "kv_bytes_per_token"})
        CHECK(out(*own, key) == out(*bundled, key));
    }
  }
}

TEST_CASE(
    "transformer layer: a file that is no config.json of a known model is refused in one sentence, and forgotten with "
    "it") {
  struct Bad {
    const char *file, *says, *also;
  };
  const Bad bad[] = {{"truncated.json", "truncated.json", "JSON"},
                     {"unknown_type.json", "mamba2", "state-space"},
                     {"heads_do_not_divide.json", "num_key_value_heads", "7"},
                     {"text_for_a_number.json", "hidden_size", "number"}};
  const LabPtr lab = open_lab("roofline/transformer-layer");
  for (const Bad& one : bad) {
    give_config(*lab, one.file);
    lab->compute();
    INFO(one.file << ": " << lab->reason());
    CHECK(lab->reason().find(one.says) != std::string::npos);
    CHECK(lab->reason().find(one.also) != std::string::npos);
    CHECK(lab->reason().find('\n') == std::string::npos);
    CHECK(lab->reason().back() == '.');
    CHECK(output(*lab, "flops_total").number() == 0);
  }
  input(*lab, "config").file() = {};
  CHECK(computed(*lab, "parameters_total") == 70553706496.0);
}

TEST_CASE("transformer layer: a multimodal config runs as its language model, and the picture says what is left out") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  input(*lab, "config").file() = {"some/where/llava.json",
                                  R"({"model_type": "llava", "vision_config": {"hidden_size": 1024},
                                      "text_config": {"model_type": "llama", "vocab_size": 32064}})"};
  CHECK(computed(*lab, "parameters_total") == 6738415616.0 + 2 * 64 * 4096);
  Canvas canvas(*lab, {1200, 800});
  CHECK(canvas.ui.text_present("vision tower with its projector"));
  input(*lab, "config").file() = {"some/where/jamba.json", R"({"model_type": "jamba", "hidden_size": 4096})"};
  CHECK(
      reason_of(*lab) ==
      "jamba.json: model_type is \"jamba\", a model with state-space layers, whose cost is not modelled here; a model "
      "whose layers all have attention is expected.");
}

TEST_CASE("transformer layer: the table adds up to the totals, and each row's time is the wall it says") {
  for (const char* phase : {"train", "prefill", "decode"}) {
    for (const char* model : {"llama-3-70b", "deepseek-v3", "gemma-2-9b", "phi-2"}) {
      const LabPtr lab = open_lab("roofline/transformer-layer");
      compute(set(*lab, "model", model, "phase", phase, "batch", 3));
      INFO(model << ", " << phase);
      double flops = 0, bytes = 0, time_s = 0, share = 0;
      bool walls = true;
      for (const Row& row : operations(*lab)) {
        flops += row.count * row.flops;
        bytes += row.count * row.bytes;
        time_s += row.count * row.time_s;
        share += row.share;
        const double compute_s = row.flops / h100_flops_per_s, memory_s = row.bytes / h100_bytes_per_s;
        CHECK(near(row.all_s, row.count * row.time_s, 1e-15));
        walls = walls && near(row.time_s, std::max(compute_s, memory_s), 1e-3) &&
                row.regime == (compute_s >= memory_s ? "compute" : "memory");
      }
      CHECK(walls);
      CHECK(near(bytes, out(*lab, "bytes_total"), 1e-12));
      CHECK(near(time_s, out(*lab, "time_s"), 1e-12));
      CHECK(near(share, 100, 1e-12));
      CHECK(flops >= out(*lab, "flops_total"));  // softmax, norms and the like are in the rows alone
      CHECK(near(flops, out(*lab, "flops_total"), 0.03));
    }
  }
}

TEST_CASE(
    "transformer layer: training flops are Megatron-LM's when attention counts causal, and half a square more in "
    "full") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  compute(set(*lab, "model", "llama-3.1-405b", "phase", "train", "sequence", 8192));
  const double causal = out(*lab, "flops_per_token");
  CHECK(near(causal, 2523955986432.0, 1e-9));  // num_floating_point_operations of Megatron-LM, run on this model
  CHECK(near(out(*lab, "flops_total"), 20676247440850944.0, 1e-9));
  CHECK(near(out(*lab, "megatron_ratio"), 1, 1e-9));
  // What 6ND leaves out: 6 L H Q T of causal attention. Norms, which it counts, multiply nothing.
  const double attention = 6.0 * 126 * 128 * 128 * 8192, matrices = 405853388800.0 - 128256.0 * 16384;
  CHECK(near(out(*lab, "six_nd_ratio"), 1 + attention / (6 * matrices), 1e-4));
  compute(set(*lab, "attention_flops", "full"));
  CHECK(near(out(*lab, "flops_per_token") - causal, attention, 1e-9));
  CHECK(out(*lab, "megatron_ratio") > 1.03);
  // The comparison speaks of training whatever the phase.
  const double ratio = out(*lab, "megatron_ratio");
  CHECK(computed(set(*lab, "phase", "decode"), "megatron_ratio") == ratio);
}

TEST_CASE(
    "transformer layer: recomputing a layer's forward adds a third to the hardware's flops and nothing to the "
    "model's") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  compute(set(*lab, "phase", "train", "model", "llama-2-7b"));
  const double flops = out(*lab, "flops_total");
  // Nothing is recomputed but the scores in the backward pass of fused attention: one product of seven.
  const double scores = 2 * 32 * 32 * (4096.0 * 4096 / 2) * 128;
  CHECK(near(out(*lab, "hfu") / out(*lab, "mfu"), 1 + scores / flops, 1e-9));
  compute(set(*lab, "recompute", "full"));
  CHECK(near(out(*lab, "flops_total"), flops * 4 / 3,
             0.01));  // Narayanan et al. 2021: 96 for 72; the logits are not computed again
  CHECK(near(out(*lab, "hfu") / out(*lab, "mfu"), out(*lab, "hardware_flops") / flops, 1e-9));
  CHECK(near(out(*lab, "hardware_flops"), out(*lab, "flops_total") + scores, 1e-9));
  // At 131,072 tokens the two part visibly.
  compute(set(*lab, "recompute", "none", "sequence", 131072));
  CHECK(out(*lab, "hfu") > 1.1 * out(*lab, "mfu"));
}

TEST_CASE(
    "transformer layer: decoding one sequence takes as long as reading the weights, and every operation waits for "
    "memory") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  compute(set(*lab, "phase", "decode", "batch", 1, "context", 4096));
  const double weights = 2 * (70553706496.0 - 128256.0 * 8192),
               cache = 4096 * 327680.0;  // the input embedding is looked up
  CHECK(near(out(*lab, "time_s"), (weights + cache) / h100_bytes_per_s, 2e-3));
  CHECK(out(*lab, "time_s") >= (weights + cache) / h100_bytes_per_s);
  CHECK(near(out(*lab, "memory_bound_share"), 100, 1e-12));
  // One flop a byte of weights; of the cache 8, since eight query heads share each key and value.
  CHECK(near(out(*lab, "intensity"), (weights + 8 * cache) / (weights + cache), 0.005));
  CHECK(near(out(*lab, "ridge"), 295, 0.005));
  CHECK(out(*lab, "kv_bytes_per_token") == 327680);
  CHECK(out(*lab, "kv_total_bytes") == cache);
  CHECK(out(*lab, "weights_bytes") == 2 * 70553706496.0);
  CHECK(near(out(*lab, "chip_share"), 100 * (2 * 70553706496.0 + cache) / 80e9, 0.01));
  CHECK(near(out(*lab, "tokens_per_s") * out(*lab, "time_s"), 1, 1e-12));
  // A whole prompt turns the projections over the ridge and leaves the norms under it.
  compute(set(*lab, "phase", "prefill", "sequence", 4096));
  CHECK(operation(*lab, "gate projection").regime == "compute");
  CHECK(operation(*lab, "residual and attention norm").regime == "memory");
  CHECK(out(*lab, "memory_bound_share") < 10);
}

TEST_CASE("transformer layer: unfused attention moves four squares of scores a layer") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  compute(set(*lab, "phase", "prefill", "sequence", 8192));
  CHECK(out(*lab, "bytes_total") == out(*lab, "fused_bytes"));
  compute(set(*lab, "fused_attention", 0));
  const double squares =
      80 * 4 * (64.0 * 8192 * 8192 * 2);  // written, read by the softmax, written, read for the values
  CHECK(near(out(*lab, "bytes_total") - out(*lab, "fused_bytes"), squares, 1e-9));
  CHECK(out(*lab, "bytes_total") < out(*lab, "unfused_bytes"));
  CHECK(computed(set(*lab, "fused_elementwise", 0), "bytes_total") == out(*lab, "unfused_bytes"));
  CHECK(out(*lab, "time_s") == out(*lab, "unfused_time_s"));
  CHECK(out(*lab, "fused_time_s") < out(*lab, "unfused_time_s"));
}

TEST_CASE(
    "transformer layer: narrow weights speed up decoding and leave prefill's arithmetic alone; a missing peak is "
    "said") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  compute(set(*lab, "phase", "decode", "context", 1));
  const double wide_s = out(*lab, "time_s");
  // INT4 in groups of 128 inside the layers, the output matrix in 16 bits; the embedding is stored and looked up.
  const double matrices = 80 * (2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672);
  const double others = 70553706496.0 - matrices, embedding = 128256.0 * 8192;
  const double narrow = 4.125 / 8 * matrices + 2 * (others - embedding), wide = 2 * (matrices + others - embedding);
  CHECK(near(computed(set(*lab, "format", "fp4"), "time_s"), wide_s * narrow / wide, 0.01));
  CHECK(out(*lab, "weights_bytes") == 4.125 / 8 * matrices + 2 * others);
  CHECK(near(out(*lab, "ridge"), 295, 0.005));  // products still run in BF16
  compute(set(*lab, "phase", "prefill", "format", "bf16"));
  const double prefill_s = out(*lab, "time_s");
  CHECK(near(computed(set(*lab, "format", "fp4"), "time_s"), prefill_s, 0.01));
  compute(set(*lab, "format", "fp8", "activation_format", "fp8"));
  CHECK(near(out(*lab, "ridge"), 591, 0.005));
  set(*lab, "chip", "a100_80_sxm");
  lab->compute();
  CHECK(lab->reason().find("no dense FP8 peak") != std::string::npos);
}

TEST_CASE("transformer layer: a launch is the least that a kernel takes") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  compute(set(*lab, "model", "llama-3.2-1b", "phase", "decode", "context", 128, "launch_s", 5e-6));
  const Row norm = operation(*lab, "residual and attention norm"), logits = operation(*lab, "logits");
  CHECK(norm.regime == "launch");
  CHECK(norm.time_s == 5e-6);
  CHECK(logits.regime == "memory");
  CHECK(near(logits.time_s, logits.bytes / h100_bytes_per_s, 1e-9));
}

namespace {

/// The lab with its first picture drawn.
struct Drawn {
  LabPtr lab = open_lab("roofline/transformer-layer");
  Canvas canvas{*lab, {1100, 900}};
  UiDriver& ui = canvas.ui;
};

}  // namespace

TEST_CASE(
    "transformer layer: pressing an operation in the flow, the bars or the table selects it, and says its shape") {
  Drawn d;
  CHECK(d.ui.text_present("Attention is counted causal: half the square of the sequence."));
  const auto selected = [&] { return view(*d.lab, "selected").integer(); };
  CHECK(selected() == -1);
  d.ui.click("gate projection##flow");
  const auto all = operations(*d.lab);
  REQUIRE(selected() >= 0);
  CHECK(all[static_cast<std::size_t>(selected())].name == "gate projection");
  CHECK(d.ui.text_present("[4,096 × 8,192] × [8,192 × 28,672]"));
  d.ui.click("down projection##bars");
  CHECK(all[static_cast<std::size_t>(selected())].name == "down projection");
  d.ui.click("fused attention");
  CHECK(all[static_cast<std::size_t>(selected())].name == "fused attention");
  compute(set(*d.lab, "phase", "decode"));
  CHECK(d.ui.text_present("causal and full counts agree here"));
}

TEST_CASE(
    "transformer layer: a model of two kinds of layers shows the one that takes longest, and the other when asked") {
  Drawn d;
  compute(set(*d.lab, "model", "deepseek-v3"));
  d.ui.frames();
  CHECK(d.ui.has("router##flow"));
  const auto all = operations(*d.lab);
  const auto dense = std::find_if(all.begin(), all.end(),
                                  [](const Row& r) { return r.count == 3; });  // its first three layers have no experts
  REQUIRE(dense != all.end());
  d.ui.click(dense->kind + " × 3");
  d.ui.frames();
  CHECK_FALSE(d.ui.has("router##flow"));
  CHECK(d.ui.has("gate projection##flow"));
}

TEST_CASE("transformer layer: the answer names the longer block of the layer and the limit of most of the step") {
  const LabPtr lab = open_lab("roofline/transformer-layer");
  compute(set(*lab, "phase", "prefill", "sequence", 4096));
  CHECK(lab->answer() ==
        "In prefill the feed-forward block takes `78.6 %` of a layer's `7.79 ms`; arithmetic limits `94.4 %` of the "
        "step.\nThe step does `1,569 FLOP/B`; memory would be the limit below `295 FLOP/B`.");
  CHECK(near(out(*lab, "attention_block_share") + out(*lab, "feed_forward_block_share"), 100));
  compute(set(*lab, "fused_attention", 0, "sequence", 32768));
  CHECK(lab->answer().find("\nWith everything fused the step would take `6.24 s` instead of `18.0 s`.") !=
        std::string_view::npos);
  compute(set(*lab, "phase", "decode", "batch", 1, "context", 4096));
  CHECK(lab->answer().find("memory limits `100 %` of the step.") != std::string_view::npos);
  compute(set(*lab, "model", "llama-3.2-1b", "launch_s", 5e-6));
  CHECK(lab->answer().find("launching limits `") != std::string_view::npos);
  // Both are shares of the peak: the model's own FLOP are not a share of what the chip works at.
  const LabPtr trained = open_preset("roofline/transformer-layer", "A training step that recomputes");
  compute(*trained);
  CHECK(trained->answer().ends_with(
      "\nWith what is recomputed the chip works at `91.8 %` of its peak (HFU); without it at `68.8 %` (MFU)."));
  compute(set(*lab, "model", "deepseek-v3", "launch_s", 0));
  CHECK(lab->answer().find("of an expert layer's `") != std::string_view::npos);
}

TEST_CASE("transformer layer: the table begins with the costliest operations, whatever their place in the layer") {
  Drawn d;
  const auto top = [&](const char* name) { return d.ui.point_in(name, {0.5f, 0.5f}).y; };
  CHECK(top("gate projection##bars") < top("query projection##bars"));
  CHECK(top("down projection##bars") < top("fused attention##bars"));
}

TEST_CASE("transformer layer: answer and brackets say the same of the blocks, and training alone is set against runs") {
  ShellDriver d(bundled_content(), nowhere(), {1280, 800}, true);
  REQUIRE(d.workspace.open("roofline/transformer-layer"));
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("feed-forward block 78.6 %"));
  CHECK(d.ui.text_present("attention block 21.4 %"));
  CHECK(near(d.output("feed_forward_block_share").number(), 78.6, 1e-3));
  CHECK_FALSE(d.ui.text_present("measured in training: "));
  REQUIRE(d.input("phase").set_choice_id("train"));
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("measured in training: "));
  CHECK(d.ui.text_present("of its bound"));
  REQUIRE(d.input("phase").set_choice_id("prefill"));
  REQUIRE(d.input("model").set_choice_id("deepseek-v3"));
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("expert gate"));
  CHECK(d.ui.text_present("expert down"));
  CHECK(d.canvas_overflow_px() == 0);
}

// A matrix of n x k weights in two bytes: 2 b n k flops over 2 (n k + b (n + k)) bytes.
TEST_CASE("transformer layer: a batch raises the intensity of the weights and leaves that of attention as it is") {
  const LabPtr lab =
      open_lab("roofline/transformer-layer", R"({"model": "llama-2-7b", "phase": "decode", "batch": 1})");
  const double alone = computed(*lab, "weights_intensity"), attention = out(*lab, "attention_intensity");
  CHECK(near(alone, 1, 0.01));
  set(*lab, "batch", 64);
  CHECK(near(computed(*lab, "weights_intensity"), 64, 0.04));
  CHECK(near(out(*lab, "attention_intensity"), attention, 1e-9));
  // A key and a value for each query head: two flops a number of two bytes, and the softmax.
  CHECK(near(attention, 1, 0.1));
}
