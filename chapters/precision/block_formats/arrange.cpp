#include <algorithm>
#include <cmath>
#include <set>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::block_formats {
namespace {

using models::BlockScale;
using models::BlockScheme;

/// What a scale reads as over its block: 2 with a raised -3 for a power of two.
std::string scale_text(const BlockScheme& s, double scale) {
  if (s.scale == BlockScale::e8m0) return std::string(widgets::power_of_two(std::ilogb(scale)).view());
  return widgets::format_text(scale, "", 3);
}

/// Every value that the codes of one block can have, in order; empty where there are too many to draw apart.
std::vector<double> levels_of(const BlockScheme& s, const models::Blocks& b, std::size_t block) {
  const models::FloatFormat& e = models::element_of(s);
  if (e.bits > 4) return {};
  std::set<double> out;
  const double scale = b.scales[block] * b.tensor_scale;
  for (std::uint64_t c = 0; c <= e.code_mask(); ++c) {
    if (s.scale == BlockScale::fp16_zero)
      out.insert((static_cast<double>(c) - b.zero_points[block]) * scale);
    else if (e.family != models::FormatFamily::integer || c != e.sign_mask())
      out.insert(models::decode(e, c) * scale + 0.0);
  }
  return {out.begin(), out.end()};
}

/// The schemes and the block sizes as points: error against bits.
void arrange_trade(const Inputs& in, const Outputs& out, double rms, Picture& p) {
  for (const SchemeRow& row : out.schemes) {
    const bool chosen = row.id == in.scheme;
    if (chosen) p.chosen = p.scheme_bits.size();
    p.scheme_bits.push_back(row.bits);
    p.scheme_rms.push_back(row.relative);
    p.scheme_labels.push_back(chosen ? std::string_view() : models::find_block_scheme(row.id)->name);
  }
  for (const SizeRow& row : out.sizes) {
    p.sizes_text += (p.sizes_text.empty() ? "" : ", ") + std::to_string(row.block);
    p.size_bits.push_back(row.bits);
    p.size_rms.push_back(percent_of_rms(row.rms, rms));
  }
  p.sizes_note = "this scheme with blocks of " + std::to_string(out.sizes.front().block) + " to " +
                 std::to_string(out.sizes.back().block) + ", and the others";
  const auto [scheme_lo, scheme_hi] = std::minmax_element(p.scheme_rms.begin(), p.scheme_rms.end());
  const auto [size_lo, size_hi] = std::minmax_element(p.size_rms.begin(), p.size_rms.end());
  p.error_lo = std::max(std::min(*scheme_lo, *size_lo) * 0.5, 1e-6);
  p.error_hi = std::max(std::max(*scheme_hi, *size_hi) * 2, 1e-5);
}

/// RMS error of a block's elements but `without`, how many they are, how many of them became 0, and how many were 0.
struct Cost {
  double rms = 0;
  std::size_t count = 0, lost = 0, zeros = 0;
};
Cost cost_of(const Outputs& out, const Picture& p, std::size_t block, std::size_t without) {
  const auto size = static_cast<std::size_t>(out.stored.block_size);
  Cost c;
  double squares = 0;
  for (std::size_t i = block * size; i < std::min((block + 1) * size, p.exact.size()); ++i) {
    if (i == without) continue;
    const double e = out.stored.values[i] - p.exact[i];
    squares += e * e;
    c.lost += p.lost[i];
    c.zeros += p.exact[i] == 0;
    ++c.count;
  }
  c.rms = c.count > 0 ? std::sqrt(squares / static_cast<double>(c.count)) : 0;
  return c;
}

std::size_t largest_of(const std::vector<double>& values, std::size_t first, std::size_t end) {
  std::size_t at = first;
  for (std::size_t i = first; i < end; ++i)
    if (std::abs(values[i]) > std::abs(values[at])) at = i;
  return at;
}

/// The block whose largest magnitude is the smallest of all.
std::size_t calmest_block(const Outputs& out, const std::vector<double>& exact) {
  const auto size = static_cast<std::size_t>(out.stored.block_size);
  std::size_t calm = 0;
  double least = HUGE_VAL;
  for (std::size_t b = 0; b * size < exact.size(); ++b) {
    const std::size_t end = std::min((b + 1) * size, exact.size());
    const double largest = std::abs(exact[largest_of(exact, b * size, end)]);
    if (largest < least) {
      least = largest;
      calm = b;
    }
  }
  return calm;
}

/// One sentence: what the largest number costs those that share its scale, beside a block without one.
std::string answer_of(const Outputs& out, const Picture& p) {
  const std::size_t largest = largest_of(p.exact, 0, p.exact.size());
  const auto figure = [](double v) { return "`" + widgets::format_text(v, "", 3) + "`"; };
  const Cost beside = cost_of(out, p, p.largest_block, largest);
  if (p.exact[largest] == 0) return "All numbers are 0 and stay 0: nothing is lost.";
  const std::string what = "Beside the largest, " + figure(p.exact[largest]) + ", ";
  if (beside.count == 0) return "The largest, " + figure(p.exact[largest]) + ", has its scale for itself.";
  const std::size_t others = beside.count - beside.zeros;  // What is 0 already has nothing to lose.
  if (others == 0) return "All that shares a scale with the largest, " + figure(p.exact[largest]) + ", is 0 already.";
  const std::string of = " of `" + std::to_string(others) + "`" + (beside.zeros > 0 ? " that are not 0" : "");
  const std::string zeros = beside.lost == 0 ? "none" + of : "`" + std::to_string(beside.lost) + "`" + of;
  const std::string become = beside.lost == 1 || others == 1 ? " becomes 0" : " become 0";
  const std::size_t calm = calmest_block(out, p.exact);
  const Cost quiet = cost_of(out, p, calm, p.exact.size());
  if (calm == p.largest_block || !(quiet.rms > 0))
    return what + zeros + become + "; " + (beside.count == 1 ? "its error is " : "their RMS error is ") +
           figure(beside.rms) + ".";
  return what + zeros + become + ", and errors are " + figure(beside.rms / quiet.rms) + " times a calm block's.";
}

std::string bits_text(std::uint32_t code, int bits) {
  std::string s;
  for (int i = bits - 1; i >= 0; --i) s += (code >> i & 1) != 0 ? '1' : '0';
  return s;
}

/// The format and width of a scale as it is stored.
struct ScaleForm {
  std::string_view name;
  int bits;
};
ScaleForm scale_form(BlockScale scale) {
  switch (scale) {
    case BlockScale::e8m0:
      return {"E8M0", 8};
    case BlockScale::e4m3:
      return {"E4M3", 8};
    case BlockScale::fp16:
    case BlockScale::fp16_zero:
      return {"FP16", 16};
    case BlockScale::fp32:
      return {"FP32", 32};
  }
  return {"", 8};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  const BlockScheme* scheme = models::find_block_scheme(in.scheme);
  if (!out.reason.empty() || !out.exact || !scheme) return p;
  p.exact = *out.exact;
  for (std::size_t i = 0; i < p.exact.size(); ++i) p.lost.push_back(out.stored.values[i] == 0 && p.exact[i] != 0);
  for (std::size_t i = 0; i < out.stored.scales.size(); ++i) {
    p.scale_texts.push_back(scale_text(*scheme, out.stored.scales[i]));
    p.levels.push_back(levels_of(*scheme, out.stored, i));
  }
  const ScaleForm form = scale_form(scheme->scale);
  p.scale_name = form.name;
  for (const std::uint32_t code : out.stored.scale_codes) p.scale_codes.push_back(bits_text(code, form.bits));
  const auto size = static_cast<std::size_t>(out.stored.block_size);
  p.largest = largest_of(p.exact, 0, p.exact.size());
  p.largest_block = p.largest / size;
  p.first_shown = (p.largest_block > 0 ? p.largest_block - 1 : 0) * size;
  p.answer = answer_of(out, p);
  arrange_trade(in, out, rms_of(p.exact), p);
  p.note = std::string(scheme->source) + ": " + std::string(models::element_of(*scheme).name) + " elements, " +
           std::to_string(out.stored.block_size) + " to a scale" +
           (scheme->scale == BlockScale::e4m3 ? ", one more for the tensor" : "");
  return p;
}

}  // namespace chapters::precision::block_formats
