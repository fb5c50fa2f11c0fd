#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "chapters/profiling/counters/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

/// What lies inside of a dot, under each other as far as there is room.
namespace chapters::profiling::counters {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// Lays parts under each other; a part that has no room is left out.
struct Column {
  Painter painter;
  ImVec2 at;
  float width, bottom;

  bool fits(float height) const { return at.y + height <= bottom; }
  float small() const { return widgets::theme().type(Type::small); }
  void title(std::string_view words, std::string_view right = {}) {
    const auto& t = widgets::theme();
    const float taken = right.empty() ? 0 : widgets::text_size(right, Type::small, Font::mono).x + t.px(10);
    widgets::fit_text(painter, at, words, width - taken, t.text, Type::small, Font::bold);
    if (!right.empty()) painter.text({at.x + width, at.y}, right, t.muted, Type::small, Font::mono, Align::right);
    at.y += small() + t.px(7);
  }
  void line(std::string_view words, ImU32 colour) {
    widgets::fit_text(painter, at, words, width, colour, Type::small);
    at.y += small() + widgets::theme().px(4);
  }
  void gap() { at.y += widgets::theme().px(12); }
};

ImU32 waiting() { return widgets::colour(widgets::Tint::series(1), widgets::theme()); }

void paint_cycles(Column& c, const Picture& picture) {
  const auto& t = widgets::theme();
  const bool dense = c.bottom - c.at.y < t.px(260);
  const int columns = dense ? 25 : 20, rows = 100 / columns;
  const float cell = std::floor(std::min(c.width / static_cast<float>(columns), t.px(17))), inner = cell - t.px(2);
  const float height = c.small() + t.px(7) + static_cast<float>(rows) * cell + 2 * (c.small() + t.px(4));
  if (!c.fits(height) && !dense) return;
  c.title("Inside: 100 cycles of one scheduler");
  if (picture.cycles.empty()) {
    c.line(picture.no_cycles, t.muted);
    return c.gap();
  }
  for (std::size_t i = 0; i < picture.cycles.size(); ++i) {
    const ImVec2 corner{c.at.x + cell * static_cast<float>(i % static_cast<std::size_t>(columns)),
                        c.at.y + cell * static_cast<float>(i / static_cast<std::size_t>(columns))};
    const ImU32 fill = picture.cycles[i] == 2   ? t.text
                       : picture.cycles[i] == 0 ? widgets::with_alpha(waiting(), 0.75f)
                                                : widgets::with_alpha(t.muted, 0.22f);
    c.painter.rect(corner, {corner.x + inner, corner.y + inner}, fill, t.px(2));
  }
  c.at.y += cell * static_cast<float>(rows) + t.px(4);
  c.line(picture.cycles_words, t.text);
  c.line(picture.wait_words, t.muted);
  c.gap();
}

void paint_pieces(Column& c, const Picture& picture) {
  const auto& t = widgets::theme();
  const float bar = t.px(24);
  if (picture.pieces.empty() || !c.fits(c.small() + t.px(19) + bar)) return;
  c.title("One instruction", picture.pieces_words);
  float x = c.at.x;
  for (const StallPiece& piece : picture.pieces) {
    const float w = c.width * static_cast<float>(piece.cycles / picture.piece_cycles);
    const widgets::Rect box{{x, c.at.y}, {x + std::max(1.0f, w - t.px(1)), c.at.y + bar}};
    const ImU32 fill = piece.top ? waiting() : t.card;
    c.painter.rect(box.min, box.max, fill, t.px(2));
    if (!piece.top) widgets::hatch(c.painter, box, widgets::with_alpha(t.muted, 0.35f));
    if (w > t.px(24)) {
      const ImVec2 at{x + t.px(6), c.at.y + (bar - c.small()) / 2};
      const ImU32 ink = piece.top ? widgets::text_on(fill, t) : t.text;
      const std::string_view words(piece.label);
      const float room = w - t.px(10);
      if (!piece.top && widgets::text_size(words, Type::small).x <= room)
        c.painter.plate(at, words, t.card, Type::small);
      if (widgets::text_size(words, Type::small).x <= room) c.painter.text(at, words, ink, Type::small);
    }
    x += w;
  }
  // What is left is the cycle in which it goes.
  if (x < c.at.x + c.width - 1) c.painter.rect({x, c.at.y}, {c.at.x + c.width, c.at.y + bar}, t.text, t.px(2));
  c.at.y += bar;
  c.gap();
}

void paint_pipes(Column& c, const Picture& picture) {
  const auto& t = widgets::theme();
  const float row = c.small() + t.px(6);
  if (picture.pipes.empty() || !c.fits(c.small() + t.px(7) + 2 * row)) return;
  c.title("The units, and the two thresholds");
  const float name = std::min(0.4f * c.width, t.px(126)), value = t.px(52);
  const float left = c.at.x + name, room = c.width - name - value;
  const float top = c.at.y;
  for (const PipeBar& pipe : picture.pipes) {
    if (!c.fits(row)) break;
    widgets::fit_text(c.painter, c.at, pipe.name, name - t.px(8), t.muted, Type::small);
    const float height = c.small() - t.px(2);
    const widgets::Rect all{{left, c.at.y + t.px(1)}, {left + room, c.at.y + t.px(1) + height}};
    c.painter.rect(all.min, all.max, widgets::with_alpha(t.muted, 0.12f), t.px(2));
    const ImVec2 end{left + room * static_cast<float>(pipe.percent / 100), all.max.y};
    c.painter.rect(all.min, end, t.muted, t.px(2));
    if (pipe.active) widgets::hatch(c.painter, {all.min, end}, t.card, 4);
    c.painter.text({c.at.x + c.width, c.at.y}, pipe.value, t.text, Type::small, Font::mono, Align::right);
    c.at.y += row;
  }
  for (const double percent : {picture.low, picture.roof}) {
    const float share = static_cast<float>(percent / 100);
    c.painter.dashed_line({left + room * share, top - t.px(2)}, {left + room * share, c.at.y - t.px(4)}, t.muted, 1, 3);
  }
  c.gap();
}

/// The least of the bars is what keeps blocks away.
void paint_room(Column& c, const Picture& picture) {
  const auto& t = widgets::theme();
  const float row = c.small() + t.px(6);
  const float words = picture.room_words.empty() ? 0 : c.small() + t.px(4);
  if (picture.room_title.empty() || !c.fits(c.small() + t.px(7) + words)) return;
  if (!picture.room.empty() && !c.fits(c.small() + t.px(7) + words + static_cast<float>(picture.room.size()) * row))
    return;
  c.title(picture.room_title);
  const float name = std::min(0.4f * c.width, t.px(126)), value = t.px(52);
  const float left = c.at.x + name, room = c.width - name - value;
  for (const RoomBar& bar : picture.room) {
    const ImU32 ink = bar.limit ? t.text : t.muted;
    widgets::fit_text(c.painter, c.at, bar.name, name - t.px(8), ink, Type::small, bar.limit ? Font::bold : Font::sans);
    const float top = c.at.y + t.px(1), bottom = c.at.y + c.small() - t.px(1);
    c.painter.rect({left, top}, {left + room, bottom}, widgets::with_alpha(t.muted, 0.12f), t.px(2));
    c.painter.rect({left, top}, {left + std::max(1.0f, room * static_cast<float>(bar.share)), bottom},
                   bar.limit ? waiting() : t.muted, t.px(2));
    c.painter.text({c.at.x + c.width, c.at.y}, bar.value, t.text, Type::small, Font::mono, Align::right);
    c.at.y += row;
  }
  if (!picture.room_words.empty()) c.line(picture.room_words, t.muted);
  c.gap();
}

void paint_ladder(Column& c, const Picture& picture) {
  const auto& t = widgets::theme();
  float row = c.small() + t.px(6);
  if (picture.ladder.empty() || !c.fits(c.small() + t.px(7) + 2 * row)) return;
  c.title(picture.ladder_title);
  // All of them closer together, where that is enough; else the last line says how many there are no lines for.
  const auto count = static_cast<float>(picture.ladder.size());
  row = std::clamp((c.bottom - c.at.y) / count, c.small() + t.px(1), row);
  const bool all = c.fits(count * row - 0.5f);
  std::size_t drawn = 0;
  const float number = t.px(16), verdict = std::min(0.34f * c.width, t.px(104)), time = t.px(62);
  const float room = c.width - number - verdict - time;
  for (const LadderBar& bar : picture.ladder) {
    if (!all && !c.fits(2 * row)) {
      widgets::Line rest;
      rest.add("... ").add_integer(static_cast<std::int64_t>(picture.ladder.size() - drawn)).add(" more");
      c.line(rest.view(), t.muted);
      break;
    }
    ++drawn;
    const ImU32 ink = bar.chosen ? t.accent : t.text;
    c.painter.text(c.at, bar.number, ink, Type::small, Font::mono);
    const float length = picture.longest_s > 0 ? room * static_cast<float>(bar.time_s / picture.longest_s) : 0;
    const float x = c.at.x + number;
    c.painter.rect({x, c.at.y + t.px(1)}, {x + std::max(1.0f, length), c.at.y + c.small() - t.px(1)},
                   bar.chosen ? t.accent : t.muted, t.px(2));
    c.painter.text({x + length + t.px(6), c.at.y}, bar.time, ink, Type::small, Font::mono);
    widgets::fit_text(c.painter, {c.at.x + c.width - verdict + t.px(4), c.at.y}, bar.verdict, verdict - t.px(4),
                      widgets::colour(bar.tint, t), Type::small);
    c.at.y += row;
  }
  c.gap();
}

}  // namespace

void draw_inside(const Picture& picture, ImVec2 size) {
  Column c{Painter::window(), ImGui::GetCursorScreenPos(), size.x, ImGui::GetCursorScreenPos().y + size.y};
  if (size.x < widgets::theme().px(120)) return;
  paint_cycles(c, picture);
  if (picture.room_decides) paint_room(c, picture);
  paint_pieces(c, picture);
  paint_pipes(c, picture);
  paint_ladder(c, picture);
  if (!picture.room_decides) paint_room(c, picture);
}

}  // namespace chapters::profiling::counters
