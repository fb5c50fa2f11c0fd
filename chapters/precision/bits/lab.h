#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/precision/shared/formats.h"
#include "models/numerics/decimal_rounding.h"

/// The bits of one number in one format, the rounding that led to them, and the same number in other formats.
namespace chapters::precision::bits {

struct Inputs {
  std::string format = "fp16";
  double value = 0.1;
  std::string decimal;  ///< not empty: this decimal to its last digit, and `value` waits
  std::string code;     ///< not empty: this code, and both wait
  models::Rounding rounding = models::Rounding::nearest_even;
  models::Overflow overflow = models::Overflow::ieee;
  std::int64_t seed = 1;
  std::vector<std::string> compare = {"fp32", "bf16", "fp16", "e5m2", "e4m3fn", "e2m1"};
  /// By bits: -0 is not 0, and NaN is itself.
  bool operator==(const Inputs& other) const;
};

/// The number in one of the compared formats.
struct Row {
  std::string id, code, kind;
  double value = 0, error = 0, relative_error = 0;
};

struct Outputs {
  std::string reason;
  std::string code, kind, exact, rule, next_up_code, next_down_code;
  std::string number, stored;  ///< what is rounded and what is stored, with as many digits as tell them apart
  double value = 0, ulp = 0, next_up = 0, next_down = 0, code_number = 0;
  double error = 0, relative_error = 0, error_ulp = 0;
  double lower = 0, upper = 0, midpoint = 0, position = 0;  ///< NaN where infinite; position in %
  std::int64_t sign = 0, exponent_field = 0, exponent = 0;
  std::int64_t mantissa_field = 0;
  double relative_ulp = 0;
  std::vector<Row> formats;
};

/// The roundings that the facts are read from.
struct Run {
  models::TypedDecimal number;                 ///< what is rounded: the value as a decimal, or what the code is worth
  models::RoundingStudy study;                 ///< its code is the one that is shown
  std::vector<models::RoundingStudy> formats;  ///< one a row of Outputs::formats
};

/// A code worth going to with one press.
struct Jump {
  const char* label = "";
  std::uint64_t code = 0;
};

/// What is written at a value on the line of the rounding.
struct EndLabels {
  std::string value, code;
  std::string_view what;  ///< "stored", "would be next", "lower"
};

/// A row of the table of formats as it is written.
struct FormatLine {
  const models::FloatFormat* format = nullptr;
  std::uint64_t bits = 0;
  std::string code, value;
  std::string outcome;  ///< "exact", "0.024 %", "underflow", "infinity", "NaN"
  bool lost = false;    ///< underflow, infinity or NaN
  bool exact = false;
  /// Place of the error's dot on its logarithmic axis, 0 to 1; NaN where nothing is off, or all is infinitely.
  double error_at = 0;
};

/// Where a relative error stands on the axis of errors, 0 to 1: from 1e-14 % to 100 %.
double error_place(double percent);

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  const models::FloatFormat* format = nullptr;
  std::string answer;
  std::string value_text;  ///< the value in full, or as many digits as tell it from its neighbours
  int widest_exponent = 1, widest_mantissa = 1;  ///< bits left and right of where the mantissas begin, of all `formats`
  std::optional<std::uint64_t> up, down;         ///< codes of the neighbours
  std::vector<Jump> jumps;
  std::string given_text;                               ///< "0.1 is stored as ?"
  std::string title_note, decided;                      ///< `decided`: one sentence that says which rule chose
  std::string sign_text, exponent_text, mantissa_text;  ///< names of the parts of the code with what they read
  std::string power_text, significand_text;             ///< "11 - 15", "(1 + 614 / 1024)"
  std::string plain_formula;  ///< the one line that stands in their place for tables, integers, inf and NaN
  // The line between the two neighbours.
  bool exact = false;             ///< the number stands in the middle of its neighbours, or has none
  EndLabels left, middle, right;  ///< `middle` only of an exact number
  bool goes_down = false;         ///< toward zero: all between the neighbours goes to the lower one
  bool tie = false;               ///< the number is the midpoint, and a rule of its own decides
  int beyond = 0;                 ///< -1 or 1: it lies left or right of all that the line shows
  std::string number_label, midpoint_text, chance_text;
  std::vector<FormatLine> formats;
  /// The octave of the stored value, or the subnormals below the first; none for zero, inf, NaN, tables and integers.
  bool octave = false;
  std::string octave_lo, octave_hi, octave_words;
  double octave_steps = 0, octave_at = 0;  ///< steps in it; place of the value, 0 to 1
  double octave_end = 1;                   ///< where its values end: before 1 in the last octave of E4M3FN
};

struct View {
  char typed[64] = {};
  bool bad = false;  ///< what was typed last is no number that this lab reads
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The code, bit by bit, from `at` on; tiles are at most `tallest` px high. Returns the height in px.
float draw_bits(Inputs& inputs, const Picture& picture, ImVec2 at, float width, float tallest);
/// The line between the two neighbours, under the sentence that says which rule chose; takes rounding_height() px.
void draw_rounding(const Inputs& inputs, const Picture& picture, ImVec2 at, float width);
float rounding_height();
/// The octave that the value lies in, and lines from the value to the ends of the rounding at `below` px; takes
/// octave_height() px.
void draw_octave(const Picture& picture, ImVec2 at, float width, float below);
float octave_height();
/// The same number in every format, one a row.
void draw_formats(Inputs& inputs, const Picture& picture, ImVec2 size);

/// All digits of a value where they are few, otherwise as many as tell it from its neighbours in the format.
std::string value_text(const models::FloatFormat& format, double value);
/// A number as it was given, cut to 26 letters.
std::string number_text(const models::TypedDecimal& number);

/// How a number is rounded to a format under these inputs.
models::RoundingStudy study_number(const Inputs& inputs, const models::FloatFormat& format,
                                   const models::TypedDecimal& number);
/// The number that the inputs give, or the value of their code.
models::TypedDecimal number_of(const Inputs& inputs, double code_value);
/// Takes what was typed into the box: as the value where a double and its shortest decimal say the same, as the decimal
/// otherwise. False where it reads as no number, or lies beyond the range of doubles; the inputs are then as before.
bool take_typed(Inputs& inputs, std::string_view text);
/// Do the inputs give a code in place of a value?
bool gives_code(const Inputs& inputs);
/// Makes the lab show this code: by its value where that encodes back to it, by the code itself otherwise.
void show_code(Inputs& inputs, const models::FloatFormat& format, std::uint64_t code);
/// "0.1", "-0", "inf", "1/3", "2^-24", "0x1.8p3" as a number; nothing for what lies beyond the range of doubles.
std::optional<double> read_number(std::string_view text);
/// "0x2E66", "0b101", "11878"; nothing when it is none of these or needs more than 64 bits.
std::optional<std::uint64_t> read_code(std::string_view text);

}  // namespace chapters::precision::bits
