#pragma once
#include "models/compression/small_network_compress.h"

#include <functional>
#include <memory>

/// One task, one teacher, its students, and what a sweep of plain compressions makes of them: all of it trained and
/// measured.
namespace models {

inline constexpr std::array<std::size_t, 4> study_widths{32, 16, 8,
                                                         4};  ///< hidden units: the teacher's, then the students'
inline constexpr std::size_t study_training = 2000, study_held_out = 1000;
inline constexpr double study_temperature = 4, study_alpha = 0.1;

struct SweepPoint {
  std::size_t width = 0;  ///< place in study_widths
  Plan plan;
  double bytes = 0, accuracy = 0;
};

struct NetworkStudy {
  DigitSet training, held_out;
  std::vector<SmallNetwork> networks;       ///< in the order of study_widths; [0] is the teacher
  std::vector<std::vector<double>> losses;  ///< by epoch, of each
  std::vector<double> accuracies;           ///< on the held-out digits, float32
  double teacher_training_accuracy = 0;
  double original_bytes = 0;       ///< the teacher in float32
  std::vector<SweepPoint> sweep;   ///< every width x pruning x bits, not tuned again, activations in 8 bits
  std::vector<std::size_t> front;  ///< Pareto frontier of the sweep: fewer bytes, less accurate; by rising bytes
};

/// Trains the first `widths` networks and, if asked and all are there, sweeps. `go_on` is told the share done, 0 to 1;
/// null when it says false.
std::shared_ptr<const NetworkStudy> make_study(std::uint64_t seed, const DigitStyle& style,
                                               std::size_t widths = study_widths.size(), bool sweep = true,
                                               const std::function<bool(double)>& go_on = {});

/// Indices of the points that no other beats in both (smaller and at least as accurate), by rising bytes.
std::vector<std::size_t> pareto_front(std::span<const SweepPoint> points);

}  // namespace models
