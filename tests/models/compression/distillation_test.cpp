#include "models/compression/distillation.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

const std::vector<double> teacher{4, 1, 0, -2, 3}, student{0.5, 1, -1, 0, 0.2};

/// The definition alone, in one line.
double loss_of(const std::vector<double>& s, double temperature, double alpha) {
  return distillation_terms(teacher, s, 0, temperature, alpha).loss;
}

}  // namespace

TEST_CASE("distillation: two classes by hand") {
  // t = (ln 3, 0), s = (0, 0): p_t = (3/4, 1/4), p_s = (1/2, 1/2); KL = 3/4 ln 3/2 + 1/4 ln 1/2.
  const std::vector<double> t{std::log(3.0), 0}, s{0, 0};
  const auto terms = distillation_terms(t, s, 0, 1, 0.25);
  const double forward = 0.75 * std::log(1.5) + 0.25 * std::log(0.5),
               reverse = 0.5 * std::log(0.5 / 0.75) + 0.5 * std::log(0.5 / 0.25);
  CHECK(near(terms.kl_teacher_student, forward, 1e-12));
  CHECK(near(terms.kl_student_teacher, reverse, 1e-12));
  CHECK(near(terms.loss, 0.25 * std::log(2.0) + 0.75 * forward, 1e-12));
  CHECK(near(terms.hard_gradient[0], 0.25 * -0.5, 1e-12));
  CHECK(near(terms.soft_gradient[0], 0.75 * -0.25, 1e-12));
  CHECK(near(entropy_bits(terms.student), 1, 1e-12));
  CHECK(near(softened(t, 2)[0], std::sqrt(3.0) / (1 + std::sqrt(3.0)), 1e-12));
}

TEST_CASE("distillation: hard and soft gradient together are the derivative of the loss") {
  for (const double temperature : {1.0, 3.0, 12.0})
    for (const double alpha : {0.0, 0.3, 1.0}) {
      const auto terms = distillation_terms(teacher, student, 0, temperature, alpha);
      for (std::size_t k = 0; k < student.size(); ++k) {
        auto above = student, below = student;
        above[k] += 1e-5, below[k] -= 1e-5;
        const double slope = (loss_of(above, temperature, alpha) - loss_of(below, temperature, alpha)) / 2e-5;
        CHECK(std::abs(terms.hard_gradient[k] + terms.soft_gradient[k] - slope) <= 1e-8);
      }
    }
}

TEST_CASE("distillation: with T^2 the soft gradient keeps its size as T grows, without it falls as 1 / T^2") {
  const double limit = norm(hot_gradient(teacher, student, 0));
  // (s - mean s) - (t - mean t) = (-2.84, 0.86, -0.14, 2.86, -1.94) + 0.2 each way; over 5 classes.
  const std::vector<double> by_hand{(0.5 - 0.14 - 4 + 1.2) / 5, (1 - 0.14 - 1 + 1.2) / 5, (-1 - 0.14 - 0 + 1.2) / 5,
                                    (0 - 0.14 + 2 + 1.2) / 5, (0.2 - 0.14 - 3 + 1.2) / 5};
  CHECK(near(limit, norm(by_hand), 1e-12));
  for (const double temperature : {2.0, 4.0, 8.0, 16.0, 1000.0}) {
    const auto terms = distillation_terms(teacher, student, 0, temperature, 0);
    CHECK(near(norm(terms.soft_gradient) / norm(terms.soft_gradient_plain), temperature * temperature, 1e-9));
    CHECK((norm(terms.soft_gradient) > 0.5 * limit && norm(terms.soft_gradient) < 3 * limit));
  }
  CHECK(near(norm(distillation_terms(teacher, student, 0, 1000, 0).soft_gradient), limit, 0.01));
}

TEST_CASE(
    "distillation: a student that says what its teacher says has no soft loss, and logits of hundreds stay finite") {
  CHECK(distillation_terms(teacher, teacher, 0, 4, 0).loss <= 1e-12);
  const std::vector<double> sure{900, 0, -900}, wrong{-900, 0, 900};
  const auto terms = distillation_terms(sure, wrong, 0, 1, 0.5);
  CHECK(near(terms.kl_teacher_student, 1800, 1e-12));
  CHECK(near(terms.hard_loss, 1800, 1e-12));
  CHECK(std::isfinite(norm(terms.soft_gradient)));
}
