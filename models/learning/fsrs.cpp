#include "models/learning/fsrs.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

constexpr double shortest_stability_days = 0.001;

/// f of the forgetting curve: 0.9^(-1 / w20) - 1.
double curve_factor() {
  static const double factor = std::pow(0.9, -1 / fsrs6_parameters[20]) - 1;
  return factor;
}

double number_of(FsrsGrade grade) { return static_cast<double>(grade); }

double first_difficulty(FsrsGrade grade) {
  return fsrs6_parameters[4] - std::exp(fsrs6_parameters[5] * (number_of(grade) - 1)) + 1;
}

double next_difficulty(double difficulty, FsrsGrade grade) {
  const double step = -fsrs6_parameters[6] * (number_of(grade) - 3), damped = difficulty + step * (10 - difficulty) / 9;
  return std::clamp(fsrs6_parameters[7] * first_difficulty(FsrsGrade::easy) + (1 - fsrs6_parameters[7]) * damped, 1.0,
                    10.0);
}

double same_day_stability(double stability, FsrsGrade grade) {
  double growth = std::exp(fsrs6_parameters[17] * (number_of(grade) - 3 + fsrs6_parameters[18])) *
                  std::pow(stability, -fsrs6_parameters[19]);
  if (grade != FsrsGrade::again) growth = std::max(growth, 1.0);
  return stability * growth;
}

double forgotten_stability(const FsrsMemory& m, double known) {
  const double after = fsrs6_parameters[11] * std::pow(m.difficulty, -fsrs6_parameters[12]) *
                       (std::pow(m.stability_days + 1, fsrs6_parameters[13]) - 1) *
                       std::exp((1 - known) * fsrs6_parameters[14]);
  return std::min(after, m.stability_days / std::exp(fsrs6_parameters[17] * fsrs6_parameters[18]));
}

double recalled_stability(const FsrsMemory& m, double known, FsrsGrade grade) {
  const double hard = grade == FsrsGrade::hard ? fsrs6_parameters[15] : 1,
               easy = grade == FsrsGrade::easy ? fsrs6_parameters[16] : 1;
  return m.stability_days *
         (1 + std::exp(fsrs6_parameters[8]) * (11 - m.difficulty) * std::pow(m.stability_days, -fsrs6_parameters[9]) *
                  (std::exp((1 - known) * fsrs6_parameters[10]) - 1) * hard * easy);
}

double bounded(double stability) { return std::clamp(stability, shortest_stability_days, 10 * fsrs_longest_days); }

}  // namespace

double fsrs_retrievability(double elapsed_days, double stability_days) {
  if (!(stability_days > 0)) return 0;
  return std::pow(1 + curve_factor() * std::max(0.0, elapsed_days) / stability_days, -fsrs6_parameters[20]);
}

double fsrs_interval_days(double stability_days, double retention) {
  return stability_days / curve_factor() * (std::pow(retention, -1 / fsrs6_parameters[20]) - 1);
}

double fsrs_next_interval_days(double stability_days, double retention) {
  return std::clamp(std::nearbyint(fsrs_interval_days(stability_days, retention)), 1.0, fsrs_longest_days);
}

FsrsMemory fsrs_first(FsrsGrade grade) {
  return {fsrs6_parameters[static_cast<std::size_t>(grade) - 1], std::clamp(first_difficulty(grade), 1.0, 10.0)};
}

FsrsMemory fsrs_review(const FsrsMemory& memory, double elapsed_days, FsrsGrade grade) {
  if (!memory.seen()) return fsrs_first(grade);
  const double known = fsrs_retrievability(elapsed_days, memory.stability_days);
  const double stability = elapsed_days < 1            ? same_day_stability(memory.stability_days, grade)
                           : grade == FsrsGrade::again ? forgotten_stability(memory, known)
                                                       : recalled_stability(memory, known, grade);
  return {bounded(stability), next_difficulty(memory.difficulty, grade)};
}

double fsrs_expected_interval_days(const FsrsMemory& memory, double elapsed_days, double retention) {
  const double known = fsrs_retrievability(elapsed_days, memory.stability_days);
  const auto kept = [&](FsrsGrade grade) {
    return fsrs_interval_days(fsrs_review(memory, elapsed_days, grade).stability_days, retention);
  };
  return known * kept(FsrsGrade::good) + (1 - known) * kept(FsrsGrade::again);
}

}  // namespace models
