#include <algorithm>
#include <array>

#include "chapters/distributed/shared/guess_marks.h"
#include "chapters/distributed/shared/rank_hue.h"
#include "chapters/distributed/tensor_parallel/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::distributed::tensor_parallel {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

ImU32 rank_colour(std::int64_t rank) {
  const auto& t = widgets::theme();
  return rank < 0 ? t.muted : t.series_at(rank_series(rank));
}

/// "8,192 × 3,584" in one line or two.
void paint_shape(const Painter& p, const CutPlaces& places, float middle, float y, std::string_view rows,
                 std::string_view cols, ImU32 colour) {
  const auto& t = widgets::theme();
  widgets::Line line;
  if (places.shape_lines == 0) return;
  if (places.shape_lines == 2) {
    p.text({middle, y}, line.add(rows).add(" ×").view(), colour, Type::small, Font::mono, Align::center);
    p.text({middle, y + 1.25f * t.type(Type::small)}, cols, colour, Type::small, Font::mono, Align::center);
    return;
  }
  p.text({middle, y}, line.add(rows).add(" × ").add(cols).view(), colour, Type::small, Font::mono, Align::center);
}

void paint_matrix(const Painter& p, const CutMatrix& m, const PlacedMatrix& placed, const CutPlaces& places,
                  std::int64_t lit) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  const bool shapes = places.shape_lines > 0;
  // Where only cells keep room, "B: down" and "Z in parts" are B and Z.
  const auto fits = [&](std::string_view name) {
    return shapes || widgets::text_size(name, Type::small, Font::bold).x <= placed.area.width();
  };
  const std::string_view whole_name = m.name, letter = whole_name.substr(0, whole_name.find_first_of(": "));
  if (const std::string_view name = fits(whole_name) ? whole_name : letter; fits(name))
    p.text({placed.middle, places.name_y}, name, t.text, Type::small, Font::bold, Align::center);
  paint_shape(p, places, placed.middle, places.whole_y, m.rows_text, m.cols_text, t.muted);
  if (places.piece_texts)
    p.text({placed.middle, places.piece_y},
           !m.piece_rows.empty() ? "a rank"
           : m.sheets            ? "each whole"
                                 : "every rank",
           t.muted, Type::small, Font::sans, Align::center);
  if (places.piece_texts && !m.piece_rows.empty())
    paint_shape(p, places, placed.middle, places.piece_y + 1.25f * small, m.piece_rows, m.piece_cols, t.text);
  if (placed.glyph_x > 0)
    p.text({placed.glyph_x, (placed.area.min.y + placed.area.max.y) / 2 - t.type(Type::body) / 2}, m.glyph, t.muted,
           Type::body, Font::sans, Align::center);
  const float inset = places.cell >= t.px(6) ? t.px(0.75f) : 0;
  for (std::size_t i = 0; i < m.pieces.size(); ++i) {
    const CutPiece& piece = m.pieces[i];
    const Rect& at = placed.pieces[i];
    const float strength = lit >= 0 && piece.rank >= 0 && piece.rank != lit ? 0.35f : 1;
    const ImU32 hue = rank_colour(piece.rank);
    p.rect(at.min, at.max, t.panel);
    for (std::size_t r = 0; r < piece.rows; ++r)
      for (std::size_t c = 0; c < piece.cols; ++c) {
        const ImVec2 min{at.min.x + static_cast<float>(c) * places.cell,
                         at.min.y + static_cast<float>(r) * places.cell_high};
        const auto shade = static_cast<float>(piece.values[r * piece.cols + c]);
        p.rect({min.x + inset, min.y + inset}, {min.x + places.cell - inset, min.y + places.cell_high - inset},
               widgets::with_alpha(hue, strength * (0.16f + 0.74f * shade)));
      }
    p.frame(at.min, at.max, widgets::with_alpha(hue, strength), t.px(1.5f));
    const float plus_y = at.max.y + 0.3f * places.cell_high;
    if (m.sum && i + 1 < m.pieces.size() && places.cell >= t.px(5)) {
      const float arm = std::min(t.px(4), 0.28f * places.cell_high);
      p.line({placed.middle - arm, plus_y}, {placed.middle + arm, plus_y}, t.text, t.px(1.5f));
      p.line({placed.middle, plus_y - arm}, {placed.middle, plus_y + arm}, t.text, t.px(1.5f));
    }
  }
}

void paint_capsule(const Painter& p, const CutCapsule& capsule, const Rect& at) {
  const auto& t = widgets::theme();
  const ImU32 hue = capsule.empty ? t.muted : t.of(Meaning::communication);
  if (capsule.empty) {
    const ImVec2 corners[] = {at.min, {at.max.x, at.min.y}, at.max, {at.min.x, at.max.y}, at.min};
    p.dashed_polyline(corners, hue, t.px(1), t.px(4));
  } else {
    p.rect(at.min, at.max, hue, t.px(8));
  }
  const ImU32 ink = capsule.empty ? t.text : widgets::text_on(hue, t);
  const float line = 1.3f * t.type(Type::small), middle = (at.min.x + at.max.x) / 2;
  const auto shown =
      static_cast<std::size_t>(std::clamp(at.height() / line, 0.0f, static_cast<float>(capsule.lines.size())));
  float y = (at.min.y + at.max.y - static_cast<float>(shown) * line) / 2;
  for (std::size_t i = 0; i < shown; ++i) {
    p.text({middle, y}, capsule.lines[i], ink, Type::small, i < 2 ? Font::sans : Font::mono, Align::center);
    y += line;
  }
}

