#include <algorithm>
#include <cmath>

#include "chapters/kernels/async_pipeline/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// Cycles of a tile as columns over the number of buffers, each with its price; the number is dragged.
namespace chapters::kernels::async_pipeline {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

struct StairsPlan {
  float left = 0, right = 0, head = 0, top = 0, base = 0, numbers = 0, bytes = 0, blocks = 0;  ///< x, then y
  float step = 1, wall_rows = 1;
  double tallest = 1;
  float y(double cycles) const { return base - static_cast<float>(cycles / tallest) * (base - top); }
  Rect column(std::size_t i) const {
    const float x = left + step * static_cast<float>(i), pad = 0.11f * step;
    return {{x + pad, top}, {x + step - pad, base}};
  }
  std::size_t at(float x, std::size_t count) const {
    const float i = std::floor((x - left) / std::max(1.0f, step));
    return static_cast<std::size_t>(std::clamp(i, 0.0f, static_cast<float>(count) - 1));
  }
};

StairsPlan plan_stairs(const Picture& picture, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), line = small + t.px(3);
  StairsPlan plan{.tallest = picture.tallest};
  plan.left = at.x + std::max(t.px(86), 7.2f * small);
  plan.right = at.x + size.x - t.px(10);
  plan.head = at.y;
  plan.wall_rows = picture.walls.size() > 1 && size.y > 11 * line ? 2 : 1;
  plan.top = at.y + (2 + plan.wall_rows - 1) * line + t.px(6) + small;
  const float rows = size.y > 9 * line ? 3 : 2;
  plan.base = at.y + size.y - rows * line - t.px(2);
  plan.numbers = plan.base + t.px(3);
  plan.bytes = plan.numbers + line;
  plan.blocks = rows > 2 ? plan.bytes + line : 0;
  plan.step = (plan.right - plan.left) / static_cast<float>(std::max<std::size_t>(1, picture.stairs.size()));
  return plan;
}

void paint_column(const Painter& p, const StairsPlan& plan, const Picture& picture, std::size_t i, bool held) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  const Stair& s = picture.stairs[i];
  const Rect c = plan.column(i);
  const float middle = (c.min.x + c.max.x) / 2, top = plan.y(s.cycles);
  const float floor = plan.y(std::min(s.cycles, picture.floor));
  const ImU32 body = s.yours ? t.accent : widgets::with_alpha(t.muted, s.fits ? 0.40f : 0.18f);
  p.rect({c.min.x, floor}, {c.max.x, plan.base}, body, t.px(2));
  if (floor - top > t.px(1.5f)) {
    p.rect({c.min.x, top}, {c.max.x, floor}, widgets::with_alpha(s.yours ? t.accent : t.muted, 0.10f));
    const ImVec2 corners[] = {{c.min.x, floor}, {c.min.x, top}, {c.max.x, top}, {c.max.x, floor}};
    p.dashed_polyline(corners, s.yours ? t.accent : t.muted, t.px(1.2f), t.px(4));
  }
  if (held) p.frame({c.min.x - t.px(2), top - t.px(2)}, {c.max.x + t.px(2), plan.base}, t.text, t.px(1.5f), t.px(3));
  const ImVec2 words{middle, top - small - t.px(4)};
  const float wide = widgets::text_size(s.cycles_words, Type::small, Font::mono).x;
  if (s.yours && widgets::output_lit("period"))
    widgets::paint_light(p, {middle - wide / 2 - t.px(3), words.y}, {middle + wide / 2 + t.px(3), top});
  if (wide < plan.step)
    p.text(words, s.cycles_words, s.yours ? t.text : t.muted, Type::small, Font::mono, Align::center);
  // The handle: drag to either side.
  const float high = plan.base - floor;
  if (!s.yours || high < t.px(16) || c.width() < t.px(34)) return;
  const ImU32 ink = widgets::text_on(t.accent, t);
  const float y = (floor + plan.base) / 2, r = t.px(5), arm = std::min(t.px(22), 0.38f * c.width());
  p.ring({middle, y}, r, ink, t.px(1.5f));
  for (const float side : {-1.0f, 1.0f}) {
    p.line({middle + side * (r + t.px(3)), y}, {middle + side * arm, y}, ink, t.px(1.5f));
    p.line({middle + side * arm, y}, {middle + side * (arm - t.px(4)), y - t.px(4)}, ink, t.px(1.5f));
    p.line({middle + side * arm, y}, {middle + side * (arm - t.px(4)), y + t.px(4)}, ink, t.px(1.5f));
  }
}

