#include <algorithm>
#include <cmath>
#include <set>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::block_formats {
namespace {

using models::BlockScale;
using models::BlockScheme;

/// What a scale reads as over its block: "2^-3" for a power of two.
std::string scale_text(const BlockScheme& s, double scale) {
  if (s.scale == BlockScale::e8m0) return "2^" + std::to_string(std::ilogb(scale));
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

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  const BlockScheme* scheme = models::find_block_scheme(in.scheme);
  if (!out.reason.empty() || !scheme) return p;
  p.exact = tensor_of(in);
  for (std::size_t i = 0; i < p.exact.size(); ++i) p.lost.push_back(out.stored.values[i] == 0 && p.exact[i] != 0);
  for (std::size_t i = 0; i < out.stored.scales.size(); ++i) {
    p.scale_texts.push_back(scale_text(*scheme, out.stored.scales[i]));
    p.levels.push_back(levels_of(*scheme, out.stored, i));
  }
  arrange_trade(in, out, rms_of(p.exact), p);
  p.note = std::string(scheme->source) + ": " + std::string(models::element_of(*scheme).name) + " elements, " +
           std::to_string(out.stored.block_size) + " to a scale" +
           (scheme->scale == BlockScale::e4m3 ? ", one more for the tensor" : "");
  return p;
}

}  // namespace chapters::precision::block_formats
