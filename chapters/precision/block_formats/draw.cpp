#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::block_formats {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

void draw_trade(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("error against bits", view.plot,
                     {
                         .x = {.kind = widgets::AxisKind::log2, .lo = 3.9, .hi = 9, .label = "bits an element"},
                         .y = {.kind = widgets::AxisKind::log10,
                               .lo = picture.error_lo,
                               .hi = picture.error_hi,
                               .label = "RMS error / RMS",
                               .unit = "%"},
                         .size = size,
                         .legend = false,
                     });
  plot.curve(picture.sizes);
  plot.scatter("block sizes", picture.sizes.x, picture.sizes.y,
               {.colour = t.accent,
                .marker = widgets::Marker::circle,
                .radius = 3,
                .info = picture.sizes_text,
                .version = picture.version});
  const std::array<double, 1> x{picture.scheme_bits[picture.chosen]}, y{picture.scheme_rms[picture.chosen]};
  const std::array<std::string_view, 1> name{out.schemes[picture.chosen].name};
  plot.scatter("chosen", x, y,
               {
                   .colour = t.accent,
                   .marker = widgets::Marker::diamond,
                   .radius = 6,
                   .labels = name,
                   .info = "the chosen scheme with its own block size",
                   .output = "relative_error",
               });
  plot.scatter("schemes", picture.scheme_bits, picture.scheme_rms,
               {
                   .colour = t.series_at(1),
                   .marker = widgets::Marker::square,
                   .radius = 4,
                   .labels = picture.scheme_labels,
                   .info = "each scheme with its own block size",
                   .version = picture.version,
               });
}

void draw_scheme_table(Inputs& in, const Outputs& out, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float width = size.x,
              row = std::floor(std::min(t.px(26), size.y / (static_cast<float>(out.schemes.size()) + 1.0f)));
  const std::array<float, 5> right{width * 0.44f, width * 0.56f, width * 0.72f, width * 0.83f, width - t.px(4)};
  const ImVec2 head = ImGui::GetCursorScreenPos();
  static constexpr std::array<std::string_view, 5> titles{"scheme", "bits", "RMS error", "to 0", "clipped"};
  p.text({head.x + t.px(8), head.y}, titles[0], t.muted, Type::small);
  for (std::size_t i = 1; i < titles.size(); ++i)
    p.text({head.x + right[i], head.y}, titles[i], t.muted, Type::small, Font::sans, Align::right);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::Dummy({width, row});
  for (std::size_t i = 0; i < out.schemes.size(); ++i) {
    const SchemeRow& r = out.schemes[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    widgets::Line label;
    label.add("use ").add(r.id);
    if (widgets::press_area(label.c_str(), {width, row})) in.scheme = r.id;
    const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible),
               current = i == picture.chosen;
    if (current || hovered) p.rect(at, {at.x + width, at.y + row - t.px(1)}, t.card, t.px(4));
    if (current) p.rect(at, {at.x + t.px(3), at.y + row - t.px(1)}, t.accent, t.px(1));
    widgets::fit_text(p, {at.x + t.px(8), at.y + (row - t.type(Type::small)) / 2 - t.px(1)}, r.name,
                      right[0] - t.px(10), current ? t.accent : t.text, Type::small);
    const std::array<widgets::NumberText, 4> cells{widgets::format(r.bits, "", 4), widgets::format(r.relative, "%", 3),
                                                   widgets::format(r.lost, "", 3), widgets::format(r.saturated, "", 3)};
    for (std::size_t c = 0; c < cells.size(); ++c)
      p.text({at.x + right[c + 1], at.y + (row - t.type(Type::small)) / 2 - t.px(1)}, cells[c], t.text, Type::small,
             Font::mono, Align::right);
  }
  ImGui::PopStyleVar();
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.run->exact.empty()) return;
  stage.panel("elements", {.title = "The numbers and their blocks", .least = {560, 260}, .answers = true},
              [&](ImVec2 size) { draw_strip(out, picture, view, size); });
  stage.panel("bits", {.title = "A block in bits", .least = {520, 190}, .ideal = {0, 260}},
              [&](ImVec2 size) { draw_block_bits(out, picture, view, size); });
  stage.panel("trade", {.title = "Error against bits", .least = {420, 230}},
              [&](ImVec2 size) { draw_trade(out, picture, view, size); });
  stage.panel("schemes", {.title = "All schemes", .least = {420, 230}, .ideal = {0, 260}},
              [&](ImVec2 size) { draw_scheme_table(in, out, picture, size); });
}

}  // namespace chapters::precision::block_formats
