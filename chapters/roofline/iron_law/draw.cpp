#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/roofline/iron_law/draw_matrix.h"
#include "chapters/roofline/iron_law/lab.h"
#include "chapters/roofline/iron_law/tints.h"

namespace chapters::roofline::iron_law {
namespace {

using models::IronLaw;
using models::IronPart;

constexpr std::string_view added_law =
    "T = \\frac{\\text{bytes}}{\\text{bandwidth}} + \\frac{\\text{operations}}{\\text{rate} \\cdot \\eta} + "
    "\\text{latency}"
    " = \\frac{\\val{bytes}}{\\val{bandwidth}} + \\frac{\\val{operations}}{\\val{rate} \\cdot \\val{efficiency}} + "
    "\\val{latency}"
    " = \\val{memory_s} + \\val{compute_s} + \\val{latency} = \\val{time_s}";
constexpr std::string_view overlapped_law =
    "T = \\max(\\frac{\\text{bytes}}{\\text{bandwidth}} \\text{ , } \\frac{\\text{operations}}{\\text{rate} \\cdot "
    "\\eta}) + \\text{latency}"
    " = \\max(\\frac{\\val{bytes}}{\\val{bandwidth}} \\text{ , } \\frac{\\val{operations}}{\\val{rate} \\cdot "
    "\\val{efficiency}}) + \\val{latency}"
    " = \\max(\\val{memory_s}, \\val{compute_s}) + \\val{latency} = \\val{time_s}";

/// The text of a live value in the formula.
std::string_view law_value(const void* context, std::string_view key, widgets::NumberText& scratch) {
  const auto& o = *static_cast<const Outputs*>(context);
  struct Entry {
    std::string_view key, unit;
    double value;
  };
  const Entry entries[] = {{"bytes", "B", o.law.bytes},
                           {"bandwidth", "B/s", o.law.bandwidth_bytes_per_s},
                           {"operations", "FLOP", o.law.operations},
                           {"rate", "FLOP/s", o.law.rate_flops_per_s},
                           {"efficiency", "", o.law.efficiency},
                           {"latency", "s", o.law.latency_s},
                           {"memory_s", "s", o.now.memory_s},
                           {"compute_s", "s", o.now.compute_s},
                           {"time_s", "s", o.now.time_s}};
  for (const Entry& e : entries)
    if (e.key == key) return scratch = widgets::format(e.value, e.unit);
  return {};
}

/// Three terms of the law as one bar; a term hidden by overlap is hatched in a bar of its own.
struct Terms {
  std::array<widgets::BarSegment, 3> seen;
  widgets::BarSegment hidden;
  Terms(const IronLaw& law, const models::IronTime& time) {
    constexpr std::string_view names[] = {"memory", "compute", "latency"};
    constexpr std::string_view formulas[] = {"bytes / bandwidth", "operations / (rate x efficiency)",
                                             "launches and waits"};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto part = static_cast<IronPart>(i);
      seen[i] = {
          .label = names[i],
          .value = models::exposed_s(law, time, part),
          .tint = tint_of(part),
          .info = formulas[i],
      };
      if (seen[i].value < models::part_s(time, part))
        hidden = {
            .label = names[i],
            .value = models::part_s(time, part),
            .tint = tint_of(part),
            .info = "hidden: it runs under the longer term",
            .hatched = true,
        };
    }
  }
};

void draw_bars(const Outputs& out, View& view, float width, float height) {
  const Terms before(out.law_before, out.before), after(out.law, out.now);
  std::array<widgets::StackedBar, 4> bars;
  std::size_t n = 0;
  bars[n++] = {.label = "before", .segments = before.seen};
  if (before.hidden.hatched) bars[n++] = {.label = "hidden under it", .segments = {&before.hidden, 1}};
  bars[n++] = {.label = "now", .segments = after.seen};
  if (after.hidden.hatched) bars[n++] = {.label = "hidden under it", .segments = {&after.hidden, 1}};
  widgets::draw_stacked_bars("time by term", {bars.data(), n}, view.bars, {.unit = "s", .size = {width, height}});
}

void draw_steps(const Outputs& out, const Picture& pic, View& view, float width, float height) {
  widgets::draw_waterfall("techniques in order", out.before.time_s, pic.steps, view.waterfall,
                          {
                              .start_label = "before",
                              .end_label = "now",
                              .unit = "s",
                              .size = {width, height},
                              .row_px = 30,
                          });
}

void flip(std::vector<std::string>& ids, std::string_view id) {
  const auto at = std::find(ids.begin(), ids.end(), id);
  if (at != ids.end())
    ids.erase(at);
  else
    ids.emplace_back(id);
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  const auto& t = widgets::theme();
  if (!out.reason.empty()) return;
  const float width = ImGui::GetContentRegionAvail().x;
  const widgets::ValueSource values{&out, law_value};
  widgets::draw_formula("iron law", out.law.combine == models::Combine::added ? added_law : overlapped_law, values,
                        view.formula, {.max_width = width});
  ImGui::Dummy({0, t.px(4)});
  const float row = t.type(widgets::Type::small) + t.px(9);
  const float steps = std::max(t.px(140), (static_cast<float>(out.steps.size()) + 2) * row + 2 * row);
  const bool beside = width >= t.px(860);
  const float half = beside ? std::floor((width - t.px(20)) / 2) : width;
  draw_bars(out, view, half, beside ? std::min(steps, t.px(170)) : t.px(140));
  if (beside) {
    ImGui::SameLine(0, t.px(20));
    draw_steps(out, pic, view, half, steps);
  }
  if (!out.caution.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, t.warning);
    ImGui::TextWrapped("%s", out.caution.c_str());
    ImGui::PopStyleColor();
  }
  const int pressed = draw_technique_matrix(out.rows, out.bounds);
  if (pressed >= 0) flip(in.techniques, out.rows[static_cast<std::size_t>(pressed)].alone.technique->id);
  if (!beside) draw_steps(out, pic, view, half, steps);
}

}  // namespace chapters::roofline::iron_law
