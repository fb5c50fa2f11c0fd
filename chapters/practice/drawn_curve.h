#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"

/// How well a line that the learner drew answers a question whose answer is a curve. Pure.
namespace chapters {

/// In what the gap between two lines is measured.
///
/// `ratio`: |ln(drawn / computed)|, for outputs that are positive throughout. `range`: the gap as a share of the range
/// that was given, times four, for outputs that may be zero or negative and for shares in %: a quarter of the range
/// counts as much as a factor of e, and a twentieth about as much as a factor of 1.22.
enum class CurveMeasure : std::uint8_t { ratio, range };

/// What is typically wrong with a drawn line.
enum class CurveError : std::uint8_t {
  close,       ///< within 25 % nearly everywhere (a score of 80 or more)
  too_high,    ///< nine tenths of the summed gaps lie above the computed line
  too_low,     ///< nine tenths lie below
  wrong_bend,  ///< on both sides
};

struct CurveScore {
  double score = 0;           ///< 100 / exp(mean gap), 0 to 100
  double typical_factor = 1;  ///< exp(mean gap), at least 1; a true factor only where the measure is `ratio`
  double mean_share = 0;      ///< mean gap as a share of the range; of `range` only
  double close_share = 0;     ///< part of the feasible samples whose gap is at most ln 1.25
  CurveError error = CurveError::close;
  std::size_t compared = 0;     ///< samples at which the computed line is feasible and the drawn one is there
  std::size_t worst = 0;        ///< the sample with the largest gap
  double worst_gap = 0;         ///< its gap, with its sign: above 0 where the drawn line is too high
  std::size_t close_up_to = 0;  ///< samples from the first on whose gap is at most ln 1.25, without a break
};

/// Compares two lines over the same samples, which are evenly spaced on the axis that was drawn on. NaN in `computed`
/// is infeasible, and is left out. `lo` and `hi` are the range given. A drawn value that is not positive counts as
/// `lo / 100` under `ratio`. Without a sample to compare the score is 0.
CurveScore score_curve(std::span<const double> drawn, std::span<const double> computed, CurveMeasure measure, double lo,
                       double hi);

/// Which measure belongs to an output with this unit and these computed values: `range` for shares in % and where a
/// value is zero or negative, otherwise `ratio`.
CurveMeasure measure_of(std::string_view unit, std::span<const double> computed);

/// A score from which on a drawn line counts as close: a typical factor of 1.25.
inline constexpr double close_curve_score = 80;

/// One committed line, as it is kept beside its PredictionRecord (whose `said` is the score and whose `answer` is 100).
struct CurveRecord {
  std::string lab, question;
  double score = 0;
  std::string drawn;  ///< "x:y x:y ...", in SI units, as curve_text writes it
  double time_s = 0;  ///< seconds since 1970
  bool operator==(const CurveRecord&) const = default;
};
void describe(Fields& f, CurveRecord& r);
inline constexpr std::string_view curves_table = "prediction.curves";  ///< the name they are kept under

/// At most 33 samples of a line, the first and the last among them, with four significant digits.
std::string curve_text(std::span<const double> xs, std::span<const double> ys);
/// Reads what curve_text wrote; what cannot be read is left out.
void read_curve_text(std::string_view text, std::vector<double>& xs, std::vector<double>& ys);

}  // namespace chapters
