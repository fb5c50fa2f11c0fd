#include <algorithm>

#include "app/shell/explore/explore_parts.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using widgets::theme;

void show_heat_map(ExploreState& e, const Field& in, const Field& in_y, const Field& out, ImVec2 size) {
  const SweepResult& r = e.sweep;
  widgets::draw_heat_map("explore heat",
                         {
                             .values = r.values,
                             .rows = r.y.values.size(),
                             .cols = r.x.values.size(),
                             .row_labels = e.row_labels,
                             .col_labels = e.col_labels,
                             .revision = e.for_version,
                         },
                         e.heat,
                         {
                             .row_title = in_y.spec.label,
                             .col_title = in.spec.label,
                             .value_title = out.spec.label,
                             .unit = out.spec.unit,
                             .size = size,
                             .rows_up = true,
                         });
}

/// The output over one input: a line over a number, bars over options.
void show_curve(ExploreState& e, const Field& in, const Field& out, ImVec2 size) {
  const SweepResult& r = e.sweep;
  const auto positive = [](const std::vector<double>& v) {
    return std::all_of(v.begin(), v.end(), [](double x) { return !(x <= 0); });
  };
  const auto [lo, hi] = std::minmax_element(r.values.begin(), r.values.end(), [](double a, double b) { return a < b; });
  const bool log_y = positive(r.values) && *lo > 0 && *hi / *lo > 50;
  widgets::Plot plot("explore plot", e.plot,
                     {
                         .x = {.kind = !r.x.labels.empty() ? widgets::AxisKind::category
                                       : r.x.log           ? widgets::AxisKind::log10
                                                           : widgets::AxisKind::linear,
                               .label = in.spec.label,
                               .unit = in.spec.unit,
                               .categories = !r.x.labels.empty() ? std::span<const std::string_view>(e.col_labels)
                                                                 : std::span<const std::string_view>()},
                         .y = {.kind = log_y ? widgets::AxisKind::log10 : widgets::AxisKind::linear,
                               .label = out.spec.label,
                               .unit = out.spec.unit},
                         .size = size,
                         .legend = false,
                     });
  if (r.x.labels.empty()) {
    plot.line(out.spec.label, r.x.values, r.values, {.label = false, .info = out.spec.formula});
    if (in.is_number()) plot.vertical_mark(in.number(), "now", {.colour = theme().accent});
  } else {
    plot.bars(out.spec.label, e.places, r.values, {.info = out.spec.formula});
  }
}

}  // namespace

static std::string label_of_option(const Field& f, const std::string& id) {
  if (!f.options) return id;  // a toggle's are "off" and "on"
  for (const chapters::Choice& option : *f.options)
    if (option.id == id) return option.label;
  return id;
}

void label_sweep_axes(ExploreState& e, const chapters::Lab& lab) {
  const auto name = [&](const SweepAxis& axis, std::vector<std::string>& texts, std::vector<std::string_view>& views) {
    texts.clear();
    views.clear();
    const Field* f = lab.inputs().find(axis.key);
    for (std::size_t i = 0; f && i < axis.values.size(); ++i)
      texts.push_back(axis.labels.empty() ? std::string(widgets::format(axis.values[i], f->spec.unit))
                                          : label_of_option(*f, axis.labels[i]));
    for (const auto& text : texts) views.push_back(text);
  };
  name(e.sweep.x, e.col_texts, e.col_labels);
  e.places.clear();
  for (std::size_t i = 0; i < e.sweep.x.values.size(); ++i) e.places.push_back(static_cast<double>(i));
  name(e.sweep.y, e.row_texts, e.row_labels);
}

void show_sweep(Shell& shell, ImVec2 size) {
  ExploreState& e = shell.explore;
  const chapters::Lab& lab = shell.workspace.lab();
  const Field *in = lab.inputs().find(e.sweep.x.key), *out = lab.outputs().find(e.sweep.output);
  if (!in || !out || e.sweep.values.empty()) return;
  if (e.sweep.y.key.empty())
    show_curve(e, *in, *out, size);
  else if (const Field* in_y = lab.inputs().find(e.sweep.y.key))
    show_heat_map(e, *in, *in_y, *out, size);
}

}  // namespace app
