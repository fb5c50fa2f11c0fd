#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "chapters/profiling/utilization/lab.h"
#include "chapters/profiling/utilization/second_layout.h"
#include "models/training/utilization.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
using chapters::profiling::utilization::layout_second;
using chapters::profiling::utilization::LedgerLine;
using chapters::profiling::utilization::SecondLayout;
using chapters::profiling::utilization::SecondPart;

namespace {

constexpr const char* loss_keys[] = {"loss_data",  "loss_copies",        "loss_host",      "loss_sync",
                                     "loss_idle",  "loss_communication", "loss_optimizer", "loss_other",
                                     "loss_extra", "loss_recompute",     "loss_below_peak"};

/// Losses and what is needed, percent.
double whole_second(const Lab& lab) {
  double sum = out(lab, "needed");
  for (const char* key : loss_keys) sum += out(lab, key);
  return sum;
}

float six_a_letter(std::string_view s, widgets::Type) { return 6.0f * static_cast<float>(s.size()); }

}  // namespace

TEST_CASE("utilization lab: whatever the second comes from, its losses and what is needed are the whole of it") {
  for (const char* inputs :
       {"{}", R"({"recompute": "selective", "fused_attention": false})", R"({"workers": 0, "load_s": 0.2})",
        R"({"ranks": 64, "bus_bytes_per_s": 5e9})", R"({"job": "decoding", "model": "llama-3-8b"})",
        R"({"job": "rate", "model": "llama-3.1-8b", "sequence": 8192, "tokens_per_s": 5762})",
        R"({"job": "recording"})", R"({"job": "recording", "sample": "hidden_sync"})"}) {
    INFO(inputs);
    const LabPtr lab = open_lab("profiling/utilization", inputs);
    compute(*lab);
    CHECK(near(whole_second(*lab), 100, 1e-6));
    CHECK(out(*lab, "needed") <= out(*lab, "issued") + 1e-9);
    CHECK(out(*lab, "issued") <= out(*lab, "busy") + 1e-9);
  }
}

TEST_CASE("utilization lab: the four meters part where their definitions do") {
  const LabPtr lab = open_lab("profiling/utilization");
  compute(*lab);
  CHECK(near(out(*lab, "busy"), 98.2, 0.005));
  CHECK(near(out(*lab, "mfu"), 37.6, 0.01));
  CHECK(lab->answer() ==
        "The GPU is busy `98.2 %` of the time, but multiplies at `47.9 %` of its peak, and the model needs only "
        "`37.6 %`.\nThe largest loss: matmuls below the peak, `20.6 %`.");
  // A slow network: busy rises, MFU falls. A slow loader: both fall.
  const LabPtr network = open_preset("profiling/utilization", "Slow network");
  compute(*network);
  CHECK(out(*network, "busy") > out(*lab, "busy"));
  CHECK(out(*network, "mfu") < 5);
  CHECK(out(*network, "loss_communication") > 90);
  const LabPtr starved = open_preset("profiling/utilization", "Starved loader");
  compute(*starved);
  CHECK(out(*starved, "busy") < 40);
  // Recompute is HFU and no MFU, whatever it is called.
  compute(set(*lab, "count_recompute", 1));
  CHECK(out(*lab, "mfu") == out(*lab, "hfu"));
  CHECK(near(out(*lab, "needed"), 37.6, 0.01));
}

