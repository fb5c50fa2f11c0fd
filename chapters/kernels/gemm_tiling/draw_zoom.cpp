#include <algorithm>
#include <cmath>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"

namespace chapters::kernels::gemm_tiling {
namespace {

using models::gpu::GemmUnit;
using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

ImU32 colour_a() { return widgets::theme().series_at(1); }
ImU32 colour_b() { return widgets::theme().series_at(3); }

/// Both strips beside a square, and on them what the part that is looked into needs.
void paint_strips(const Painter& p, const ZoomPicture& z, bool whole) {
  const auto& t = widgets::theme();
  const float round = t.px(2);
  const struct {
    const Rect& strip;
    ImU32 hue;
    Rect part;
  } strips[] = {{z.a, colour_a(), {{z.a.min.x, z.child.min.y}, {z.a.max.x, z.child.max.y}}},
                {z.b, colour_b(), {{z.child.min.x, z.b.min.y}, {z.child.max.x, z.b.max.y}}}};
  for (const auto& s : strips) {
    p.rect(s.strip.min, s.strip.max, widgets::with_alpha(s.hue, whole ? 0.85f : 0.22f), round);
    if (!whole) p.rect(s.part.min, s.part.max, s.hue);
    p.frame(s.strip.min, s.strip.max, s.hue, 1, round);
  }
}

/// Lines between the pieces of a square, where they are wide enough to be seen.
void paint_grid(const Painter& p, const Rect& square, double rows, double columns, ImU32 colour) {
  const float least = widgets::theme().px(3);
  const auto across = static_cast<float>(columns), down = static_cast<float>(rows);
  if (square.width() / across >= least)
    for (float c = 1; c < across; ++c) {
      const float x = square.min.x + square.width() * c / across;
      p.line({x, square.min.y}, {x, square.max.y}, colour);
    }
  if (square.height() / down >= least)
    for (float r = 1; r < down; ++r) {
      const float y = square.min.y + square.height() * r / down;
      p.line({square.min.x, y}, {square.max.x, y}, colour);
    }
}

/// The light that widens from a part to the picture that shows it large.
void paint_beam(const Painter& p, const Rect& from, const ZoomPicture& to) {
  const auto& t = widgets::theme();
  const float left = to.a.min.x - t.px(4), top = to.b.min.y, bottom = to.square.max.y;
  const ImVec2 corners[] = {{from.max.x, from.min.y}, {left, top}, {left, bottom}, {from.max.x, from.max.y}};
  p.polygon(corners, widgets::with_alpha(t.accent, 0.12f));
  p.dashed_line(corners[0], corners[1], widgets::with_alpha(t.accent, 0.8f), 1, t.px(4));
  p.dashed_line(corners[3], corners[2], widgets::with_alpha(t.accent, 0.8f), 1, t.px(4));
}

void paint_words(const Painter& p, const Picture& picture, const HeroLayout& l, bool hidden) {
  const auto& t = widgets::theme();
  for (std::size_t i = 0; i < l.zoom.size(); ++i) {
    const float x = l.zoom[i].a.min.x;
    const float room = (i + 1 < l.zoom.size() ? l.zoom[i + 1].a.min.x - t.px(8) : l.race.max.x) - x;
    const bool wide = widgets::text_size(picture.titles[i], Type::body, Font::bold).x <= room;
    p.text_fit({x, l.head_y}, picture.titles[i], room, t.text, wide ? Type::body : Type::small,
               wide ? Font::bold : Font::sans);
    if (l.sizes) p.text_fit({x, l.head_y + t.type(Type::body) + t.px(3)}, picture.sizes[i], room, t.muted, Type::small);
    if (l.notes && !hidden) widgets::wrapped_text(p, {x, l.note_y}, picture.notes[i], room, t.muted, {.max_lines = 2});
  }
}

/// Names of the warps of a block, as many as have room.
void paint_warps(const Painter& p, const HeroLayout& l) {
  const auto& t = widgets::theme();
  const ZoomPicture& z = l.zoom[1];
  const float w = z.square.width() / static_cast<float>(l.pieces_across[1]),
              h = z.square.height() / static_cast<float>(l.pieces_down[1]);
  if (w < t.px(26) || h < t.type(Type::small) + t.px(4)) return;
  for (std::int64_t r = 0; r < l.warps_down; ++r)
    for (std::int64_t c = 0; c < l.warps_across; ++c) {
      const ImVec2 at{z.square.min.x + w * (static_cast<float>(c) + 0.5f),
                      z.square.min.y + h * (static_cast<float>(r) + 0.5f)};
      if (at.x + w / 2 > z.square.max.x + 1 || at.y + h / 2 > z.square.max.y + 1) continue;
      widgets::Line name;
      name.add("w").add_integer(r * l.warps_across + c);
      const bool chosen = z.child.contains(at);
      p.text({at.x, at.y - t.type(Type::small) / 2}, name.view(), chosen ? widgets::text_on(t.accent, t) : t.text,
             Type::small, Font::mono, Align::center);
    }
}

/// The sums of an instruction with the lanes that hold them, or those of a thread.
void paint_sums(const Painter& p, const Cut& cut, const HeroLayout& l, int lane) {
  const auto& t = widgets::theme();
  const ZoomPicture& z = l.zoom.back();
  const bool thread = cut.tile.unit == GemmUnit::fma;
  const float w = z.square.width() / static_cast<float>(l.cells_n),
              h = z.square.height() / static_cast<float>(l.cells_m);
  const float small = t.type(Type::small);
  p.rect(z.square.min, z.square.max, thread ? t.accent : t.card);
  if (thread) {
    paint_grid(p, z.square, static_cast<double>(l.cells_m), static_cast<double>(l.cells_n), t.background);
    paint_grid(p, z.a, static_cast<double>(l.cells_m), 1, t.background);
    paint_grid(p, z.b, 1, static_cast<double>(l.cells_n), t.background);
    return;
  }
  const bool numbers = h >= small * 0.9f && 2 * w >= t.px(20);
  for (std::int64_t r = 0; r < l.cells_m; ++r)
    for (std::int64_t c = 0; c < l.cells_n; c += 2) {
      const int holder = lane_of(cut, r, c);
      const bool chosen = holder == lane;
      const ImVec2 from{z.square.min.x + w * static_cast<float>(c), z.square.min.y + h * static_cast<float>(r)},
          to{from.x + 2 * w - t.px(1), from.y + h - t.px(1)};
      const ImU32 fill = chosen ? t.accent : t.ramp_at(static_cast<std::size_t>(holder / 4), 12);
      p.rect(from, to, fill, t.px(1));
      if (!numbers) continue;
      widgets::Line name;
      name.add_integer(holder);
      p.text({(from.x + to.x) / 2, (from.y + to.y - small) / 2}, name.view(), widgets::text_on(fill, t), Type::small,
             Font::mono, Align::center);
    }
}

struct Corner {
  const char* id;
  std::int64_t &rows, &columns;
  std::int64_t rows_drawn, columns_drawn;  ///< as in the picture, which a kernel's name may have set
  std::int64_t step_rows, step_columns, most;
};

/// The corner of a picture: it follows the pointer while it is dragged, and arrow keys move it by a step.
void drag_corner(Inputs& in, const Cut& cut, const Corner& corner, const ZoomPicture& z, float& scale, Grip& grip) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float reach = t.px(12);
  const ImVec2 at = z.square.max;
  ImGui::SetCursorScreenPos({at.x - reach, at.y - reach});
  widgets::press_area(corner.id, {2 * reach, 2 * reach});
  const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetMousePos();
  const auto set = [&](double rows, double columns) {
    take_named_tile(in, cut);
    const auto snapped = [&](double n, std::int64_t step) {
      return std::clamp<std::int64_t>(std::llround(n / static_cast<double>(step)) * step, step, corner.most);
    };
    corner.rows = snapped(rows, corner.step_rows);
    corner.columns = snapped(columns, corner.step_columns);
  };
  if (ImGui::IsItemActivated()) {
    scale = z.unit;
    grip = {.from = {at.x - mouse.x, at.y - mouse.y},
            .row_px = z.square.height() / static_cast<float>(corner.rows_drawn),
            .column_px = z.square.width() / static_cast<float>(corner.columns_drawn)};
  }
  if (active && scale > 0 && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 2))
    set((mouse.y + grip.from.y - z.square.min.y) / grip.row_px,
        (mouse.x + grip.from.x - z.square.min.x) / grip.column_px);
  if (!active) scale = 0;
  const int steps = widgets::play_keys().steps;
  if (steps != 0)
    set(static_cast<double>(corner.rows_drawn + steps * corner.step_rows),
        static_cast<double>(corner.columns_drawn + steps * corner.step_columns));
  p.circle(at, t.px(active || hovered ? 9.0f : 7.0f), widgets::with_alpha(t.accent, 0.3f));
  p.circle(at, t.px(5), t.accent);
  p.ring(at, t.px(5), IM_COL32_WHITE, t.px(1.5f));
  if (hovered && !active) widgets::tip("the corner", {}, "drag it, or press the arrow keys: the gates below follow");
}

