#pragma once
#include <optional>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/precision/shared/formats.h"
#include "models/numerics/rounding.h"

/// Between bits.cpp (described), bits_compute.cpp, bits_draw.cpp and bits_rounding.cpp.
namespace chapters::precision::bits {

struct Inputs {
  std::string format = "fp16";
  double value = 0.1;
  std::string code;  ///< not empty: this code, and `value` waits
  models::Rounding rounding = models::Rounding::nearest_even;
  models::Overflow overflow = models::Overflow::ieee;
  std::int64_t seed = 1;
  std::vector<std::string> compare = {"fp32", "bf16", "fp16", "e5m2", "e4m3fn", "e2m1"};
  /// By bits: -0 is not 0, and NaN is itself.
  bool operator==(const Inputs& other) const;
};

struct Row {
  std::string id, name, code, kind, text;
  double value = 0, error = 0, relative_error = 0;
  const models::FloatFormat* format = nullptr;
  std::uint64_t bits = 0;
  bool lost = false;    ///< underflow, infinity or NaN
  std::string outcome;  ///< "exact", "0.024 %", "underflow", "infinity", "NaN"
};

/// A code worth going to with one press.
struct Jump {
  const char* label = "";
  std::uint64_t code = 0;
};

struct Outputs {
  std::string reason;
  std::string code, kind, exact, rule, next_up_code, next_down_code;
  double value = 0, ulp = 0, next_up = 0, next_down = 0, code_number = 0;
  double typed = 0, error = 0, relative_error = 0, error_ulp = 0;
  double lower = 0, upper = 0, midpoint = 0, position = 0;
  std::int64_t sign = 0, exponent_field = 0, exponent = 0;
  double mantissa_field = 0, relative_ulp = 0;
  std::vector<Row> formats;

  // For the picture
  const models::FloatFormat* format = nullptr;
  std::uint64_t bits = 0;
  models::RoundingStudy study;
  bool from_code = false;
  std::optional<std::uint64_t> up, down;
  std::vector<Jump> jumps;
  std::string title_note, decided, typed_text, number_label, lower_text, upper_text, midpoint_text, chance_text,
      lower_code, upper_code, down_text, up_text;
  std::string sign_text, exponent_text, mantissa_text;  ///< names of the groups with what they read
  std::string power_text, significand_text,
      plain_formula;  ///< "11 - 15", "(1 + 614 / 1024)"; for tables and integers one line
};

struct View {
  char typed[64] = {};
  bool bad = false;  ///< what was typed last is no number
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);
void draw_rounding(const Inputs& inputs, const Outputs& out, float width);  ///< the line between the two neighbours
void draw_formats(Inputs& inputs, const Outputs& out, float width);         ///< the same number in every format

/// Makes the lab show this code: by its value where that encodes back to it, by the code itself otherwise.
void show_code(Inputs& inputs, const models::FloatFormat& format, std::uint64_t code);
/// "0.1", "-0", "inf", "1/3", "2^-24", "0x1.8p3" as a number.
std::optional<double> read_number(std::string_view text);
/// "0x2E66", "0b101", "11878"; nothing when it is none of these or needs more than 64 bits.
std::optional<std::uint64_t> read_code(std::string_view text);

void describe(Fields& fields, Row& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::precision::bits
