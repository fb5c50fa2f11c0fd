#include <catch2/catch_test_macros.hpp>
#include <string>

#include "chapters/training/adapters/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

double out_of(const char* inputs, const char* key) {
  const LabPtr lab = open_lab("training/adapters", inputs);
  compute(*lab);
  return out(*lab, key);
}

}  // namespace

TEST_CASE("adapters lab: what goes and what stays when the weights freeze") {
  const LabPtr full = open_lab("training/adapters", R"({"method": "full"})");
  const LabPtr pairs = open_lab("training/adapters");
  compute(*full);
  compute(*pairs);
  CHECK(out(*pairs, "base_bytes") == out(*full, "base_bytes"));
  CHECK(near(out(*full, "full_states_bytes"), 14 * 8030261248.0));
  const double states = out(*pairs, "gradients_bytes") + out(*pairs, "master_bytes") + out(*pairs, "moments_bytes");
  CHECK(near(states, 14 * out(*pairs, "trained")));
  CHECK(states < 0.01 * out(*full, "full_states_bytes"));
  CHECK(out(*pairs, "activations_bytes") >= out(*full, "activations_bytes"));
  CHECK(out(*pairs, "full_activations_bytes") == out(*full, "activations_bytes"));
  const double few = out_of(R"({"targets": "query_value"})", "activations_bytes");
  CHECK(few < 0.8 * out(*full, "activations_bytes"));  // a quarter goes where few products have a pair
  CHECK(few > 0.6 * out(*full, "activations_bytes"));
  // Forward and input gradient are the model's and the pair's; of weight gradients the pair's alone is left.
  CHECK(near(out(*pairs, "weight_gradient_flops"), 2 * out(*pairs, "trained") * 8 * 2048));
  CHECK(out(*pairs, "flops_saved") > 30);
  CHECK(out(*pairs, "flops_saved") < 100.0 / 3);
  CHECK(out_of(R"({"recompute": true})", "flops_saved") < 25);
}

TEST_CASE("adapters lab: the answers") {
  const auto says = [](const char* inputs) { return answer_of("training/adapters", inputs); };
  CHECK(says("{}").starts_with("Training with LoRA needs `"));
  CHECK(says("{}").find(" of the FLOPs go.\nOn the small network rank `4` is good for `") != std::string::npos);
  CHECK(says(R"({"method": "full"})").find(", which do not fit.\n") != std::string::npos);
  CHECK(says(R"({"method": "full", "model": "gpt2-124m"})").find("do not fit") == std::string::npos);
  CHECK(says(R"({"model": "gpt-3"})").find(", still too much; ") != std::string::npos);
  CHECK(says("{}").find("LoRA adapters served together slow decode by `") != std::string::npos);
  CHECK(says(R"({"model": "gpt-3"})").ends_with("; weights, cache and adapters to serve do not fit one chip."));
  CHECK(says(R"({"rank": 512, "model": "gpt2-124m"})").find("there are more FLOPs") != std::string::npos);
}

TEST_CASE("adapters lab: four bits are smaller and slower than sixteen, and double quantization is 0.373 bits") {
  CHECK(out_of(R"({"method": "qlora"})", "memory_bytes") < out_of("{}", "memory_bytes"));
  CHECK(out_of(R"({"method": "qlora"})", "step_s") > out_of("{}", "step_s"));
  const double twice = out_of(R"({"method": "qlora", "model": "llama-2-7b"})", "base_bytes");
  const double once = out_of(R"({"method": "qlora", "model": "llama-2-7b", "double_quantized": false})", "base_bytes");
  CHECK(near(once - twice, 0.30e9, 0.02));  // LitGPT: 14.14 and 13.84 GB
}

TEST_CASE("adapters lab: a rank on the small network, before, at every rank, and with all weights") {
  const double before = out_of("{}", "base_loss"), all = out_of("{}", "full_fit_loss");
  const double one = out_of(R"({"fit_rank": 1})", "fit_loss"), eight = out_of(R"({"fit_rank": 8})", "fit_loss");
  CHECK(before > 3 * all);
  CHECK(one < before);
  CHECK(one > 2 * all);
  CHECK(eight < 1.25 * all);
  CHECK(out_of(R"({"fit_rank": 8})", "fit_trained") == 8 * (64 + 32 + 32 + 10));
  CHECK(out_of(R"({"fit_rank": 16})", "fit_trained") == 16 * (64 + 32) + 10 * (32 + 10));
  // New names for the digits need no new eyes, and one direction a layer is not enough.
  CHECK(out_of(R"({"shift": "relabelled", "fit_rank": 1})", "won_share") < 85);
  CHECK(out_of(R"({"shift": "relabelled", "fit_rank": 8})", "won_share") > 95);
}

TEST_CASE("adapters lab: served together") {
  const LabPtr lab = open_lab("training/adapters", R"({"distinct": 1})");
  compute(*lab);
  CHECK(near(out(*lab, "merged_decode_s"), out(*lab, "base_decode_s")));
  CHECK(out(*lab, "decode_s") > out(*lab, "base_decode_s"));
  CHECK(near(out(*lab, "adapter_read_bytes"), out(*lab, "one_adapter_bytes")));
  CHECK(out_of(R"({"distinct": 64})", "batched_gain") > 15);
  const LabPtr none = open_lab("training/adapters", R"({"distinct": 65})");
  CHECK(reason_of(*none).find("take fewer of them or a larger batch") != std::string::npos);
}

