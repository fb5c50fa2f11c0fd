#pragma once
#include <algorithm>
#include <string>

#include "widgets/base/painter.h"

/// What a widget test asks of a recorded picture.
namespace support {

/// Names the first primitive that leaves the rectangle by more than a pixel; empty when all stay inside. What lies
/// within a clip rectangle may leave it.
inline std::string first_outside(const widgets::Record& record, ImVec2 min, ImVec2 max) {
  int clips = 0;
  for (const widgets::Stroke& s : record.strokes) {
    if (s.kind == widgets::Stroke::Kind::clip_push) ++clips;
    if (s.kind == widgets::Stroke::Kind::clip_pop) --clips;
    if (clips > 0 || s.points.empty()) continue;
    ImVec2 lo = s.points[0], hi = s.points[0];
    if (s.kind == widgets::Stroke::Kind::circle) {
      const float r = s.points[1].x;
      lo = {lo.x - r, lo.y - r};
      hi = {hi.x + r, hi.y + r};
    } else if (s.kind == widgets::Stroke::Kind::text) {
      if (s.rotation != 0) continue;
      hi = {lo.x + s.points[1].x, lo.y + s.points[1].y};
    } else {
      for (const ImVec2 p : s.points) {
        lo = {std::min(lo.x, p.x), std::min(lo.y, p.y)};
        hi = {std::max(hi.x, p.x), std::max(hi.y, p.y)};
      }
    }
    if (lo.x < min.x - 1 || lo.y < min.y - 1 || hi.x > max.x + 1 || hi.y > max.y + 1)
      return "kind " + std::to_string(static_cast<int>(s.kind)) + " \"" + s.text + "\" at " + std::to_string(lo.x) +
             ", " + std::to_string(lo.y) + " to " + std::to_string(hi.x) + ", " + std::to_string(hi.y) + " leaves " +
             std::to_string(max.x) + ", " + std::to_string(max.y);
  }
  return {};
}

/// A number cut by an ellipsis: a digit right before it. Empty when there is none.
inline std::string cut_number(const widgets::Record& record) {
  for (const widgets::Stroke& s : record.strokes) {
    const auto at = s.text.find("\xE2\x80\xA6");
    if (at != std::string::npos && at > 0 && s.text[at - 1] >= '0' && s.text[at - 1] <= '9') return s.text;
  }
  return {};
}

/// How many texts of the picture are exactly this.
inline std::ptrdiff_t count_text(const widgets::Record& record, std::string_view text) {
  return std::count_if(record.strokes.begin(), record.strokes.end(),
                       [&](const widgets::Stroke& s) { return s.text == text; });
}

/// Whether two texts lie over each other by more than a pixel; names them.
inline std::string texts_over_each_other(const widgets::Record& record) {
  for (std::size_t i = 0; i < record.strokes.size(); ++i) {
    const widgets::Stroke& a = record.strokes[i];
    if (a.kind != widgets::Stroke::Kind::text || a.rotation != 0) continue;
    for (std::size_t j = i + 1; j < record.strokes.size(); ++j) {
      const widgets::Stroke& b = record.strokes[j];
      if (b.kind != widgets::Stroke::Kind::text || b.rotation != 0) continue;
      const float w = std::min(a.points[0].x + a.points[1].x, b.points[0].x + b.points[1].x) -
                      std::max(a.points[0].x, b.points[0].x);
      const float h = std::min(a.points[0].y + a.points[1].y, b.points[0].y + b.points[1].y) -
                      std::max(a.points[0].y, b.points[0].y);
      if (w > 1 && h > 3) return "\"" + a.text + "\" over \"" + b.text + "\"";
    }
  }
  return {};
}

}  // namespace support
