#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/compression/distillation/lab.h"
#include "chapters/compression/shared/guess_note.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::compression::distillation {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::size_t sides = models::digit_classes;

/// The opaque colour of a share of `ink` on `ground`.
ImU32 mix(ImU32 ground, ImU32 ink, double share) {
  ImU32 out = IM_COL32_A_MASK;
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}) {
    const double below = (ground >> shift) & 255, above = (ink >> shift) & 255;
    out |= static_cast<ImU32>(std::lround(below + (above - below) * share)) << shift;
  }
  return out;
}

/// One square of answers: rows are what a digit was drawn as, columns what is said of it.
struct AnswerGrid {
  Rect area;
  float head = 0, left = 0;

  Rect cell(std::size_t r, std::size_t c) const {
    const float w = (area.width() - left) / static_cast<float>(sides),
                h = (area.height() - head) / static_cast<float>(sides);
    const ImVec2 min{std::floor(area.min.x + left + w * static_cast<float>(c)),
                     std::floor(area.min.y + head + h * static_cast<float>(r))};
    return {min, {std::floor(min.x + w) - 1, std::floor(min.y + h) - 1}};
  }
};

void draw_cell(const Painter& p, Rect at, double percent, ImU32 ink) {
  const auto& t = widgets::theme();
  double share = std::sqrt(std::clamp(percent / 100, 0.0, 1.0));
  ImU32 fill = mix(t.card, ink, share);
  // Halfway between the two, neither dark nor light figures can be read.
  while (share > 0.02 && widgets::contrast(widgets::text_on(fill, t), fill) < 4.6)
    fill = mix(t.card, ink, share -= 0.02);
  p.rect(at.min, at.max, fill);
  if (percent < 0.5) return;
  const widgets::NumberText number = widgets::format(std::round(percent), "", 3);
  const ImVec2 text = widgets::text_size(number, Type::small, Font::mono);
  if (text.x > at.width() - 2 || text.y > at.height()) return;
  p.text({(at.min.x + at.max.x) / 2, (at.min.y + at.max.y - text.y) / 2}, number, widgets::text_on(fill, t),
         Type::small, Font::mono, Align::center);
}

void show_tip(const AnswerGrid& grid, std::span<const double> percent, std::string_view who) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t i = 0; i < percent.size(); ++i) {
    if (!grid.cell(i / sides, i % sides).contains(mouse)) continue;
    widgets::Line what;
    what.add("of a ")
        .add_integer(static_cast<std::int64_t>(i / sides))
        .add(" it says ")
        .add_integer(static_cast<std::int64_t>(i % sides))
        .add(" with ")
        .add(widgets::format(percent[i], "%"));
    widgets::tip(who, what.view(), "mean of softmax(t / T) over the held-out digits of that class");
  }
}

/// `hue`: the series of whoever says it, as in the bars below and the curves.
void draw_grid(const char* label, std::string_view title, std::span<const double> percent, const Picture& picture,
               Rect area, std::size_t hue) {
  const auto& t = widgets::theme();
  ImGui::SetCursorScreenPos(area.min);
  widgets::canvas(label, {area.width(), area.height()}, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const float line = t.type(Type::small);
  AnswerGrid grid{.area = area, .head = t.type(Type::body) + line + t.px(10), .left = line + t.px(4)};
  widgets::fit_text(p, area.min, title, area.width(), t.text);
  const float row_px = grid.cell(1, 0).min.y - grid.cell(0, 0).min.y;
  for (std::size_t i = 0; i < sides; ++i) {
    const char digit[2] = {static_cast<char>('0' + i), 0};
    const Rect across = grid.cell(0, i), down = grid.cell(i, 0);
    p.text({(across.min.x + across.max.x) / 2, across.min.y - line - t.px(3)}, digit, t.muted, Type::small, Font::mono,
           Align::center);
    if (row_px >= line)
      p.text({area.min.x, (down.min.y + down.max.y - line) / 2}, digit, t.muted, Type::small, Font::mono);
  }
  for (std::size_t i = 0; i < percent.size(); ++i)
    draw_cell(p, grid.cell(i / sides, i % sides), percent[i], t.series_at(hue));
  if (hovered) show_tip(grid, percent, title);
  if (widgets::given_now()) return;
  const Rect alike = grid.cell(picture.alike_drawn, picture.alike_said);
  p.frame({alike.min.x - 1, alike.min.y - 1}, {alike.max.x + 1, alike.max.y + 1}, t.accent, t.px(2));
  if (p.record()) {
    widgets::DataTable table{label, {"drawn as", "said", "probability_%"}, {}};
    for (std::size_t i = 0; i < percent.size(); ++i)
      table.rows.push_back({std::to_string(i / sides), std::to_string(i % sides), widgets::exact(percent[i])});
    p.record()->tables.push_back(std::move(table));
  }
}

/// What came of it: words over a track from 0 to all digits, and how far the student came.
void draw_taught(ImVec2 at, float width, std::string_view words, double part, ImU32 colour) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  widgets::fit_text(p, at, words, width, t.text, Type::small);
  const float y = at.y + t.type(Type::small) + t.px(4), high = t.px(7);
  p.rect({at.x, y}, {at.x + width, y + high}, t.card, t.px(2));
  p.rect({at.x, y}, {at.x + width * static_cast<float>(std::clamp(part, 0.0, 1.0)), y + high}, colour, t.px(2));
}

}  // namespace

void draw_confusion(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  if (size.y < t.px(90)) return;  // no cell could be told from another
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(24), words = t.type(Type::small) + t.px(6), track = words + t.px(15);
  const bool taught = !picture.taught[0].empty();
  const float foot = words + (taught ? track : 0);
  const bool both = size.x >= t.px(480);
  const float w = both ? std::floor((size.x - gap) / 2) : size.x, right = at.x + size.x - w;
  const float bottom = at.y + std::min(size.y - foot, w + t.px(40));  // squares at most, not towers
  if (both) {
    const widgets::GivenMarks given;  // a label says one digit and no other
    draw_grid("what labels say", "labels say, in %", picture.labels, picture, {at, {at.x + w, bottom}}, 1);
  }
  const widgets::Rect second{{right, at.y}, {right + w, bottom}};
  if (widgets::veiled()) {
    const widgets::GivenMarks given;  // what it says is not known yet
    draw_grid("what the teacher says", picture.soft_title, picture.unknown, picture, second, 0);
  } else {
    draw_grid("what the teacher says", picture.soft_title, picture.run->soft, picture, second, 0);
  }
  widgets::drew("the teacher's answers");
  const Painter p = Painter::window();
  if (both)
    widgets::fit_text(p, {at.x, bottom + t.px(4)}, "rows: what was drawn; columns: what is said of it", w, t.muted,
                      Type::small);
  if (widgets::text_size(picture.alike_line, Type::small, Font::bold).x <= w)
    p.text({right, bottom + t.px(4)}, picture.alike_line, t.text, Type::small, Font::bold);
  paint_guess_note({right + w, at.y});
  if (!taught) return;
  const float below = bottom + words + t.px(4);
  if (both) {
    const widgets::GivenMarks given;  // what comes of labels is what a teacher is measured against
    draw_taught({at.x, below}, w, picture.taught[0], picture.taught_part[0], t.series_at(1));
  }
  draw_taught({right, below}, w, picture.taught[1], picture.taught_part[1], t.series_at(0));
  widgets::drew("what students read");
}

}  // namespace chapters::compression::distillation
