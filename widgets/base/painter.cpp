#include "widgets/base/painter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/fit_text.h"
#include "widgets/base/lit_figure.h"

namespace widgets {
namespace {

Record *active_record = nullptr, *paused_record = nullptr;
std::vector<ImVec4>* text_places = nullptr;

bool visible(ImU32 c) { return (c & IM_COL32_A_MASK) != 0; }

/// How a shape without text is painted; 0 alpha is no paint.
struct Paint {
  ImU32 fill = 0, stroke = 0;
  float width = 0, rounding = 0, dash = 0;
  bool closed = false;
};

/// Adds a shape to the record, where there is one: without one a frame must not allocate.
void keep(Record* record, Stroke::Kind kind, std::span<const ImVec2> points, const Paint& paint) {
  if (!record) return;
  record->strokes.push_back({
      .kind = kind,
      .points = {points.begin(), points.end()},
      .fill = paint.fill,
      .stroke = paint.stroke,
      .width = paint.width,
      .rounding = paint.rounding,
      .dash = paint.dash,
      .closed = paint.closed,
      .text = {},
  });
}

/// Where a text stands, for whoever keeps clear of texts; not where the clip rectangle hides it.
void note_place(const ImDrawList& list, ImVec2 at, ImVec2 size) {
  if (!text_places) return;
  const ImVec2 from = list.GetClipRectMin(), to = list.GetClipRectMax(), end{at.x + size.x, at.y + size.y};
  if (at.x < to.x && at.y < to.y && end.x > from.x && end.y > from.y)
    text_places->push_back({at.x, at.y, end.x, end.y});
}

}  // namespace

TextPlaces::TextPlaces(std::vector<ImVec4>& places) { text_places = &places; }
TextPlaces::~TextPlaces() { text_places = nullptr; }

Recording::Recording(Record& record) { active_record = &record; }
Recording::~Recording() { active_record = nullptr; }

PausedRecording::PausedRecording() : paused_(active_record), outer_(paused_record) {
  paused_record = active_record;
  active_record = nullptr;
}
PausedRecording::~PausedRecording() {
  active_record = paused_;
  paused_record = outer_;
}

ResumedRecording::ResumedRecording() : before_(active_record) {
  if (!active_record) active_record = paused_record;
}
ResumedRecording::~ResumedRecording() { active_record = before_; }

ImFont* font_of(Font font) {
  const Fonts& f = theme().fonts;
  ImFont* chosen = font == Font::mono ? f.mono : font == Font::bold ? f.sans_bold : f.sans;
  if (font == Font::italic && f.sans_italic) chosen = f.sans_italic;
  return chosen ? chosen : ImGui::GetFont();
}

ImVec2 text_size_at(std::string_view s, float size_px, Font font) {
  if (s.empty()) return {0, size_px};
  return font_of(font)->CalcTextSizeA(size_px, 3.4e38f, 0.0f, s.data(), s.data() + s.size());
}

ImVec2 text_size(std::string_view s, Type type, Font font) { return text_size_at(s, theme().type(type), font); }

Painter::Painter(ImDrawList* list) : list_(list), record_(active_record) {}

void Painter::line(ImVec2 a, ImVec2 b, ImU32 colour, float width) const {
  if (!visible(colour)) return;
  list_->AddLine(a, b, colour, width);
  keep(record_, Stroke::Kind::polyline, std::array{a, b}, {.stroke = colour, .width = width});
}

void Painter::dashed_line(ImVec2 a, ImVec2 b, ImU32 colour, float width, float dash) const {
  const ImVec2 both[] = {a, b};
  dashed_polyline(both, colour, width, dash);
}

void Painter::polyline(std::span<const ImVec2> points, ImU32 colour, float width, bool closed) const {
  if (!visible(colour) || points.size() < 2) return;
  // Dear ImGui's mitred joints collapse where a line turns back on itself, so it is drawn in runs between such turns.
  std::size_t from = 0;
  if (!closed) {
    ImVec2 before{0, 0};
    for (std::size_t i = 1; i < points.size(); ++i) {
      const ImVec2 way{points[i].x - points[i - 1].x, points[i].y - points[i - 1].y};
      const float dot = way.x * before.x + way.y * before.y;
      if (dot < 0 &&
          dot * dot > 0.25f * (way.x * way.x + way.y * way.y) * (before.x * before.x + before.y * before.y)) {
        list_->AddPolyline(points.data() + from, static_cast<int>(i - from), colour, 0, width);
        from = i - 1;
      }
      before = way;
    }
  }
  list_->AddPolyline(points.data() + from, static_cast<int>(points.size() - from), colour,
                     closed ? ImDrawFlags_Closed : 0, width);
  keep(record_, Stroke::Kind::polyline, points, {.stroke = colour, .width = width, .closed = closed});
}

void Painter::dashed_polyline(std::span<const ImVec2> points, ImU32 colour, float width, float dash) const {
  if (!visible(colour) || points.size() < 2 || !(dash > 0)) return;
  float phase = 0;  // distance into the current dash-gap pair, carried over corners
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ImVec2 a = points[i - 1], b = points[i];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (!(length > 0) || !(length < 1e5f)) continue;
    const ImVec2 u{(b.x - a.x) / length, (b.y - a.y) / length};
    for (float t = -phase; t < length; t += 2 * dash) {
      const float from = std::max(t, 0.0f), to = std::min(t + dash, length);
      if (to > from)
        list_->AddLine({a.x + u.x * from, a.y + u.y * from}, {a.x + u.x * to, a.y + u.y * to}, colour, width);
    }
    phase = std::fmod(phase + length, 2 * dash);
  }
  keep(record_, Stroke::Kind::polyline, points, {.stroke = colour, .width = width, .dash = dash});
}

