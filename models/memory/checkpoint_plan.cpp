#include "models/memory/checkpoint_plan.h"

#include "models/memory/checkpoint_scores.h"

#include <algorithm>
#include <limits>

namespace models::memory {
namespace {

constexpr double no_way = std::numeric_limits<double>::infinity();

bool runs_again(LayerKeep keep) { return keep == LayerKeep::again || keep == LayerKeep::joined; }

/// Numbers of layers that run again, by kind, as one number.
struct Keys {
  std::vector<std::size_t> weight;  ///< by kind
  std::size_t count = 1;
  explicit Keys(std::span<const LayerCost> layers) {
    std::size_t kinds = 0;
    for (const LayerCost& l : layers) kinds = std::max(kinds, l.kind + 1);
    for (std::size_t k = 0; k < kinds; ++k) {
      weight.push_back(count);
      count *= static_cast<std::size_t>(
                   std::count_if(layers.begin(), layers.end(), [&](const LayerCost& l) { return l.kind == k; })) +
               1;
    }
  }
};

/// All plans of kept layers and pieces, one for every number of layers that run again.
std::vector<FrontierPoint> frontier_of_pieces(std::span<const LayerCost> layers, const CheckpointEnds& ends) {
  const std::size_t n = layers.size();
  const Keys keys(layers);
  // need[i * keys + key]: bytes above what stands before layer i; piece: layers of the piece that begins there, 0:
  // kept.
  std::vector<double> need((n + 1) * keys.count, no_way);
  std::vector<std::uint16_t> piece((n + 1) * keys.count, 0);
  need[n * keys.count] = ends.loss;
  std::vector<double> gradients(n + 1);  // those behind each layer, when its backward pass begins
  gradients[n] = ends.head_gradient;
  for (std::size_t i = n; i-- > 0;) gradients[i] = gradients[i + 1] + layers[i].gradient;
  for (std::size_t i = n; i-- > 0;) {
    const LayerCost& l = layers[i];
    double* const here = need.data() + i * keys.count;
    const double* const next = here + keys.count;
    const double own = l.saved + l.backward + gradients[i];
    for (std::size_t key = 0; key < keys.count; ++key)
      if (next[key] < no_way) here[key] = std::max(own, l.kept + next[key]);
    double held = 0, most = 0;
    std::size_t shift = 0;
    for (std::size_t end = i + 1; end <= n; ++end) {
      const LayerCost& inner = layers[end - 1];
      held += inner.saved;
      most = std::max(most, held + inner.backward + gradients[end - 1]);
      shift += keys.weight[inner.kind];
      const double* const after = need.data() + end * keys.count;
      for (std::size_t key = shift; key < keys.count; ++key) {
        const double candidate = std::max(most, l.checkpoint + after[key - shift]);
        if (candidate < here[key]) {
          here[key] = candidate;
          piece[i * keys.count + key] = static_cast<std::uint16_t>(end - i);
        }
      }
    }
  }
  std::vector<FrontierPoint> points;
  for (std::size_t key = 0; key < keys.count; ++key) {
    if (!(need[key] < no_way)) continue;
    FrontierPoint p;
    p.plan.assign(n, LayerKeep::kept);
    std::size_t left = key;
    for (std::size_t i = 0; i < n;) {
      const std::size_t length = piece[i * keys.count + left];
      for (std::size_t j = i; j < i + length; ++j) {
        p.plan[j] = j == i ? LayerKeep::again : LayerKeep::joined;
        left -= keys.weight[layers[j].kind];
      }
      i += std::max<std::size_t>(length, 1);
    }
    for (std::size_t i = 0; i < n; ++i) {
      p.recompute_s += runs_again(p.plan[i]) ? layers[i].forward_s : layers[i].kept_s;
      p.recomputed += runs_again(p.plan[i]) ? 1 : 0;
    }
    p.peak_bytes = need[key];
    points.push_back(std::move(p));
  }
  return points;
}

/// Fastest first, without those that are no smaller than a faster one.
void keep_frontier(std::vector<FrontierPoint>& points) {
  std::stable_sort(points.begin(), points.end(), [](const FrontierPoint& a, const FrontierPoint& b) {
    return a.recompute_s != b.recompute_s ? a.recompute_s < b.recompute_s : a.peak_bytes < b.peak_bytes;
  });
  double least = no_way;
  std::erase_if(points, [&](const FrontierPoint& p) {
    if (!(p.peak_bytes < least)) return true;
    least = p.peak_bytes;
    return false;
  });
}

}  // namespace

CheckpointCost checkpoint_cost(std::span<const LayerCost> layers, std::span<const LayerKeep> plan,
                               const CheckpointEnds& ends) {
  CheckpointCost out;
  const std::size_t n = std::min(layers.size(), plan.size());
  std::vector<double> before(n + 1);  // stored before each layer
  for (std::size_t i = 0; i < n; ++i) {
    const LayerCost& l = layers[i];
    const bool starts =
        plan[i] == LayerKeep::again || (plan[i] == LayerKeep::joined && (i == 0 || !runs_again(plan[i - 1])));
    double adds = 0;
    if (plan[i] == LayerKeep::kept) adds = l.kept;
    if (plan[i] == LayerKeep::selective) adds = l.selective;
    if (starts) adds = l.checkpoint;
    before[i + 1] = before[i] + adds;
    if (runs_again(plan[i])) {
      out.recompute_s += l.forward_s;
      ++out.recomputed;
    } else {
      out.recompute_s += plan[i] == LayerKeep::kept ? l.kept_s : l.selective_s;
    }
  }
  out.stored_bytes = before[n];
  out.peak_bytes = before[n] + ends.loss;
  double gradients = ends.head_gradient;
  for (std::size_t end = n; end > 0;) {
    std::size_t first = end - 1;
    while (first > 0 && plan[first] == LayerKeep::joined && runs_again(plan[first - 1])) --first;
    double held = before[first];
    if (runs_again(plan[first])) {
      for (std::size_t i = first; i < end; ++i) held += layers[i].saved;
    } else {
      held = before[end] + (plan[first] == LayerKeep::kept ? layers[first].saved - layers[first].kept
                                                           : layers[first].saved - layers[first].selective);
    }
    for (std::size_t i = end; i-- > first;) {
      const double now = held + layers[i].backward + gradients + layers[i].gradient;
      if (now > out.peak_bytes) {
        out.peak_bytes = now;
        out.fullest = static_cast<std::int64_t>(i);
      }
      gradients += layers[i].gradient;
      held -= layers[i].saved;
    }
    end = first;
  }
  return out;
}

namespace {

/// Some layer keeps scores that it can be without.
bool scores_can_be_dropped(std::span<const LayerCost> layers) {
  return std::any_of(layers.begin(), layers.end(), [](const LayerCost& l) { return l.selective < l.kept; });
}

}  // namespace

std::vector<FrontierPoint> checkpoint_frontier(std::span<const LayerCost> layers, const CheckpointEnds& ends) {
  const bool drops = scores_can_be_dropped(layers), mixtures = drops && every_mixture_is_tried(layers);
  auto points = mixtures ? frontier_with_scores(layers, ends) : frontier_of_pieces(layers, ends);
  if (drops && !mixtures) {
    constexpr std::size_t max_runs = 24;
    const std::size_t step = (layers.size() + max_runs - 1) / max_runs;
    std::vector<LayerCost> changed(layers.begin(), layers.end());
    for (std::size_t first = 0; first < layers.size();) {
      const std::size_t until = std::min(layers.size(), first + step);
      for (; first < until; ++first) {
        changed[first].kept = layers[first].selective;
        changed[first].kept_s = layers[first].selective_s;
      }
      for (FrontierPoint& p : frontier_of_pieces(changed, ends)) {
        for (std::size_t i = 0; i < until; ++i)
          if (p.plan[i] == LayerKeep::kept) p.plan[i] = LayerKeep::selective;
        points.push_back(std::move(p));
      }
    }
  }
  keep_frontier(points);
  return points;
}

bool frontier_is_exact(std::span<const LayerCost> layers) {
  return !scores_can_be_dropped(layers) || every_mixture_is_tried(layers);
}

const FrontierPoint* best_within(std::span<const FrontierPoint> frontier, double bytes) {
  for (const FrontierPoint& p : frontier)
    if (p.peak_bytes <= bytes) return &p;
  return nullptr;
}

std::vector<LayerKeep> every_k(std::size_t layers, std::size_t k) {
  std::vector<LayerKeep> plan(layers, LayerKeep::joined);
  for (std::size_t i = 0; i < layers; i += std::max<std::size_t>(k, 1)) plan[i] = LayerKeep::again;
  return plan;
}

std::vector<LayerKeep> first_layers(std::size_t layers, std::size_t n) {
  std::vector<LayerKeep> plan(layers, LayerKeep::kept);
  std::fill_n(plan.begin(), std::min(n, layers), LayerKeep::again);
  return plan;
}

std::string plan_letters(std::span<const LayerKeep> plan) {
  std::string out;
  for (const LayerKeep keep : plan) out += "ksrc"[static_cast<std::size_t>(keep)];
  return out;
}

Result<std::vector<LayerKeep>> plan_of_letters(std::string_view letters, std::size_t layers) {
  using Outcome = Result<std::vector<LayerKeep>>;
  std::vector<LayerKeep> plan(layers, LayerKeep::kept);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::size_t at = std::string_view("ksrc").find(letters[i]);
    if (at == std::string_view::npos)
      return Outcome::fail("Letter " + std::to_string(i + 1) +
                           " of the plan is none of k (kept), s (selective), r (runs again), c (with the layer before "
                           "it); write one of them for each layer.");
    if (i < layers) plan[i] = static_cast<LayerKeep>(at);
  }
  return Outcome::ok(std::move(plan));
}

}  // namespace models::memory
