#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/kernels/async_pipeline/lab.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::kernels::async_pipeline {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Theme, widgets::Type;

void draw_kinds(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("cycles against buffers", view.kinds,
                     {.x = {.lo = 0.5, .hi = static_cast<double>(out.stairs.size()) + 0.5, .label = "buffers"},
                      .y = {.lo = 0, .hi = 1.15 * picture.kinds_top, .label = "cycles per tile"},
                      .size = size});
  if (picture.kinds.empty()) return;
  plot.curves(picture.kinds);
  const auto x = static_cast<double>(out.buffers), y = out.period;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1),
               {.colour = widgets::theme().accent, .radius = 6, .legend = false, .output = "period"});
}

void draw_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{{{.key = "buffers"},
                                                           {.key = "cycles", .bar = true, .digits = 4},
                                                           {.key = "sm_cycles", .priority = 1, .digits = 4},
                                                           {.key = "shared_bytes"},
                                                           {.key = "blocks"}}};
  view.table.draw("stairs", out.stairs, columns, size);
}

/// The table stands under the plot where there is room for both.
void draw_kinds_and_table(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const Theme& t = widgets::theme();
  const bool both = size.y > t.px(340);
  const float plot = both ? std::floor(0.55f * size.y) : size.y;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_kinds(out, picture, view, {size.x, plot});
  if (!both) return;
  ImGui::SetCursorScreenPos({at.x, at.y + plot + t.px(10)});
  draw_table(out, view, {size.x, size.y - plot - t.px(10)});
}

/// Lanes of consumer groups: main loops in the colour of computing, epilogues in grey.
void paint_group(const Painter& p, const GroupLane& lane, float left, float right, double end, float y, float high) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  const auto x = [&](double cycles) { return left + static_cast<float>(cycles / end) * (right - left); };
  widgets::fit_text(p, {left - t.px(10), y + (high - small) / 2 - t.px(1)}, lane.label, t.px(74), t.muted, Type::small,
                    Font::sans, Align::right);
  const ImU32 main = t.of(widgets::Meaning::compute_bound), after = widgets::with_alpha(t.muted, 0.55f);
  for (const Stretch& s : lane.epilogues)
    p.rect({x(s.from), y + t.px(1)}, {std::max(x(s.from) + 1, x(s.to) - 1), y + high - t.px(1)}, after, t.px(2));
  for (const Stretch& s : lane.mainloops) {
    const float x0 = x(s.from), x1 = std::max(x0 + 1, x(s.to) - 1);
    p.rect({x0, y + t.px(1)}, {x1, y + high - t.px(1)}, main, t.px(2));
    if (high >= small && x1 - x0 > 2 * small)
      p.text({(x0 + x1) / 2, y + (high - small) / 2 - t.px(1)}, s.words, widgets::text_on(main, t), Type::small,
             Font::mono, Align::center);
  }
}

}  // namespace

void draw_groups(const Picture& picture, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), line = small + t.px(6);
  const float left = at.x + t.px(86), right = at.x + size.x - t.px(10);
  const float high = std::clamp((size.y - 4 * line) / 3, t.px(8), t.px(44));
  float y = at.y;
  const auto group = [&](const std::vector<GroupLane>& lanes, std::string_view words) {
    widgets::fit_text(p, {left, y}, words, right - left, t.text, Type::small, Font::bold);
    y += line;
    for (const GroupLane& lane : lanes) {
      paint_group(p, lane, left, right, picture.groups_end, y, high);
      y += high;
    }
    y += t.px(8);
  };
  group(picture.cooperative, picture.cooperative_words);
  group(picture.ping_pong, picture.ping_pong_words);
  widgets::fit_text(p, {left, y}, "Numbered: the main loop of an output tile, on the tensor cores. Grey: its epilogue.",
                    right - left, t.muted, Type::small);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("rings", {.title = "Rings on one clock", .least = {780, 520}, .answers = true, .marks = "rings, columns"},
              [&](ImVec2 size) {
                draw_over_doors(picture.doors, size, view.requests,
                                [&](ImVec2 rest) { draw_rings(in, picture, view, rest); });
              });
  stage.panel("kinds", {.title = "Against buffers", .least = {440, 200}, .ideal = {0, 460}, .scrolls = true},
              [&](ImVec2 size) { draw_kinds_and_table(out, picture, view, size); });
  stage.panel("groups", {.title = "Ping-pong", .least = {440, 190}}, [&](ImVec2 size) { draw_groups(picture, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::kernels::async_pipeline
