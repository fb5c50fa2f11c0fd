#include <algorithm>
#include <cmath>

#include "chapters/precision/number_line/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {
namespace {

using models::FloatFormat;
using models::ValueSpread;

std::string note_of(const FloatFormat& f) {
  if (f.family == models::FormatFamily::table) return "table of 16";
  if (f.family == models::FormatFamily::integer) return std::to_string(f.bits) + " bits";
  return std::to_string(f.exponent_bits) + " exponent, " + std::to_string(f.mantissa_bits) + " mantissa";
}

std::string share_text(std::string_view name, double percent) {
  if (!(percent > 0)) return std::string(name);
  return std::string(name) + " " + (percent < 0.01 ? "under 0.01 %" : widgets::format_text(percent, "%"));
}

/// The largest of what is not normal, in words: "4.01 % lost".
std::string fate_text(const Row& r) {
  const auto share = [](double percent, const char* what) { return widgets::format_text(percent, "%") + what; };
  const double lost = r.underflow + r.overflow;
  if (r.subnormal >= lost && r.subnormal > 0.05) return share(r.subnormal, " subnormal");
  return lost > 0.05 ? share(lost, " lost") : share(r.normal, " normal");
}

std::string scale_text(const Inputs& in) {
  return in.scale > 1 ? ", times a loss scale of " + widgets::format_text(in.scale, "", 3) : "";
}

std::string spread_text(const Inputs& in) {
  const std::string size(widgets::format(in.size, "", 3).view());
  const std::string scaled = scale_text(in);
  switch (in.spread) {
    case ValueSpread::normal:
      return "normal, standard deviation " + size + scaled;
    case ValueSpread::heavy:
      return "heavy tail (Student's t, 3 degrees of freedom), scale " + size + scaled;
    case ValueSpread::gradients:
      return "gradients: log-normal, median " + size + ", standard deviation " +
             widgets::format_text(in.octaves, "", 2) + " octaves" + scaled;
    default:
      return {};
  }
}

std::string sample_text(const Inputs& in, const models::TensorEntry& entry) {
  return entry.name + " (" + std::string(models::tensor_type_name(entry.type)) + ", " + std::to_string(entry.elements) +
         " numbers)" + scale_text(in);
}

/// A power of two as far as it is one: "to 2^127" of FP32's 2^127 (2 - 2^-23).
std::string reach_text(double log2) {
  return "to " + std::string(widgets::power_of_two(static_cast<int>(std::floor(log2))).view());
}

/// What is stored, within a sentence: "these gradients", or the magnitudes where the format has no sign.
std::string numbers_text(const Run& run, const FloatFormat& f) {
  const bool no_sign = f.family == models::FormatFamily::binary && f.sign_bits == 0;
  return std::string(no_sign ? "the magnitudes of " : "") +
         (run.tensor.spread == ValueSpread::gradients ? "these gradients" : "these numbers");
}

/// Where the format's values stand, of a picture without numbers.
std::string answer_of_values(const Outputs& out, const FloatFormat& f) {
  const auto number = [](double v) { return widgets::figure(v, "", 4); };
  const std::string verdict = std::string(f.name) + " has " + number(out.values) + " values, from " +
                              number(out.limits.lowest) + " to " + number(out.limits.max_finite) +
                              "; the smallest above zero is " + number(out.limits.min_positive) + ".";
  if (f.family != models::FormatFamily::binary) return verdict;
  return verdict + "\nFrom one power of two to the next there " +
         (out.per_octave == 1 ? "is " + number(1) + " value" : "are " + number(out.per_octave) + " values") +
         ", so that they stand farther apart the larger they are.";
}

/// The second line: which end of the format the numbers fall off, or what the picture's axis shows.
std::string reason_of(const Inputs& in, const Outputs& out, const FloatFormat& f) {
  const auto number = [](double v) { return widgets::figure(v, ""); };
  const std::string name(f.name);
  if (in.scale > 1)
    return "Without the loss scale of " + number(in.scale) + ", " + share_words(out.underflow_unscaled) +
           " of them would become zero; with a larger one more overflow, past " + number(out.limits.max_finite) + ".";
  if (out.overflow > 0.01 && out.overflow >= out.underflow)
    return "The largest value of " + name + " is " + number(out.limits.max_finite) +
           "; half a step beyond it or more overflows.";
  if (out.underflow > 0.01)
    return "The smallest value of " + name + " is " + number(out.limits.min_positive) +
           "; what is at most half of it becomes zero.";
  if (out.subnormal > 1)
    return "The smallest normal value of " + name + " is " + number(out.limits.min_normal) +
           "; below it a number has fewer bits.";
  if (f.family == models::FormatFamily::binary && f.mantissa_bits == 0)
    return name + " has no mantissa: each is rounded to a power of two.";
  return "Every bit of the mantissa is kept in " + share_words(out.normal) + " of them.";
}

/// By ULP: how many of the values lie near zero, and that each has as much room.
std::string answer_of_steps(const Outputs& out, const Run& run, const FloatFormat& f) {
  const std::string name(f.name);
  const std::string verdict =
      "Of the positive values of " + name + ", " + share_words(out.below_one) + " are at most 1.\n";
  if (run.tensor.spread == ValueSpread::none) return verdict + "Here every value takes as much room as the next.";
  return verdict + "Here every value takes as much room as the next; " + name + " rounds " +
         share_words(out.underflow) + " of " + numbers_text(run, f) + " to zero.";
}

/// How many numbers the format has, or what becomes of those that are stored; then why.
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run, const FloatFormat& f) {
  if (in.axis == models::LineAxis::ordinal) return answer_of_steps(out, run, f);
  if (run.tensor.spread == ValueSpread::none) return answer_of_values(out, f);
  if (out.underflow + out.overflow < 0.01)
    return std::string(f.name) + " loses " + share_words(out.underflow + out.overflow) + " of " + numbers_text(run, f) +
           " and stores " + share_words(out.subnormal) + " as subnormals.\n" + reason_of(in, out, f);
  return std::string(f.name) + " rounds " + share_words(out.underflow) + " of " + numbers_text(run, f) +
         " to zero and stores " + share_words(out.subnormal) + " as subnormals; " + share_words(out.overflow) +
         " overflow.\n" + reason_of(in, out, f);
}

