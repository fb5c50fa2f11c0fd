#pragma once
#include "models/memory/training_plan.h"

/// The closed forms for the activations of a GPT layer. Source: Korthikanti et al. 2022, "Reducing activation
/// recomputation in large transformer models", table 2: 16-bit values, dropout with masks of a byte, unfused attention.
/// Dropout and the width of values may be changed.
namespace models::memory {

/// Sizes of the formulas, as the paper names them.
struct FormulaSizes {
  double sequence = 1, batch = 1, hidden = 1, heads = 1;  ///< s, b (of a micro-batch), h, a
  /// Positions that a query sees, where that is not `sequence`: under context parallelism `sequence` is the part of
  /// one GPU, and its queries meet the keys of the whole sequence. 0: as many as `sequence`.
  double keys = 0;
  double tensor = 1;  ///< t
  bool sequence_parallel = false;
  bool dropout = true;     ///< as the paper counts; without it two masks and three of the five bytes a score are gone
  double value_bytes = 2;  ///< 2 in the paper; masks are a byte whatever it is
};

/// Bytes of one layer: sbh (34 + 5as/h), with k keys a query instead of s sbh (34 + 5ak/h), and their variants, without
/// dropout sbh (32 + 2as/h); under full recomputation 2sbh, which t does not divide.
double formula_layer_bytes(const FormulaSizes& sizes, Recompute recompute);

/// Bytes of a layer over sbh: 34, 34 + 5as/h, 2, ... Of the 34 are 16 values of two bytes and two masks: after
/// attention and after the feed-forward block; of the 5 are softmax, its dropped copy and a mask.
double formula_coefficient(const FormulaSizes& sizes, Recompute recompute);

/// Bytes of a pair of positions and head in unfused attention: 5 with dropout, 2 without.
double formula_score_bytes(const FormulaSizes& sizes);

/// Layers whose activations the first stage holds at once: L, and with v > 1 chunks a stage L (1 + (p - 1) / (p v)).
/// Source: the same, equation 5 ff.
double formula_layers_held(double layers, double pipeline, double virtual_pipeline);

}  // namespace models::memory
