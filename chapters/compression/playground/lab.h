#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/compression/shared/network.h"
#include "models/compression/small_network_speed.h"
#include "widgets/base/tint.h"
#include "widgets/plot/curve.h"
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
  models::PackedSize size;  ///< bytes of the compressed network
  double accuracy = 0, original_accuracy = 0, accuracy_lost = 0, student_accuracy = 0, training_accuracy = 0;  ///< %
  double size_bytes = 0, original_bytes = 0, compression = 1, bits_per_weight = 0;
  double kept = 100, squares_kept = 100;  ///< %, of the weights and of the sum of their squares, before tuning
  std::int64_t hidden = 0, weights = 0, multiply_adds = 0, wrong = 0;
  bool goal_met = false, on_front = false;
  double goal_bytes = 0, goal_accuracy = 0, goal_compression = 0;  ///< NaN: nothing in the sweep is above the goal
  models::CompressionSpeed speed;
  double first_loss = 0, last_loss = 0;
  std::vector<FrontRow> front;
};

/// The networks that the facts were measured on.
struct Run {
  std::shared_ptr<const models::NetworkStudy> study;
  models::Compressed compressed;
  std::vector<std::uint8_t> guesses;  ///< the class that the compressed network reads in each held-out digit
};

inline constexpr std::size_t pruning_count = static_cast<std::size_t>(models::Pruning::neurons) + 1;

/// A part of the bytes that the compressed network takes.
struct BytePart {
  std::string_view name, info;
  double bytes = 0;
  widgets::Tint tint{};
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  // Accuracy by size.
  std::array<widgets::Curve, pruning_count> sweep;    ///< by models::Pruning
  std::array<widgets::Curve, pruning_count> recipes;  ///< the same points, recipe by recipe over its bits
  widgets::Curve front;
  widgets::Curve recipe, recipe_bits;  ///< the sweep's nearest to the learner's, over its bits, and these as dots
  std::array<BytePart, 4> parts{};
  std::string before_line, after_line, yours_figure, smallest_figure;
  float largest_weight = 0;        ///< the largest magnitude in the first layer
  std::vector<std::uint8_t> gone;  ///< by hidden unit: nothing of it is left
  std::vector<std::size_t> shown;  ///< held-out digits, misread ones first
  std::string misread_line;
};

inline constexpr std::size_t shown_digits = 40;

/// What the two networks say of the ink.
struct Reading {
  std::array<double, models::digit_classes> original{}, yours{};  ///< %
  std::size_t original_says = 0, your_says = 0;
};

struct View {
  widgets::PlotView pareto;
  std::array<float, models::digit_pixels> ink{};  ///< 0 (paper) to 1
  bool drawn = false;                             ///< false: a held-out digit stands there
  std::size_t from = 0;                           ///< which of Picture::shown
  std::size_t cell = 27;                          ///< where the keyboard's pen is
  // Kept until the ink or the networks change.
  Reading reading;
  bool fresh = false;
  std::uint64_t reading_of = 0;
};

/// What is trained depends on these alone.
struct StudyKey {
  std::int64_t seed = 1;
  Difficulty difficulty = Difficulty::usual;
  bool operator==(const StudyKey&) const = default;
};
using Studies = Memo<StudyKey, models::NetworkStudy>;

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Studies& studies);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// A card of 8 x 8 to draw on, and what both networks read in it.
void draw_pen(const Picture& picture, View& view, ImVec2 size);
/// Float32's bytes above and the compressed network's below, both over the full width, with the scale between them.
void draw_bytes(const Outputs& out, const Picture& picture, ImVec2 size);
void draw_digits(const Picture& picture, View& view, ImVec2 size);
void draw_weights(const Picture& picture, ImVec2 size);

/// What float32 and the compressed network say of the ink.
Reading read_ink(const Run& run, std::span<const float> ink);

}  // namespace chapters::compression::playground
