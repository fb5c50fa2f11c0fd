#include "models/compression/distillation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace models {
namespace {

double mean(std::span<const double> v) {
  return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

/// log softmax(logits / T).
std::vector<double> log_softened(std::span<const double> logits, double temperature) {
  std::vector<double> out(logits.begin(), logits.end());
  if (out.empty()) return out;
  const double largest = *std::max_element(out.begin(), out.end());
  double sum = 0;
  for (double& v : out) {
    v = (v - largest) / temperature;
    sum += std::exp(v);
  }
  for (double& v : out) v -= std::log(sum);
  return out;
}

/// KL from logarithms, so that a probability that underflows costs what it should.
double divergence(std::span<const double> log_p, std::span<const double> log_q) {
  double out = 0;
  for (std::size_t k = 0; k < log_p.size(); ++k) out += std::exp(log_p[k]) * (log_p[k] - log_q[k]);
  return std::max(0.0, out);
}

}  // namespace

std::vector<double> softened(std::span<const double> logits, double temperature) {
  std::vector<double> out = log_softened(logits, temperature);
  for (double& v : out) v = std::exp(v);
  return out;
}

double entropy_bits(std::span<const double> p) {
  double out = 0;
  for (const double v : p)
    if (v > 0) out -= v * std::log2(v);
  return std::max(0.0, out);
}

DistillationTerms distillation_terms(std::span<const double> teacher_logits, std::span<const double> student_logits,
                                     std::size_t label, double temperature, double alpha) {
  DistillationTerms out;
  const auto log_t = log_softened(teacher_logits, temperature), log_s = log_softened(student_logits, temperature),
             log_hard = log_softened(student_logits, 1);
  out.teacher = softened(teacher_logits, temperature);
  out.student = softened(student_logits, temperature);
  out.hard_loss = label < log_hard.size() ? -log_hard[label] : 0;
  out.kl_teacher_student = divergence(log_t, log_s);
  out.kl_student_teacher = divergence(log_s, log_t);
  out.soft_loss = temperature * temperature * out.kl_teacher_student;
  out.loss = alpha * out.hard_loss + (1 - alpha) * out.soft_loss;
  for (std::size_t k = 0; k < out.student.size(); ++k) {
    const double apart = (1 - alpha) * (out.student[k] - out.teacher[k]);
    out.hard_gradient.push_back(alpha * (std::exp(log_hard[k]) - (k == label ? 1 : 0)));
    out.soft_gradient.push_back(temperature * apart);
    out.soft_gradient_plain.push_back(apart / temperature);
  }
  return out;
}

std::vector<double> hot_gradient(std::span<const double> teacher_logits, std::span<const double> student_logits,
                                 double alpha) {
  const double ms = mean(student_logits), mt = mean(teacher_logits), n = static_cast<double>(student_logits.size());
  std::vector<double> out;
  for (std::size_t k = 0; k < student_logits.size(); ++k)
    out.push_back((1 - alpha) * ((student_logits[k] - ms) - (teacher_logits[k] - mt)) / n);
  return out;
}

double norm(std::span<const double> v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

}  // namespace models
