#include "models/compression/small_network_study.h"

#include <algorithm>
#include <numeric>

namespace models {
namespace {

constexpr std::array<int, 7> sweep_bits{16, 8, 6, 5, 4, 3, 2};
constexpr std::array<std::pair<Pruning, double>, 6> sweep_prunings{{{Pruning::none, 0},
                                                                    {Pruning::magnitude, 0.5},
                                                                    {Pruning::magnitude, 0.75},
                                                                    {Pruning::magnitude, 0.9},
                                                                    {Pruning::two_four, 0.5},
                                                                    {Pruning::neurons, 0.5}}};

bool sweep_all(NetworkStudy& study, const std::function<bool(double)>& go_on) {
  for (std::size_t w = 0; w < study_widths.size(); ++w)
    for (const auto& [pruning, share] : sweep_prunings) {
      if (!go_on(0.6 + 0.1 * static_cast<double>(w))) return false;
      for (const int bits : sweep_bits) {
        const Plan plan{
            .pruning = pruning,
            .share = share,
            .weights = {.bits = bits},
            .activation_bits = 8,
        };
        const Compressed c = compress(study.networks[w], study.training, study.held_out, plan);
        study.sweep.push_back({w, plan, c.size.total_bytes(), c.accuracy});
      }
    }
  study.front = pareto_front(study.sweep);
  return true;
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const SweepPoint> points) {
  std::vector<std::size_t> order(points.size()), front;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return points[a].bytes < points[b].bytes ||
           (points[a].bytes == points[b].bytes && points[a].accuracy > points[b].accuracy);
  });
  double best = -1;
  for (const std::size_t i : order)
    if (points[i].accuracy > best) {
      best = points[i].accuracy;
      front.push_back(i);
    }
  return front;
}

std::shared_ptr<const NetworkStudy> make_study(std::uint64_t seed, const DigitStyle& style, std::size_t widths,
                                               bool sweep, const std::function<bool(double)>& told) {
  const std::function<bool(double)> go_on = told ? told : [](double) { return true; };
  const auto study = std::make_shared<NetworkStudy>();
  study->training = make_digits(seed, DigitSplit::training, study_training, style);
  study->held_out = make_digits(seed, DigitSplit::held_out, study_held_out, style);
  std::vector<float> teacher_logits;
  for (std::size_t w = 0; w < std::min(widths, study_widths.size()); ++w) {
    const double begin = 0.1 + 0.12 * static_cast<double>(w);
    Training how{.seed = seed + 31 * w, .go_on = [&](double share) { return go_on(begin + 0.12 * share); }};
    if (w > 0) how.teacher = {.teacher_logits = teacher_logits, .temperature = study_temperature, .alpha = study_alpha};
    Trained trained = train(make_network({&study_widths[w], 1}, seed + 31 * w), study->training, how);
    if (trained.stopped) return nullptr;
    study->accuracies.push_back(accuracy(trained.network, study->held_out));
    study->losses.push_back(std::move(trained.epoch_loss));
    study->networks.push_back(std::move(trained.network));
    if (w == 0) teacher_logits = logits_of(study->networks[0], study->training);
  }
  study->teacher_training_accuracy = accuracy(study->networks[0], study->training);
  study->original_bytes = packed_size(study->networks[0], Pruning::none, {}, 0).total_bytes();
  if (sweep && study->networks.size() == study_widths.size() && !sweep_all(*study, go_on)) return nullptr;
  return study;
}

}  // namespace models
