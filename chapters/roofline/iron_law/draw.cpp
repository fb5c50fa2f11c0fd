#include <algorithm>

#include "chapters/roofline/iron_law/draw_matrix.h"
#include "chapters/roofline/iron_law/draw_waterfall.h"

namespace chapters::roofline::iron_law {
namespace {

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

void flip(std::vector<std::string>& ids, std::string_view id) {
  const auto at = std::find(ids.begin(), ids.end(), id);
  if (at != ids.end())
    ids.erase(at);
  else
    ids.emplace_back(id);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  const float rows = static_cast<float>(pic.rows.size());
  stage.panel(
      "waterfall",
      {.title = "The time, technique by technique", .least = {500, 96 + 21 * rows}, .answers = true, .marks = "bars"},
      [&](ImVec2 size) { draw_waterfall_rows(out, pic, view, size); });
  stage.panel("techniques", {.title = "What each technique moves", .least = {560, 336}, .ideal = {1100, 470}},
              [&](ImVec2 size) {
                const int pressed = draw_technique_matrix(out, pic, view, size);
                if (pressed >= 0) flip(in.techniques, out.rows[static_cast<std::size_t>(pressed)].alone.technique->id);
              });
  stage.panel("law", {.title = "The law", .least = {620, 56}, .ideal = {900, 70}}, [&](ImVec2 size) {
    const widgets::ValueSource values{&out, law_value};
    widgets::draw_formula("iron law", out.law.combine == models::Combine::added ? added_law : overlapped_law, values,
                          view.formula, {.max_width = size.x});
  });
}

}  // namespace chapters::roofline::iron_law
