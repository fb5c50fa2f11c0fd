#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/base/painter.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"
#include "widgets/table/table.h"

namespace chapters::precision::block_formats {
namespace {

using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

/// The strip of elements: which are shown, and where heights lie. Heights go by asinh, so that an outlier leaves the
/// others visible.
struct Strip {
  std::size_t first = 0, end = 0;
  float left = 0, right = 0, middle = 0, half = 0;
  double most = 1;
  float x(double element) const {
    return left + (right - left) *
                      static_cast<float>((element - static_cast<double>(first)) / static_cast<double>(end - first));
  }
  float y(double value) const {
    return middle -
           half * static_cast<float>(std::clamp(std::asinh(value / unit) / std::asinh(most / unit), -1.0, 1.0));
  }
  double unit = 1;
};

void paint_heights(const Painter& p, const Strip& s) {
  const auto& t = widgets::theme();
  float clear = 1e6f;
  const double decade = std::pow(10, std::floor(std::log10(s.most)));
  for (double d = decade; d >= s.unit * 0.09; d /= 10)
    for (const double m : {5.0, 2.0, 1.0}) {
      const double v = m * d;
      if (v > s.most || std::abs(s.y(v) - clear) < t.px(17) || s.middle - s.y(v) < t.px(17)) continue;
      clear = s.y(v);
      for (const double w : {v, -v}) {
        p.line({s.left, s.y(w)}, {s.right, s.y(w)}, t.grid);
        p.text({s.left - t.px(7), s.y(w) - t.px(8)}, widgets::format(w, "", 2), t.muted, Type::small, Font::mono,
               Align::right);
      }
    }
  p.line({s.left, s.middle}, {s.right, s.middle}, t.line);
  p.text({s.left - t.px(7), s.middle - t.px(8)}, "0", t.muted, Type::small, Font::mono, Align::right);
}

void paint_blocks(const Painter& p, const Outputs& out, const Strip& s, float top, float bottom) {
  const auto& t = widgets::theme();
  const auto size = static_cast<std::size_t>(out.block_size);
  float clear_from = s.left;
  for (std::size_t b = s.first / size; b * size < s.end; ++b) {
    const float x0 = s.x(static_cast<double>(std::max(b * size, s.first))),
                x1 = s.x(static_cast<double>(std::min((b + 1) * size, s.end)));
    if (b % 2 == 0) p.rect({x0, top}, {x1, bottom}, widgets::with_alpha(t.card, 0.75f));
    p.line({x0, top - t.px(18)}, {x0, bottom}, t.line);
    for (const double v : out.levels[b])
      if (std::abs(v) <= s.most * 1.001)
        p.line({x0 + t.px(1), s.y(v)}, {x1 - t.px(1), s.y(v)}, widgets::with_alpha(t.accent, 0.30f));
    const std::string& text = out.scale_texts[b];
    if (x0 + t.px(4) >= clear_from && widgets::text_size(text, Type::small, Font::mono).x + t.px(8) <= x1 - x0) {
      p.text({x0 + t.px(4), top - t.px(19)}, text, t.muted, Type::small, Font::mono);
      clear_from = x1;
    }
  }
}

void paint_elements(const Painter& p, const Outputs& out, const Strip& s) {
  const auto& t = widgets::theme();
  const float step = (s.right - s.left) / static_cast<float>(s.end - s.first),
              radius = std::clamp(step * 0.32f, t.px(1.3f), t.px(4));
  for (std::size_t i = s.first; i < s.end; ++i) {
    const float x = s.x(static_cast<double>(i) + 0.5), from = s.y(out.exact[i]), to = s.y(out.values[i]);
    const bool lost = out.values[i] == 0 && out.exact[i] != 0;
    if (std::abs(from - to) > 0.5f)
      p.line({x, from}, {x, to}, widgets::with_alpha(lost ? t.bad : t.warning, 0.75f), t.px(1.2f));
    p.ring({x, from}, radius, t.muted, t.px(1.1f));
    if (lost) {  // a cross: the value is gone
      p.line({x - radius, to - radius}, {x + radius, to + radius}, t.bad, t.px(1.4f));
      p.line({x - radius, to + radius}, {x + radius, to - radius}, t.bad, t.px(1.4f));
    } else {
      p.circle({x, to}, radius, t.accent);
    }
  }
}

void element_tip(const Outputs& out, const Strip& s) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (mouse.x < s.left || mouse.x >= s.right) return;
  const auto i = std::min(s.end - 1, s.first + static_cast<std::size_t>((mouse.x - s.left) / (s.right - s.left) *
                                                                        static_cast<float>(s.end - s.first)));
  const auto block = i / static_cast<std::size_t>(out.block_size);
  widgets::Line name, value, info;
  name.add("element ")
      .add_integer(static_cast<std::int64_t>(i))
      .add(" of block ")
      .add_integer(static_cast<std::int64_t>(block));
  value.add(widgets::format(out.exact[i], "", 5)).add(" is stored as ").add(widgets::format(out.values[i], "", 5));
  info.add("code ").add_integer(static_cast<std::int64_t>(out.codes[i])).add(", scale ").add(out.scale_texts[block]);
  widgets::tip(name.view(), value.view(), info.view());
}

void draw_strip(const Outputs& out, View& view, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const std::size_t n = out.exact.size();
  const std::size_t shown = std::min(n, view.shown > 0 ? static_cast<std::size_t>(view.shown) : 256);
  const std::size_t first = std::min(static_cast<std::size_t>(std::max<std::int64_t>(view.first, 0)), n - shown);
  if (shown < n) {
    if (widgets::button("earlier"))
      view.first = static_cast<std::int64_t>(first) - static_cast<std::int64_t>(std::min(first, shown));
    ImGui::SameLine(0, t.px(6));
    if (widgets::button("later")) view.first = static_cast<std::int64_t>(std::min(first + shown, n - shown));
    ImGui::SameLine(0, t.px(12));
    widgets::Line where;
    where.add("elements ")
        .add_integer(static_cast<std::int64_t>(first))
        .add(" to ")
        .add_integer(static_cast<std::int64_t>(first + shown) - 1)
        .add(" of ")
        .add_integer(static_cast<std::int64_t>(n));
    ImGui::AlignTextToFramePadding();
    p.text({ImGui::GetCursorScreenPos().x, ImGui::GetCursorScreenPos().y + t.px(5)}, where.view(), t.muted,
           Type::small);
    ImGui::NewLine();
  }
  const float spare =
      ImGui::GetContentRegionAvail().y - t.px(268 + 26 + 262);  // under the strip: its key, plot and table
  const float height = t.px(268) + std::floor(std::clamp(spare, 0.0f, t.px(120)));
  const widgets::Rect area = widgets::canvas("elements and their blocks", {width, height}, {t.px(200), height});
  Strip s{first, first + shown, area.min.x + t.px(46), area.max.x, 0, 0, 0, 1};
  double squares = 0;
  for (std::size_t i = s.first; i < s.end; ++i)
    s.most = std::max({s.most, std::abs(out.exact[i]), std::abs(out.values[i])}), squares += std::abs(out.exact[i]);
  if (!(s.most > 0)) s.most = 1;
  s.unit = std::max(squares / static_cast<double>(shown) * 0.5, s.most * 1e-6);
  const float top = area.min.y + t.px(22), bottom = area.max.y - t.px(4);
  s.middle = (top + bottom) / 2;
  s.half = (bottom - top) / 2 - t.px(8);
  paint_blocks(p, out, s, top, bottom);
  paint_heights(p, s);
  paint_elements(p, out, s);
  p.text({area.min.x, area.min.y + t.px(3)}, "scale", t.muted, Type::small);
  if (ImGui::IsItemHovered()) element_tip(out, s);
  ImVec2 at = ImGui::GetCursorScreenPos();
  at.x = s.left;
  const auto key = [&](const auto& mark, std::string_view text) {
    mark(ImVec2{at.x + t.px(5), at.y + t.px(8)});
    at.x += t.px(15);
    at.x += p.text(at, text, t.muted, Type::small) + t.px(18);
  };
  key([&](ImVec2 c) { p.ring(c, t.px(3.5f), t.muted, t.px(1.1f)); }, "exact");
  key([&](ImVec2 c) { p.circle(c, t.px(3.5f), t.accent); }, "stored");
  key(
      [&](ImVec2 c) {
        p.line({c.x - t.px(4), c.y - t.px(4)}, {c.x + t.px(4), c.y + t.px(4)}, t.bad, t.px(1.5f)),
            p.line({c.x - t.px(4), c.y + t.px(4)}, {c.x + t.px(4), c.y - t.px(4)}, t.bad, t.px(1.5f));
      },
      "became 0");
  if (!out.levels.empty() && !out.levels[0].empty())
    key(
        [&](ImVec2 c) {
          p.line({c.x - t.px(5), c.y}, {c.x + t.px(5), c.y}, t.accent, t.px(1));
        },
        "what the block's codes can say");
  ImGui::Dummy({width, t.px(26)});
}

void draw_trade(const Outputs& out, View& view, float width, float height) {
  const auto& t = widgets::theme();
  const double most = std::max(*std::max_element(out.scheme_rms.begin(), out.scheme_rms.end()),
                               *std::max_element(out.size_rms.begin(), out.size_rms.end()));
  const double least = std::min(*std::min_element(out.scheme_rms.begin(), out.scheme_rms.end()),
                                *std::min_element(out.size_rms.begin(), out.size_rms.end()));
  std::array<std::string_view, 16> names{};
  for (std::size_t i = 0; i < std::min(names.size(), out.schemes.size()); ++i)
    if (i != out.chosen) names[i] = out.schemes[i].name;
  widgets::Plot plot("error against bits", view.plot,
                     {
                         .x = {.lo = 3.8, .hi = 9.3, .label = "bits an element"},
                         .y =
                             {
                                 .kind = widgets::AxisKind::log10,
                                 .lo = std::max(least * 0.5, 1e-6),
                                 .hi = std::max(most * 2, 1e-5),
                                 .label = "RMS error / RMS",
                                 .unit = "%",
                             },
                         .size = {width, height},
                         .legend = false,
                     });
  plot.line("other block sizes", out.size_bits, out.size_rms,
            {
                .colour = t.accent,
                .width = 2,
                .label = false,
                .info = "the scheme with other block sizes",
                .version = out.version,
            });
  plot.scatter("block sizes", out.size_bits, out.size_rms,
               {
                   .colour = t.accent,
                   .marker = widgets::Marker::circle,
                   .radius = 3,
                   .info = out.sizes_text,
                   .version = out.version,
               });
  plot.scatter("schemes", out.scheme_bits, out.scheme_rms,
               {
                   .colour = t.series_at(1),
                   .marker = widgets::Marker::square,
                   .radius = 4,
                   .labels = {names.data(), std::min(names.size(), out.schemes.size())},
                   .info = "each scheme with its own block size",
                   .version = out.version,
               });
  const std::array<double, 1> x{out.scheme_bits[out.chosen]}, y{out.scheme_rms[out.chosen]};
  const std::array<std::string_view, 1> name{out.schemes[out.chosen].name};
  plot.scatter("chosen", x, y,
               {
                   .colour = t.accent,
                   .marker = widgets::Marker::diamond,
                   .radius = 6,
                   .labels = name,
                   .info = "the chosen scheme with its own block size",
               });
}

void draw_table(Inputs& in, const Outputs& out, float width) {
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
               current = i == out.chosen;
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

void draw(Inputs& in, const Outputs& out, View& view) {
  if (!out.reason.empty() || out.exact.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x;
  widgets::heading(out.schemes[out.chosen].name, out.note, width, widgets::HeadingMore::beside);
  draw_strip(out, view, width);
  const auto trade = [&](float w) {
    widgets::heading("Error against bits", out.sizes_note, w, widgets::HeadingMore::beside);
    draw_trade(out, view, w, t.px(208));
  };
  const auto table = [&](float w) {
    widgets::heading("All schemes on this tensor", "error is RMS over the tensor's RMS", w,
                     widgets::HeadingMore::beside);
    draw_table(in, out, w);
  };
  widgets::draw_columns(widgets::two_columns(width, {.gap = 28}), trade, table);
}

}  // namespace chapters::precision::block_formats
