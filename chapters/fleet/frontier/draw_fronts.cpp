#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/frontier/lab.h"
#include "chapters/fleet/frontier/scene.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// The points, a front a quality, the ruler and its parallel.
namespace chapters::fleet::frontier {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::size_t many_dots = 1200;

/// Yours and the one that it is compared with stand out; of many others each would only be one hue more.
ImU32 front_colour(const Picture& p, std::size_t quality) {
  const auto& t = widgets::theme();
  if (quality == p.quality) return t.accent;
  return p.fronts.size() <= 5 || p.fronts[quality].compared ? t.series_at(quality) : t.muted;
}

void paint_dots(const Painter& p, const Picture& picture, const Scene& s) {
  const auto& t = widgets::theme();
  const bool many = picture.dots.size() > many_dots;
  const float r = t.px(many ? 1.4f : 2.2f);
  p.clip(s.area.min, s.area.max);
  for (const bool front : {false, true})
    for (const Dot& dot : picture.dots) {
      if (dot.on_front != front) continue;
      const ImVec2 at = s.at(dot);
      const bool yours = dot.quality == picture.quality;
      const bool seen = yours || picture.fronts[dot.quality].compared;
      const ImU32 fill = widgets::with_alpha(front_colour(picture, dot.quality),
                                             front ? (seen ? 1.0f : 0.55f) : (yours ? 0.55f : 0.3f));
      const float radius = front ? t.px(yours ? 4.0f : 2.8f) : r;
      // Thousands of discs would take longer than all the rest.
      if (many && !front)
        p.rect({at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}, fill);
      else
        p.circle(at, radius, fill);
    }
  p.unclip();
}

void paint_stairs(const Painter& p, const Picture& picture, const Scene& s, const View& view) {
  const auto& t = widgets::theme();
  p.clip(s.area.min, s.area.max);
  for (std::size_t q = 0; q < picture.fronts.size(); ++q) {
    const DrawnFront& front = picture.fronts[q];
    const bool yours = q == picture.quality, hovered = static_cast<std::int64_t>(q) == view.hovered_front;
    const bool seen = yours || hovered || front.compared;
    const ImU32 colour = widgets::with_alpha(front_colour(picture, q), seen ? 1.0f : 0.4f);
    for (std::size_t i = 0; i + 1 < front.corners.size(); ++i)
      p.line(s.at(front.corners[i]), s.at(front.corners[i + 1]), colour, t.px(yours ? 2.5f : seen ? 1.8f : 1.2f));
  }
  p.unclip();
}

/// No words on the stairs of the two fronts that stand out.
void keep_stairs_free(const Picture& picture, const Scene& s, Labels& labels) {
  const float by = widgets::theme().px(3);
  for (std::size_t q = 0; q < picture.fronts.size(); ++q) {
    if (q != picture.quality && !picture.fronts[q].compared) continue;
    const auto& corners = picture.fronts[q].corners;
    for (std::size_t i = 0; i + 1 < corners.size() && i < 48; ++i) {
      const ImVec2 a = s.at(corners[i]), b = s.at(corners[i + 1]);
      labels.take(
          {{std::min(a.x, b.x) - by, std::min(a.y, b.y) - by}, {std::max(a.x, b.x) + by, std::max(a.y, b.y) + by}});
    }
  }
}

/// Names at the ends of the fronts; pressing one lays the ruler on it.
void name_fronts(Inputs& in, const Painter& p, const Picture& picture, const Scene& s, View& view, Labels& labels) {
  const auto& t = widgets::theme();
  std::int64_t hovered = -1;
  for (const int turn : {0, 1, 2})
    for (std::size_t q = 0; q < picture.fronts.size(); ++q) {
      const DrawnFront& front = picture.fronts[q];
      const bool yours = q == picture.quality, other = front.compared;
      if ((turn == 0) != yours || (turn == 1) != (other && !yours)) continue;
      if (front.corners.empty() || front.name.empty()) continue;
      const ImVec2 words = widgets::text_size(front.name, Type::small, yours ? Font::bold : Font::sans);
      const ImVec2 low = s.at(front.corners.front()), high = s.at(front.corners.back());
      const ImVec2 middle = s.at(front.corners[front.corners.size() / 2]);
      const std::array<ImVec2, 6> places{ImVec2{low.x + t.px(7), low.y - words.y / 2},
                                         ImVec2{high.x - words.x - t.px(7), high.y - words.y / 2},
                                         ImVec2{low.x - words.x / 2, low.y + t.px(6)},
                                         ImVec2{high.x - words.x / 2, high.y - words.y - t.px(6)},
                                         ImVec2{middle.x + t.px(6), middle.y - words.y - t.px(6)},
                                         ImVec2{middle.x - words.x - t.px(8), middle.y + t.px(6)}};
      const ImVec2* at = labels.place(places, words, s.area);
      if (!at) continue;
      ImGui::PushID(static_cast<int>(q));
      ImGui::SetCursorScreenPos(*at);
      if (widgets::press_area("lay the ruler here", words) && !yours) in.quality = front.name;
      const bool lit = ImGui::IsItemHovered();
      ImGui::PopID();
      if (lit) {
        hovered = static_cast<std::int64_t>(q);
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      }
      p.plate(*at, front.name, t.panel, Type::small, yours ? Font::bold : Font::sans);
      const ImU32 ink = yours ? t.accent : other || lit ? t.text : t.muted;
      p.text(*at, front.name, ink, Type::small, yours ? Font::bold : Font::sans);
    }
  view.hovered_front = hovered;
}

/// The parallel of the ruler on another front, and how far it is from the ruler on the vertical axis.
void paint_parallel(const Painter& p, const Picture& picture, const Scene& s, std::size_t quality, Labels& labels) {
  const auto& t = widgets::theme();
  const DrawnFront& front = picture.fronts[quality];
  if (!front.has_winner || quality == picture.quality) return;
  const ImVec2 at = s.at(front.winner), along = s.along(picture.fall);
  const float half = std::min(s.wide() * 0.16f, t.px(150));
  p.clip(s.area.min, s.area.max);
  p.dashed_line({at.x - half * along.x, at.y - half * along.y}, {at.x + half * along.x, at.y + half * along.y}, t.text,
                t.px(1.5f), t.px(6));
  const ImVec2 yours = s.at(picture.winner);
  const float on_ruler = yours.y + (at.x - yours.x) * along.y / std::max(along.x, 1e-3f);
  p.line({at.x, on_ruler}, at, widgets::with_alpha(t.text, 0.55f), t.px(1));
  p.unclip();
  p.circle(at, t.px(6), t.panel);
  p.ring(at, t.px(6), t.text, t.px(2));
  const std::string_view bold = front.price, more = front.best;
  const ImVec2 first = widgets::text_size(bold, Type::body, Font::bold);
  const float second = more.empty() ? 0 : widgets::text_size(more, Type::small).x;
  const ImVec2 words{std::max(first.x, second), first.y + (more.empty() ? 0 : t.type(Type::small) + t.px(3))};
  const std::array<ImVec2, 4> places{
      ImVec2{at.x + t.px(12), at.y + t.px(8)}, ImVec2{at.x - words.x - t.px(12), at.y + t.px(8)},
      ImVec2{at.x + t.px(12), at.y - words.y - t.px(8)}, ImVec2{at.x - words.x - t.px(12), at.y - words.y - t.px(8)}};
  const ImVec2* place = labels.place(places, words, s.area);
  if (!place) return;
  p.rect({place->x - t.px(3), place->y - t.px(1)}, {place->x + words.x + t.px(3), place->y + words.y + t.px(1)},
         widgets::with_alpha(t.panel, 0.88f), t.px(3));
  p.text(*place, bold, t.text, Type::body, Font::bold);
  if (!more.empty()) p.text({place->x, place->y + first.y + t.px(1)}, more, t.muted, Type::small);
}

/// The winner with its name, its values on the axes, and what a little more would be.
void paint_winner(const Painter& p, const Picture& picture, const Scene& s, Labels& labels) {
  const auto& t = widgets::theme();
  const ImVec2 at = s.at(picture.winner);
  p.dashed_line({at.x, at.y}, {at.x, s.area.max.y}, widgets::with_alpha(t.accent, 0.8f), t.px(1.2f), t.px(4));
  p.dashed_line({s.area.min.x, at.y}, {at.x, at.y}, widgets::with_alpha(t.accent, 0.8f), t.px(1.2f), t.px(4));
  p.circle(at, t.px(14), widgets::with_alpha(t.accent, 0.25f));
  p.circle(at, t.px(7.5f), t.accent);
  p.ring(at, t.px(7.5f), t.text, t.px(2));
  const auto tag = [&](ImVec2 centre, std::string_view words) {
    const ImVec2 size = widgets::text_size(words, Type::small, Font::mono);
    p.rect({centre.x - size.x / 2 - t.px(5), centre.y - size.y / 2 - t.px(2)},
           {centre.x + size.x / 2 + t.px(5), centre.y + size.y / 2 + t.px(2)}, t.accent, t.px(3));
    p.text({centre.x, centre.y - size.y / 2}, words, widgets::text_on(t.accent, t), Type::small, Font::mono,
           Align::center);
  };
  const ImVec2 x_tag = widgets::text_size(picture.winner_x, Type::small, Font::mono),
               y_tag = widgets::text_size(picture.winner_y, Type::small, Font::mono);
  tag({std::clamp(at.x, s.area.min.x + x_tag.x / 2, s.area.max.x - x_tag.x / 2), s.area.max.y + t.px(11)},
      picture.winner_x);
  tag({s.area.min.x - y_tag.x / 2 - t.px(7), at.y}, picture.winner_y);
  const ImVec2 first = widgets::text_size(picture.winner_name, Type::body, Font::bold);
  const std::array<ImVec2, 4> places{
      ImVec2{at.x + t.px(16), at.y - first.y - t.px(34)}, ImVec2{at.x - first.x - t.px(16), at.y + t.px(12)},
      ImVec2{at.x - first.x - t.px(16), at.y - first.y - t.px(34)}, ImVec2{at.x + t.px(10), at.y + t.px(14)}};
  if (const ImVec2* place = labels.place(places, first, s.area)) {
    // Over the ruler the name is far from its point: a line leads from one to the other.
    if (place->y + first.y < at.y - t.px(20))
      p.line({std::clamp(at.x, place->x, place->x + first.x), place->y + first.y}, {at.x, at.y - t.px(9)},
             widgets::with_alpha(t.text, 0.8f), t.px(1.2f));
    p.plate(*place, picture.winner_name, t.panel, Type::body, Font::bold);
    p.text(*place, picture.winner_name, t.text, Type::body, Font::bold);
  }
}

void paint_ring_of(const Painter& p, const Scene& s, Spot spot, std::string_view bold, std::string_view more,
                   ImU32 colour, Labels& labels) {
  const auto& t = widgets::theme();
  const ImVec2 at = s.at(spot);
  const ImVec2 first = widgets::text_size(bold, Type::body, Font::bold);
  const float second = more.empty() ? 0 : widgets::text_size(more, Type::small).x;
  const ImVec2 words{std::max(first.x, second), first.y + (more.empty() ? 0 : t.type(Type::small) + t.px(3))};
  p.ring(at, t.px(7), colour, t.px(2));
  const std::array<ImVec2, 4> places{
      ImVec2{at.x - words.x - t.px(12), at.y + t.px(8)}, ImVec2{at.x + t.px(12), at.y + t.px(8)},
      ImVec2{at.x + t.px(12), at.y - words.y - t.px(8)}, ImVec2{at.x - words.x - t.px(12), at.y - words.y - t.px(8)}};
  const ImVec2* place = labels.place(places, words, s.area);
  if (!place) return;
  p.rect({place->x - t.px(3), place->y - t.px(1)}, {place->x + words.x + t.px(3), place->y + words.y + t.px(1)},
         widgets::with_alpha(t.panel, 0.88f), t.px(3));
  p.text(*place, bold, t.text, Type::body, Font::bold);
  if (!more.empty()) p.text({place->x, place->y + first.y + t.px(1)}, more, t.muted, Type::small);
}

/// What lies under the pointer: name and values.
void say_hovered(Inputs& in, const Picture& picture, const Scene& s) {
  const auto& t = widgets::theme();
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Dot* nearest = nullptr;
  float least = t.px(9) * t.px(9);
  for (const Dot& dot : picture.dots) {
    const ImVec2 at = s.at(dot);
    const float dx = at.x - mouse.x, dy = at.y - mouse.y;
    // Those of a front lie over the others.
    const float distance = dx * dx + dy * dy - (dot.on_front ? t.px(2) : 0);
    if (distance >= least) continue;
    least = distance;
    nearest = &dot;
  }
  if (!nearest) return;
  const Run& run = *picture.run;
  const std::string& quality = run.set->qualities[nearest->quality];
  widgets::Line values;
  const auto add = [&](const SeenAxis& axis) {
    values.add(widgets::format(axis.value(nearest->point), "", 4)).add(" ").add(axis.column->unit);
  };
  add(run.x);
  values.add(", ");
  add(run.y);
  widgets::Line info;
  info.add(quality).add(quality.empty() ? "" : ", ").add(nearest->on_front ? "on its front" : "dominated");
  widgets::tip(run.set->names[nearest->point], values.view(), info.view());
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && nearest->quality != picture.quality) in.quality = quality;
}

}  // namespace

