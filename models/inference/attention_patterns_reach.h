#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/inference/attention_patterns.h"

/// What comes to the last token through a stack of masked layers: the tokens that can (by dynamic programming over the
/// masks), and, in a model of an untrained network, how much of each does.
namespace models::inference {

/// Layers from the input up; those that are `full` see every earlier token, the others have the mask.
struct PatternStack {
  AttentionMask mask = AttentionMask::causal(1);
  std::vector<bool> full;
};

/// What the last token's output depends on, `layers` below it: the states that enter that layer.
struct ReachRow {
  double tokens = 0;       ///< that can arrive, the last token among them
  double back_tokens = 0;  ///< from the last token to the furthest that can arrive, both counted
  double edge_tokens = 0;  ///< the same without a gap on the way (dilated: none wider than the dilation)
};
/// By layers looked through from the top; row 0 is the token itself. Exact: sets of tokens, a layer after the other. A
/// full layer lets in all that come before a token that is in.
std::vector<ReachRow> reach_of(const PatternStack& stack);

/// Layers of the mask alone until nothing new arrives at the last token, and whether everything did: by closed form,
/// with random blocks a layer after the other.
struct ReachRest {
  double layers = 0;
  bool everything = false;
};
ReachRest rest_of_mask(const AttentionMask& mask);
/// Layers from the top until every token has arrived, more than the stack has where its mask would need more; nothing
/// where it never would.
std::optional<double> layers_to_everything(const PatternStack& stack);

/// A model and no measurement: each layer keeps `residual` of a token's own state and spreads the rest evenly over the
/// keys that it sees, itself among them. Trained heads are not even. (Rollout of attention, Abnar and Zuidema 2020,
/// which halves residual and attention, with even weights.)
struct InfluenceSetup {
  double residual = 0.5;              ///< 0 to below 1
  double share = 0.99;                ///< part of influence, for `near_tokens`
  std::int64_t columns = 0;           ///< bins of the picture; 0: none
  std::function<bool(double)> go_on;  ///< asked with the part done; false ends it
};
struct Influence {
  double mean_back = 0;     ///< mean distance of what arrives, tokens
  double near_tokens = 0;   ///< the fewest newest tokens from which `share` of it is
  double window_share = 0;  ///< the part from the last `window` tokens
  /// [layers looked through][bin], the oldest token's bin first: the sum over the tokens of a bin; each row sums to 1.
  std::vector<std::vector<float>> bins;
  bool ended = false;  ///< `go_on` said no: nothing above holds
};
Influence influence_of(const PatternStack& stack, const InfluenceSetup& setup);

}  // namespace models::inference