void paint_price(const Painter& p, const StairsPlan& plan, const Stair& s, std::size_t i) {
  const Theme& t = widgets::theme();
  const Rect c = plan.column(i);
  const float middle = (c.min.x + c.max.x) / 2, room = plan.step - t.px(2);
  const ImU32 price = s.dear ? t.bad : t.muted;
  p.text({middle, plan.numbers}, s.number, s.yours ? t.text : t.muted, Type::small, Font::bold, Align::center);
  widgets::fit_text(p, {middle, plan.bytes}, s.bytes_words, room, price, Type::small, Font::sans, Align::center);
  if (plan.blocks > 0)
    widgets::fit_text(p, {middle, plan.blocks}, s.blocks_words, room, price, Type::small, Font::sans, Align::center);
}

void paint_row_names(const Painter& p, const StairsPlan& plan, const Picture& picture, float width) {
  const Theme& t = widgets::theme();
  const float right = plan.left - t.px(12), room = t.px(74);
  const float wide = p.text({plan.left, plan.head}, picture.stairs_title, t.text, Type::small, Font::bold);
  widgets::fit_text(p, {plan.left + wide + t.px(12), plan.head}, picture.stairs_hint, width - wide - t.px(110), t.muted,
                    Type::small);
  widgets::fit_text(p, {right, plan.numbers}, "buffers", room, t.muted, Type::small, Font::sans, Align::right);
  widgets::fit_text(p, {right, plan.bytes}, "a block", room, t.muted, Type::small, Font::sans, Align::right);
  if (plan.blocks > 0)
    widgets::fit_text(p, {right, plan.blocks}, "an SM holds", room, t.muted, Type::small, Font::sans, Align::right);
}

/// What more buffers cannot pass, and where a block leaves the SM.
void paint_limits(const Painter& p, const StairsPlan& plan, const Picture& picture) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), y = plan.y(picture.floor);
  const ImU32 limit = t.of(widgets::Meaning::compute_bound);
  p.line({plan.left - t.px(4), y}, {plan.right, y}, limit, t.px(1.5f));
  widgets::fit_text(p, {plan.left - t.px(10), y - small / 2 - t.px(1)}, picture.floor_words, t.px(78), limit,
                    Type::small, Font::bold, Align::right);
  // Two words next to each other stand in two rows.
  float row = 0, last = plan.left;
  int rows = 1;
  for (const Wall& wall : picture.walls) {
    const float x = plan.left + plan.step * static_cast<float>(wall.at), top = plan.head + small + t.px(5);
    const float wide = widgets::text_size(wall.words, Type::small).x;
    const bool right = x + wide + t.px(10) < plan.right;
    const float begin = right ? x + t.px(6) : x - wide - t.px(6);
    p.line({x, top}, {x, plan.bytes + small}, t.bad, t.px(1.5f));
    if (begin < last) {
      row += small + t.px(3);
      ++rows;
    }
    if (static_cast<float>(rows) > plan.wall_rows || begin < plan.left) continue;
    p.plate({begin, top + row}, wall.words, t.panel, Type::small);
    p.text({begin, top + row}, wall.words, t.bad, Type::small);
    last = begin + wide + t.px(6);
  }
}

