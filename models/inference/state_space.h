#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "models/transformer/transformer.h"

/// Models that keep a state of fixed size instead of, or next to, keys and values: parameters, bytes of a sequence,
/// and a decode step.
namespace models::inference {

/// Shape of one model as its layers mix tokens. Counts are plain; widths are numbers of elements.
struct StateModel {
  std::string_view id{}, name{}, source{};
  double hidden = 0, vocab = 0;
  bool tied = false;
  // Layers with attention, those with a window apart; a token's keys and values are `kv_numbers` in each.
  double attention_layers = 0, query_heads = 0, head_dim = 0, kv_numbers = 0, windowed_layers = 0, window = 0;
  // Layers with a state: of each, heads x head width x state numbers. The last inputs of its short convolution stand
  // next to them, conv_width - 1 of each channel; without groups (Mamba) it has x alone, else x, B and C.
  double state_layers = 0, state_heads = 0, state_width = 0, state_size = 0, groups = 1, conv_width = 4;
  bool one_decay =
      true;  ///< one for each head and token: then the scan is matrix products (not Mamba, not a delta rule)
  double ffn_layers = 0, ffn = 0, ffn_matrices = 2;
  double parameters = 0;         ///< 0: counted from the shape, layers with a state as Mamba-2's
  double expert_parameters = 0;  ///< those in routed experts
  double experts = 0, experts_per_token = 0;

  double inner() const { return state_heads * state_width; }
  double conv_channels() const { return conv_width > 0 ? inner() + 2 * groups * state_size : 0; }
};

/// Published models, with sources.
std::span<const StateModel> state_models();
const StateModel* find_state_model(std::string_view id);

/// One of your own with the given width: `blocks` of a mixer and a gated feed-forward, attention in one of
/// `attention_every` (0: in none), the others a state of `state_size` to each channel of `expand` times the width.
StateModel own_state_model(double hidden, double blocks, double attention_every, double state_width, double state_size,
                           double kv_heads);

/// A transformer of the catalog.
StateModel attention_model(const Architecture& architecture);

double state_model_parameters(const StateModel& model);
/// Parameters that one token uses, both embedding matrices among them.
double active_parameters(const StateModel& model);
/// The input embedding where the output matrix is another one: a step looks a row of it up and reads no more.
double looked_up_parameters(const StateModel& model);
/// Parameters that a step of `batch` sequences reads, experts as they are expected to be hit by a balanced router. Of
/// an attention_model they are what decode_step of roofline_ops reads.
double read_parameters(const StateModel& model, double batch);

/// Numbers of the states of all layers, and those of their convolutions.
double state_numbers(const StateModel& model);
double conv_numbers(const StateModel& model);

struct StateBits {
  double weights = 16, kv = 16, state = 16;  ///< the convolution's inputs have the state's
};
/// What one sequence keeps: bytes of all states, whatever the context, and of each token's keys and values.
double fixed_bytes(const StateModel& model, const StateBits& bits);
double token_bytes(const StateModel& model, const StateBits& bits);
/// The keys and values of `context` tokens; windows keep no more than they are wide.
double kept_bytes(const StateModel& model, const StateBits& bits, double context);
/// Both: what one sequence of `context` tokens keeps.
double sequence_bytes(const StateModel& model, const StateBits& bits, double context);

struct StateStep {
  double weight_bytes = 0, state_bytes = 0, kv_bytes = 0;  ///< states are read and written
  double flops = 0, time_s = 0;
  bool compute_bound = false;
  double bytes() const { return weight_bytes + state_bytes + kv_bytes; }
};
/// One token of each of `batch` sequences, at the roof of arithmetic or of memory.
StateStep state_step(const StateModel& model, const StateBits& bits, double batch, double context, double flops_per_s,
                     double bytes_per_s);

/// Context from which on `b` keeps as much of a sequence as `a`, up to `most`; infinite where there is none.
double equal_kept_tokens(const StateModel& a, const StateModel& b, const StateBits& bits, double most);
/// Context at which the step is `factor` times that of an empty one; infinite where it is not up to `most`.
double step_grows_tokens(const StateModel& model, const StateBits& bits, double batch, double factor, double most,
                         double flops_per_s, double bytes_per_s);
/// Context from which on a step of `a` is no longer than one of `b`, up to `most`; infinite where there is none, 0
/// where it is so from the start.
double crossing_tokens(const StateModel& a, const StateModel& b, const StateBits& bits, double batch, double most,
                       double flops_per_s, double bytes_per_s);

}  // namespace models::inference
