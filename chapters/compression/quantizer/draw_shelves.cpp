#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "chapters/compression/quantizer/lab.h"
#include "chapters/compression/shared/guess_note.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

namespace chapters::compression::quantizer {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// Where the shelves stand, in screen pixels.
struct ShelfPlace {
  float left = 0, width = 0, top = 0, shelf = 0, bottom = 0;
  double reach = 1;
  float x(double weight) const { return left + width * static_cast<float>(0.5 + 0.5 * weight / reach); }
};

/// The levels as shelves, and under each as long a bar as weights land on it. `each`: px between two of them.
void paint_shelves(const Painter& p, const Picture& picture, const ShelfPlace& at) {
  const auto& t = widgets::theme();
  const std::vector<Shelf>& shelves = picture.shelves;
  std::int64_t most = 1;
  float last_number = -1e9f;
  for (const Shelf& s : shelves) most = std::max(most, s.weights);
  const float number = t.type(Type::small) + t.px(4), room = at.bottom - at.shelf - t.px(7) - number;
  for (std::size_t i = 0; i < shelves.size(); ++i) {
    const float x = at.x(shelves[i].at), before = i > 0 ? x - at.x(shelves[i - 1].at) : 1e9f,
                after = i + 1 < shelves.size() ? at.x(shelves[i + 1].at) - x : 1e9f;
    const float half = std::clamp(0.4f * std::min(before, after), t.px(0.5f), t.px(20));
    if (shelves[i].weights == 0) {
      p.frame({x - half, at.shelf}, {x + half, at.shelf + t.px(5)}, t.muted, 1, half > t.px(3) ? t.px(1) : 0);
      continue;
    }
    const float length = std::max(t.px(2), room * static_cast<float>(shelves[i].weights) / static_cast<float>(most));
    p.rect({x - half, at.shelf}, {x + half, at.shelf + t.px(5)}, t.series_at(1));
    p.rect({x - 0.7f * half, at.shelf + t.px(7)}, {x + 0.7f * half, at.shelf + t.px(7) + length},
           widgets::with_alpha(t.series_at(1), 0.65f));
    widgets::Line count;
    count.add_integer(shelves[i].weights);
    const float wide = widgets::text_size(count.view(), Type::small, Font::mono).x;
    // Between narrow shelves numbers would lie on the bars: then the highest alone.
    if (x - wide / 2 < last_number + t.px(3) || (half < t.px(3) && shelves[i].weights < most)) continue;
    last_number = x + wide / 2;
    p.text({x, at.shelf + t.px(9) + length}, count.view(), t.text, Type::small, Font::mono, Align::center);
  }
}

/// The weights as dots that are stacked where they lie close, each with a line to its shelf where they fall down.
void paint_weights(const Painter& p, const Picture& picture, const ShelfPlace& at, std::vector<int>& heights,
                   bool fall_down) {
  const auto& t = widgets::theme();
  const float fall = std::clamp(0.3f * (at.shelf - at.top), t.px(14), t.px(90)), room = at.shelf - at.top - fall;
  float wide = t.px(7);
  // Narrower until the highest stack has room.
  for (int most = 0; wide > t.px(2); wide *= 0.85f) {
    heights.assign(static_cast<std::size_t>(at.width / wide) + 2, 0);
    most = 0;
    for (const Fall& f : picture.falls)
      most = std::max(most, ++heights[static_cast<std::size_t>(std::max(0.0f, (at.x(f.weight) - at.left) / wide))]);
    if (static_cast<float>(most) * wide <= room) break;
  }
  heights.assign(static_cast<std::size_t>(at.width / wide) + 2, 0);
  for (const Fall& f : picture.falls) {
    const float x = at.x(f.weight);
    const int stacked = heights[static_cast<std::size_t>(std::max(0.0f, (x - at.left) / wide))]++;
    const ImVec2 from{x, std::max(at.top + wide / 2, at.shelf - fall - wide * (0.5f + static_cast<float>(stacked)))};
    if (fall_down) {
      const ImVec2 to{at.x(picture.shelves[f.shelf].at), at.shelf};
      const ImVec2 way[3]{{from.x, at.shelf - fall}, {to.x, at.shelf - fall * 0.35f}, to};
      p.polyline(way, widgets::with_alpha(t.series_at(1), 0.35f), 1);
    }
    p.circle(from, std::max(1.0f, wide * 0.42f), t.series_at(0));
  }
}

/// The weights over empty levels, as many as the format has and evenly over the place: what is known before rounding.
void paint_given_shelves(const Picture& picture, ShelfPlace at, std::vector<int>& heights) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const std::size_t levels = picture.shelves.size();
  at.reach = 1.02 * std::max(std::abs(picture.largest), 1e-12);
  p.text({at.left, at.top - t.type(Type::small) - t.px(6)}, picture.given_words, t.text, Type::small);
  paint_weights(p, picture, at, heights, false);
  const float each = at.width / static_cast<float>(std::max<std::size_t>(1, levels)),
              gap = each > t.px(6) ? t.px(2) : 0;
  for (std::size_t i = 0; i < levels && each >= 2; ++i) {
    const float x = at.left + each * static_cast<float>(i);
    p.frame({x + gap, at.shelf}, {x + each - gap, at.shelf + t.px(5)}, t.muted, 1, t.px(1));
  }
}

