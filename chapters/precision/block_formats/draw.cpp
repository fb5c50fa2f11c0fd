#include <imgui.h>

#include <array>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/base/painter.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::block_formats {
namespace {

using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

void draw_trade(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot("error against bits", view.plot,
                     {
                         .x = {.lo = 3.8, .hi = 9.3, .label = "bits an element"},
                         .y =
                             {
                                 .kind = widgets::AxisKind::log10,
                                 .lo = picture.error_lo,
                                 .hi = picture.error_hi,
                                 .label = "RMS error / RMS",
                                 .unit = "%",
                             },
                         .size = {width, height},
                         .legend = false,
                     });
  plot.line("other block sizes", picture.size_bits, picture.size_rms,
            {
                .colour = t.accent,
                .width = 2,
                .label = false,
                .info = "the scheme with other block sizes",
                .version = picture.version,
            });
  plot.scatter("block sizes", picture.size_bits, picture.size_rms,
               {
                   .colour = t.accent,
                   .marker = widgets::Marker::circle,
                   .radius = 3,
                   .info = picture.sizes_text,
                   .version = picture.version,
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
  const std::array<double, 1> x{picture.scheme_bits[picture.chosen]}, y{picture.scheme_rms[picture.chosen]};
  const std::array<std::string_view, 1> name{out.schemes[picture.chosen].name};
  plot.scatter("chosen", x, y,
               {
                   .colour = t.accent,
                   .marker = widgets::Marker::diamond,
                   .radius = 6,
                   .labels = name,
                   .info = "the chosen scheme with its own block size",
               });
}

void draw_scheme_table(Inputs& in, const Outputs& out, const Picture& picture, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float row = t.px(21);
  const std::array<float, 5> right{width * 0.44f, width * 0.56f, width * 0.72f, width * 0.83f, width - t.px(4)};
  const ImVec2 head = ImGui::GetCursorScreenPos();
  static constexpr std::array<std::string_view, 5> titles{"scheme", "bits", "error", "to 0", "clipped"};
  p.text({head.x + t.px(8), head.y}, titles[0], t.muted, Type::small);
  for (std::size_t i = 1; i < titles.size(); ++i)
    p.text({head.x + right[i], head.y}, titles[i], t.muted, Type::small, Font::sans, Align::right);
  ImGui::Dummy({width, row - t.px(4)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  for (std::size_t i = 0; i < out.schemes.size(); ++i) {
    const SchemeRow& r = out.schemes[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    widgets::Line label;
    label.add("use ").add(r.id);
    if (ImGui::InvisibleButton(label.c_str(), {width, row}, ImGuiButtonFlags_EnableNav)) in.scheme = r.id;
    const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible),
               current = i == picture.chosen;
    if (current || hovered) p.rect(at, {at.x + width, at.y + row - t.px(1)}, t.card, t.px(4));
    if (current) p.rect(at, {at.x + t.px(3), at.y + row - t.px(1)}, t.accent, t.px(1));
    widgets::fit_text(p, {at.x + t.px(8), at.y + t.px(2)}, r.name, right[0] - t.px(10), current ? t.accent : t.text,
                      Type::small);
    const std::array<widgets::NumberText, 4> cells{widgets::format(r.bits, "", 4), widgets::format(r.relative, "%", 3),
                                                   widgets::format(r.lost, "", 3), widgets::format(r.saturated, "", 3)};
    for (std::size_t c = 0; c < cells.size(); ++c)
      p.text({at.x + right[c + 1], at.y + t.px(2)}, cells[c], t.text, Type::small, Font::mono, Align::right);
  }
  ImGui::PopStyleVar();
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || picture.exact.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x;
  widgets::heading(out.schemes[picture.chosen].name, picture.note, width, widgets::HeadingMore::beside);
  draw_strip(out, picture, view, width);
  const auto trade = [&](float w) {
    widgets::heading("Error against bits", picture.sizes_note, w, widgets::HeadingMore::beside);
    draw_trade(out, picture, view, w, t.px(208));
  };
  const auto table = [&](float w) {
    widgets::heading("All schemes on this tensor", "error is RMS over the tensor's RMS", w,
                     widgets::HeadingMore::beside);
    draw_scheme_table(in, out, picture, w);
  };
  widgets::draw_columns(widgets::two_columns(width, {.gap = 28}), trade, table);
}

}  // namespace chapters::precision::block_formats
