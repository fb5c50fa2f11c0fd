#pragma once
#include "models/memory/training_plan.h"

namespace models::memory {

/// What the last stage holds between the layers' forward and backward pass, beyond what the layers keep. Bytes.
struct LossPeak {
  double ends = 0;             ///< the final norm's input and what the product with the output matrix keeps
  double logits = 0;           ///< at the fullest moment of the loss
  double beside = 0;           ///< gradients of the hidden state and of the output matrix at that moment
  double gradient = 0;         ///< The part of `beside` that is the output matrix's gradient.
  bool head_backward = false;  ///< the second of the two moments below is the fullest
  double spike = 0;  ///< the most that the loss holds for the logits, whether or not that is the fullest moment
  double total() const { return ends + logits + beside; }
};

/// Two moments compete: the loss at its fullest, and the backward pass of the product with the output matrix, which
/// holds the gradient of the logits, of the hidden state and of the matrix. `late`: the matrix's gradient is allocated
/// there; otherwise it passes through in 16 bits unless the plan fuses it. `beside`: bytes that something else holds at
/// the second moment alone, such as a layer that is gathered ahead; they decide, and are not in the result.
LossPeak loss_peak(const Architecture& architecture, const TrainingPlan& plan, bool late, double beside = 0);

}  // namespace models::memory