TEST_CASE("utilization lab: a convention changes what is reported and nothing that ran") {
  const LabPtr lab = open_lab("profiling/utilization", R"({"job": "rate", "model": "llama-3.1-8b", "sequence": 8192,
                                                           "recompute": "selective", "tokens_per_s": 5762})");
  // torchtitan prints 33 % for this rate; Megatron's count makes 30.0 of it.
  CHECK(near(computed(*lab, "mfu"), 30.0, 0.002));
  const double needed = out(*lab, "needed"), busy = out(*lab, "busy");
  CHECK(near(computed(set(*lab, "attention", "full"), "mfu"), 33.73, 0.001));
  CHECK(out(*lab, "needed") == needed);
  CHECK(out(*lab, "busy") == busy);
  // Counted and never run is the masked half: 57.91 less 51.47 GFLOP a token, whatever else ran beside it.
  CHECK(near(out(*lab, "never_run"), out(*lab, "mfu") - needed, 1e-6));
  CHECK(std::isnan(output(*lab, "products").number()));
  CHECK(cell_text(*lab, "losses", 0, "name") == "not multiplying at the peak");
  CHECK(text_of(*lab, "largest") == "not multiplying at the peak");
  CHECK(cell(*lab, "conventions", 0, "against") == 0);  // exactly: the causal half is what is needed
  const double dense = out(*lab, "mfu");
  CHECK(near(computed(set(*lab, "peak", "sparse"), "mfu"), dense / 2));
  // Over the BF16 peak an FP8 run may exceed what is possible in BF16.
  compute(set(*lab, "format", "fp8", "peak", "bf16"));
  const double over_bf16 = out(*lab, "mfu");
  CHECK(near(computed(set(*lab, "peak", "format"), "mfu"), over_bf16 * 989.4 / 1978.9, 1e-3));
  const LabPtr beyond = open_preset("profiling/utilization", "HFU above 100 %");
  compute(*beyond);
  CHECK(out(*beyond, "hfu") > 100);
  CHECK(out(*beyond, "issued") < 70);
  CHECK(near(out(*beyond, "never_run"), out(*beyond, "mfu") - out(*beyond, "needed"), 1e-6));
  // What runs twice is counted and run; unfused attention multiplies the masked half; a table is looked up.
  const LabPtr plain = open_lab("profiling/utilization", R"({"count_recompute": true})");
  CHECK(computed(*plain, "never_run") == 0);
  CHECK(computed(set(*plain, "attention", "full"), "never_run") > 1);
  CHECK(computed(set(*plain, "fused_attention", 0), "never_run") == 0);
  const LabPtr table = open_lab("profiling/utilization", R"({"job": "rate", "model": "llama-3.1-8b", "sequence": 8192,
                                                             "weights": "with_embedding", "tokens_per_s": 5762})");
  // 6 flops of 128,256 x 4,096 parameters that are looked up.
  CHECK(near(computed(*table, "never_run"), 100 * 6 * 128256.0 * 4096 * 5762 / 989.4e12, 1e-3));
}

TEST_CASE("utilization lab: a printed rate is read by what was trained") {
  // Megatron-Bridge prints 735 TFLOP/s for LoRA of Llama 3 70B, and 557 for DeepSeek-V3 with a module of multi-token
  // prediction: counted as if all were trained the one reads half as much again, without the module the other less.
  const LabPtr lora = open_preset("profiling/utilization", "Frozen weights");
  CHECK(near(computed(*lora, "reported_flops_per_s"), 735e12, 0.006));
  const double needed = out(*lora, "needed");
  CHECK(near(whole_second(*lora), 100, 1e-6));
  CHECK(near(computed(set(*lora, "frozen", 0), "reported_flops_per_s"), 1.5 * 735e12, 0.006));
  CHECK(out(*lora, "needed") > 1.4 * needed);
  const LabPtr ahead = open_preset("profiling/utilization", "One token ahead");
  CHECK(near(computed(*ahead, "reported_flops_per_s"), 557e12, 0.004));
  CHECK(near(out(*ahead, "mfu"), out(*ahead, "needed"), 5e-3));  // the router is needed, and in no convention
  CHECK(near(whole_second(*ahead), 100, 1e-6));
  CHECK(computed(set(*ahead, "mtp_layers", 0), "reported_flops_per_s") < 0.97 * 557e12);
}

