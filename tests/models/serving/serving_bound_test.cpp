// The best that a machine could do, against bounds worked out elsewhere beside published runs, and against the runs.
#include "models/serving/engine/serving_bound.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

ServingBound bound(const char* model, const char* chip, double chips, Format format, KvFormat kv, double sequences,
                   double prompt, double output, bool batch_waits = false) {
  const ServingMachine machine{.chip = &bundled_chip(chip), .chips = chips, .format = format, .kv = kv};
  const auto found =
      serving_bound(models_test::shipped_model(model).architecture, machine, sequences, prompt, output, batch_waits);
  REQUIRE(found);
  return *found;
}

}  // namespace

// Time per token of runs that ai-dynamo/aiconfigurator and the TPU recipes print, in milliseconds, and the bounds that
// bytes and bandwidth give by hand. Lengths of the dated ones are nine tenths of nominal.
TEST_CASE("serving: the pace at full roofs is that of weights and cache over the bandwidth, and no run beats it") {
  struct Case {
    const char *model, *chip;
    double chips;
    Format format;
    double sequences, prompt, output, bound_ms, measured_ms;
  };
  for (const Case& c : {Case{"llama-3-70b", "h100_sxm", 2, Format::fp8, 4, 921.6, 921.6, 10.51, 17.41},
                        Case{"llama-3-70b", "h100_sxm", 8, Format::fp8, 64, 921.6, 921.6, 3.134, 15.45},
                        Case{"llama-3-70b", "h200_sxm", 1, Format::fp8, 128, 921.6, 921.6, 20.52, 44.92},
                        Case{"llama-3-70b", "b200_sxm", 1, Format::fp8, 128, 921.6, 7372.8, 21.58, 26.62},
                        Case{"llama-3-8b", "h100_sxm", 1, Format::bf16, 8, 921.6, 460.8, 4.881, 7.417},
                        Case{"llama-3-70b", "tpu_v6e", 8, Format::bf16, 64, 1000, 1000, 13.01, 25.35}}) {
    const KvFormat kv = c.format == Format::fp8 ? KvFormat::fp8 : KvFormat::bf16;
    const ServingBound b = bound(c.model, c.chip, c.chips, c.format, kv, c.sequences, c.prompt, c.output);
    INFO(c.model << " on " << c.chips << " x " << c.chip << ": " << 1e3 * b.tpot_s << " ms against " << c.bound_ms);
    CHECK(near(1e3 * b.tpot_s, c.bound_ms, 0.02));
    CHECK(1e3 * b.tpot_s < c.measured_ms);
    CHECK(b.sequences == c.sequences);
  }
}

// TensorRT-LLM's tables of saturated servers and of static batches, output tokens a second of all chips.
TEST_CASE("serving: tokens a second at full roofs, of servers that are full and of static batches") {
  struct Case {
    const char *model, *chip;
    double chips, sequences, prompt, output;
    bool batch_waits;
    double bound_per_s, measured_per_s;
  };
  for (const Case& c : {Case{"llama-3-70b", "h200_sxm", 1, 2015, 128, 128, false, 7118, 3803},
                        Case{"llama-3-70b", "h100_sxm", 2, 162, 2048, 2048, false, 7182, 3082},
                        Case{"llama-3.1-405b", "h200_sxm", 8, 2240, 128, 2048, false, 18450, 5348},
                        Case{"llama-2-7b", "h100_sxm", 1, 768, 128, 128, true, 41200, 19694},
                        Case{"llama-2-70b", "h100_sxm", 2, 64, 2048, 2048, true, 3702, 1094},
                        Case{"llama-2-7b", "gaudi2", 1, 81, 2048, 2048, true, 2651, 1953}}) {
    const ServingBound b =
        bound(c.model, c.chip, c.chips, Format::fp8, KvFormat::fp8, c.sequences, c.prompt, c.output, c.batch_waits);
    INFO(c.model << " on " << c.chips << " x " << c.chip << ": " << b.tokens_per_s << " against " << c.bound_per_s);
    CHECK(near(b.tokens_per_s, c.bound_per_s, 0.02));
    CHECK(b.tokens_per_s > c.measured_per_s);
  }
}

// First tokens of TensorRT-LLM v0.5, batch of one: 7, 36 and 26 ms.
TEST_CASE("serving: a first token takes the weights once or the prompt's arithmetic, whichever is longer") {
  CHECK(near(1e3 * bound("llama-2-7b", "h100_sxm", 1, Format::fp8, KvFormat::fp8, 1, 128, 1).ttft_s, 1.972, 0.02));
  CHECK(near(1e3 * bound("llama-2-7b", "h100_sxm", 1, Format::fp8, KvFormat::fp8, 1, 2048, 1).ttft_s, 13.68, 0.02));
  CHECK(near(1e3 * bound("llama-2-70b", "h100_sxm", 4, Format::fp8, KvFormat::fp8, 1, 128, 1).ttft_s, 5.128, 0.02));
}

TEST_CASE("serving: no more sequences are counted on than memory holds, and of experts those of one token") {
  const ServingBound b = bound("llama-3-70b", "h200_sxm", 1, Format::fp8, KvFormat::fp8, 4096, 1000, 1000);
  CHECK(b.sequences < 300);  // 141 GB less 70.6 GB, over 1,500 tokens of 163,840 bytes
  CHECK(b.sequences > 280);
  // 12.75 G of 46.7 G parameters, in two bytes over 2.04 TB/s.
  const ServingBound mixtral = bound("mixtral-8x7b", "a100_80_sxm", 2, Format::bf16, KvFormat::bf16, 1, 5, 200);
  CHECK(near(1 / mixtral.tpot_s, 159.9, 0.02));
}