/// The outlier that sets the shelves apart, as the handle of a drag.
void paint_largest(const Painter& p, const Picture& picture, const ShelfPlace& at) {
  if (!picture.stretched) return;
  const auto& t = widgets::theme();
  const bool right = picture.largest > 0;
  const float x = at.x(picture.largest), fall = std::clamp(0.3f * (at.shelf - at.top), t.px(14), t.px(90)),
              y = at.shelf - fall - t.px(4);
  p.circle({x, y}, t.px(7), t.accent);
  p.ring({x, y}, t.px(7), t.text, t.px(1.5f));
  p.text({x, y - t.px(12) - t.type(Type::small)}, picture.largest_words, t.text, Type::small, Font::mono,
         right ? Align::right : Align::left);
  constexpr std::string_view words = "drag it in: the levels follow";
  const float wide = widgets::text_size(words, Type::small).x, away = t.px(16);
  if (wide + away > at.width * 0.4f) return;
  p.text({right ? x - away : x + away, y - t.type(Type::small) / 2}, words, t.accent, Type::small, Font::sans,
         right ? Align::right : Align::left);
}

/// A drag moves the outlier: its factor grows as its distance from 0 does.
void drag_outlier(Inputs& in, const Picture& picture, const ShelfPlace& at, View& view) {
  if (!picture.stretched || !ImGui::IsItemActive()) return;
  if (ImGui::IsItemActivated()) {
    view.grabbed_weight = picture.largest;
    view.grabbed_size = in.outlier_size;
  }
  if (!ImGui::IsMouseDragging(ImGuiMouseButton_Left) || view.grabbed_weight == 0) return;
  const float moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left).x / at.width;
  const double factor = (view.grabbed_weight + 2 * at.reach * static_cast<double>(moved)) / view.grabbed_weight;
  in.outlier_size = std::round(100 * std::clamp(view.grabbed_size * factor, 1.0, 100.0)) / 100;
}

}  // namespace

