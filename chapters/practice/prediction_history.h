#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "chapters/mechanism/field.h"

namespace chapters {

/// One committed prediction, as it is kept.
struct PredictionRecord {
  std::string lab, question;    ///< "roofline/roofline", and the question's id there
  double said = 0, answer = 0;  ///< in the SI unit of the output asked for
  bool close = false;           ///< within the question's tolerance
  double time_s = 0;            ///< when, in seconds since 1970
  bool operator==(const PredictionRecord&) const = default;
};
void describe(Fields& f, PredictionRecord& r);

inline constexpr std::string_view predictions_table =
    "prediction.history";  ///< the shared name that labs and the app keep them under
inline constexpr std::size_t max_prediction_records = 2000;

/// How the predictions stand. A question that was asked several times counts as it was answered first: afterwards the
/// answer is known.
struct PredictionStanding {
  double asked = 0, close = 0;
  std::string_view
      missed_lab;  ///< where the latest first answer was off; empty when none was. Points into the history.
};
PredictionStanding standing(std::span<const PredictionRecord> history);

}  // namespace chapters
