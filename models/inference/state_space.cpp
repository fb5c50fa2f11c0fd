#include "models/inference/state_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "models/base/integer_math.h"
#include "models/machine/op_cost.h"
#include "models/transformer/layer_ops.h"

namespace models::inference {
namespace {

constexpr double no_context = std::numeric_limits<double>::infinity();

/// Widths as their config files state them. Experts: 3 x hidden x inner width each, layers with experts counted.
constexpr auto published_state_models = std::to_array<StateModel>({
    {.id = "mamba2-8b",
     .name = "Mamba-2 8B",
     .source = "Waleffe et al., An Empirical Study of Mamba-based Language Models, 2024",
     .hidden = 4096,
     .vocab = 256'000,
     .state_layers = 56,
     .state_heads = 128,
     .state_width = 64,
     .state_size = 128,
     .groups = 8},
    {.id = "mamba2-hybrid-8b",
     .name = "Mamba-2-Hybrid 8B",
     .source = "Waleffe et al., An Empirical Study of Mamba-based Language Models, 2024",
     .hidden = 4096,
     .vocab = 256'000,
     .attention_layers = 4,
     .query_heads = 32,
     .head_dim = 128,
     .kv_numbers = 2 * 8 * 128,
     .state_layers = 24,
     .state_heads = 128,
     .state_width = 64,
     .state_size = 128,
     .groups = 8,
     .ffn_layers = 28,
     .ffn = 16'384},
    {.id = "nemotron-h-8b",
     .name = "Nemotron-H 8B",
     .source = "NVIDIA, Nemotron-H, 2025; config.json of Nemotron-H-8B-Base-8K",
     .hidden = 4096,
     .vocab = 131'072,
     .attention_layers = 4,
     .query_heads = 32,
     .head_dim = 128,
     .kv_numbers = 2 * 8 * 128,
     .state_layers = 24,
     .state_heads = 128,
     .state_width = 64,
     .state_size = 128,
     .groups = 8,
     .ffn_layers = 24,
     .ffn = 21'504},
    {.id = "mamba2-2.7b",
     .name = "Mamba-2 2.7B",
     .source = "Dao and Gu, Transformers are SSMs, 2024; config.json of state-spaces/mamba2-2.7b",
     .hidden = 2560,
     .vocab = 50'288,
     .tied = true,
     .state_layers = 64,
     .state_heads = 80,
     .state_width = 64,
     .state_size = 128,
     .groups = 1},
    {.id = "falcon-mamba-7b",
     .name = "Falcon Mamba 7B",
     .source = "TII, Falcon Mamba, 2024; config.json of tiiuae/falcon-mamba-7b",
     .hidden = 4096,
     .vocab = 65'024,
     .state_layers = 64,
     .state_heads = 8192,
     .state_width = 1,
     .state_size = 16,
     .groups = 0,
     .one_decay = false,
     .parameters = 7.27e9},
    {.id = "jamba",
     .name = "Jamba 52B",
     .source = "AI21, Jamba, 2024; config.json of ai21labs/Jamba-v0.1",
     .hidden = 4096,
     .vocab = 65'536,
     .attention_layers = 4,
     .query_heads = 32,
     .head_dim = 128,
     .kv_numbers = 2 * 8 * 128,
     .state_layers = 28,
     .state_heads = 8192,
     .state_width = 1,
     .state_size = 16,
     .groups = 0,
     .one_decay = false,
     .parameters = 51.57e9,
     .expert_parameters = 16 * 16 * 3.0 * 4096 * 14'336,
     .experts = 16,
     .experts_per_token = 2},
    {.id = "qwen3-next-80b",
     .name = "Qwen3-Next 80B",
     .source = "Qwen, 2025; config.json of Qwen3-Next-80B-A3B-Instruct",
     .hidden = 2048,
     .vocab = 151'936,
     .attention_layers = 12,
     .query_heads = 16,
     .head_dim = 256,
     .kv_numbers = 2 * 2 * 256,
     .state_layers = 36,
     .state_heads = 32,
     .state_width = 128,
     .state_size = 128,
     .groups = 16,
     .one_decay = false,
     .parameters = 79.67e9,
     .expert_parameters = 48 * 512 * 3.0 * 2048 * 512,
     .experts = 512,
     .experts_per_token = 10},
    {.id = "minimax-01",
     .name = "MiniMax-01 456B",
     .source = "MiniMax, MiniMax-01, 2025; config.json of MiniMax-Text-01",
     .hidden = 6144,
     .vocab = 200'064,
     .attention_layers = 10,
     .query_heads = 64,
     .head_dim = 128,
     .kv_numbers = 2 * 8 * 128,
     .state_layers = 70,
     .state_heads = 64,
     .state_width = 128,
     .state_size = 128,
     .conv_width = 0,
     .parameters = 456e9,
     .expert_parameters = 80 * 32 * 3.0 * 6144 * 9216,
     .experts = 32,
     .experts_per_token = 2},
});

/// The least context up to `most` from which on `holds` is true, by halves; infinite where it is not true at `most`.
template <class Holds>
double first_context(double most, const Holds& holds) {
  if (!holds(most)) return no_context;
  if (holds(0.0)) return 0;
  double lo = 0, hi = most;
  while (hi - lo > 0.5 + 1e-9 * hi) {
    const double middle = (lo + hi) / 2;
    (holds(middle) ? hi : lo) = middle;
  }
  return std::ceil(hi);
}

}  // namespace

std::span<const StateModel> state_models() { return published_state_models; }

const StateModel* find_state_model(std::string_view id) {
  const auto found = std::find_if(published_state_models.begin(), published_state_models.end(),
                                  [&](const StateModel& m) { return m.id == id; });
  return found == published_state_models.end() ? nullptr : &*found;
}

StateModel own_state_model(double hidden, double blocks, double attention_every, double state_width, double state_size,
                           double kv_heads) {
  StateModel m{.id = "own", .name = "your model", .hidden = hidden, .vocab = 128'256};
  m.attention_layers = attention_every > 0 ? std::floor(blocks / attention_every) : 0;
  m.head_dim = 128;
  m.query_heads = std::ceil(hidden / m.head_dim);
  m.kv_numbers = 2 * kv_heads * m.head_dim;
  m.state_layers = blocks - m.attention_layers;
  m.state_width = state_width;
  m.state_heads = 2 * hidden / state_width;
  m.state_size = state_size;
  m.groups = 8;
  m.ffn_layers = blocks;
  m.ffn = 3.5 * hidden;
  m.ffn_matrices = 3;
  return m;
}

StateModel attention_model(const Architecture& a) {
  StateModel m{.hidden = as_double(a.hidden), .vocab = as_double(a.vocab), .tied = a.tied};
  for (const LayerKind& kind : layer_kinds(a))
    (kind.form.sliding ? m.windowed_layers : m.attention_layers) += as_double(kind.count);
  m.window = as_double(a.sliding_window);
  m.query_heads = as_double(a.heads);
  // A latent is as wide as what each head is multiplied with when it is absorbed.
  m.head_dim = a.has_latent() ? as_double(a.latent.kv_lora_rank + a.latent.rope_dim) : as_double(a.head_dim);
  m.kv_numbers = kv_bytes_per_token(a, 1) / as_double(a.layers);
  const ParameterCount count = count_parameters(a);
  m.parameters = as_double(count.total);
  m.expert_parameters = as_double(count.layers.routed_experts);
  m.experts = as_double(a.moe.routed);
  m.experts_per_token = as_double(a.moe.per_token);
  return m;
}

double state_model_parameters(const StateModel& m) {
  if (m.parameters > 0) return m.parameters;
  const double in = m.hidden * (2 * m.inner() + 2 * m.groups * m.state_size + m.state_heads);
  const double state =
      in + m.inner() * m.hidden + m.conv_channels() * (m.conv_width + 1) + 3 * m.state_heads + m.inner() + m.hidden;
  const double attention = m.hidden * (2 * m.query_heads * m.head_dim + m.kv_numbers) + m.hidden;
  const double ffn = m.ffn_matrices * m.hidden * m.ffn + m.hidden;
  return m.state_layers * state + m.attention_layers * attention + m.ffn_layers * ffn + m.hidden +
         m.vocab * m.hidden * (m.tied ? 1 : 2);
}

double looked_up_parameters(const StateModel& m) { return m.tied ? 0 : m.vocab * m.hidden; }

double read_parameters(const StateModel& m, double batch) {
  const double all = state_model_parameters(m) - looked_up_parameters(m);
  if (!(m.experts > 0)) return all;
  return all - m.expert_parameters * (1 - expected_distinct_experts(m.experts, m.experts_per_token, batch) / m.experts);
}

double active_parameters(const StateModel& m) { return read_parameters(m, 1) + looked_up_parameters(m); }

double state_numbers(const StateModel& m) { return m.state_layers * m.inner() * m.state_size; }

double conv_numbers(const StateModel& m) {
  return m.conv_width > 1 ? m.state_layers * (m.conv_width - 1) * m.conv_channels() : 0;
}

double fixed_bytes(const StateModel& m, const StateBits& bits) {
  return (state_numbers(m) + conv_numbers(m)) * bits.state / 8;
}

double token_bytes(const StateModel& m, const StateBits& bits) {
  return (m.attention_layers + m.windowed_layers) * m.kv_numbers * bits.kv / 8;
}

double kept_bytes(const StateModel& m, const StateBits& bits, double context) {
  return (m.attention_layers * context + m.windowed_layers * std::min(context, m.window)) * m.kv_numbers * bits.kv / 8;
}

double sequence_bytes(const StateModel& m, const StateBits& bits, double context) {
  return fixed_bytes(m, bits) + kept_bytes(m, bits, context);
}

StateStep state_step(const StateModel& m, const StateBits& bits, double batch, double context, double flops_per_s,
                     double bytes_per_s) {
  StateStep s;
  s.weight_bytes = read_parameters(m, batch) * bits.weights / 8;
  s.state_bytes = 2 * batch * fixed_bytes(m, bits);
  s.kv_bytes = batch * kept_bytes(m, bits, context);
  const double seen = m.attention_layers * context + m.windowed_layers * std::min(context, m.window);
  s.flops = batch * (2 * read_parameters(m, 1) + 4 * m.query_heads * m.head_dim * seen + 5 * state_numbers(m));
  const double arithmetic = s.flops / flops_per_s, traffic = s.bytes() / bytes_per_s;
  s.time_s = std::max(arithmetic, traffic);
  s.compute_bound = arithmetic > traffic;
  return s;
}

double equal_kept_tokens(const StateModel& a, const StateModel& b, const StateBits& bits, double most) {
  return first_context(
      most, [&](double context) { return sequence_bytes(b, bits, context) >= sequence_bytes(a, bits, context); });
}

double step_grows_tokens(const StateModel& m, const StateBits& bits, double batch, double factor, double most,
                         double flops_per_s, double bytes_per_s) {
  const auto time = [&](double context) {
    return state_step(m, bits, batch, context, flops_per_s, bytes_per_s).time_s;
  };
  const double limit = factor * time(0);
  return first_context(most, [&](double context) { return time(context) >= limit; });
}

double crossing_tokens(const StateModel& a, const StateModel& b, const StateBits& bits, double batch, double most,
                       double flops_per_s, double bytes_per_s) {
  return first_context(most, [&](double context) {
    return state_step(a, bits, batch, context, flops_per_s, bytes_per_s).time_s <=
           state_step(b, bits, batch, context, flops_per_s, bytes_per_s).time_s;
  });
}

}  // namespace models::inference
