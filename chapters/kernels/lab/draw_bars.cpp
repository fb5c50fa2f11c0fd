#include <algorithm>
#include <cmath>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

/// A row for each rung: what the model allows (hatched), what you expect (a mark), what was measured (filled).
namespace chapters::kernels::lab {
namespace {

using widgets::Align;
using widgets::Font;
using widgets::Meaning;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

struct Columns {
  float name, bar_left, bar_right, rate, time, mark;  ///< x of left edges, screen px
};

Columns columns_of(float left, float width) {
  const auto& t = theme();
  Columns c{};
  const bool wide = width >= t.px(760);
  const float figures = wide ? t.px(232) : t.px(108);
  c.name = left + t.px(6);
  c.bar_left = left + std::min(t.px(256), width * 0.32f);
  c.mark = left + width - t.px(20);
  c.bar_right = left + width - figures - t.px(14);
  c.rate = c.bar_right + t.px(12);
  c.time = wide ? c.rate + t.px(104) : -1;
  return c;
}

ImU32 colour_of(const Bar& bar) {
  const auto& t = theme();
  return t.of(bar.bound == Bound::memory    ? Meaning::memory_bound
              : bar.bound == Bound::compute ? Meaning::compute_bound
                                            : Meaning::launch_bound);
}

/// The shape that goes with a regime's colour.
void paint_mark(const Painter& p, Bound bound, ImVec2 c, float r, ImU32 colour) {
  if (bound == Bound::memory) return p.circle(c, r, colour);
  if (bound == Bound::compute) return p.rect({c.x - r, c.y - r}, {c.x + r, c.y + r}, colour);
  const ImVec2 corners[] = {{c.x, c.y - r}, {c.x + r, c.y + r}, {c.x - r, c.y + r}};
  p.polygon(corners, colour);
}

/// Bars reach from 0 to 110 %: what is above its roof shows that it is.
constexpr double full = 1.1;
float at_share(const Columns& c, double share) {
  return c.bar_left + (c.bar_right - c.bar_left) * static_cast<float>(std::clamp(share / full, 0.0, 1.0));
}

void paint_row(const Painter& p, const Columns& c, const Bar& bar, std::size_t index, float top, float row,
               bool selected) {
  const auto& t = theme();
  const float h = std::min(t.px(18), row - t.px(8)), y0 = top + (row - h) / 2, y1 = y0 + h, middle = top + row / 2;
  if (selected) p.rect({c.name - t.px(6), top + 1}, {c.mark + t.px(20), top + row - 1}, t.card, t.px(5));
  const bool two = row >= t.px(32);
  widgets::Line name;
  name.add_integer(static_cast<std::int64_t>(index) + 1).add("  ").add(bar.title);
  const float room = c.bar_left - c.name - t.px(12);
  p.text_fit({c.name, two ? top + t.px(3) : middle - t.px(8)}, name.view(), room, t.text, Type::small, Font::bold);
  if (two) p.text_fit({c.name + t.px(17), top + t.px(19)}, bar.change, room - t.px(17), t.muted, Type::small);
  p.rect({c.bar_left, y0}, {c.bar_right, y1}, selected ? t.background : t.card, t.px(3));
  const float roof = at_share(c, 1);
  const bool shown = bar.measured >= 0 && !bar.hidden;
  if (bar.predicted >= 0) {
    const float x = std::max(at_share(c, bar.predicted), c.bar_left + t.px(2));
    const float part = shown ? y1 - t.px(4) : y0;
    p.rect({c.bar_left, part}, {x, y1}, widgets::with_alpha(colour_of(bar), 0.16f), t.px(2));
    widgets::hatch(p, {{c.bar_left, part}, {x, y1}}, widgets::with_alpha(colour_of(bar), 0.75f), t.px(5));
    p.line({x, y0}, {x, y1}, colour_of(bar), t.px(1.5f));
  }
  if (shown)
    p.rect({c.bar_left, y0},
           {std::max(at_share(c, bar.measured), c.bar_left + t.px(2)), bar.predicted >= 0 ? y1 - t.px(4) : y1},
           colour_of(bar), t.px(3));
  p.dashed_line({roof, y0 - t.px(3)}, {roof, y1 + t.px(3)}, t.accent, 1, t.px(3));
  if (bar.published > 0) p.ring({at_share(c, bar.published), middle}, t.px(4), t.text, t.px(1.3f));
  if (bar.yours > 0) {
    const float x = at_share(c, bar.yours);
    p.line({x, y0 - t.px(4)}, {x, y1 + t.px(4)}, t.text, t.px(2.5f));
    p.circle({x, y0 - t.px(4)}, t.px(3), t.text);
  }
  const float text_y = middle - t.px(8);
  if (bar.failed) {
    p.text_fit({c.rate, text_y}, "failed", c.mark - c.rate - t.px(10), t.bad, Type::small, Font::mono);
  } else if (bar.hidden) {
    p.text_fit({c.rate, text_y}, "measured: predict first", c.mark - c.rate - t.px(4), t.accent, Type::small);
  } else if (!bar.rate.empty()) {
    p.text_fit({c.rate, text_y}, bar.rate, (c.time > 0 ? c.time : c.mark) - c.rate - t.px(6),
               bar.above_roof ? t.warning : t.text, Type::small, Font::mono);
    if (c.time > 0) p.text_fit({c.time, text_y}, bar.time, c.mark - c.time - t.px(4), t.muted, Type::small, Font::mono);
  } else if (bar.predicted >= 0) {
    p.text_fit({c.rate, text_y}, bar.predicted_text, c.mark - c.rate - t.px(10), t.muted, Type::small);
  }
  const ImVec2 dot{c.mark + t.px(8), middle};
  if (bar.failed)
    p.text({dot.x, text_y}, "\xC3\x97", t.bad, Type::small, Font::bold, Align::center);
  else if (shown && bar.above_roof)
    p.text({dot.x, text_y}, "!", t.warning, Type::small, Font::bold, Align::center);
  else if (shown || bar.hidden)
    p.text({dot.x, text_y}, "\xE2\x9C\x93", t.good, Type::small, Font::bold, Align::center);
  else if (bar.predicted >= 0)
    paint_mark(p, bar.bound, dot, t.px(3.5f), colour_of(bar));
}

void explain(const Bar& bar) {
  widgets::Line value;
  if (bar.failed)
    value.add("failed");
  else if (bar.hidden)
    value.add("press where you expect its bar to end");
  else if (bar.above_roof)
    value.add("Above its roof: it ran from a cache, or counts other bytes");
  else if (!bar.rate.empty())
    value.add(bar.rate).add(", ").add(bar.time).add(", ").add(widgets::format(100 * bar.measured, "%"));
  else
    value.add(bar.predicted_text);
  if (!bar.published_text.empty()) value.add("\npublished: ").add(bar.published_text);
  widgets::tip(bar.change, value.view(), bar.hover);
}

/// What the marks mean, in one line under the rows.
void paint_legend(const Painter& p, ImVec2 at, float width) {
  const auto& t = theme();
  float x = at.x;
  const float middle = at.y + t.px(8);
  const auto entry = [&](auto&& mark, std::string_view words) {
    const float w = widgets::text_size(words, Type::small).x;
    if (x + t.px(22) + w > at.x + width) return;
    mark(ImVec2{x + t.px(7), middle});
    p.text({x + t.px(19), at.y}, words, t.muted, Type::small);
    x += t.px(19) + w + t.px(11);
  };
  entry(
      [&](ImVec2 c) {
        widgets::hatch(p, {{c.x - t.px(7), c.y - t.px(5)}, {c.x + t.px(7), c.y + t.px(5)}}, t.muted, t.px(5));
      },
      "the model allows");
  entry(
      [&](ImVec2 c) {
        p.line({c.x, c.y - t.px(6)}, {c.x, c.y + t.px(6)}, t.text, t.px(2.5f));
        p.circle({c.x, c.y - t.px(6)}, t.px(3), t.text);
      },
      "your prediction");
  entry([&](ImVec2 c) { p.ring(c, t.px(4), t.text, t.px(1.3f)); }, "published elsewhere");
  for (const auto& [bound, name, meaning] : {std::tuple{Bound::memory, "memory-bound", Meaning::memory_bound},
                                             std::tuple{Bound::compute, "compute-bound", Meaning::compute_bound},
                                             std::tuple{Bound::latency, "latency-bound", Meaning::launch_bound}})
    entry([&](ImVec2 c) { paint_mark(p, bound, c, t.px(4), t.of(meaning)); }, name);
}

void keep_table(const Picture& picture, widgets::Record& record) {
  widgets::DataTable table{
      "Rungs", {"rung", "title", "model share", "your share", "measured share", "published share", "rate", "time"}, {}};
  const auto share = [](double v) { return v >= 0 ? widgets::exact(v) : std::string(); };
  for (const Bar& b : picture.bars)
    table.rows.push_back({std::string(b.id), std::string(b.title), share(b.predicted), share(b.yours),
                          b.hidden ? "" : share(b.measured), share(b.published), b.hidden ? "" : b.rate,
                          b.hidden ? "" : b.time});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw_bars(Inputs& in, const Outputs& out, const Picture& picture, float row) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const Columns c = columns_of(at.x, width);
  p.text_fit({at.x + t.px(6), at.y}, picture.caption, width - t.px(12), t.muted, Type::small);
  float top = at.y + t.px(22);
  for (std::size_t i = 0; i < picture.bars.size(); ++i, top += row) {
    const Bar& bar = picture.bars[i];
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos({at.x, top});
    char label[64];
    std::snprintf(label, sizeof label, "rung %.*s", static_cast<int>(std::min<std::size_t>(bar.id.size(), 40)),
                  bar.id.data());
    const bool chosen = ImGui::InvisibleButton(label, {c.bar_left - at.x, row}, ImGuiButtonFlags_EnableNav);
    bool hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort);
    ImGui::SetCursorScreenPos({c.bar_left, top});
    std::snprintf(label, sizeof label, "predict %.*s", static_cast<int>(std::min<std::size_t>(bar.id.size(), 40)),
                  bar.id.data());
    ImGui::InvisibleButton(label, {std::max(c.bar_right - c.bar_left, 1.0f), row}, ImGuiButtonFlags_EnableNav);
    const bool predicting = ImGui::IsItemActive() && ImGui::IsMouseDown(0);
    hovered |= ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort);
    if (chosen || predicting) in.rung = static_cast<std::int64_t>(i) + 1;
    if (predicting) {
      const double share =
          static_cast<double>((ImGui::GetIO().MousePos.x - c.bar_left) / std::max(c.bar_right - c.bar_left, 1.0f)) *
          full;
      auto row_of = std::find_if(in.predictions.begin(), in.predictions.end(), [&](const PredictionRow& r) {
        return r.ladder == out.ladder->id && r.rung == bar.id;
      });
      if (row_of == in.predictions.end())
        row_of = in.predictions.insert(row_of, {std::string(out.ladder->id), std::string(bar.id), 0});
      row_of->share = std::clamp(std::round(1000 * share) / 10, 0.1, 100.0);
    }
    paint_row(p, c, bar, i, top, row, i == out.selected);
    if (hovered && !predicting) explain(bar);
    ImGui::PopID();
  }
  paint_legend(p, {at.x + t.px(6), top + t.px(6)}, width - t.px(12));
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, top - at.y + t.px(32)});
  if (widgets::Record* record = p.record()) keep_table(picture, *record);
}

}  // namespace chapters::kernels::lab