/// Which lane the pointer is on.
void point_lane(const Cut& cut, const HeroLayout& l, View& view) {
  const Rect& square = l.zoom.back().square;
  const ImVec2 mouse = ImGui::GetMousePos();
  if (cut.tile.unit == GemmUnit::fma || !square.contains(mouse) || !ImGui::IsWindowHovered()) return;
  const auto row = static_cast<std::int64_t>((mouse.y - square.min.y) / square.height() * 16),
             column = static_cast<std::int64_t>((mouse.x - square.min.x) / square.width() * 8);
  view.lane = lane_of(cut, row, column);
  widgets::Line name, value;
  name.add("lane ").add_integer(view.lane);
  value.add("rows ").add_integer(view.lane / 4).add(" and ").add_integer(view.lane / 4 + 8).add(", columns ");
  value.add_integer(view.lane % 4 * 2).add(" and ").add_integer(view.lane % 4 * 2 + 1);
  widgets::tip(name.view(), value.view(), "the accumulator of mma.sync m16n8: PTX ISA");
}

}  // namespace

void take_named_tile(Inputs& in, const Cut& cut) {
  if (in.kernel.empty()) return;
  const models::gpu::GemmTile& t = cut.tile;
  in.block_m = std::clamp<std::int64_t>(t.block_m, 8, 512);
  in.block_n = std::clamp<std::int64_t>(t.block_n, 8, 512);
  in.block_k = std::clamp<std::int64_t>(t.block_k, 8, 256);
  in.warp_m = std::clamp<std::int64_t>(t.warp_m, 1, 256);
  in.warp_n = std::clamp<std::int64_t>(t.warp_n, 1, 256);
  in.stages = std::clamp<std::int64_t>(t.stages, 1, 12);
  in.cluster_m = std::clamp<std::int64_t>(t.cluster_m, 1, 8);
  in.cluster_n = std::clamp<std::int64_t>(t.cluster_n, 1, 8);
  in.unit = t.unit;
  in.element_bytes = cut.shape.element_bytes;
  in.output_bytes = cut.shape.output_bytes;
  in.kernel.clear();
}

