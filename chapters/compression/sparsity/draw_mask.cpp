#include <algorithm>
#include <cmath>

#include "chapters/compression/sparsity/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::sparsity {
namespace {

using widgets::Painter;
using widgets::Rect;

constexpr std::size_t groups = mask_cols / group_size;

/// Cells of the matrix in screen pixels; every four neighbours stand a little apart, so that 2:4 can be counted.
struct MaskPlan {
  ImVec2 at;
  float w = 1, h = 1, gap = 0;
  Rect cell(std::size_t row, std::size_t col) const {
    const ImVec2 min{at.x + w * static_cast<float>(col) + gap * static_cast<float>(col / group_size),
                     at.y + h * static_cast<float>(row)};
    return {min, {min.x + w, min.y + h}};
  }
  Rect group(std::size_t row, std::size_t g) const {
    return {cell(row, g * group_size).min, cell(row, g * group_size + group_size - 1).max};
  }
};

MaskPlan plan_of(Rect area) {
  const auto& t = widgets::theme();
  MaskPlan p{.at = area.min, .gap = t.px(3)};
  p.w = std::max(1.0f, (area.width() - p.gap * static_cast<float>(groups - 1)) / static_cast<float>(mask_cols));
  p.h = std::max(1.0f, area.height() / static_cast<float>(mask_rows));
  return p;
}

void choose_group(const MaskPlan& plan, View& view) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t r = 0; r < mask_rows; ++r)
    for (std::size_t g = 0; g < groups; ++g)
      if (const Rect box = plan.group(r, g);
          mouse.x >= box.min.x - plan.gap && box.contains({std::max(mouse.x, box.min.x), mouse.y})) {
        view.group_row = static_cast<std::int64_t>(r);
        view.group = static_cast<std::int64_t>(g);
      }
}

void step_group(int steps, View& view) {
  constexpr auto count = static_cast<std::int64_t>(mask_rows * groups);
  const std::int64_t at = view.group_row * static_cast<std::int64_t>(groups) + view.group + steps;
  const std::int64_t wrapped = (at % count + count) % count;
  view.group_row = wrapped / static_cast<std::int64_t>(groups);
  view.group = wrapped % static_cast<std::int64_t>(groups);
}

void show_tip(const Run& example, const std::vector<std::uint8_t>& mask, const MaskPlan& plan) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const std::size_t r = i / mask_cols, c = i % mask_cols;
    if (!plan.cell(r, c).contains(mouse)) continue;
    widgets::Line what;
    what.add(widgets::format(example.weights[i], ""))
        .add(mask[i] ? ", kept" : ", dropped")
        .add("; output ")
        .add_integer(static_cast<std::int64_t>(r) + 1)
        .add(", input ")
        .add_integer(static_cast<std::int64_t>(c) + 1);
    widgets::tip("Weight", what.view(), "of the example matrix, drawn from the seed");
  }
}

}  // namespace

void draw_mask(const Run& example, const std::vector<std::uint8_t>& mask, bool pairs, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("mask", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const MaskPlan plan = plan_of(area);
  if (ImGui::IsItemActive()) choose_group(plan, view);
  if (const int steps = widgets::play_keys().steps; steps != 0) step_group(steps, view);
  const Painter p = Painter::window();
  const float seam = plan.w > t.px(3) ? 0.5f : 0.0f;
  for (std::size_t r = 0; r < mask_rows; ++r)
    for (std::size_t g = 0; g < groups; ++g) {
      const Rect box = plan.group(r, g);
      p.rect(box.min, {box.max.x, box.max.y - seam}, t.card);
      for (std::size_t c = g * group_size; c < (g + 1) * group_size; ++c) {
        const std::size_t i = r * mask_cols + c;
        if (!mask[i]) continue;
        const Rect cell = plan.cell(r, c);
        const auto strength = static_cast<float>(std::sqrt(std::abs(example.weights[i]) / example.largest));
        p.rect(cell.min, {cell.max.x - seam, cell.max.y - seam},
               widgets::with_alpha(t.series_at(0), 0.35f + 0.65f * strength));
      }
    }
  const auto row = static_cast<std::size_t>(std::clamp<std::int64_t>(view.group_row, 0, mask_rows - 1));
  const auto group = static_cast<std::size_t>(std::clamp<std::int64_t>(view.group, 0, groups - 1));
  const std::size_t first = pairs ? group / 2 * 2 : group;
  const Rect chosen{plan.group(row, first).min, plan.group(row, pairs ? first + 1 : first).max};
  const float air = t.px(2);
  p.frame({chosen.min.x - air - 1, chosen.min.y - air - 1}, {chosen.max.x + air + 1, chosen.max.y + air + 1},
          t.background, t.px(4), t.px(2));
  p.frame({chosen.min.x - air, chosen.min.y - air}, {chosen.max.x + air, chosen.max.y + air}, t.text, t.px(2), t.px(2));
  if (hovered) show_tip(example, mask, plan);
  if (p.record()) {
    widgets::DataTable table{"mask", {"output", "input", "weight", "kept"}, {}};
    for (std::size_t i = 0; i < mask.size(); ++i)
      table.rows.push_back({std::to_string(i / mask_cols + 1), std::to_string(i % mask_cols + 1),
                            widgets::exact(example.weights[i]), mask[i] ? "1" : "0"});
    p.record()->tables.push_back(std::move(table));
  }
}

}  // namespace chapters::compression::sparsity
