#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/compression/shared/network.h"
#include "models/compression/small_network_speed.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/plot_view.h"

/// A small network that reads digits, compressed by the learner and measured on digits that it never saw.
namespace chapters::compression::playground {

/// Order of models::study_widths.
enum class Student : std::uint8_t { full, half, quarter, eighth };
static_assert(models::study_widths.size() == static_cast<std::size_t>(Student::eighth) + 1);
/// Order of models::Pruning from magnitude on; no pruning is a share of 0.
enum class Zeros : std::uint8_t { magnitude, two_four, neurons };

struct Inputs {
  Student student = Student::full;
  Zeros pruning = Zeros::magnitude;
  double sparsity = 60;  ///< %
  std::int64_t weight_bits = 5, activation_bits = 8;
  bool per_channel = true, fine_tune = false;
  double goal = 70;  ///< %
  Difficulty difficulty = Difficulty::usual;
  std::int64_t seed = 1;
  std::string chip = "h100_sxm";
  bool operator==(const Inputs&) const = default;
};

/// One point of the sweep's front.
struct FrontRow {
  double bytes = 0, accuracy = 0;
  std::int64_t hidden = 0, bits = 0;
  std::string pruning;
};

struct Outputs {
  std::string reason;
  std::shared_ptr<const models::NetworkStudy> study;
  models::Compressed compressed;
  std::vector<std::uint8_t> guesses;  ///< the class that the compressed network reads in each held-out digit
  double accuracy = 0, original_accuracy = 0, accuracy_lost = 0, student_accuracy = 0, training_accuracy = 0;  ///< %
  double size_bytes = 0, original_bytes = 0, compression = 1, bits_per_weight = 0;
  double kept = 100;  ///< %
  std::int64_t hidden = 0, weights = 0, multiply_adds = 0, wrong = 0;
  bool goal_met = false, on_front = false;
  double goal_bytes = 0, goal_accuracy = 0, goal_compression = 0;
  models::CompressionSpeed speed;
  double first_loss = 0, last_loss = 0;
  std::vector<FrontRow> front;
};

/// Points of a plot.
struct Points {
  std::vector<double> bytes, accuracy;
};
inline constexpr std::size_t pruning_count = static_cast<std::size_t>(models::Pruning::neurons) + 1;

struct Picture {
  std::uint64_t version = 0;
  std::string verdict, story, digits_line, weights_line;
  std::array<Points, pruning_count> sweep;  ///< by models::Pruning
  Points front;
  std::array<widgets::BarSegment, 1> before{};
  std::array<widgets::BarSegment, 4> after{};
  float largest_weight = 0;  ///< of the first layer
};

struct View {
  widgets::PlotView pareto;
  widgets::StackedBarView sizes;
};

/// What is trained depends on these alone.
struct StudyKey {
  std::int64_t seed = 1;
  Difficulty difficulty = Difficulty::usual;
  bool operator==(const StudyKey&) const = default;
};
using Studies = Memo<StudyKey, models::NetworkStudy>;

Outputs compute(const Inputs& in, Progress& progress, Studies& studies);
Picture arrange(const Inputs& in, const Outputs& out);
void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, FrontRow& r);
void describe(Fields& f, Outputs& o);

}  // namespace chapters::compression::playground