void Painter::polygon(std::span<const ImVec2> points, ImU32 fill) const {
  if (!visible(fill) || points.size() < 3) return;
  list_->AddConcavePolyFilled(points.data(), static_cast<int>(points.size()), fill);
  keep(record_, Stroke::Kind::polygon, points, {.fill = fill});
}

void Painter::rect(ImVec2 min, ImVec2 max, ImU32 fill, float rounding) const {
  if (!visible(fill)) return;
  list_->AddRectFilled(min, max, fill, rounding);
  keep(record_, Stroke::Kind::rect, std::array{min, max}, {.fill = fill, .rounding = rounding});
}

void Painter::frame(ImVec2 min, ImVec2 max, ImU32 colour, float width, float rounding) const {
  if (!visible(colour)) return;
  list_->AddRect(min, max, colour, rounding, 0, width);
  keep(record_, Stroke::Kind::rect, std::array{min, max}, {.stroke = colour, .width = width, .rounding = rounding});
}

void Painter::circle(ImVec2 centre, float radius, ImU32 fill) const {
  if (!visible(fill)) return;
  list_->AddCircleFilled(centre, radius, fill);
  keep(record_, Stroke::Kind::circle, std::array{centre, ImVec2{radius, 0}}, {.fill = fill});
}

void Painter::ring(ImVec2 centre, float radius, ImU32 colour, float width) const {
  if (!visible(colour)) return;
  list_->AddCircle(centre, radius, colour, 0, width);
  keep(record_, Stroke::Kind::circle, std::array{centre, ImVec2{radius, 0}}, {.stroke = colour, .width = width});
}

float Painter::text(ImVec2 at, std::string_view s, ImU32 colour, Type type, Font font, Align align) const {
  if (s.empty()) return 0;
  const float width = align == Align::left ? 0 : text_size(s, type, font).x;
  if (align == Align::center) at.x -= width / 2;
  if (align == Align::right) at.x -= width;
  return text_sized(at, s, colour, theme().type(type), font);
}

float Painter::text_sized(ImVec2 at, std::string_view s, ImU32 colour, float size_px, Font font) const {
  if (s.empty()) return 0;
  const ImVec2 size = text_size_at(s, size_px, font);
  at = {std::floor(at.x + 0.5f), std::floor(at.y + 0.5f)};
  if (visible(colour)) {
    light_text(*this, at, s, size_px, font);
    note_place(*list_, at, size);
    list_->AddText(font_of(font), size_px, at, colour, s.data(), s.data() + s.size());
    if (record_)
      record_->strokes.push_back({
          .kind = Stroke::Kind::text,
          .points = {at, size},
          .fill = colour,
          .size = size_px,
          .font = font,
          .text = std::string(s),
      });
  }
  return size.x;
}