void draw_fronts(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (picture.version == 0 || !picture.run || !picture.run->set) {
    ImGui::Dummy(size);
    return;
  }
  const Scene s = make_scene(picture, view, corner, size);
  {
    const widgets::GivenMarks given;
    paint_axes(p, picture, s);
    if (widgets::veiled()) choose_axes(in, p, picture, s);
  }
  if (widgets::veiled()) {
    ImGui::SetCursorScreenPos(corner);
    ImGui::Dummy(size);
    return;
  }
  Labels labels;
  const ImVec2 winner = s.at(picture.winner);
  labels.take({{winner.x - t.px(12), winner.y - t.px(12)}, {winner.x + t.px(12), winner.y + t.px(12)}});
  keep_stairs_free(picture, s, labels);
  paint_walls(p, picture, s);
  paint_dots(p, picture, s);
  paint_stairs(p, picture, s, view);
  paint_ruler(p, picture, s, view, labels);
  turn_ruler(in, p, picture, s, view, labels);
  drag_walls(in, p, picture, s, view, labels);
  paint_winner(p, picture, s, labels);
  for (std::size_t q = 0; q < picture.fronts.size(); ++q)
    if (picture.fronts[q].compared) paint_parallel(p, picture, s, q, labels);
  if (picture.has_more) paint_ring_of(p, s, picture.more, picture.more_bold, picture.more_words, t.warning, labels);
  if (picture.has_mine) paint_ring_of(p, s, picture.mine, picture.mine_words, "", t.text, labels);
  name_fronts(in, p, picture, s, view, labels);
  if (view.hovered_front >= 0 && static_cast<std::size_t>(view.hovered_front) < picture.fronts.size() &&
      !picture.fronts[static_cast<std::size_t>(view.hovered_front)].compared)
    paint_parallel(p, picture, s, static_cast<std::size_t>(view.hovered_front), labels);
  choose_axes(in, p, picture, s);
  ImGui::SetCursorScreenPos(s.area.min);
  widgets::press_area("points", {s.wide(), s.tall()}, ImGuiButtonFlags_None);
  say_hovered(in, picture, s);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::fleet::frontier
