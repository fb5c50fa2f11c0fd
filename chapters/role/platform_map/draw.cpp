#include <algorithm>
#include <array>

#include "chapters/role/platform_map/lab.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::role::platform_map {
namespace {

void draw_against_gpus(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("against GPUs", view.plot,
                     {.x = {.kind = widgets::AxisKind::log2, .lo = 1, .hi = picture.axis_hi, .label = "GPUs"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "until it is out", .unit = "h"},
                      .size = size});
  if (picture.hours.back().x.empty()) return;
  plot.curves(picture.hours);
  const double x = static_cast<double>(in.setup.gpus), y = out.release.total.time_s / 3600;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
}

constexpr std::array<DescribedColumn, 5> technique_columns{{{.key = "part"},
                                                            {.key = "name"},
                                                            {.key = "saves_s", .bar = true},
                                                            {.key = "saves_usd", .bar = true},
                                                            {.key = "then", .priority = 1}}};

std::string_view technique_hover(const TechniqueRow& row, std::string_view key) {
  if (key == "then" && !row.added) return row.then;
  if (key == "part" || key == "name") return row.lab;
  return "of the whole release, with this change alone; below 0: it costs";
}

void draw_techniques(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const float foot = t.type(widgets::Type::small) + t.px(8);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto row = static_cast<std::size_t>(view.techniques.view.selected);
  const bool chosen = view.techniques.view.selected >= 0 && row < picture.technique_links.size();
  const std::string_view words = !chosen || picture.technique_links[row].empty()
                                     ? std::string_view("Choose a row to open its lab.")
                                     : std::string_view(picture.technique_labs[row]);
  const bool leads = chosen && !picture.technique_links[row].empty();
  const auto p = widgets::Painter::window();
  const ImVec2 place = at;
  if (leads) {
    ImGui::SetCursorScreenPos(place);
    const ImVec2 text = widgets::text_size(words, widgets::Type::small);
    if (widgets::press_area("open the lab of the technique", {text.x, text.y + t.px(2)}, ImGuiButtonFlags_EnableNav))
      view.requests.open_link = picture.technique_links[row];
    if (ImGui::IsItemHovered() || ImGui::IsItemFocused())
      p.line({place.x, place.y + text.y}, {place.x + text.x, place.y + text.y}, t.accent);
  }
  widgets::fit_text(p, place, words, size.x, leads ? t.accent : t.muted, widgets::Type::small);
  ImGui::SetCursorScreenPos({at.x, at.y + foot});
  view.techniques.draw("what acts on the parts", out.techniques, technique_columns, {size.x, size.y - foot},
                       {.hover = technique_hover});
}

/// The run by cause, and under it the GPU time of published runs against the model's.
void draw_run(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(14), above = std::clamp(0.55f * size.y, t.px(110), t.px(300));
  const widgets::StackedBar bar[] = {{.label = "the run", .segments = picture.step}};
  widgets::draw_stacked_bars("run", bar, view.bars,
                             {.unit = "s",
                              .axis_label = "the run",
                              .size = {size.x, above},
                              .bar_px = std::clamp(0.3f * above / t.scale, 26.0f, 80.0f),
                              .axis = widgets::AxisKind::time});
  ImGui::SetCursorScreenPos({at.x, at.y + above + gap});
  published_strip(picture.published, {size.x, size.y - above - gap});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("river",
              {.title = "The river of hours", .least = {600, 300}, .answers = true, .marks = "cards, river, cut"},
              [&](ImVec2 size) { draw_platform(in, out, picture, view, size); });
  stage.panel("gpus", {.title = "Hours against GPUs", .least = {380, 220}},
              [&](ImVec2 size) { draw_against_gpus(in, out, picture, view, size); });
  stage.panel("techniques", {.title = "What acts on each part", .least = {520, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_techniques(out, picture, view, size); });
  stage.panel("run", {.title = "The training run", .least = {420, 260}, .ideal = {0, 340}},
              [&](ImVec2 size) { draw_run(picture, view, size); });
}

}  // namespace chapters::role::platform_map
