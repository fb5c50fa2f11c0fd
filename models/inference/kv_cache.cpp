#include "models/inference/kv_cache.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "models/base/integer_math.h"
#include "models/machine/roofline.h"
#include "models/transformer/layer_ops.h"
#include "models/transformer/roofline_ops.h"
#include "models/transformer/weight_storage.h"

namespace models::inference {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Layers that keep keys and values of their own: those that see all tokens, and those that see a window.
struct KeptLayers {
  double global = 0, windowed = 0, window = 0;
};

KeptLayers kept_layers(const Architecture& a, const KvDesign& design) {
  KeptLayers out;
  double global = 0, windowed = 0;
  for (const LayerKind& kind : layer_kinds(a)) (kind.form.sliding ? windowed : global) += as_double(kind.count);
  const double share = as_double(std::max<std::int64_t>(1, design.layers_share));
  out.global = std::ceil(global / share);
  out.windowed = std::ceil(windowed / share);
  out.window = as_double(a.sliding_window);
  return out;
}

/// Every layer keeps `window` tokens, but one in `global_every`, which keeps all.
void set_windows(Architecture& a, const KvDesign& design) {
  a.sliding_window = design.window;
  if (a.layer_forms.empty()) a.layer_forms.assign(static_cast<std::size_t>(a.layers), layer_form(a, 0));
  for (std::size_t i = 0; i < a.layer_forms.size(); ++i)
    a.layer_forms[i].sliding = design.global_every < 1 || (static_cast<std::int64_t>(i) + 1) % design.global_every != 0;
}

/// Bytes of attention's matrices, of which each chip holds all where attention is split by sequence.
double attention_weight_bytes(const Architecture& a, double bits) {
  return as_double(count_parameters(a).layers.attention) * bits / 8;
}

/// The longest of reading and arithmetic of one decode step, where `sequences` are spread over the chips.
double full_step_s(const Architecture& a, const KvFit& fit, const KvMachine& m, const Machine& one, double context) {
  const double bytes = m.weight_bits / 8, chips = as_double(m.chips);
  const OpSizes sizes{.batch = static_cast<std::int64_t>(std::max(1.0, fit.sequences)),
                      .context = static_cast<std::int64_t>(context),
                      .element_bytes = 2};
  const DecodeStep step = decode_step(a, sizes, bytes);
  const bool whole = m.placement == KvPlacement::by_sequence;
  const double repeated = whole ? (chips - 1) * attention_weight_bytes(a, m.weight_bits) : 0;
  const double read = step.weight_bytes + repeated + fit.sequences * fit.held_bytes;
  const double flops = fit.sequences * step.flops_per_token;
  return std::max(read / (chips * one.bandwidth_bytes_per_s), flops / (chips * one.peak_flops_per_s));
}

/// Bringing one parked sequence back, and computing its tokens anew.
void price_parking(const Architecture& a, const KvMachine& m, const Machine& one, double context, KvFit& fit) {
  const double chips = as_double(m.chips);
  fit.host_sequences = fit.sequence_bytes > 0 ? std::floor(m.host_bytes / fit.sequence_bytes) : 0;
  const double links = m.placement == KvPlacement::by_sequence ? 1 : chips;
  fit.fetch_s = m.link_bytes_per_s > 0 ? fit.held_bytes / (links * m.link_bytes_per_s) : none;
  const Workload prompt{.phase = Phase::prefill, .batch = 1, .sequence = static_cast<std::int64_t>(context)};
  fit.recompute_s =
      total_operations(model_operations(a, prompt), prompt).product_flops / (chips * one.peak_flops_per_s);
}

}  // namespace

