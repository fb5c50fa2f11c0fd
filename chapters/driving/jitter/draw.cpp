#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/driving/jitter/draw_parts.h"
#include "widgets/base/heading.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"

namespace chapters::driving::jitter {
namespace {

/// A button that moves the cursor to the longest blind stretch, and how far the car travels in it.
void draw_blind_stretch(const Outputs& out, View& view, float width) {
  const auto& t = widgets::theme();
  ImGui::PushFont(nullptr, t.type(widgets::Type::body));
  if (widgets::button("Longest blind stretch")) view.time_s = std::max(0.0, out.blind_from_s - 20 * out.deadline_s);
  ImGui::SameLine(0, t.px(10));
  widgets::Line line;
  line.add(widgets::format(out.blind_worst_m, "m"))
      .add(" without a fresh result, from ")
      .add(widgets::format(out.blind_from_s, "s"))
      .add(" on");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float row = widgets::button_size("Longest blind stretch").y;
  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + (row - t.type(widgets::Type::small)) / 2}, line.view(),
                    width * 0.7f, t.muted, widgets::Type::small);
  ImGui::Dummy({width * 0.7f, row});
  ImGui::PopFont();
}

void draw_effects(const Outputs& out, const Picture& picture, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 7> columns{
      {{.title = "source", .number = false},
       {.title = "frames hit", .priority = 2},
       {.title = "share", .unit = "%"},
       {.title = "mean hit", .value_unit = "s", .priority = 1},
       {.title = "largest hit", .value_unit = "s"},
       {.title = "P99 without it", .value_unit = "s", .priority = 3},
       {.title = "P99 saved", .value_unit = "s", .bar = true}}};
  widgets::TableSource source{.context = &out, .rows = out.effects.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const EffectRow& r = static_cast<const Outputs*>(context)->effects[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 7> values{
        0, static_cast<double>(r.hits.hits), r.share, r.mean_s, r.hits.largest_s, r.hits.p99_without_s, r.p99_saved_s};
    cell.value = values[column];
    cell.number = widgets::format(cell.value, column >= 3 ? "s" : "");
  };
  widgets::draw_table("what each source costs", columns, source, view.effects, {width, 0});
}

}  // namespace

void draw(Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || !out.run || out.run->response_s.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, gap = t.px(24);
  const bool beside = width >= t.px(620);
  const float half = beside ? std::floor((width - gap) / 2) : width;
  widgets::heading(picture.verdict, picture.story, width);
  const auto pair = [&](std::string_view left_name, const auto& left, std::string_view right_name, const auto& right) {
    ImGui::BeginGroup();
    widgets::heading(left_name, {}, half);
    left();
    ImGui::EndGroup();
    if (beside)
      ImGui::SameLine(0, gap);
    else
      ImGui::Dummy({width, t.px(6)});
    ImGui::BeginGroup();
    widgets::heading(right_name, {}, half);
    right();
    ImGui::EndGroup();
    ImGui::Dummy({width, t.px(6)});
  };
  pair(
      "How often each response time",
      [&] {
        draw_histogram(out, picture, view, {half, t.px(210)});
      },
      "How many are slower still",
      [&] {
        draw_tail(out, picture, view, {half, t.px(210)});
      });
  widgets::heading("The whole run", "best to worst of each stretch of frames; drag the cursor", width);
  draw_whole(out, picture, view, {width, t.px(170)});
  widgets::heading("Frame by frame from the cursor on, and the road that the car travels meanwhile", {}, width);
  if (out.misses > 0) draw_blind_stretch(out, view, width);
  draw_window(out, view, {width, t.px(200)});
  draw_road(out, view, width);
  ImGui::Dummy({width, t.px(6)});
  widgets::heading("What each source costs",
                   "P99 of the first 20,000 frames with the source switched off and all other luck the same", width);
  draw_effects(out, picture, view, width);
}

}  // namespace chapters::driving::jitter