void Painter::plate(ImVec2 at, std::string_view s, ImU32 ground, Type type, Font font) const {
  if (s.empty()) return;
  const ImVec2 size = text_size(s, type, font), pad{theme().px(3), theme().px(1)};
  at = {std::floor(at.x + 0.5f), std::floor(at.y + 0.5f)};
  rect({at.x - pad.x, at.y - pad.y}, {at.x + size.x + pad.x, at.y + size.y + pad.y}, ground, theme().px(3));
}

void Painter::rotated_text(ImVec2 at, float degrees, std::string_view s, ImU32 colour, Type type, Font font,
                           Align align) const {
  if (s.empty() || !visible(colour)) return;
  const ImVec2 size = text_size(s, type, font);
  const ImVec2 pivot{std::floor(at.x + 0.5f), std::floor(at.y + 0.5f)};
  ImVec2 from = pivot;
  if (align == Align::center) from.x -= std::floor(size.x / 2);
  if (align == Align::right) from.x -= std::floor(size.x);
  // ImDrawList::AddText drops glyphs outside the clip rectangle before they are turned; RenderText takes a rectangle of
  // its own.
  const int first = list_->VtxBuffer.Size;
  font_of(font)->RenderText(list_, theme().type(type), from, colour, ImVec4(-1e6f, -1e6f, 1e6f, 1e6f), s.data(),
                            s.data() + s.size());
  const float angle = degrees * 3.14159265f / 180.0f, c = std::cos(angle), n = std::sin(angle);
  for (int i = first; i < list_->VtxBuffer.Size; ++i) {
    ImVec2& p = list_->VtxBuffer[i].pos;
    const ImVec2 d{p.x - pivot.x, p.y - pivot.y};
    p = {pivot.x + d.x * c - d.y * n, pivot.y + d.x * n + d.y * c};
  }
  if (record_)
    record_->strokes.push_back({
        .kind = Stroke::Kind::text,
        .points = {from, size},
        .fill = colour,
        .size = theme().type(type),
        .rotation = degrees,
        .pivot = pivot,
        .font = font,
        .text = std::string(s),
    });
}

void Painter::band(std::span<const ImVec2> upper, std::span<const ImVec2> lower, ImU32 fill) const {
  const std::size_t n = std::min(upper.size(), lower.size());
  if (!visible(fill) || n < 2) return;
  const ImVec2 uv = ImGui::GetFontTexUvWhitePixel();
  for (std::size_t i = 1; i < n; ++i) {
    list_->PrimReserve(6, 4);
    list_->PrimQuadUV(upper[i - 1], upper[i], lower[i], lower[i - 1], uv, uv, uv, uv, fill);
  }
  if (!record_) return;
  Stroke s{
      .kind = Stroke::Kind::polygon,
      .points = {},
      .fill = fill,
      .text = {},
  };
  for (std::size_t i = 0; i < n; ++i) s.points.push_back(upper[i]);
  for (std::size_t i = n; i-- > 0;) s.points.push_back(lower[i]);
  record_->strokes.push_back(std::move(s));
}

float Painter::text_fit(ImVec2 at, std::string_view s, float max_width, ImU32 colour, Type type, Font font,
                        Align align) const {
  char room[256];
  const std::string_view fitted =
      fit_text(s, room, [&](std::string_view part) { return text_size(part, type, font).x <= max_width; });
  return text(at, fitted, colour, type, font, align);
}

void Painter::clip(ImVec2 min, ImVec2 max) const {
  list_->PushClipRect(min, max, true);
  if (record_) record_->strokes.push_back({.kind = Stroke::Kind::clip_push, .points = {min, max}, .text = {}});
}

void Painter::unclip() const {
  list_->PopClipRect();
  if (record_) record_->strokes.push_back({.kind = Stroke::Kind::clip_pop, .points = {}, .text = {}});
}

}  // namespace widgets
