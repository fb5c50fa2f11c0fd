#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/lab/lab_fixture.h"
#include "tests/support/base/paths.h"

using chapters::LabPtr;
using lab_test::near;

namespace {

struct Row {
  std::string name, kind, regime;
  double count = 0, parameters = 0, flops = 0, bytes = 0, intensity = 0, time_s = 0, share = 0;
};

struct Bench {
  LabPtr lab;
  Bench() { lab = lab_test::open_lab("roofline/transformer-layer"); }
  const chapters::Field& in(std::string_view key) const {
    const auto* f = lab->inputs().find(key);
    INFO(key);
    REQUIRE(f);
    return *f;
  }
  Bench& choose(std::string_view key, std::string_view id) {
    INFO(id);
    REQUIRE(in(key).set_choice_id(id));
    return *this;
  }
  Bench& set(std::string_view key, double value) {
    in(key).set_number(value);
    return *this;
  }
  Bench& config(const std::string& file) {
    std::ifstream from(support::data_file("configs/") + file, std::ios::binary);
    std::ostringstream text;
    text << from.rdbuf();
    REQUIRE_FALSE(text.str().empty());
    in("config").file() = {"some/where/" + file, text.str()};
    return *this;
  }
  Bench& run() {
    lab->compute();
    INFO(lab->reason());
    REQUIRE(lab->reason().empty());
    return *this;
  }
  double operator[](std::string_view key) const {
    const auto* f = lab->outputs().find(key);
    INFO(key);
    REQUIRE(f);
    return f->number();
  }
  std::vector<Row> rows() const {
    const auto* table = lab->outputs().find("operations");
    REQUIRE(table);
    std::vector<Row> out;
    chapters::Fields cells;
    for (std::size_t i = 0; i < table->table_size(); ++i) {
      table->table_row(i, cells);
      const auto number = [&](const char* key) { return cells.find(key)->number(); };
      out.push_back({cells.find("name")->text(), cells.find("kind")->text(),
                     std::string(cells.find("regime")->choice_id()), number("count"), number("parameters"),
                     number("flops"), number("bytes"), number("intensity"), number("time_s"), number("share")});
    }
    return out;
  }
  Row row(const std::string& name) const {
    for (const Row& r : rows())
      if (r.name == name) return r;
    FAIL("no operation " << name);
    return {};
  }
};

constexpr double h100_flops_per_s = 989.4e12, h100_bytes_per_s = 3.35e12;  // NVIDIA H100 SXM data sheet, dense BF16

}  // namespace

TEST_CASE("transformer layer: parameters are the published ones to the last") {
  // Tensor sizes of the Hugging Face checkpoints; active counts as in the Mixtral paper (12.9 G) and DeepSeek-V3's (37
  // G).
  const std::map<std::string, double> published{{"llama-3-8b", 8030261248.0},       {"llama-3-70b", 70553706496.0},
                                                {"llama-3.1-405b", 405853388800.0}, {"deepseek-v3", 671026419200.0},
                                                {"mixtral-8x7b", 46702792704.0},    {"gpt2-124m", 124439808.0}};
  Bench b;
  for (const auto& [id, count] : published) {
    INFO(id);
    b.choose("model", id).run();
    CHECK(b["parameters_total"] == count);
    CHECK(b["parameters_attention"] + b["parameters_feed_forward"] + b["parameters_embedding"] +
              b["parameters_norms"] ==
          count);
    double in_rows = 0;
    for (const Row& row : b.rows()) in_rows += row.count * row.parameters;
    CHECK(in_rows == count);
  }
  CHECK(near(b.choose("model", "mixtral-8x7b").run()["parameters_active"], 12.9e9, 0.005));
  CHECK(near(b.choose("model", "deepseek-v3").run()["parameters_active"], 37e9, 0.02));
}