/// Who holds what under the pointer; -1: nothing of one rank alone.
std::int64_t lit_rank(const CutScene& scene, const CutPlaces& places, bool hovered, std::size_t& matrix) {
  matrix = scene.matrices.size();
  if (!hovered) return -1;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (std::size_t m = 0; m < scene.matrices.size(); ++m)
    for (std::size_t i = 0; i < places.matrices[m].pieces.size(); ++i)
      if (places.matrices[m].pieces[i].contains(mouse)) {
        matrix = m;
        return scene.matrices[m].pieces[i].rank;
      }
  return -1;
}

void paint_ranks(const Painter& p, const CutScene& scene, ImVec2 at, float right) {
  const auto& t = widgets::theme();
  float x = at.x;
  const float side = t.type(Type::small) * 0.8f;
  if (scene.drawn_ranks > 1)
    for (std::int64_t r = 0; r < scene.drawn_ranks; ++r) {
      p.rect({x, at.y + t.px(2)}, {x + side, at.y + t.px(2) + side}, rank_colour(r));
      widgets::Line name;
      x += side + t.px(5);
      x += p.text({x, at.y}, name.add("rank ").add_integer(r).view(), t.text, Type::small) + t.px(12);
    }
  p.rect({x, at.y + t.px(2)}, {x + side, at.y + t.px(2) + side}, rank_colour(-1));
  x += side + t.px(5);
  x += p.text({x, at.y}, "on every rank", t.text, Type::small) + t.px(14);
  if (!scene.ranks_note.empty() && widgets::text_size(scene.ranks_note, Type::small).x <= right - x)
    p.text({x, at.y}, scene.ranks_note, t.muted, Type::small);
}

/// The four cuts of the block by what a rank sends; a press chooses one.
void draw_bars(Inputs& in, const Picture& picture, ImVec2 origin, float width, float row) {
  const auto& t = widgets::theme();
  const auto p = Painter::window();
  const float small = t.type(Type::small);
  float names = 0, words = 0;
  for (const CutBar& bar : picture.bars) {
    names = std::max(names, widgets::text_size(bar.name, Type::small, Font::bold).x);
    words = std::max(words, widgets::text_size(bar.words, Type::small).x);
  }
  const float figure = widgets::text_size("9.99 GB + 9.99 GB", Type::small, Font::mono).x;
  const float left = origin.x + t.px(8) + names + t.px(12);
  const bool with_words = width - names - figure - words > t.px(200);
  const float right = origin.x + width - figure - t.px(10) - (with_words ? words + t.px(14) : 0);
  const float full = std::max(t.px(10), right - left);
  for (std::size_t i = 0; i < picture.bars.size(); ++i) {
    const CutBar& bar = picture.bars[i];
    const float y = origin.y + static_cast<float>(i) * row;
    const bool chosen = static_cast<std::size_t>(in.cut) == i;
    ImGui::SetCursorScreenPos({origin.x, y});
    ImGui::PushID(static_cast<int>(i));
    if (widgets::press_area(bar.name.c_str(), {width, row - t.px(2)}))
      in.cut = static_cast<models::parallel::TensorCut>(i);
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (hovered) widgets::tip(bar.name, bar.words, "press to cut the block this way");
    if (chosen || hovered)
      p.rect({origin.x, y}, {origin.x + width, y + row - t.px(2)},
             widgets::with_alpha(t.accent, chosen ? 0.14f : 0.07f), t.px(4));
    const float text_y = y + (row - t.px(2) - small) / 2 - t.px(1);
    p.text({origin.x + t.px(8), text_y}, bar.name, t.text, Type::small, Font::bold);
    const double most = picture.most_bytes > 0 ? picture.most_bytes : 1;
    const float forward = full * static_cast<float>(bar.forward_bytes / most);
    const float backward = full * static_cast<float>(bar.backward_bytes / most);
    const ImU32 green = t.of(Meaning::communication);
    p.rect({left, y + t.px(4)}, {left + forward, y + row - t.px(6)}, green, t.px(2));
    if (backward > 0) {
      const Rect back{{left + forward, y + t.px(4)}, {left + forward + backward, y + row - t.px(6)}};
      p.rect(back.min, back.max, widgets::with_alpha(green, 0.30f));
      widgets::hatch(p, back, widgets::with_alpha(green, 0.8f));
    }
    widgets::Line line;
    line.add(widgets::format(bar.forward_bytes, "B").view());
    if (bar.backward_bytes > 0) line.add(" + ").add(widgets::format(bar.backward_bytes, "B").view());
    p.text({right + t.px(8), text_y}, line.view(), t.text, Type::small, Font::mono);
    if (with_words) p.text({origin.x + width - words - t.px(4), text_y}, bar.words, t.muted, Type::small);
  }
}