TEST_CASE("utilization lab: what cannot be is refused in a sentence") {
  const auto refused = [](const char* inputs) {
    const LabPtr lab = open_lab("profiling/utilization", inputs);
    return reason_of(*lab);
  };
  CHECK(refused(R"({"model": "llama-3-8b"})") ==
        "Weights, gradients and AdamW's moments in FP32 (16 B per parameter) take 128 GB on each GPU, and the NVIDIA "
        "H100 SXM5 80GB has 80 GB: choose a smaller model, or type the rate of a run that was sharded.");
  CHECK(refused(R"({"job": "rate", "tokens_per_s": 1000000})")
            .starts_with("These matmuls would need more time at the chip's peak than they took"));
  CHECK(refused(R"({"job": "recording", "chip": "v100_sxm2", "format": "fp16"})")
            .starts_with("These matmuls would need more time"));
}

TEST_CASE("utilization lab: decoding is measured in bytes") {
  const LabPtr lab = open_lab("profiling/utilization",
                              R"({"job": "decoding", "model": "llama-3-8b", "batch": 1, "mode": "compiled_graph",
                                  "bandwidth_share": 0.9, "bytes": "weights"})");
  compute(*lab);
  CHECK(out(*lab, "mfu") < 0.5);
  CHECK(out(*lab, "mbu") > 70);
  // 8,030,261,248 parameters of 2 bytes, once a step.
  CHECK(near(out(*lab, "counted_bytes"), 2 * 8030261248.0, 1e-3));
  const double weights = out(*lab, "mbu");
  CHECK(computed(set(*lab, "bytes", "weights_and_cache"), "mbu") > weights);
  CHECK(lab->answer().starts_with("Decoding is limited by memory: "));
  // The whole of a mixture is more than a step of one sequence reads.
  const LabPtr mixture = open_lab("profiling/utilization", R"({"job": "decoding", "model": "deepseek-v2-lite",
                                                               "batch": 1, "bytes": "weights"})");
  compute(*mixture);
  CHECK(out(*mixture, "mbu") > 100);
  CHECK(mixture->answer().find("because it counts weights that were not read.") != std::string::npos);
  // Thousands of short sequences are bound by the matrix units, and MBU says less than MFU.
  compute(set(*lab, "batch", 65536, "context", 1));
  CHECK(out(*lab, "mbu") < out(*lab, "needed"));
  CHECK(lab->answer().starts_with("Decoding so many sequences is limited by FLOPs: "));
}

TEST_CASE("utilization lab: the made-up recording has shapes, kernels and no model") {
  const LabPtr lab = open_lab("profiling/utilization", R"({"job": "recording"})");
  compute(*lab);
  CHECK(out(*lab, "calls") == 4 * (5 * 15 + 1));
  CHECK(out(*lab, "unknown_calls") == 0);
  CHECK(std::isnan(output(*lab, "mbu").number()));
  CHECK(cell_text(*lab, "product_rows", 0, "name") == "aten::mm");
  CHECK(rows(*lab, "conventions") == 0);
  // Nothing runs twice: HFU is MFU, though attention's backward pass multiplies a little more.
  CHECK(out(*lab, "hfu") == out(*lab, "mfu"));
  CHECK(out(*lab, "issued") > out(*lab, "needed"));
  // The trace viewer counts copies as busy, nvidia-smi does not.
  const LabPtr viewer = open_lab("profiling/trace-viewer", R"({"sample": "none"})");
  compute(*viewer);
  CHECK(near(out(*lab, "busy") + out(*lab, "loss_copies"), out(*viewer, "busy_share"), 1e-4));
  CHECK(
      near(out(*lab, "loss_communication") * out(*lab, "step_s"), 100 * out(*viewer, "exposed_communication_s"), 1e-6));
  // Four kernels of 204 us, give or take 3 %, are the optimizer of each of four steps.
  CHECK(near(out(*lab, "loss_optimizer") * out(*lab, "step_s"), 100 * 16 * 204e-6, 0.03));
  // One step has a quarter of the work; the last is also what lies beyond it.
  const double all = out(*lab, "counted_flops");
  compute(set(*lab, "step", 4));
  CHECK(out(*lab, "counted_flops") < 0.3 * all);
  CHECK(near(whole_second(*lab), 100, 1e-6));
  const double last = out(*lab, "counted_flops");
  CHECK(computed(set(*lab, "step", 90), "counted_flops") == last);
}

