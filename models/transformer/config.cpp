#include <algorithm>

#include "models/transformer/fields.h"
#include "models/transformer/json.h"

namespace models {

namespace {

constexpr double max_parameters = 1e15;

/// Model types whose layers are not all attention, and what theirs are. Costs of such layers are not modelled.
struct OtherLayers {
  std::string_view model_type, layers;
};
constexpr OtherLayers other_layers[] = {
    {"bamba", "state-space layers"},
    {"falcon_h1", "state-space layers"},
    {"falcon_mamba", "state-space layers"},
    {"granitemoehybrid", "state-space layers"},
    {"jamba", "state-space layers"},
    {"kimi_linear", "linear-attention layers"},
    {"lfm2", "convolution layers"},
    {"lfm2_moe", "convolution layers"},
    {"mamba", "state-space layers"},
    {"mamba2", "state-space layers"},
    {"minimax", "linear-attention layers"},
    {"nemotron_h", "state-space layers"},
    {"plamo2", "state-space layers"},
    {"qwen3_5", "linear-attention layers"},
    {"qwen3_next", "linear-attention layers"},
    {"recurrent_gemma", "recurrent layers"},
    {"retnet", "retention layers"},
    {"rwkv", "recurrent layers"},
    {"rwkv5", "recurrent layers"},
    {"rwkv6", "recurrent layers"},
    {"rwkv7", "recurrent layers"},
    {"xlstm", "recurrent layers"},
    {"zamba", "state-space layers"},
    {"zamba2", "state-space layers"},
};

/// One sentence for a model type that no family reads; empty where it is merely unknown.
std::string other_layers_problem(std::string_view type) {
  // A multimodal config calls its language model "..._text".
  const std::string_view base = type.ends_with("_text") ? type.substr(0, type.size() - 5) : type;
  for (const OtherLayers& other : other_layers)
    if (other.model_type == base)
      return "model_type is \"" + std::string(type) + "\", a model with " + std::string(other.layers) +
             ", whose cost is not modelled here; a model whose layers all have attention is expected.";
  return {};
}

std::string known_types() {
  std::string list;
  for (const Family& family : families()) list += (list.empty() ? "" : ", ") + std::string(family.model_type);
  return list;
}

std::string number(std::int64_t value) { return std::to_string(value); }

/// Checks between fields, the same for every family.
std::string shape_problem(const Architecture& a) {
  if (a.kv_heads > a.heads || a.heads % a.kv_heads != 0)
    return "num_key_value_heads is " + number(a.kv_heads) + ", which does not divide num_attention_heads (" +
           number(a.heads) + "); a divisor of it is expected.";
  if (a.moe.routed > 0 && a.moe.per_token > a.moe.routed)
    return "num_experts_per_tok is " + number(a.moe.per_token) + " of " + number(a.moe.routed) +
           " experts; at most all of them can be chosen.";
  if (!(approximate_parameters(a) <= max_parameters))
    return "these sizes make more than 1e15 parameters; smaller ones are expected.";
  return {};
}

}  // namespace

Result<Architecture> parse_config(std::string_view json_text, std::string_view origin) {
  using Outcome = Result<Architecture>;
  if (std::string problem = json_problem(json_text, origin); !problem.empty()) return Outcome::fail(std::move(problem));
  ConfigFields fields(json_text, origin);
  Architecture architecture;
  architecture.model_type = fields.word({"model_type"}, "");
  if (fields.error().empty()) {
    const auto& known = families();
    const auto family = std::find_if(known.begin(), known.end(),
                                     [&](const Family& f) { return f.model_type == architecture.model_type; });
    if (std::string problem = other_layers_problem(architecture.model_type); !problem.empty()) {
      fields.fail(std::move(problem));
    } else if (family == known.end()) {
      fields.fail_value({"model_type"}, "one of " + known_types());
    } else {
      family->read(fields, architecture);
    }
  }
  if (fields.error().empty())
    if (std::string problem = shape_problem(architecture); !problem.empty()) fields.fail(std::move(problem));
  if (!fields.error().empty()) return Outcome::fail(fields.error());
  if (architecture.left_out.empty()) architecture.left_out = fields.left_out();
  return Outcome::ok(std::move(architecture));
}

}  // namespace models