TEST_CASE(
    "transformer layer: a config.json says the same as the bundled model of that shape, whatever model is chosen") {
  const std::pair<const char*, const char*> forms[] = {
      {"llama-3-8b.json", "llama-3-8b"}, {"deepseek-v3.json", "deepseek-v3"}, {"gpt2.json", "gpt2-124m"}};
  for (const auto& [file, id] : forms) {
    for (const char* phase : {"train", "prefill", "decode"}) {
      INFO(file << ", " << phase);
      Bench bundled, own;
      bundled.choose("model", id).choose("phase", phase).set("sequence", 1000).set("context", 1000).run();
      own.choose("model", "llama-3-70b")
          .choose("phase", phase)
          .set("sequence", 1000)
          .set("context", 1000)
          .config(file)
          .run();
      for (const char* key :
           {"parameters_total", "parameters_active", "flops_total", "bytes_total", "time_s", "kv_bytes_per_token"})
        CHECK(own[key] == bundled[key]);
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
                     {"unknown_type.json", "mamba2", "llama"},
                     {"heads_do_not_divide.json", "num_key_value_heads", "7"},
                     {"text_for_a_number.json", "hidden_size", "number"}};
  Bench b;
  for (const Bad& one : bad) {
    b.config(one.file);
    b.lab->compute();
    INFO(one.file << ": " << b.lab->reason());
    CHECK(b.lab->reason().find(one.says) != std::string::npos);
    CHECK(b.lab->reason().find(one.also) != std::string::npos);
    CHECK(b.lab->reason().find('\n') == std::string::npos);
    CHECK(b.lab->reason().back() == '.');
    CHECK(b["flops_total"] == 0);
  }
  b.in("config").file() = {};
  CHECK(b.run()["parameters_total"] == 70553706496.0);
}

TEST_CASE("transformer layer: the table adds up to the totals, and each row's time is the wall it says") {
  for (const char* phase : {"train", "prefill", "decode"}) {
    for (const char* model : {"llama-3-70b", "deepseek-v3", "gemma-2-9b", "phi-2"}) {
      Bench b;
      b.choose("model", model).choose("phase", phase).set("batch", 3).run();
      INFO(model << ", " << phase);
      double flops = 0, bytes = 0, time_s = 0, share = 0;
      bool walls = true;
      for (const Row& row : b.rows()) {
        flops += row.count * row.flops;
        bytes += row.count * row.bytes;
        time_s += row.count * row.time_s;
        share += row.share;
        const double compute_s = row.flops / h100_flops_per_s, memory_s = row.bytes / h100_bytes_per_s;
        walls = walls && near(row.time_s, std::max(compute_s, memory_s), 1e-3) &&
                row.regime == (compute_s >= memory_s ? "compute" : "memory");
      }
      CHECK(walls);
      CHECK(near(bytes, b["bytes_total"], 1e-12));
      CHECK(near(time_s, b["time_s"], 1e-12));
      CHECK(near(share, 1, 1e-12));
      CHECK(flops >= b["flops_total"]);  // softmax, norms and the like are in the rows alone
      CHECK(near(flops, b["flops_total"], 0.03));
    }
  }
}

TEST_CASE(
    "transformer layer: training flops are Megatron-LM's when attention counts causal, and half a square more in "
    "full") {
  Bench b;
  b.choose("model", "llama-3.1-405b").choose("phase", "train").set("sequence", 8192).run();
  const double causal = b["flops_per_token"];
  CHECK(near(causal, 2523955986432.0, 1e-9));  // num_floating_point_operations of Megatron-LM, run on this model
  CHECK(near(b["flops_total"], 20676247440850944.0, 1e-9));
  CHECK(near(b["megatron_ratio"], 1, 1e-9));
  // What 6ND leaves out: 6 L H Q T of causal attention. Norms, which it counts, multiply nothing.
  const double attention = 6.0 * 126 * 128 * 128 * 8192, matrices = 405853388800.0 - 128256.0 * 16384;
  CHECK(near(b["six_nd_ratio"], 1 + attention / (6 * matrices), 1e-4));
  b.choose("attention_flops", "full").run();
  CHECK(near(b["flops_per_token"] - causal, attention, 1e-9));
  CHECK(b["megatron_ratio"] > 1.03);
  // The comparison speaks of training whatever the phase.
  const double ratio = b["megatron_ratio"];
  CHECK(b.choose("phase", "decode").run()["megatron_ratio"] == ratio);
}

TEST_CASE(
    "transformer layer: recomputing a layer's forward adds a third to the hardware's flops and nothing to the "
    "model's") {
  Bench b;
  b.choose("phase", "train").choose("model", "llama-2-7b").run();
  const double flops = b["flops_total"];
  CHECK(near(b["mfu"], b["hfu"], 1e-12));
  b.choose("recompute", "full").run();
  CHECK(near(b["flops_total"], flops * 4 / 3,
             0.01));  // Narayanan et al. 2021: 96 for 72; the logits are not computed again
  CHECK(near(b["hfu"] / b["mfu"], b["flops_total"] / flops, 1e-9));
}

TEST_CASE(
    "transformer layer: decoding one sequence takes as long as reading the weights, and every operation waits for "
    "memory") {
  Bench b;
  b.choose("phase", "decode").set("batch", 1).set("context", 4096).run();
  const double weights = 2 * (70553706496.0 - 128256.0 * 8192),
               cache = 4096 * 327680.0;  // the input embedding is looked up
  CHECK(near(b["time_s"], (weights + cache) / h100_bytes_per_s, 2e-3));
  CHECK(b["time_s"] >= (weights + cache) / h100_bytes_per_s);
  CHECK(near(b["memory_bound_share"], 100, 1e-12));
  // One flop a byte of weights; of the cache 8, since eight query heads share each key and value.
  CHECK(near(b["intensity"], (weights + 8 * cache) / (weights + cache), 0.005));
  CHECK(near(b["ridge"], 295, 0.005));
  CHECK(b["kv_bytes_per_token"] == 327680);
  CHECK(b["kv_total_bytes"] == cache);
  CHECK(b["weights_bytes"] == 2 * 70553706496.0);
  CHECK(near(b["chip_share"], 100 * (2 * 70553706496.0 + cache) / 80e9, 0.01));
  CHECK(near(b["tokens_per_s"] * b["time_s"], 1, 1e-12));
  // A whole prompt turns the projections over the ridge and leaves the norms under it.
  b.choose("phase", "prefill").set("sequence", 4096).run();
  CHECK(b.row("gate projection").regime == "compute");
  CHECK(b.row("residual and attention norm").regime == "memory");
  CHECK(b["memory_bound_share"] < 10);
}

TEST_CASE("transformer layer: unfused attention moves four squares of scores a layer") {
  Bench b;
  b.choose("phase", "prefill").set("sequence", 8192).run();
  CHECK(b["bytes_total"] == b["fused_bytes"]);
  b.set("fused_attention", 0).run();
  const double squares =
      80 * 4 * (64.0 * 8192 * 8192 * 2);  // written, read by the softmax, written, read for the values
  CHECK(near(b["bytes_total"] - b["fused_bytes"], squares, 1e-9));
  CHECK(b["bytes_total"] < b["unfused_bytes"]);
  CHECK(b.set("fused_elementwise", 0).run()["bytes_total"] == b["unfused_bytes"]);
  CHECK(b["time_s"] == b["unfused_time_s"]);
  CHECK(b["fused_time_s"] < b["unfused_time_s"]);
}

TEST_CASE(
    "transformer layer: narrow weights speed up decoding and leave prefill's arithmetic alone; a missing peak is "
    "said") {
  Bench b;
  b.choose("phase", "decode").set("context", 1).run();
  const double wide_s = b["time_s"];
  CHECK(near(b.choose("format", "fp4").run()["time_s"], wide_s / 4, 0.01));
  CHECK(b["weights_bytes"] == 70553706496.0 / 2);
  CHECK(near(b["ridge"], 295, 0.005));  // products still run in BF16
  b.choose("phase", "prefill").choose("format", "bf16").run();
  const double prefill_s = b["time_s"];
  CHECK(near(b.choose("format", "fp4").run()["time_s"], prefill_s, 0.01));
  b.choose("format", "fp8").choose("activation_format", "fp8").run();
  CHECK(near(b["ridge"], 591, 0.005));
  b.choose("chip", "a100_80_sxm");
  b.lab->compute();
  CHECK(b.lab->reason().find("no dense FP8 peak") != std::string::npos);
}

TEST_CASE("transformer layer: a launch is the least that a kernel takes") {
  Bench b;
  b.choose("model", "llama-3.2-1b").choose("phase", "decode").set("context", 128).set("launch_s", 5e-6).run();
  const Row norm = b.row("residual and attention norm"), logits = b.row("logits");
  CHECK(norm.regime == "launch");
  CHECK(norm.time_s == 5e-6);
  CHECK(logits.regime == "memory");
  CHECK(near(logits.time_s, logits.bytes / h100_bytes_per_s, 1e-9));
}

namespace {

struct Drawn {
  Bench bench;
  lab_test::Canvas canvas{*bench.lab, {1100, 900}};
  support::UiDriver& ui = canvas.ui;
};

}  // namespace

TEST_CASE(
    "transformer layer: pressing an operation in the flow, the bars or the table selects it, and says its shape") {
  Drawn d;
  d.bench.run();
  CHECK(d.ui.text_present("Attention is counted causal: half the square of the sequence."));
  const auto selected = [&] { return d.bench.lab->view().find("selected")->integer(); };
  CHECK(selected() == -1);
  d.ui.click("gate projection##flow");
  const auto rows = d.bench.rows();
  REQUIRE(selected() >= 0);
  CHECK(rows[static_cast<std::size_t>(selected())].name == "gate projection");
  CHECK(d.ui.text_present("[4,096 × 8,192] × [8,192 × 28,672]"));
  d.ui.click("down projection##bars");
  CHECK(rows[static_cast<std::size_t>(selected())].name == "down projection");
  d.ui.click("fused attention");
  CHECK(rows[static_cast<std::size_t>(selected())].name == "fused attention");
  d.bench.choose("phase", "decode").run();
  CHECK(d.ui.text_present("causal and full counts agree here"));
}

TEST_CASE(
    "transformer layer: a model of two kinds of layers shows the one that takes longest, and the other when asked") {
  Drawn d;
  d.bench.choose("model", "deepseek-v3").run();
  d.ui.frames();
  CHECK(d.ui.has("router##flow"));
  const auto rows = d.bench.rows();
  const auto dense = std::find_if(rows.begin(), rows.end(),
                                  [](const Row& r) { return r.count == 3; });  // its first three layers have no experts
  REQUIRE(dense != rows.end());
  d.ui.click(dense->kind + " × 3");
  d.ui.frames();
  CHECK_FALSE(d.ui.has("router##flow"));
  CHECK(d.ui.has("gate projection##flow"));
}