TEST_CASE("utilization lab: a ring of many GPUs pays for every hop") {
  const LabPtr lab = open_lab("profiling/utilization", R"({"ranks": 1024, "hop_latency_s": 0})");
  const double without_s = computed(*lab, "step_s");
  // 16 buckets, one a layer, of 2 x 1,023 steps of 5 us, most of them longer than the layer's backward pass.
  const double with_s = computed(set(*lab, "hop_latency_s", 5e-6), "step_s");
  CHECK(with_s > without_s + 0.05);
  CHECK(with_s < without_s + 16 * 2 * 1023 * 5e-6);
}

TEST_CASE("utilization lab: our own recordings of a step on an H100, beside the count from the architecture") {
  // Not part of the project: RIDGELINE_GPU, or gpu beside the source.
  const char* given = std::getenv("RIDGELINE_GPU");
  const std::filesystem::path folder =
      given ? std::filesystem::path(given) : std::filesystem::path(source_file("")).parent_path().parent_path() / "gpu";
  const auto file = folder / "step_llama_1b.json.gz";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) SKIP("the recordings are not here");
  const LabPtr lab = open_lab("profiling/utilization", R"({"job": "recording"})");
  auto bytes = std::make_shared<chapters::FileBytes>();
  bytes->path = file.string();
  const std::string text = read_text(file);
  bytes->size_bytes = text.size();
  bytes->read = [&text](std::string& to) {
    to = text;
    return models::Status::ok();
  };
  input(*lab, "file").file() = {file.string(), {}, bytes};
  compute(*lab);
  CHECK(text_of(*lab, "device") == "NVIDIA H100 80GB HBM3");
  CHECK(out(*lab, "unknown_calls") == 0);
  CHECK(out(*lab, "busy") > 95);
  CHECK(out(*lab, "products") < 65);
  // Two steps of four sequences of 2,048 tokens, Llama 3.2 1B, nothing recomputed.
  const LabPtr model = open_lab("profiling/utilization", R"({"job": "rate", "model": "llama-3.2-1b", "batch": 4,
                                                             "sequence": 2048, "recompute": "none"})");
  compute(*model);
  CHECK(near(out(*lab, "counted_flops"), 2 * out(*model, "counted_flops"), 2e-3));
  CHECK(near(out(*lab, "mfu"), 43.2, 0.01));
}

TEST_CASE("utilization lab: until the job has a result the picture has no second, and no width that is no number") {
  const auto p = chapters::profiling::utilization::arrange({}, {});
  CHECK(p.parts.empty());
  CHECK(p.ledger.empty());
  CHECK(p.products == 0);
  CHECK(p.busy == 0);
}

TEST_CASE("utilization lab: a row of the conventions, clicked, is the convention") {
  const LabPtr lab = open_lab("profiling/utilization");
  compute(*lab);
  Canvas canvas(*lab, {1400, 1100});
  canvas.ui.click("full, recompute in");
  CHECK(input(*lab, "attention").choice_id() == "full");
  CHECK(input(*lab, "count_recompute").toggle());
  canvas.ui.click("6N, no attention");
  CHECK(input(*lab, "attention").choice_id() == "none");
  CHECK(!input(*lab, "count_recompute").toggle());
}

