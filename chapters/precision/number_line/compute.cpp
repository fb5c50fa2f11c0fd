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
  return std::string(name) + (percent > 0 ? " " + widgets::format_text(percent, "%", percent >= 10 ? 3 : 2) : "");
}

/// The largest of what is not normal, in words: "4.01 % lost".
std::string fate_text(double underflow, double subnormal, double normal, double overflow) {
  const auto share = [](double percent, const char* what) { return widgets::format_text(percent, "%") + what; };
  const double lost = underflow + overflow;
  if (subnormal >= lost && subnormal > 0.05) return share(subnormal, " subnormal");
  return lost > 0.05 ? share(lost, " lost") : share(normal, " normal");
}

double per_octave(const FloatFormat& f) {
  return f.family == models::FormatFamily::binary ? std::ldexp(1.0, f.mantissa_bits)
                                                  : static_cast<double>(models::values_between(f, 0.5, 1)) - 1;
}

Row row_of(const FloatFormat& f, const models::Tensor& tensor) {
  Row r;
  r.format = &f;
  r.limits = models::limits(f);
  r.name = f.name;
  r.note = note_of(f);
  r.values = static_cast<double>(r.limits.distinct_finite);
  r.largest = r.limits.max_finite;
  r.smallest_normal = r.limits.min_normal;
  r.smallest = r.limits.min_positive;
  r.per_octave = per_octave(f);
  const models::Fate fate = models::fate_of(f, tensor);
  r.underflow = 100 * fate.underflow;
  r.subnormal = 100 * fate.subnormal;
  r.normal = 100 * fate.normal;
  r.overflow = 100 * fate.overflow;
  r.underflow_text = share_text("underflow", r.underflow);
  r.overflow_text = share_text("overflow", r.overflow);
  r.fate_text = fate_text(r.underflow, r.subnormal, r.normal, r.overflow);
  return r;
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
      return "gradients: log-normal, median " + size + ", " + widgets::format_text(in.octaves, "", 2) +
             " octaves wide" + scaled;
    default:
      return {};
  }
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs o;
  o.format = models::find_float_format(in.format);
  if (!o.format) {
    o.reason = "There is no format " + in.format + ".";
    return o;
  }
  o.tensor = {
      .spread = in.spread,
      .size = in.size,
      .octaves = in.octaves,
      .scale = in.scale,
  };
  o.spread_text = spread_text(in);
  if (!in.file.bytes && !in.tensor.empty()) {
    o.reason = "The tensor " + in.tensor +
               " is named but no file is chosen: drop a safetensors file on the lab, or clear the name.";
    return o;
  }
  if (in.file.bytes) {
    if (o.reason = load_numbers(in, o, progress); !o.reason.empty()) return o;
    o.spread_text += scale_text(in);
  }
  const Row focus = row_of(*o.format, o.tensor);
  o.limits = focus.limits;
  o.values = focus.values;
  o.codes = o.limits.codes;
  o.largest = focus.largest;
  o.smallest_normal = focus.smallest_normal;
  o.smallest = focus.smallest;
  o.epsilon = o.limits.epsilon;
  o.per_octave = focus.per_octave;
  o.octaves_covered = std::log2(focus.largest) - std::log2(focus.smallest);
  o.subnormals = static_cast<double>(o.limits.subnormal_codes);
  const double positive =
      static_cast<double>(models::values_between(*o.format, o.limits.min_positive, o.limits.max_finite));
  o.below_one = 100 * static_cast<double>(models::values_between(*o.format, o.limits.min_positive, 1)) / positive;
  o.underflow = focus.underflow;
  o.subnormal = focus.subnormal;
  o.normal = focus.normal;
  o.overflow = focus.overflow;
  for (const std::string& id : in.formats)
    if (const FloatFormat* f = models::find_float_format(id)) {
      o.rows.push_back(row_of(*f, o.tensor));
      o.formats.push_back(f);
    }
  return o;
}

}  // namespace chapters::precision::number_line
