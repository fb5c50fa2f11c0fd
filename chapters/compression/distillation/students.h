#pragma once
#include <optional>
#include <span>
#include <vector>

#include "chapters/compression/distillation/lab.h"

/// The networks of this lab: a teacher, and students before and after their training.
namespace chapters::compression::distillation {

/// Accuracy of a student on labels alone depends on these; its teacher on the seed.
struct LabelsKey {
  std::int64_t seed = 1;
  Digits digits{};
  Views views{};
  Width width{};
  bool operator==(const LabelsKey&) const = default;
};
/// The teacher, and what it says of the first 800 training digits and of the held-out ones.
struct Lesson {
  std::shared_ptr<const models::NetworkStudy> study;
  std::vector<float> teacher_logits, held_out_logits;
};
struct Memory {
  Memo<std::int64_t, Lesson> lessons;
  Memo<LabelsKey, double, 256> labels;
};

/// Hidden units of a student.
std::size_t hidden_units(Width width);
/// How many digits the students learn from, and how often they look at each: at least once.
std::size_t digit_count(const Inputs& in);
std::size_t pass_count(const Inputs& in);

/// The first `n` digits of a set.
models::DigitSet first_digits(const models::DigitSet& all, std::size_t n);
/// The student before its first step; the same Inputs give the same weights.
models::SmallNetwork untrained_student(const Inputs& in, Width width);
/// Logits of each class for one picture.
std::vector<double> logits_of(const models::SmallNetwork& network, std::span<const float> picture);

/// Trains one student, which moves `progress` from `begin` by `part`; nothing when it was stopped. Without a teacher's
/// logits it learns from labels alone.
std::optional<models::SmallNetwork> train_student(const Inputs& in, Width width, const models::DigitSet& digits,
                                                  const models::Distillation& teacher, Progress& progress, double begin,
                                                  double part);
/// Trains the teacher of a seed, which moves `progress` from 0 to 0.3, or remembers it; null when it was stopped.
std::shared_ptr<const Lesson> lesson_of(std::int64_t seed, Progress& progress, Memory& memory);

}  // namespace chapters::compression::distillation