void draw_shelves(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Rect area = widgets::canvas("weights on their levels", size, {t.px(200), t.px(80)});
  const Painter p = Painter::window();
  if (!ImGui::IsItemActive()) view.reach = picture.reach;
  const float head = t.type(Type::body) + t.px(8), foot = t.type(Type::small) + t.px(8);
  ShelfPlace at{.left = area.min.x + t.px(24),
                .width = area.width() - t.px(48),
                .top = area.min.y + head + t.type(Type::small) + t.px(6),
                .bottom = area.max.y - foot,
                .reach = std::max(view.reach, picture.reach) * 1.02};
  at.shelf = at.top + 0.52f * (at.bottom - at.top);
  if (widgets::veiled()) {
    paint_given_shelves(picture, at, view.heights);
    return;
  }
  drag_outlier(in, picture, at, view);
  const float title = p.text(area.min, picture.shelf_title, t.text, Type::body, Font::bold);
  widgets::fit_text(p, {area.min.x + title + t.px(12), area.min.y + (t.type(Type::body) - t.type(Type::small)) / 2},
                    picture.shelf_words, area.width() - title - t.px(12), t.muted, Type::small);
  paint_weights(p, picture, at, view.heights, true);
  paint_shelves(p, picture, at);
  paint_largest(p, picture, at);
  const float y = area.max.y - t.type(Type::small) - t.px(2);
  float x = area.min.x + p.text({area.min.x, y}, "error of the row ", t.muted, Type::small);
  x += p.text({x, y}, picture.error_words, t.text, Type::small, Font::mono) + t.px(20);
  widgets::fit_text(p, {x, y}, picture.empty_words, area.max.x - x, t.muted, Type::small);
  paint_guess_note(ImVec2{area.max.x, area.min.y + (t.type(Type::body) - t.type(Type::small)) / 2});
  widgets::drew("shelves");
}

void draw_rows(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Rect area = widgets::canvas("error of each row", size, {t.px(60), t.px(60)});
  const Painter p = Painter::window();
  if (picture.rows.empty()) return;
  const float head = t.type(Type::small) + t.px(8), label = t.px(26), top = area.min.y + head,
              each = (area.max.y - top) / static_cast<float>(picture.rows.size()), left = area.min.x + label,
              names = std::max(widgets::text_size(picture.pays_words, Type::small, Font::bold).x,
                               widgets::text_size(picture.sets_words, Type::small, Font::bold).x) +
                      t.px(18),
              room = std::max(t.px(40), area.max.x - left - names);
  const double most = std::max(1e-12, *std::max_element(picture.rows.begin(), picture.rows.end()));
  widgets::fit_text(p, area.min, picture.rows_title, area.width(), t.muted, Type::small);
  const auto row_at = [&](float y) {
    return std::clamp(static_cast<std::int64_t>((y - top) / each), std::int64_t{0},
                      static_cast<std::int64_t>(picture.rows.size()) - 1);
  };
  for (std::size_t i = 0; i < picture.rows.size(); ++i) {
    const float y = top + each * static_cast<float>(i),
                thick = std::max(1.0f, each - (each > t.px(4) ? t.px(1.5f) : 0));
    const bool shown = i == picture.row;
    p.rect({left, y}, {left + std::max(1.0f, room * static_cast<float>(picture.rows[i] / most)), y + thick},
           shown ? t.accent : t.series_at(1));
  }
  // The rows of the sentence, named on a ground of their own.
  const auto name = [&](std::int64_t row, std::string_view words) {
    const float high = t.type(Type::small) + t.px(4), wide = widgets::text_size(words, Type::small, Font::bold).x;
    const float y = std::clamp(top + each * (static_cast<float>(row) + 0.5f) - high / 2, top, area.max.y - high);
    if (wide + t.px(12) > area.max.x - left) return;
    const float x = area.max.x - wide - t.px(8);
    p.rect({x - t.px(4), y}, {area.max.x, y + high}, t.panel, t.px(3));
    p.frame({x - t.px(4), y}, {area.max.x, y + high}, t.line, 1, t.px(3));
    p.text({x, y + t.px(2)}, words, t.text, Type::small, Font::bold);
  };
  if (picture.sets >= 0) name(picture.sets, picture.sets_words);
  name(picture.pays, picture.pays_words);
  if (widgets::veiled() || !ImGui::IsItemHovered()) return;
  const std::int64_t row = row_at(ImGui::GetMousePos().y);
  widgets::Line words;
  words.add("row ").add_integer(row);
  widgets::tip(words.view(), widgets::format(picture.rows[static_cast<std::size_t>(row)], "%"), picture.rows_title);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) in.row = row;
}

}  // namespace chapters::compression::quantizer
