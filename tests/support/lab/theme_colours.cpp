#include "tests/support/lab/theme_colours.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "widgets/base/theme.h"

namespace support {
namespace {

constexpr ImU32 without_alpha = ~IM_COL32_A_MASK;
constexpr int shifts[] = {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT};

int channel(ImU32 colour, int shift) { return static_cast<int>((colour >> shift) & 255); }

/// Equal but for rounding.
bool alike(ImU32 a, ImU32 b) {
  return std::all_of(std::begin(shifts), std::end(shifts),
                     [&](int shift) { return std::abs(channel(a, shift) - channel(b, shift)) <= 1; });
}

/// Does `colour` lie between `ground` and `ink`, as a share of the one over the other does?
bool is_share_of(ImU32 colour, ImU32 ink, ImU32 ground) {
  int widest = shifts[0];
  for (const int shift : shifts)
    if (std::abs(channel(ink, shift) - channel(ground, shift)) >
        std::abs(channel(ink, widest) - channel(ground, widest)))
      widest = shift;
  const double whole = channel(ink, widest) - channel(ground, widest);
  if (whole == 0) return alike(colour, ground);
  const double share = (channel(colour, widest) - channel(ground, widest)) / whole;
  if (!(share >= 0 && share <= 1)) return false;
  return std::all_of(std::begin(shifts), std::end(shifts), [&](int shift) {
    const double mixed = channel(ground, shift) + share * (channel(ink, shift) - channel(ground, shift));
    return std::abs(mixed - channel(colour, shift)) <= 1.5;
  });
}

}  // namespace

ThemeColours::ThemeColours(const widgets::Theme& t) {
  using widgets::Meaning;
  named_ = {{"accent", t.accent}, {"warning", t.warning}, {"good", t.good}, {"bad", t.bad}};
  for (int m = 0; m < static_cast<int>(Meaning::idle); ++m)
    named_.push_back({"meaning " + std::to_string(m), t.of(static_cast<Meaning>(m))});
  for (std::size_t i = 0; i < t.series.size(); ++i) named_.push_back({"series " + std::to_string(i), t.series_at(i)});
  grounds_ = {t.background, t.panel, t.card, t.rail, t.grid, t.line, IM_COL32_WHITE, IM_COL32_BLACK};
  inks_ = {t.text, t.muted, t.on_colour};
  for (const Named& n : named_) inks_.push_back(n.colour);
  constexpr std::size_t samples = 1024;
  for (std::size_t i = 0; i < samples; ++i) {
    steps_.insert(t.ramp_at(i, samples) & without_alpha);
    steps_.insert(widgets::heat(t, static_cast<double>(i) / (samples - 1)) & without_alpha);
  }
}

std::string ThemeColours::name_of(ImU32 colour) const {
  for (const Named& n : named_)
    if (((n.colour ^ colour) & without_alpha) == 0) return n.name;
  return {};
}

bool ThemeColours::has(ImU32 colour) const {
  if (!name_of(colour).empty() || steps_.contains(colour & without_alpha)) return true;
  const auto is = [&](ImU32 other) { return alike(colour, other); };
  if (std::any_of(grounds_.begin(), grounds_.end(), is) || std::any_of(inks_.begin(), inks_.end(), is)) return true;
  if (std::any_of(steps_.begin(), steps_.end(), is)) return true;
  return std::any_of(grounds_.begin(), grounds_.end(), [&](ImU32 ground) {
    return std::any_of(inks_.begin(), inks_.end(), [&](ImU32 ink) { return is_share_of(colour, ink, ground); });
  });
}

std::set<ImU32> colours_of(const widgets::Record& record) {
  std::set<ImU32> out;
  for (const widgets::Stroke& s : record.strokes)
    for (const ImU32 colour : {s.fill, s.stroke})
      if ((colour & IM_COL32_A_MASK) != 0) out.insert(colour & without_alpha);
  return out;
}

std::vector<LegendWords> legends_of(const widgets::Record& record) {
  using widgets::Stroke;
  const widgets::Theme& t = widgets::theme();
  const float side = t.type(widgets::Type::small) * 0.92f;
  std::vector<LegendWords> out;
  const auto& strokes = record.strokes;
  for (std::size_t i = 0; i + 1 < strokes.size(); ++i) {
    const Stroke& swatch = strokes[i];
    if (swatch.kind != Stroke::Kind::rect || swatch.points.size() < 2) continue;
    if (std::abs(swatch.points[1].x - swatch.points[0].x - side) > 0.1f ||
        std::abs(swatch.points[1].y - swatch.points[0].y - side) > 0.1f)
      continue;
    // A letter may stand in the swatch before its words.
    for (std::size_t k = i + 1; k < std::min(i + 3, strokes.size()); ++k) {
      const Stroke& words = strokes[k];
      if (words.kind != Stroke::Kind::text || words.fill != t.muted) continue;
      if (std::abs(words.points[0].x - swatch.points[1].x - t.px(5)) <= 1)
        out.push_back({swatch.fill & without_alpha, words.text});
      break;
    }
  }
  return out;
}

}  // namespace support