void paint_stairs_guess(const Painter& p, const StairsPlan& plan, const Picture& picture) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || !(guess->value > 0)) return;
  const Theme& t = widgets::theme();
  const bool level = guess->output == "period" || guess->output == "sync_period" || guess->output == "full_period";
  const bool column = guess->output == "stages_for_full_rate" || guess->output == "blocks_leave_at";
  if ((!level && !column) || picture.stairs.empty()) return;
  widgets::drew("guess");
  const auto count = static_cast<double>(picture.stairs.size());
  const double most = level ? picture.tallest : count, shown = std::min(guess->value, most);
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "", 4), guess->value > most);
  if (level) {
    const float y = plan.y(shown);
    p.dashed_line({plan.left, y}, {plan.right, y}, t.accent, t.px(2), t.px(5));
    const float wide = widgets::text_size(words.view(), Type::small).x + t.px(8);
    widgets::paint_guess_words(p, {plan.right - wide, y + t.px(3)}, words.view());
    return;
  }
  const float x = plan.left + plan.step * (static_cast<float>(shown) - 0.5f);
  // Above its column and the figure on it.
  const Stair& s =
      picture.stairs[std::min(picture.stairs.size() - 1, static_cast<std::size_t>(std::max(0.0, shown - 1)))];
  const float end = plan.y(s.cycles) - t.type(Type::small) - t.px(6);
  p.dashed_line({x, std::min(plan.top, end)}, {x, end}, t.accent, t.px(2), t.px(5));
  widgets::paint_guess_words(p, {x + t.px(4), std::min(plan.top, end - t.type(Type::small))}, words.view());
}

void set_buffers(Inputs& in, const Picture& picture, std::int64_t wanted) {
  const std::int64_t n = std::clamp(wanted, picture.least_buffers, picture.most_buffers);
  if (in.kind == PipelineKind::sync) {
    if (n < 2) return;
    in.kind = PipelineKind::multistage;
  }
  in.stages = n;
}

bool take_columns(Inputs& in, const StairsPlan& plan, const Picture& picture) {
  if (picture.stairs.empty() || plan.right - plan.left < 40) return false;
  ImGui::SetCursorScreenPos({plan.left, plan.top - widgets::theme().px(14)});
  widgets::press_area("number of buffers",
                      {plan.right - plan.left, plan.blocks > 0 ? plan.blocks - plan.top : plan.bytes - plan.top},
                      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_EnableNav);
  const bool held = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (held && ImGui::IsMouseDown(ImGuiMouseButton_Left))
    set_buffers(in, picture, picture.stairs[plan.at(mouse.x, picture.stairs.size())].buffers);
  if (held || hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (const int steps = widgets::play_keys().steps; steps != 0) set_buffers(in, picture, buffers_of(in) + steps);
  if (hovered && !held) {
    const Stair& s = picture.stairs[plan.at(mouse.x, picture.stairs.size())];
    widgets::Line name, value;
    name.add(s.number).add(s.buffers == 1 ? " buffer" : " buffers");
    value.add(s.cycles_words).add(" cycles per tile");
    widgets::Line price;
    price.add(s.bytes_words).add(", ").add(s.blocks_words);
    widgets::tip(name.view(), value.view(), price.view());
  }
  return held || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
}

}  // namespace

void draw_stairs(Inputs& in, const Picture& picture, ImVec2 at, ImVec2 size) {
  const Painter p = Painter::window();
  const StairsPlan plan = plan_stairs(picture, at, size);
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    const Theme& t = widgets::theme();
    p.line({plan.left, plan.base}, {plan.right, plan.base}, t.line, t.px(1));
    p.text({plan.left, plan.head}, "Cycles per tile by the number of buffers", t.text, Type::small, Font::bold);
    for (std::int64_t n = 1; n <= 8; ++n) {
      widgets::Line number;
      number.add_integer(n);
      p.text({plan.left + (plan.right - plan.left) * (static_cast<float>(n) - 0.5f) / 8, plan.numbers}, number.view(),
             t.muted, Type::small, Font::bold, Align::center);
    }
    widgets::drew("columns");
    return;
  }
  const bool held = take_columns(in, plan, picture);
  for (std::size_t i = 0; i < picture.stairs.size(); ++i) {
    paint_column(p, plan, picture, i, held && picture.stairs[i].yours);
    paint_price(p, plan, picture.stairs[i], i);
  }
  paint_row_names(p, plan, picture, size.x);
  paint_limits(p, plan, picture);
  paint_stairs_guess(p, plan, picture);
  if (!picture.stairs.empty()) widgets::drew("columns");
  if (widgets::Record* record = p.record()) {
    widgets::DataTable table{picture.stairs_title, {"buffers", "cycles per tile", "shared memory", "blocks"}, {}};
    for (const Stair& s : picture.stairs)
      table.rows.push_back({s.number, widgets::exact(s.cycles), s.bytes_words, s.blocks_words});
    record->tables.push_back(std::move(table));
  }
}

}  // namespace chapters::kernels::async_pipeline