TEST_CASE("second: areas are shares, neighbours touch, and a frame over the peak stops at it") {
  const std::vector<SecondPart> parts{{.name = "needed", .x1 = 0.6, .y1 = 0.5},
                                      {.name = "twice", .x1 = 0.6, .y0 = 0.5, .y1 = 0.7},
                                      {.name = "below", .x1 = 0.6, .y0 = 0.7, .y1 = 1},
                                      {.name = "kernels that multiply nothing at all", .x0 = 0.6, .x1 = 0.9, .y1 = 1},
                                      {.name = "idle", .x0 = 0.9, .x1 = 1, .y1 = 1},
                                      {.name = "nothing", .x0 = 1, .x1 = 1, .y1 = 1}};
  const std::vector<LedgerLine> ledger{{.words = "one second", .value = "100 %"}, {.words = "busy", .value = "90 %"}};
  SecondLayout l;
  layout_second(parts, ledger, 0.9, 0.6, 0.3, 4, {{10, 20}, {810, 420}}, six_a_letter, 1, 14, l);
  REQUIRE(l.parts.size() == 5);
  const float area = l.square.width() * l.square.height();
  float sum = 0;
  for (const auto& p : l.parts) {
    const float share = p.rect.width() * p.rect.height() / area;
    CHECK(std::abs(share - static_cast<float>(parts[p.part].share())) <= 1e-4f);
    sum += share;
    CHECK((p.rect.min.x >= l.square.min.x - 0.01f && p.rect.max.x <= l.square.max.x + 0.01f));
  }
  CHECK(std::abs(sum - 1) <= 1e-3f);
  CHECK(l.parts[0].rect.min.y == l.parts[1].rect.max.y);
  CHECK(l.parts[0].rect.max.x == l.parts[3].rect.min.x);
  CHECK(l.busy_x == l.parts[4].rect.min.x);
  CHECK(l.parts[0].named);
  CHECK(!l.parts[3].named);  // 216 px of letters in less
  CHECK(l.reported_y == l.parts[0].rect.min.y);
  CHECK(!l.reported_over);
  CHECK(l.ledger.min.x > l.square.max.x);
  CHECK(l.dimension_y[1] + 14 <= 420);
  layout_second(parts, ledger, 0.9, 0.6, 0.7, 4, {{10, 20}, {810, 420}}, six_a_letter, 1, 14, l);
  CHECK(l.reported_over);
  // Two lines and four meters have room; in 60 px there is none for the meters.
  CHECK(l.meters_top >= 20 + 2 * l.line_px);
  CHECK(l.meters_top + 4 * 1.5f * l.line_px <= 420.5f);
  SecondLayout low;
  layout_second(parts, ledger, 0.9, 0.6, 0.4, 4, {{10, 20}, {810, 140}}, six_a_letter, 1, 14, low);
  CHECK(low.meters_top < 0);
  CHECK(!low.has_dimensions);
  CHECK(low.square.max.y >= 138);
  // Ten lines do not fit: the totals alone do, whole.
  std::vector<LedgerLine> many(10, LedgerLine{.words = "a loss", .value = "1 %"});
  for (const std::size_t i : {0u, 4u, 9u}) many[i].total = true;
  layout_second(parts, many, 0.9, 0.6, 0.4, 4, {{10, 20}, {810, 140}}, six_a_letter, 1, 14, low);
  CHECK(low.totals_only);
  CHECK(3 * low.line_px <= 120);
  layout_second(parts, many, 0.9, 0.6, 0.4, 4, {{10, 20}, {810, 420}}, six_a_letter, 1, 14, low);
  CHECK(!low.totals_only);
  // The reported line, at two thirds of the products, does not run through the words of the part that it cuts.
  layout_second(parts, ledger, 0.9, 0.6, 0.48, 4, {{10, 20}, {810, 420}}, six_a_letter, 1, 14, low);
  CHECK(low.reported_y > low.parts[2].rect.min.y);
  CHECK(low.reported_y < low.parts[2].rect.max.y);
  CHECK(std::abs(low.parts[2].name_y - low.reported_y) > 14);
  CHECK(l.reported_y == l.square.min.y);
}