/// While a question is open: the matrices that go into the block, without what comes of them.
void paint_given_matrices(const Painter& p, const CutScene& scene, const CutPlaces& places) {
  const widgets::GivenMarks given;
  for (std::size_t i = 0; i < scene.matrices.size(); ++i) {
    const CutMatrix& m = scene.matrices[i];
    if (m.glyph != "=" && m.glyph != "f" && !m.sheets && m.name.find('(') == std::string::npos && m.name != "Z")
      paint_matrix(p, m, places.matrices[i], places, -1);
  }
}

CutTexts measure_scene(const CutScene& scene) {
  CutTexts out{.line = widgets::theme().type(Type::small)};
  const float times = widgets::text_size(" × ", Type::small, Font::mono).x;
  const auto shape = [&](const std::string& rows, const std::string& cols) {
    const float a = widgets::text_size(rows, Type::small, Font::mono).x,
                b = widgets::text_size(cols, Type::small, Font::mono).x;
    out.shape = std::max(out.shape, a + times + b);
    out.half_shape = std::max({out.half_shape, a + times, b});
  };
  for (const CutMatrix& m : scene.matrices) {
    shape(m.rows_text, m.cols_text);
    shape(m.piece_rows, m.piece_cols);
    out.half_shape = std::max(out.half_shape, widgets::text_size(m.name, Type::small, Font::bold).x);
  }
  out.shape = std::max(out.shape, out.half_shape);
  for (const CutCapsule& c : scene.capsules)
    for (const std::string& line : c.lines)
      out.capsule = std::max(out.capsule, widgets::text_size(line, Type::small, Font::mono).x);
  return out;
}

}  // namespace

void draw_cut(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  if (picture.scene.matrices.empty() || size.x < 1 || size.y < 1) {
    ImGui::Dummy(size);
    return;
  }
  const auto p = Painter::window();
  const float small = t.type(Type::small), line = 1.35f * small, row = line + t.px(6);
  // What the numbers say goes before the bars do.
  const auto left = [&](float words) { return size.y - 4 * row - (1 + words) * (line + t.px(4)) - t.px(6); };
  const bool check = left(2) >= t.px(160), bars = in.ranks > 1 && left(check ? 2 : 1) >= t.px(140);
  const float bars_px = bars ? 4 * row + line + t.px(6) : 0;
  const float check_px = check || !bars ? line + t.px(4) : 0, ranks_px = line + t.px(4);
  const Rect scene{{origin.x, origin.y + ranks_px}, {origin.x + size.x, origin.y + size.y - bars_px - check_px}};
  const CutTexts texts = measure_scene(picture.scene);
  ImGui::Dummy(size);
  const bool over = ImGui::IsItemHovered();
  layout_cut(picture.scene, scene, t.scale, texts, view.places);
  std::size_t hovered = 0;
  const std::int64_t lit = lit_rank(picture.scene, view.places, over, hovered);
  if (widgets::veiled()) {  // the block's inputs as they are cut; what comes of them is what is asked
    paint_given_matrices(p, picture.scene, view.places);
    return;
  }
  widgets::drew("matrices");
  if (bars || !picture.scene.capsules.empty() || in.ranks < 2) widgets::drew("bytes sent");
  paint_ranks(p, picture.scene, origin, origin.x + size.x);
  if (const auto* guess = guess_about({"forward_collectives", "one_collective_s", "exposed_share"}))
    say_guess(*guess, {origin.x + size.x, origin.y + t.px(2)});
  for (std::size_t i = 0; i < picture.scene.matrices.size(); ++i)
    paint_matrix(p, picture.scene.matrices[i], view.places.matrices[i], view.places, lit);
  for (std::size_t i = 0; i < picture.scene.capsules.size(); ++i)
    paint_capsule(p, picture.scene.capsules[i], view.places.capsules[i]);
  if (hovered < picture.scene.matrices.size()) {
    const CutMatrix& m = picture.scene.matrices[hovered];
    widgets::Line where;
    if (lit >= 0)
      where.add("rank ").add_integer(lit);
    else
      where.add("every rank");
    widgets::tip(m.name, where.view(), m.info);
  }
  for (std::size_t i = 0; i < picture.scene.capsules.size() && over; ++i)
    if (view.places.capsules[i].contains(ImGui::GetIO().MousePos)) widgets::tip({}, {}, picture.scene.capsules[i].info);
  if (check_px > 0)
    widgets::fit_text(p, {origin.x, scene.max.y + t.px(2)}, picture.check, size.x, t.muted, Type::small);
  if (!bars) return;
  const float top = origin.y + size.y - bars_px;
  widgets::fit_text(p, {origin.x, top + t.px(2)},
                    in.phase == models::Phase::train
                        ? "What a rank sends for this block, forward (solid) + backward (hatched)"
                        : "What a rank sends for this block",
                    size.x, t.text, Type::small, Font::bold);
  draw_bars(in, picture, {origin.x, top + line + t.px(6)}, size.x, row);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::tensor_parallel