void draw_zoom(Inputs& in, const Picture& picture, View& view, bool hidden) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const HeroLayout& l = view.hero;
  const Cut& cut = picture.run->cut;
  for (std::size_t i = 0; i + 1 < l.zoom.size(); ++i) paint_beam(p, l.zoom[i].child, l.zoom[i + 1]);
  for (std::size_t i = 0; i < l.zoom.size(); ++i) {
    const ZoomPicture& z = l.zoom[i];
    paint_strips(p, z, i + 1 == l.zoom.size());
    if (i + 1 == l.zoom.size()) break;
    p.rect(z.square.min, z.square.max, t.card);
    if (i == 0) {
      p.rect({z.square.min.x, z.child.min.y}, {z.child.min.x, z.child.max.y}, widgets::with_alpha(colour_a(), 0.4f));
      p.rect({z.child.min.x, z.square.min.y}, {z.child.max.x, z.child.min.y}, widgets::with_alpha(colour_b(), 0.4f));
    }
    if (!hidden) paint_grid(p, z.square, l.pieces_down[i], l.pieces_across[i], t.line);
    p.rect(z.child.min, z.child.max, t.accent);
    if (i == 1 && !hidden) paint_warps(p, l);
    p.frame(z.square.min, z.square.max, t.muted);
  }
  paint_sums(p, cut, l, view.lane);
  paint_words(p, picture, l, hidden);
  if (hidden) return;
  point_lane(cut, l, view);
  const bool lanes = cut.tile.unit == GemmUnit::fma;
  drag_corner(in, cut, {"block corner", in.block_m, in.block_n, cut.tile.block_m, cut.tile.block_n, 16, 16, 512},
              l.zoom[1], view.scales[0], view.grip);
  drag_corner(in, cut, {"warp corner", in.warp_m, in.warp_n, cut.tile.warp_m, cut.tile.warp_n, lanes ? 8 : 16, 8, 256},
              l.zoom[2], view.scales[1], view.grip);
  widgets::drew("zoom");
}

}  // namespace chapters::kernels::gemm_tiling
