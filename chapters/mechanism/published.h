#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// Figures that people measured and published, each beside what a lab's model says of the same inputs.
namespace chapters {

/// What the model's figure is to a measured one.
enum class ModelRole : unsigned char {
  ceiling,   ///< The most that can be reached: a rate. A measurement above it is wrong, or the model is.
  floor,     ///< The least that it can take: a time, bytes. A measurement below it is wrong, or the model is.
  estimate,  ///< The figure itself, as well as the model knows it.
  beside,    ///< Another quantity that is worth seeing beside the model's: there is no residual.
};

/// One input of a published figure as its data states it.
struct PublishedInput {
  std::string key;
  std::string text;  ///< value of a text, a choice or a file; "true" or "false" for a toggle
  double number = std::numeric_limits<double>::quiet_NaN();  ///< value of a number, in the input's unit
};

/// One published figure. `measured` has the unit of `output`, which `unit` repeats so that a slip is found.
struct Published {
  std::string id, lab;
  std::string name;    ///< what was measured
  std::string label;   ///< what stands beside its mark in a plot; empty: the mark speaks for itself
  std::string set;     ///< JSON object of the lab's inputs; the rest are defaults
  std::string output;  ///< key of the lab's output
  std::string unit;
  double measured = 0;
  ModelRole role = ModelRole::estimate;
  double tolerance = std::numeric_limits<double>::quiet_NaN();  ///< largest |residual|, relative; NaN: none is stated
  std::string beats;              ///< why the measurement may lie beyond a bound; empty: it must not
  std::string source, date, url;  ///< `url` may be empty
  std::string note;               ///< what else a reader must know; may be empty
  std::vector<PublishedInput> inputs;

  const PublishedInput* input(std::string_view key) const;        ///< null where the data does not set it
  bool sets(std::string_view key, std::string_view value) const;  ///< the data sets the text `key` to `value`
  double number(std::string_view key, double otherwise) const;    ///< a number that the data sets
};

/// A published figure beside the model's.
struct CheckedPublished {
  double model = 0;     ///< what the lab computes, in the output's unit
  double residual = 0;  ///< see published_residual; NaN for another quantity
  double share = 0;     ///< the part of a bound that was reached; NaN for an estimate
  std::string fault;    ///< a sentence where a bound is beaten or a tolerance missed; empty: all is well
};

/// For an estimate (measured - model) / |model|: -0.3 is 30 % below the model. For a bound its share reached less 1:
/// -0.3 is 30 % short of it, whether a rate fell below its ceiling or a time took longer than its floor. NaN for
/// another quantity.
double published_residual(ModelRole role, double measured, double model);
/// The share of a bound that was reached: measured over a ceiling, a floor over measured; NaN for what is no bound.
double published_share(ModelRole role, double measured, double model);

/// The model bounds the measurement.
constexpr bool is_bound(ModelRole role) { return role == ModelRole::ceiling || role == ModelRole::floor; }

/// "ceiling", "floor", "estimate", "beside".
std::string_view model_role_id(ModelRole role);

}  // namespace chapters
