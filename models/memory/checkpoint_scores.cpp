#include "models/memory/checkpoint_scores.h"

#include <algorithm>
#include <array>
#include <limits>

namespace models::memory {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();
constexpr std::uint16_t without_scores = 0xFFFF;  // in place of a piece's length, which is at most max_exact_layers

/// Tables over (layer i, layers that run again r, layers without scores q) for the layers from i on.
struct ScoreTables {
  std::size_t side;  ///< layers + 1
  std::vector<double> need;
  std::vector<std::uint16_t> choice;  ///< What happens to layer i: 0 kept, without_scores, or the length of its piece.

  explicit ScoreTables(std::size_t layers)
      : side(layers + 1), need(side * side * side, unreachable), choice(side * side * side, 0) {}
  std::size_t at(std::size_t i, std::size_t again) const { return (i * side + again) * side; }
};

void fill(std::span<const LayerCost> layers, const CheckpointEnds& ends, ScoreTables& t) {
  const std::size_t n = layers.size();
  std::vector<double> gradients(n + 1);  // those behind each layer, when its backward pass begins
  gradients[n] = ends.head_gradient;
  for (std::size_t i = n; i-- > 0;) gradients[i] = gradients[i + 1] + layers[i].gradient;
  t.need[t.at(n, 0)] = ends.loss;
  for (std::size_t i = n; i-- > 0;) {
    const LayerCost& l = layers[i];
    const double own = l.saved + l.backward + gradients[i];
    for (std::size_t r = 0; r + i < n; ++r) {
      double* const here = t.need.data() + t.at(i, r);
      std::uint16_t* const choice = t.choice.data() + t.at(i, r);
      const double* const next = t.need.data() + t.at(i + 1, r);
      for (std::size_t q = 0; q + r + i <= n; ++q) {
        here[q] = std::max(own, l.kept + next[q]);  // unreachable where all the layers behind are of other sorts
        const double dropped = q > 0 ? std::max(own, l.selective + next[q - 1]) : unreachable;
        if (!(dropped < here[q])) continue;
        here[q] = dropped;
        choice[q] = without_scores;
      }
    }
    double held = 0, most = 0;
    for (std::size_t end = i + 1; end <= n; ++end) {
      held += layers[end - 1].saved;
      most = std::max(most, held + layers[end - 1].backward + gradients[end - 1]);
      const std::size_t length = end - i;
      for (std::size_t r = length; r + i <= n; ++r) {
        double* const here = t.need.data() + t.at(i, r);
        std::uint16_t* const choice = t.choice.data() + t.at(i, r);
        const double* const after = t.need.data() + t.at(end, r - length);
        for (std::size_t q = 0; q + r + i <= n; ++q) {
          const double candidate = std::max(most, l.checkpoint + after[q]);
          if (candidate < here[q]) {
            here[q] = candidate;
            choice[q] = static_cast<std::uint16_t>(length);
          }
        }
      }
    }
  }
}

std::vector<LayerKeep> plan_at(const ScoreTables& t, std::size_t again, std::size_t dropped) {
  const std::size_t n = t.side - 1;
  std::vector<LayerKeep> plan(n, LayerKeep::kept);
  for (std::size_t i = 0; i < n;) {
    const std::uint16_t choice = t.choice[t.at(i, again) + dropped];
    if (choice == without_scores) {
      plan[i++] = LayerKeep::selective;
      --dropped;
      continue;
    }
    for (std::size_t j = i; j < i + choice; ++j) plan[j] = j == i ? LayerKeep::again : LayerKeep::joined;
    again -= choice;
    i += std::max<std::size_t>(choice, 1);
  }
  return plan;
}

}  // namespace

bool every_mixture_is_tried(std::span<const LayerCost> layers) {
  return layers.size() <= max_exact_layers &&
         std::all_of(layers.begin(), layers.end(), [&](const LayerCost& l) { return l.kind == layers.front().kind; });
}

std::vector<FrontierPoint> frontier_with_scores(std::span<const LayerCost> layers, const CheckpointEnds& ends) {
  const std::size_t n = layers.size();
  std::vector<FrontierPoint> out;
  if (n == 0) return out;
  ScoreTables t(n);
  fill(layers, ends, t);
  const LayerCost& one = layers.front();
  std::vector<std::array<std::size_t, 2>> counts;
  const auto seconds = [&](const std::array<std::size_t, 2>& c) {
    return static_cast<double>(c[0]) * one.forward_s + static_cast<double>(c[1]) * one.selective_s +
           static_cast<double>(n - c[0] - c[1]) * one.kept_s;
  };
  for (std::size_t r = 0; r <= n; ++r)
    for (std::size_t q = 0; q + r <= n; ++q)
      if (t.need[t.at(0, r) + q] < unreachable) counts.push_back({r, q});
  std::stable_sort(counts.begin(), counts.end(), [&](const auto& a, const auto& b) { return seconds(a) < seconds(b); });
  double least = unreachable;
  for (const auto& c : counts) {
    const double need = t.need[t.at(0, c[0]) + c[1]];
    if (!(need < least)) continue;
    least = need;
    FrontierPoint p{.peak_bytes = need, .recomputed = static_cast<std::int64_t>(c[0])};
    p.plan = plan_at(t, c[0], c[1]);
    for (std::size_t i = 0; i < n; ++i)
      p.recompute_s += p.plan[i] == LayerKeep::kept        ? layers[i].kept_s
                       : p.plan[i] == LayerKeep::selective ? layers[i].selective_s
                                                           : layers[i].forward_s;
    out.push_back(std::move(p));
  }
  return out;
}

}  // namespace models::memory
