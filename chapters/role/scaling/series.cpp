#include "chapters/role/scaling/series.h"

#include <array>

namespace chapters::role::scaling {
namespace {

using models::BatchRule;
using models::MeasuredStep;

// InternEvo at c628a8c87411, doc/en/train_performance.md lines 81, 84, 85: 2,048 sequences of 2,048 tokens; the step is
// batch x sequence / (tokens per second and GPU x GPUs).
constexpr std::array internlm_shared{MeasuredStep{256, 4.1796}, MeasuredStep{512, 2.6563}, MeasuredStep{1024, 1.746}};
// Lines 76 to 82: eight sequences a GPU, four micro-batches.
constexpr std::array internlm_own{MeasuredStep{8, 3.9932},   MeasuredStep{16, 4.1594},  MeasuredStep{64, 4.1542},
                                  MeasuredStep{128, 4.1711}, MeasuredStep{256, 4.1796}, MeasuredStep{512, 4.201}};
// MLPerf Training 5.0 at 0fdc28f01325, median logged steps of Llama 3.1 405B on H100. The last two had 1,216 and 1,536
// sequences a step and are brought to the 1,152 of the others.
constexpr std::array llama_405b{MeasuredStep{512, 55.1338}, MeasuredStep{2048, 14.2202},
                                MeasuredStep{2432, 12.7287 * 1152 / 1216}, MeasuredStep{8192, 5.1801 * 1152 / 1536}};
// Megatron-LM at d98e8a64ddf3, README: 47 % MFU on 96 H100 and 42 % on 4,608, the same 1,152 sequences; the step is
// 5.244e18 FLOP (layout and FLOPs of the same page) over MFU x GPUs x 989.4 TFLOP/s.
constexpr double gpt_gpu_s = 5.24388e18 / 989.4e12;
constexpr std::array gpt_177b{MeasuredStep{96, gpt_gpu_s / (0.47 * 96)}, MeasuredStep{4608, gpt_gpu_s / (0.42 * 4608)}};
// gpt-fast at 0f925b5d4ce4, README: tokens per second of one sequence.
constexpr std::array decode_7b{MeasuredStep{1, 1 / 104.9}, MeasuredStep{2, 1 / 168.84}, MeasuredStep{4, 1 / 254.02},
                               MeasuredStep{8, 1 / 328.43}};
// MaxText, README of the v5e configurations: 61.1 % MFU on one pod of 256 chips, 54.65 % on 32. A step's time is known
// up to a factor; it is set to 1 s on one pod.
constexpr std::array maxtext_16b{MeasuredStep{256, 1}, MeasuredStep{8192, 61.1 / 54.65}};

constexpr std::array<PublishedSeries, series_count> all{{
    {"InternLM 7B, A100", BatchRule::shared_batch, internlm_shared},
    {"InternLM 7B, A100", BatchRule::own_batch, internlm_own},
    {"Llama 3.1 405B, H100", BatchRule::shared_batch, llama_405b},
    {"GPT 177B, H100", BatchRule::shared_batch, gpt_177b},
    {"Llama-2-7B decode, A100", BatchRule::shared_batch, decode_7b},
    {"MaxText 16B, TPU v5e", BatchRule::own_batch, maxtext_16b},
    {"your points", BatchRule::shared_batch, {}},
}};

}  // namespace

const PublishedSeries& published_series(Series series) { return all[static_cast<std::size_t>(series)]; }

}  // namespace chapters::role::scaling
