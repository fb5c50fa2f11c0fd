#pragma once
#include <span>
#include <vector>

/// Knowledge distillation on one example, in closed form. Hinton, Vinyals, Dean, "Distilling the knowledge in a neural
/// network", 2015.
namespace models {

/// softmax(logits / T): probabilities, softer for larger T. `temperature` above 0.
std::vector<double> softened(std::span<const double> logits, double temperature);
/// -sum p log2 p.
double entropy_bits(std::span<const double> p);

/// loss = alpha CE(label, softmax(s)) + (1 - alpha) T^2 KL(softmax(t / T) || softmax(s / T)).
struct DistillationTerms {
  std::vector<double> teacher, student;  ///< softened probabilities
  double hard_loss = 0;                  ///< -log softmax(s)[label], nats, not weighted
  double kl_teacher_student = 0;         ///< the direction that is trained: it punishes what the student leaves out
  double kl_student_teacher = 0;         ///< the other one, for comparison
  double soft_loss = 0;                  ///< T^2 KL(teacher || student), not weighted
  double loss = 0;
  std::vector<double> hard_gradient;  ///< by the student's logits: alpha (softmax(s) - label)
  std::vector<double> soft_gradient;  ///< (1 - alpha) T (student - teacher): T^2 from the loss, 1/T from the softmax
  std::vector<double> soft_gradient_plain;  ///< without T^2 in the loss: (1 - alpha) (student - teacher) / T
};
DistillationTerms distillation_terms(std::span<const double> teacher_logits, std::span<const double> student_logits,
                                     std::size_t label, double temperature, double alpha);

/// What soft_gradient tends to for large T: (1 - alpha) ((s - mean s) - (t - mean t)) / classes, whatever T is.
std::vector<double> hot_gradient(std::span<const double> teacher_logits, std::span<const double> student_logits,
                                 double alpha);

/// Euclidean length.
double norm(std::span<const double> v);

}  // namespace models
