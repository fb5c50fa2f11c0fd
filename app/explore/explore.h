#pragma once
#include <functional>
#include <string>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "models/base/result.h"

/// Four ways to think with any lab: sweep, sensitivity, solve, compare. Each works on clones and never touches the lab
/// given.
namespace app {

/// A numeric reading of an output: reals and integers as they are, toggles 0 or 1, choices by index. NaN while
/// infeasible.
double reading(const chapters::Lab& lab, std::string_view output);
/// Keys of the outputs that have such a reading.
std::vector<std::string> readable_outputs(const chapters::Lab& lab);
/// Keys of the inputs that a sweep can run over: numbers, toggles and choices.
std::vector<std::string> sweepable_inputs(const chapters::Lab& lab);

/// Runs body(0..n-1) on up to two threads; stops early when cancelled. `body` gets the worker's number (0 or 1).
void parallel_for(std::size_t n, chapters::Progress& progress,
                  const std::function<void(std::size_t i, int worker)>& body);

struct SweepAxis {
  std::string key;
  std::vector<double> values;       ///< numbers; for choices the option's index
  std::vector<std::string> labels;  ///< option ids for choices, else empty
  bool log = false;
};
/// "key=LO:HI:N[:log]", "key" (whole range, 64 points or every option) or "key=a,b,c" for choices. Bounds take units.
models::Result<SweepAxis> parse_sweep_axis(const chapters::Lab& lab, std::string_view text,
                                           std::size_t default_points = 64);

struct SweepResult {
  SweepAxis x, y;  ///< y.key is empty for one input
  std::string output;
  std::vector<double> values;  ///< x.size() * max(1, y.size()), x fastest; NaN where infeasible
};
/// The output at every point of one or two axes, at most 65,536 points. Fails when cancelled too.
models::Result<SweepResult> sweep(const chapters::Lab& lab, const std::vector<SweepAxis>& axes, std::string_view output,
                                  chapters::Progress& progress);

struct SensitivityRow {
  std::string key, label;
  std::string low_input, high_input;       ///< as text with units
  double low_output = 0, high_output = 0;  ///< NaN where infeasible
  double span() const;                     ///< |high - low|, 0 where either is NaN
};
struct SensitivityResult {
  std::string output;
  double base = 0;
  std::vector<SensitivityRow> rows;  ///< largest span first
};
/// The output while one input at a time is moved: a number on a log scale is halved and doubled, another moved by a
/// tenth of its range, and of a choice every option is tried. Fails when cancelled too.
models::Result<SensitivityResult> sensitivity(const chapters::Lab& lab, std::string_view output,
                                              chapters::Progress& progress);

/// An input and a headline figure whose curve over the input's typical range says something: of the first eight numbers
/// among the inputs, the pair that leaves a straight line farthest. Empty keys where every curve is straight or flat.
struct TellingPair {
  std::string input, output;
  double bend = 0;  ///< greatest distance from the line between the ends, as a part of the height
};
TellingPair telling_pair(const chapters::Lab& lab, chapters::Progress& progress);

struct SolveResult {
  bool found = false;
  double input = 0, output = 0;
  std::string why;  ///< when not found: what the output does over the range
};
/// The least input in [lo, hi] at which the output meets the target (within 1e-9 relative, or the nearest whole number
/// for integers, on the side where the target is first reached or passed). Fails on a wrong key or range, and when
/// cancelled.
models::Result<SolveResult> solve(const chapters::Lab& lab, std::string_view key, double lo, double hi,
                                  std::string_view output, double target, chapters::Progress& progress);

struct ComparedOutput {
  std::string key, label, unit;
  double a = 0, b = 0;
};
struct CompareStep {
  std::string key, label;             ///< the input that was changed
  std::string from, to;               ///< as text
  std::vector<ComparedOutput> moved;  ///< the outputs that this one change moved, in description order
};
struct CompareResult {
  std::vector<CompareStep> steps;     ///< from A to B, one differing input at a time, in description order
  std::vector<ComparedOutput> total;  ///< outputs that differ between A and B
};
/// What each difference between two scenarios of one lab does. Fails when they are of different labs.
models::Result<CompareResult> compare(const chapters::Lab& a, const chapters::Lab& b);

/// How a person reads a field's current value: with unit, option label, item count.
std::string display_text(const chapters::Field& field);

}  // namespace app