TEST_CASE("adapters lab: copies and adapters are drawn as far as they fit, and dashed from there on") {
  namespace lab = chapters::training::adapters;
  use_bundled_catalog();
  lab::Inputs in;
  lab::Fits fits;
  chapters::Progress progress;
  const auto picture = [&] {
    const auto done = lab::compute(in, progress, fits);
    REQUIRE(done.run);
    CHECK(done.facts.served_fit == (done.facts.adapters_fit >= static_cast<double>(in.distinct)));
    return lab::arrange(in, done.facts, *done.run);
  };
  const lab::Picture some = picture();
  REQUIRE(some.served.size() == 4);  // base; copies, and the few that fit; pairs, which all fit
  CHECK(some.served[1].x.back() == 64);
  CHECK(some.served[1].dashed);
  CHECK(some.served[2].x.back() == 3);
  CHECK(!some.served[2].dashed);
  CHECK(some.served[2].label == some.served[1].label);
  CHECK(!some.served[3].dashed);
  in.model = "llama-3-70b";
  const lab::Picture none = picture();
  REQUIRE(none.served.size() == 3);
  for (const auto& curve : none.served) CHECK(curve.dashed);
  CHECK(none.served_note.ends_with("base and cache do not fit this chip"));
}

TEST_CASE("adapters lab: on its own digits a pair does ever better, on others it may not") {
  const auto loss = [](const char* rank, const char* key) {
    return out_of((R"({"shift": "turned", "fit_rank": )" + std::string(rank) + "}").c_str(), key);
  };
  CHECK(loss("16", "fit_loss") > loss("8", "fit_loss"));
  CHECK(loss("16", "fit_training_loss") < loss("8", "fit_training_loss"));
  // More than all weights win is no sign that those know their digits by heart: they are behind on them too.
  const LabPtr renamed = open_lab("training/adapters", R"({"shift": "relabelled", "fit_rank": 8})");
  compute(*renamed);
  CHECK(out(*renamed, "won_share") > 100);
  CHECK(out(*renamed, "full_fit_training_loss") > out(*renamed, "fit_training_loss"));
}

TEST_CASE("adapters lab: a pair is as thick as the root of its rank, and a hand finds the rank back") {
  namespace lab = chapters::training::adapters;
  use_bundled_catalog();
  lab::Inputs in;
  lab::Fits fits;
  chapters::Progress progress;
  for (const std::int64_t rank : {1, 16, 200, 512}) {
    in.rank = rank;
    const auto done = lab::compute(in, progress, fits);
    REQUIRE(done.run);
    const lab::Picture p = lab::arrange(in, done.facts, *done.run);
    CHECK(p.inputs == 4096);
    CHECK(p.outputs == 14336);
    CHECK(lab::rank_at(p.share, 4096) == rank);
    CHECK(p.share <= p.most_share);
    CHECK(p.vessels[1].chosen);
    CHECK(p.vessels[1].bytes[2] == 0);  // gradients stand with the pairs
    CHECK(p.vessels[0].bytes[2] > 16e9);
  }
  CHECK(lab::rank_at(0, 4096) == 1);
  CHECK(lab::rank_at(5, 4096) == 512);
}

TEST_CASE("adapters lab: what is trained opens in the lab of training memory with the same bytes") {
  namespace lab = chapters::training::adapters;
  use_bundled_catalog();
  lab::Fits fits;
  chapters::Progress progress;
  lab::Inputs sharded{.method = lab::Method::qlora, .gpus = 8, .recompute = true};
  lab::Inputs narrow{.rank = 64, .targets = lab::Targets::query_value, .states = lab::States::moments_8bit};
  for (const lab::Inputs& in : {lab::Inputs{}, lab::Inputs{.method = lab::Method::full}, sharded, narrow}) {
    const models::adapters::Held held = lab::compute(in, progress, fits).facts.held;
    const auto link = lab::doors_of(in).front().link;
    REQUIRE(link);
    const LabPtr memory = open_link(*link);
    compute(*memory);
    INFO(*link);
    CHECK(near(out(*memory, "weights_bytes"), held.base + held.adapters, 1e-12));
    CHECK(near(out(*memory, "gradients_bytes"), held.gradients, 1e-12));
    CHECK(near(out(*memory, "master_bytes"), held.master, 1e-12));
    CHECK(near(out(*memory, "optimizer_bytes"), held.moments, 1e-12));
  }
  lab::Inputs in;
  in.method = lab::Method::bottleneck;
  CHECK(lab::doors_of(in).front().link.error.find("adapter layers are others") != std::string::npos);
  in.method = lab::Method::qlora;
  in.double_quantized = false;
  CHECK(lab::doors_of(in).front().link.error.find("quantized too") != std::string::npos);
}
