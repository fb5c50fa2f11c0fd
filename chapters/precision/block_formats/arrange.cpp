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
  p.schemes = {.kind = widgets::Curve::Kind::dots,
               .label = "schemes",
               .info = "each scheme with its own block size",
               .tint = widgets::Tint::series(1),
               .marker = widgets::Marker::square,
               .radius = 4};
  for (const SchemeRow& row : out.schemes) {
    const bool chosen = row.id == in.scheme;  // it has a mark of its own
    if (chosen) p.chosen = p.schemes.x.size();
    p.schemes.add(row.bits, row.relative);
    p.schemes.labels.push_back(chosen ? std::string() : row.name);
  }
  p.sizes = {.label = "other block sizes",
             .info = "the scheme with other block sizes",
             .tint = widgets::Tint::yours(),
             .named = false};
  p.size_dots = {
      .kind = widgets::Curve::Kind::dots, .label = "block sizes", .tint = widgets::Tint::yours(), .radius = 3};
  for (const SizeRow& row : out.sizes) {
    p.size_dots.info += (p.size_dots.info.empty() ? "" : ", ") + std::to_string(row.block);
    p.sizes.add(row.bits, percent_of_rms(row.rms, rms));
  }
  p.size_dots.x = p.sizes.x;
  p.size_dots.y = p.sizes.y;
  p.sizes_note = "this scheme with blocks of " + std::to_string(out.sizes.front().block) + " to " +
                 std::to_string(out.sizes.back().block) + ", and the others";
  const auto [scheme_lo, scheme_hi] = std::minmax_element(p.schemes.y.begin(), p.schemes.y.end());
  const auto [size_lo, size_hi] = std::minmax_element(p.sizes.y.begin(), p.sizes.y.end());
  p.error_lo = std::max(std::min(*scheme_lo, *size_lo) * 0.5, 1e-6);
  p.error_hi = std::max(std::max(*scheme_hi, *size_hi) * 2, 1e-5);
}

/// What the largest number does to those of its block: "turns `22` of the `31` that share its scale into zero".
std::string effect_text(const Outputs& out) {
  const auto count = [](std::int64_t n) { return widgets::figure(std::to_string(n)); };
  const std::int64_t others = out.beside_not_zero;  // What is 0 already has nothing to lose.
  if (others == 1) {
    const std::string other = out.beside > 1 ? "the only nonzero number that shares" : "the one number that shares";
    return (out.beside_lost == 1 ? "turns " : "does not turn ") + other + " its scale into zero";
  }
  return "turns " + (out.beside_lost == 0 ? "none" : count(out.beside_lost)) + " of the " + count(others) +
         (out.beside > others ? " nonzero ones" : "") + " that share its scale into zero";
}

/// The second line: how large the errors next to it are, and what the scale's rule does about them.
std::string error_text(const Inputs& in, const Outputs& out, const BlockScheme& scheme) {
  const auto figure = [](double v) { return widgets::figure(v, ""); };
  const std::string error = out.beside == 1 ? "Its error is " : "Their RMS error is ";
  const std::string rule = in.rule == models::ScaleRule::least_error
                               ? "; searching the scale gains " + figure(out.scale_gain_db) + " dB"
                           : in.rule == models::ScaleRule::ceil && scheme.scale == BlockScale::e8m0
                               ? "; the scale is rounded up, so none is clipped"
                               : "";
  if (std::isnan(out.times_calm)) return error + figure(out.beside_rms) + rule + ".";
  return error + widgets::figure(out.times_calm, widgets::times_unit) + " that of the block with the smallest numbers" +
         rule + ".";
}

/// What the largest number costs those that share its scale, next to a block without one.
std::string answer_of(const Inputs& in, const Outputs& out, const BlockScheme& scheme) {
  if (out.largest == 0) return "All numbers are 0 and stay 0, so nothing is lost.";
  const std::string largest = "In " + std::string(scheme.name.substr(0, scheme.name.find(','))) +
                              " the largest number, " + widgets::figure(out.largest, "") + ", ";
  if (out.beside == 0) return largest + "shares its scale with no other, so it costs none of them anything.";
  if (out.beside_not_zero == 0) return largest + "costs nothing: all that share its scale are 0 already.";
  return largest + effect_text(out) + ".\n" + error_text(in, out, scheme);
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

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  const BlockScheme* scheme = models::find_block_scheme(in.scheme);
  if (!out.reason.empty() || run.exact.empty() || !scheme) return p;
  for (std::size_t i = 0; i < run.exact.size(); ++i) p.lost.push_back(out.stored.values[i] == 0 && run.exact[i] != 0);
  for (std::size_t i = 0; i < out.stored.scales.size(); ++i) {
    p.scale_texts.push_back(scale_text(*scheme, out.stored.scales[i]));
    p.levels.push_back(levels_of(*scheme, out.stored, i));
    const auto size = static_cast<std::size_t>(out.stored.block_size);
    const auto first = p.lost.begin() + static_cast<std::ptrdiff_t>(i * size),
               end = p.lost.begin() + static_cast<std::ptrdiff_t>(std::min((i + 1) * size, p.lost.size()));
    const auto lost = std::count(first, end, 1);
    p.lost_texts.push_back(lost > 0 ? std::to_string(lost) + " became 0" : "");
  }
  p.largest_text = widgets::format_text(out.largest, "", 3);
  const ScaleForm form = scale_form(scheme->scale);
  p.scale_name = form.name;
  p.element = &models::element_of(*scheme);
  for (const std::uint32_t code : out.stored.scale_codes) p.scale_codes.push_back(bits_text(code, form.bits));
  const auto size = static_cast<std::size_t>(out.stored.block_size);
  p.largest = largest_of(run.exact, 0, run.exact.size());
  p.largest_block = p.largest / size;
  p.first_shown = (p.largest_block > 0 ? p.largest_block - 1 : 0) * size;
  p.answer = answer_of(in, out, *scheme);
  arrange_trade(in, out, rms_of(run.exact), p);
  p.note = std::string(scheme->source) + ": " + std::string(p.element->name) + " elements, " +
           std::to_string(out.stored.block_size) + " to a scale" +
           (scheme->scale == BlockScale::e4m3 ? ", one more for the tensor" : "");
  return p;
}

}  // namespace chapters::precision::block_formats