/// What is shown at first: on a linear axis the chosen format whole, since the widest would leave nothing to see.
models::LineStretch first_stretch(const Inputs& in, const Outputs& out, const Picture& p) {
  if (in.axis != models::LineAxis::linear) return models::whole_line(p.formats, in.axis);
  const double reach = std::min(1.1 * std::max(out.limits.max_finite, -out.limits.lowest), 8e307);
  return {-reach, reach};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  p.format = models::find_float_format(in.format);
  if (!out.reason.empty() || !p.format) return p;
  p.spread_text = run.sample ? sample_text(in, run.sample->entry) : spread_text(in);
  for (const std::string& id : in.formats)
    if (const FloatFormat* f = models::find_float_format(id)) p.formats.push_back(f);
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    const Row& r = out.rows[i];
    p.rows.push_back({
        .format = p.formats[i],
        .note = note_of(*p.formats[i]),
        .underflow_text = share_text("underflow", r.underflow),
        .overflow_text = share_text("overflow", r.overflow),
        .fate_text = fate_text(r),
        .below_text = reach_text(std::log2(r.limits.min_positive)),
        .above_text = reach_text(std::log2(r.limits.max_finite)),
        .least_log2 = std::log2(r.limits.min_positive),
        .most_log2 = std::log2(r.limits.max_finite),
    });
  }
  p.bell_text = "coloured by what " + std::string(p.format->name) + " makes of them" +
                (in.axis == models::LineAxis::log2 ? "; drag them to change the loss scale" : "");
  p.answer = answer_of(in, out, run, *p.format);
  p.whole = first_stretch(in, out, p);
  return p;
}

}  // namespace chapters::precision::number_line
