#include "tests/support/lab/layout_faults.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace support {
namespace {

using widgets::Rect;
using widgets::Stroke;

constexpr std::string_view ellipsis = "\xE2\x80\xA6";

struct Written {
  std::string text;
  Rect at{};
  ImU32 colour = 0, ground = 0;
  float size = 0;
  bool heading = false, turned = false, scrolls = false;
};

ImU32 over(ImU32 ground, ImU32 colour) {
  const double a = static_cast<double>((colour >> IM_COL32_A_SHIFT) & 255) / 255;
  ImU32 out = IM_COL32_A_MASK;
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}) {
    const double below = (ground >> shift) & 255, above = (colour >> shift) & 255;
    out |= static_cast<ImU32>(std::lround(below + (above - below) * a)) << shift;
  }
  return out;
}

bool covers(const Rect& outer, const Rect& inner, float slack) {
  return inner.min.x >= outer.min.x - slack && inner.min.y >= outer.min.y - slack &&
         inner.max.x <= outer.max.x + slack && inner.max.y <= outer.max.y + slack;
}

bool touches(const Rect& a, const Rect& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

/// A filled shape's extent, for what lies behind a text. Circles count as their inner square.
bool filled(const Stroke& s, Rect& out) {
  if ((s.fill & IM_COL32_A_MASK) == 0 || s.points.size() < 2) return false;
  if (s.kind == Stroke::Kind::rect) {
    out = {s.points[0], s.points[1]};
    return true;
  }
  if (s.kind != Stroke::Kind::polygon) return false;
  out = {s.points[0], s.points[0]};
  for (const ImVec2 p : s.points) {
    out.min = {std::min(out.min.x, p.x), std::min(out.min.y, p.y)};
    out.max = {std::max(out.max.x, p.x), std::max(out.max.y, p.y)};
  }
  return s.points.size() == 4;  // of other shapes only the extent is known
}

std::vector<Written> texts_of(const widgets::Record& record, const LayoutRules& rules,
                              std::vector<std::string>& faults) {
  std::vector<Written> out;
  std::vector<std::pair<Rect, ImU32>> fills;
  std::vector<Rect> clips;
  for (const Stroke& s : record.strokes) {
    if (s.kind == Stroke::Kind::clip_push) clips.push_back({s.points[0], s.points[1]});
    if (s.kind == Stroke::Kind::clip_pop && !clips.empty()) clips.pop_back();
    Rect area;
    if (filled(s, area)) {
      fills.push_back({area, s.fill});
      // What an opaque shape covers is not seen.
      if ((s.fill & IM_COL32_A_MASK) == IM_COL32_A_MASK)
        std::erase_if(out, [&](const Written& w) { return covers(area, w.at, 1); });
    }
    if (s.kind != Stroke::Kind::text || s.text.empty() || (s.fill & IM_COL32_A_MASK) == 0) continue;
    Written w{.text = s.text,
              .at = {s.points[0], {s.points[0].x + s.points[1].x, s.points[0].y + s.points[1].y}},
              .colour = s.fill,
              .size = s.size,
              .heading = s.font == widgets::Font::bold,
              .turned = s.rotation != 0};
    if (w.turned) {
      faults.push_back("\"" + w.text + "\" does not stand upright");
      continue;
    }
    for (const Rect& scroll : rules.scrolling) w.scrolls |= touches(scroll, w.at);
    // A blank line, and what is scrolled or clipped away wholly, is not seen.
    bool gone = false;
    for (const Rect& clip : clips) gone |= !touches(clip, w.at);
    if (gone || w.text.find_first_not_of(' ') == std::string::npos) continue;
    for (const Rect& clip : clips)
      if (!w.scrolls && !covers(clip, w.at, 2)) faults.push_back("\"" + w.text + "\" is cut by a clip");
    ImU32 ground = rules.ground;
    const ImVec2 mid{(w.at.min.x + w.at.max.x) / 2, (w.at.min.y + w.at.max.y) / 2};
    for (const auto& [rect, fill] : fills)
      if (rect.contains(mid)) ground = over(ground, fill);
    w.ground = ground;
    out.push_back(std::move(w));
  }
  return out;
}

void check_alone(const Written& w, const LayoutRules& rules, std::vector<std::string>& faults) {
  const auto fault = [&](const std::string& what) {
    char place[48];
    std::snprintf(place, sizeof place, " at %.0f, %.0f", static_cast<double>(w.at.min.x),
                  static_cast<double>(w.at.min.y));
    faults.push_back("\"" + w.text + "\"" + place + " " + what);
  };
  if (!w.scrolls && !covers(rules.canvas, w.at, 1)) fault("leaves the canvas");
  if (const auto cut = w.text.find(ellipsis); cut != std::string::npos) {
    // "12,2…" is a cut number; "sm90…" is the beginning of a name.
    std::size_t from = cut;
    const auto of_number = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; };
    while (from > 0 && of_number(w.text[from - 1])) --from;
    const bool in_name =
        from > 0 && (std::isalpha(static_cast<unsigned char>(w.text[from - 1])) || w.text[from - 1] == '_');
    const bool digit = from < cut && !in_name;
    if (digit) fault("cuts a number");
    if (w.heading) fault("cuts a heading");
  }
  const double contrast = widgets::contrast(over(w.ground, w.colour), w.ground);
  if (contrast < rules.least_contrast) {
    char words[48];
    std::snprintf(words, sizeof words, "has a contrast of %.2f", contrast);
    fault(words);
  }
  if (w.size < rules.least_text_px) fault("did not scale");
}

}  // namespace

std::vector<std::string> layout_faults(const widgets::Record& record, const LayoutRules& rules) {
  std::vector<std::string> faults;
  const std::vector<Written> texts = texts_of(record, rules, faults);
  for (const Written& w : texts) check_alone(w, rules, faults);
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = i + 1; j < texts.size(); ++j) {
      const Written &a = texts[i], &b = texts[j];
      if (a.scrolls != b.scrolls) continue;
      // Line boxes have room above and below the letters.
      const float x = std::min(a.at.max.x, b.at.max.x) - std::max(a.at.min.x, b.at.min.x);
      const float y = std::min(a.at.max.y, b.at.max.y) - std::max(a.at.min.y, b.at.min.y);
      if (x > 1.5f && y > 0.34f * std::min(a.size, b.size))
        faults.push_back("\"" + a.text + "\" and \"" + b.text + "\" overlap");
    }
  std::sort(faults.begin(), faults.end());
  faults.erase(std::unique(faults.begin(), faults.end()), faults.end());
  return faults;
}

}  // namespace support