Result<Architecture> redesigned(const Architecture& architecture, const KvDesign& design) {
  using Outcome = Result<Architecture>;
  Architecture a = architecture;
  if (design.sharing == KvSharing::grouped) {
    if (a.heads % design.kv_heads != 0)
      return Outcome::fail(std::to_string(a.heads) + " query heads cannot share " + std::to_string(design.kv_heads) +
                           " key and value heads evenly: take a divisor of " + std::to_string(a.heads) + ".");
    if (a.has_latent()) {
      a.head_dim = a.latent.v_dim;
      a.latent = {};
    }
    a.kv_heads = design.kv_heads;
  }
  if (design.sharing == KvSharing::latent) {
    if (!a.has_latent()) a.latent = {.nope_dim = a.head_dim, .v_dim = a.head_dim};
    a.latent.kv_lora_rank = design.latent_elements;
    a.latent.rope_dim = design.rotary_elements;
    a.kv_heads = a.heads;
  }
  if (design.window > 0) set_windows(a, design);
  return Outcome::ok(std::move(a));
}

double kv_elements_per_layer(const Architecture& a) { return kv_bytes_per_token(a, 1) / as_double(a.layers); }

double kv_token_bytes(const Architecture& a, const KvDesign& design) { return kv_sequence_bytes(a, design, 1); }

double kv_sequence_bytes(const Architecture& a, const KvDesign& design, double tokens) {
  const KeptLayers kept = kept_layers(a, design);
  return (kept.global * tokens + kept.windowed * std::min(tokens, kept.window)) * kv_elements_per_layer(a) *
         design.bits / 8;
}

double kv_tokens_within(const Architecture& a, const KvDesign& design, double bytes) {
  const KeptLayers kept = kept_layers(a, design);
  const double layer_tokens = bytes / (kv_elements_per_layer(a) * design.bits / 8);
  if (!(layer_tokens > 0)) return 0;
  const double all = layer_tokens / (kept.global + kept.windowed);
  if (kept.windowed == 0 || all <= kept.window) return std::floor(all);
  if (kept.global == 0) return std::numeric_limits<double>::infinity();
  return std::floor((layer_tokens - kept.windowed * kept.window) / kept.global);
}

double kv_copies(const Architecture& a, const KvMachine& machine) {
  if (machine.placement == KvPlacement::by_sequence) return 1;
  const double chips = as_double(machine.chips);
  return a.has_latent() ? chips : std::max(1.0, chips / as_double(a.kv_heads));
}

double kv_sequences_within(const Architecture& a, const KvDesign& design, const KvMachine& m, double room_bytes,
                           double tokens) {
  const double shares = m.placement == KvPlacement::by_sequence ? as_double(m.chips) : 1;
  return shares * std::floor(room_bytes / shares / (kv_sequence_bytes(a, design, tokens) * kv_copies(a, m)));
}

Result<KvFit> fit_cache(const Architecture& a, const KvDesign& design, const KvMachine& m, double context) {
  using Outcome = Result<KvFit>;
  const auto one = machine_of(*m.chip, m.product);
  if (!one) return Outcome::fail(one.error);
  const double chips = as_double(m.chips);
  const bool whole = m.placement == KvPlacement::by_sequence;
  KvFit fit;
  fit.weights_bytes =
      stored_weight_bytes(a, m.weight_bits) + (whole ? (chips - 1) * attention_weight_bytes(a, m.weight_bits) : 0);
  fit.offered_bytes = m.memory_share * chips * (m.memory_bytes > 0 ? m.memory_bytes : m.chip->memory_bytes);
  fit.workspace_bytes = chips * m.workspace_bytes;
  fit.room_bytes = fit.offered_bytes - fit.workspace_bytes - fit.weights_bytes;
  fit.token_bytes = kv_token_bytes(a, design);
  fit.sequence_bytes = kv_sequence_bytes(a, design, context);
  fit.copies = kv_copies(a, m);
  fit.held_bytes = fit.sequence_bytes * fit.copies;
  const double room = std::max(0.0, fit.room_bytes), shares = whole ? chips : 1;
  fit.sequences = kv_sequences_within(a, design, m, room, context);
  fit.left_bytes = room - fit.sequences * fit.held_bytes;
  fit.longest_tokens = kv_tokens_within(a, design, room / shares / fit.copies);
  if (fit.sequences > 0) {
    fit.step_s = full_step_s(a, fit, m, *one, context);
    fit.tokens_per_s = fit.sequences / fit.step_s;
  }
  price_parking(a, m, *one, context, fit);
  return Outcome::ok(fit);
}

}  // namespace models::inference
