#include "widgets/charts/pillars.h"

#include <algorithm>
#include <cmath>

#include "widgets/number/number.h"

namespace widgets {
namespace {

/// Pillar `i` with its number; hollow above what it keeps, and bound to the one before where both are joined.
void paint_pillar(const Painter& p, const Pillar& pillar, std::size_t i, float low_y, const PillarLayout& l) {
  const Theme& t = theme();
  const ImU32 fill = t.of(Meaning::forward);
  const Rect& r = l.pillars[i];
  const float solid = r.max.y - r.height() * static_cast<float>(std::clamp(pillar.kept, 0.0, 1.0));
  if (!pillar.hollow) p.rect({r.min.x, solid}, r.max, fill, t.px(2));
  if (pillar.hollow || solid > r.min.y + 1) {
    if (r.width() > 5)
      p.frame(r.min, {r.max.x, pillar.hollow ? r.max.y : solid}, with_alpha(fill, 0.75f), t.px(1), t.px(2));
    else
      p.line(r.min, {r.min.x, r.max.y}, with_alpha(fill, 0.5f));
  }
  if (pillar.hollow && !pillar.joined) p.rect({r.min.x, std::min(low_y, r.max.y - t.px(2))}, r.max, fill, t.px(1));
  if (pillar.joined && i > 0)  // layers that are recomputed together are bound under their feet
    p.line({l.pillars[i - 1].min.x, r.max.y + t.px(2)}, {r.max.x, r.max.y + t.px(2)}, t.accent, t.px(2));
  const bool numbered = i == 0 || (i + 1) % l.number_step == 0;
  if (numbered && (i > 0 || l.number_step > 0)) {
    Line number;
    number.add_integer(static_cast<std::int64_t>(i) + 1);
    p.text({(r.min.x + r.max.x) / 2, l.label_top}, number.view(), t.muted, Type::small, Font::mono, Align::center);
  }
}

void record_pillars(Record& record, const char* label, std::span<const Pillar> pillars) {
  DataTable table{label, {"layer", "kept", "recomputed", "joined"}, {}};
  for (std::size_t i = 0; i < pillars.size(); ++i)
    table.rows.push_back(
        {std::to_string(i + 1), exact(pillars[i].kept), pillars[i].hollow ? "1" : "0", pillars[i].joined ? "1" : "0"});
  record.tables.push_back(std::move(table));
}

}  // namespace

void layout_pillars(std::span<const Pillar> pillars, const PillarOptions& options, Rect area, Measure measure,
                    PillarLayout& out) {
  const Theme& t = theme();
  out.pillars.clear();
  const float small = t.type(Type::small);
  const float words = std::max(measure(options.full, Type::small), measure(options.low, Type::small));
  const float left = area.min.x + (words > 0 ? words + t.px(10) : 0.0f);
  const float top = area.min.y + small + t.px(8);
  out.label_top = area.max.y - small;
  const float bottom = std::max(top + 1, out.label_top - t.px(5));
  out.row = {{left, top}, {area.max.x, bottom}};
  const auto count = static_cast<float>(std::max<std::size_t>(pillars.size(), 1));
  const float pitch = std::max(0.5f, (out.row.width()) / count);
  const float gap = pitch > t.px(8) ? t.px(3) : pitch > 3 ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < pillars.size(); ++i) {
    const float x = left + pitch * static_cast<float>(i);
    out.pillars.push_back({{x, top}, {x + pitch - gap, bottom}});
  }
  const float widest = measure("000", Type::small) + t.px(8);
  out.number_step = 1;
  for (const std::size_t step : {1, 2, 4, 8, 16, 32, 64, 128}) {
    out.number_step = step;
    if (pitch * static_cast<float>(step) >= widest) break;
  }
}

PillarEvent draw_pillars(const char* label, std::span<const Pillar> pillars, PillarView& view,
                         const PillarOptions& options) {
  const Theme& t = theme();
  const Rect area = canvas(label, options.size, {t.px(80), t.px(40)});
  const bool active = ImGui::IsItemActive(), pressed = ImGui::IsItemActivated(), hovered = ImGui::IsItemHovered();
  layout_pillars(pillars, options, area, measure_text, view.layout);
  const PillarLayout& l = view.layout;
  const Painter p = Painter::window();
  const float small = t.type(Type::small);
  const float low_y = l.row.max.y - l.row.height() * static_cast<float>(options.low_share);
  if (!options.full.empty())
    p.text({l.row.min.x - t.px(8), l.row.min.y - small * 0.3f}, options.full, t.muted, Type::small, Font::mono,
           Align::right);
  if (!options.low.empty() && low_y - l.row.min.y > 1.6f * small)
    p.text({l.row.min.x - t.px(8), std::min(low_y, l.row.max.y) - small * 0.8f}, options.low, t.muted, Type::small,
           Font::mono, Align::right);
  for (std::size_t i = 0; i < pillars.size() && i < l.pillars.size(); ++i) paint_pillar(p, pillars[i], i, low_y, l);
  if (options.mark >= 0 && static_cast<std::size_t>(options.mark) < l.pillars.size()) {
    const float x = l.pillars[static_cast<std::size_t>(options.mark)].max.x + 1;
    p.line({x, l.row.min.y - t.px(5)}, {x, l.row.max.y + t.px(3)}, t.text, t.px(2));
    fit_text(p, {x + t.px(6), area.min.y}, options.mark_words, area.max.x - x - t.px(6), t.text, Type::small);
  }
  PillarEvent event;
  const ImVec2 mouse = ImGui::GetMousePos();
  std::ptrdiff_t under = -1;
  for (std::size_t i = 0; i < l.pillars.size(); ++i)
    if (mouse.x >= l.pillars[i].min.x &&
        (i + 1 == l.pillars.size() ? mouse.x < l.pillars[i].max.x : mouse.x < l.pillars[i + 1].min.x))
      under = static_cast<std::ptrdiff_t>(i);
  if (!active) view.last = -1;
  if (active && under >= 0 && (hovered || view.last >= 0) && under != view.last) {
    const bool hollow = pillars[static_cast<std::size_t>(under)].hollow;
    if (pressed || view.last < 0) view.turning_hollow = !hollow;
    view.last = under;
    if (hollow != view.turning_hollow) event = {under, view.turning_hollow};
  }
  if (hovered && !active && under >= 0) {
    const Pillar& pillar = pillars[static_cast<std::size_t>(under)];
    Line name;
    name.add("layer ").add_integer(under + 1);
    tip(name.view(), pillar.hollow ? "recomputed" : "kept",
        pillar.joined ? "in one piece with the layer before it" : "press to turn it over, drag for several");
  }
  if (Record* record = p.record()) record_pillars(*record, label, pillars);
  return event;
}

}  // namespace widgets
