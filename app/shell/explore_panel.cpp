#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/charts/heat_map.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

/// What a worker fills in; the panel takes it over when the job has ended.
struct Found {
  SweepResult sweep;
  SensitivityResult sensitivity;
  SolveResult solve;
};

std::string_view label_of(const chapters::Fields& fields, std::string_view key) {
  const Field* f = fields.find(key);
  return f ? f->spec.label : key;
}

/// A small drop-down over keys, shown by their labels. `none` offers an empty choice.
bool pick(const char* label, std::string& key, const std::vector<std::string>& keys, const chapters::Fields& fields,
          float width, const char* none = nullptr) {
  ImGui::BeginGroup();
  ui::text(label, theme().muted, Type::small);
  bool changed = false;
  if (ui::drop_down(label, key.empty() && none ? std::string_view(none) : label_of(fields, key), width))
    ImGui::OpenPopup(label);
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width * 2, theme().px(320)});
  if (ImGui::BeginPopup(label)) {
    if (none && ImGui::Selectable(none, key.empty())) {
      key.clear();
      changed = true;
    }
    for (const auto& k : keys)
      if (ImGui::Selectable(label_of(fields, k).data(), k == key)) {
        key = k;
        changed = true;
      }
    ImGui::EndPopup();
  }
  ImGui::EndGroup();
  return changed;
}

bool typed(const char* label, std::string& text, float width) {
  char buffer[64];
  const std::size_t n = std::min(text.size(), sizeof buffer - 1);
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
  ImGui::BeginGroup();
  ui::text(label, theme().muted, Type::small);
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(label);
  const bool edited = ImGui::InputText("##typed", buffer, sizeof buffer);
  ImGui::PopID();
  ImGui::EndGroup();
  if (edited) text = buffer;
  return edited;
}

/// First run on a lab: the first input on a log scale against the first output, over the input's range.
void begin_lab(Shell& shell) {
  ExploreState& e = shell.explore;
  const chapters::Lab& lab = shell.workspace.lab();
  e.job.cancel();
  e = ExploreState{};
  e.lab = lab.info().id;
  e.inputs = sweepable_inputs(lab);
  e.outputs = readable_outputs(lab);
  for (const auto& k : e.inputs)
    if (e.input.empty() && lab.inputs().find(k)->spec.scale == chapters::Scale::log) e.input = k;
  if (e.input.empty() && !e.inputs.empty()) e.input = e.inputs.front();
  for (const auto& k : e.outputs)
    if (e.output.empty() && lab.outputs().find(k)->kind == Kind::real) e.output = k;
  if (e.output.empty() && !e.outputs.empty()) e.output = e.outputs.front();
}

void start(Shell& shell) {
  ExploreState& e = shell.explore;
  const chapters::Lab& lab = shell.workspace.lab();
  auto found = std::make_shared<Found>();
  std::shared_ptr<chapters::Lab> copy = lab.clone();
  const std::string range = e.lo.empty() && e.hi.empty() ? "" : "=" + e.lo + ":" + e.hi;
  e.error.clear();
  Work work;
  if (e.mode == ExploreState::Mode::sweep) {
    auto x = parse_sweep_axis(lab, e.input + range, e.second_input.empty() ? 128 : 48);
    std::vector<SweepAxis> axes{x.axis};
    e.error = x.error;
    if (!e.second_input.empty()) {
      auto y = parse_sweep_axis(lab, e.second_input, 32);
      axes.push_back(y.axis);
      if (e.error.empty()) e.error = y.error;
    }
    work = [=, output = e.output](chapters::Progress& p) { found->sweep = sweep(*copy, axes, output, p); };
  } else if (e.mode == ExploreState::Mode::sensitivity) {
    work = [=, output = e.output](chapters::Progress& p) { found->sensitivity = sensitivity(*copy, output, p); };
  } else {
    const auto axis = parse_sweep_axis(lab, e.input + range, 2);
    e.error = axis.error;
    const Field* out = lab.outputs().find(e.output);
    const auto target = widgets::parse_quantity(e.target, out ? out->spec.unit : "");
    if (e.error.empty()) e.error = target.error;
    if (e.error.empty() && !axis.axis.labels.empty()) e.error = "Solve needs an input that is a number.";
    if (e.error.empty())
      work = [=, key = e.input, output = e.output, lo = axis.axis.values.front(), hi = axis.axis.values.back(),
              goal = target.value](chapters::Progress& p) {
        found->solve = solve(*copy, key, lo, hi, output, goal, p);
      };
  }
  if (!e.error.empty()) return;
  e.result = found;
  e.running = true;
  e.for_version = shell.workspace.current().version();
  e.job = shell.workspace.jobs.submit("explore", std::move(work));
}

/// True when a result was taken over in this frame.
bool take_result(ExploreState& e) {
  if (!e.running || !e.job.ended()) return false;
  e.running = false;
  if (!e.job.done()) {
    e.error = e.job.error();
    return false;
  }
  auto& found = *static_cast<Found*>(e.result.get());
  if (e.mode == ExploreState::Mode::sweep)
    e.sweep = std::move(found.sweep);
  else if (e.mode == ExploreState::Mode::sensitivity)
    e.sensitivity = std::move(found.sensitivity);
  else
    e.solve = std::move(found.solve);
  e.error = e.mode == ExploreState::Mode::sweep         ? e.sweep.error
            : e.mode == ExploreState::Mode::sensitivity ? e.sensitivity.error
                                                        : e.solve.error;
  e.plot = {};
  e.heat = {};
  return true;
}

/// Axis labels of a heat map as text, made once per sweep.
void label_axes(ExploreState& e, const chapters::Lab& lab) {
  const auto name = [&](const SweepAxis& axis, std::vector<std::string>& texts, std::vector<std::string_view>& views) {
    texts.clear();
    views.clear();
    const Field* f = lab.inputs().find(axis.key);
    for (std::size_t i = 0; f && i < axis.values.size(); ++i)
      texts.push_back(axis.labels.empty() ? std::string(widgets::format(axis.values[i], f->spec.unit))
                                          : axis.labels[i]);
    for (const auto& text : texts) views.push_back(text);
  };
  name(e.sweep.x, e.col_texts, e.col_labels);
  name(e.sweep.y, e.row_texts, e.row_labels);
}

void show_sweep(Shell& shell, ImVec2 size) {
  ExploreState& e = shell.explore;
  const chapters::Lab& lab = shell.workspace.lab();
  const SweepResult& r = e.sweep;
  const Field *in = lab.inputs().find(r.x.key), *out = lab.outputs().find(r.output);
  if (!in || !out || r.values.empty()) return;
  if (!r.y.key.empty()) {
    const Field* in_y = lab.inputs().find(r.y.key);
    if (!in_y) return;
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
                               .row_title = in_y->spec.label,
                               .col_title = in->spec.label,
                               .value_title = out->spec.label,
                               .unit = out->spec.unit,
                               .size = size,
                               .rows_up = true,
                           });
    return;
  }
  const auto positive = [](const std::vector<double>& v) {
    return std::all_of(v.begin(), v.end(), [](double x) { return !(x <= 0); });
  };
  const auto [lo, hi] = std::minmax_element(r.values.begin(), r.values.end(), [](double a, double b) { return a < b; });
  const bool log_y = positive(r.values) && *lo > 0 && *hi / *lo > 50;
  widgets::Plot plot("explore plot", e.plot,
                     {
                         .x = {.kind = r.x.log ? widgets::AxisKind::log10 : widgets::AxisKind::linear,
                               .label = in->spec.label,
                               .unit = in->spec.unit},
                         .y = {.kind = log_y ? widgets::AxisKind::log10 : widgets::AxisKind::linear,
                               .label = out->spec.label,
                               .unit = out->spec.unit},
                         .size = size,
                         .legend = false,
                     });
  if (r.x.labels.empty()) {
    plot.line(out->spec.label, r.x.values, r.values, {.label = false, .info = out->spec.formula});
    if (in->kind == Kind::real || in->kind == Kind::integer)
      plot.vertical_mark(in->number(), "now", {.colour = theme().accent});
  } else {
    plot.bars(out->spec.label, r.x.values, r.values, {.info = out->spec.formula});
    for (std::size_t i = 0; i < r.x.labels.size(); ++i) plot.text(r.x.values[i], r.values[i], r.x.labels[i]);
  }
}

void show_tornado(Shell& shell, float width) {
  const SensitivityResult& r = shell.explore.sensitivity;
  const Field* out = shell.workspace.lab().outputs().find(r.output);
  if (!out || r.rows.empty()) return;
  const auto& t = theme();
  double lo = r.base, hi = r.base;
  for (const auto& row : r.rows)
    for (double v : {row.low_output, row.high_output})
      if (std::isfinite(v)) {
        lo = std::min(lo, v);
        hi = std::max(hi, v);
      }
  const float label_width = t.px(200), left = ImGui::GetCursorScreenPos().x + label_width,
              span = std::max(width - label_width - t.px(170), t.px(80));
  const auto x_of = [&](double v) { return left + span * static_cast<float>(hi > lo ? (v - lo) / (hi - lo) : 0.5); };
  const Painter p = Painter::window();
  for (const auto& row : r.rows) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width, t.px(22)});
    const bool hovered = ImGui::IsItemHovered();
    p.text_fit({left - t.px(10), at.y + t.px(3)}, row.label, label_width - t.px(12), hovered ? t.text : t.muted,
               Type::small, Font::sans, widgets::Align::right);
    if (!(row.span() > 0)) {
      p.text({left, at.y + t.px(3)}, "moves nothing here", t.muted, Type::small);
    } else {
      const float a = x_of(row.low_output), b = x_of(row.high_output), base = x_of(r.base);
      p.rect({std::min(a, base), at.y + t.px(4)}, {std::max(a, base), at.y + t.px(17)}, t.of(widgets::Meaning::forward),
             t.px(2));
      p.rect({std::min(b, base), at.y + t.px(4)}, {std::max(b, base), at.y + t.px(17)},
             t.of(widgets::Meaning::backward), t.px(2));
      widgets::NumberText low = widgets::format(row.low_output, out->spec.unit),
                          high = widgets::format(row.high_output, out->spec.unit);
      char shown[160];
      std::snprintf(shown, sizeof shown, "%s \xE2\x80\xA6 %s", low.chars, high.chars);
      p.text_fit({left + span + t.px(8), at.y + t.px(3)}, shown, t.px(162), t.text, Type::small, Font::mono);
    }
    if (hovered && ImGui::BeginTooltip()) {
      ui::text(row.label, t.text, Type::small, Font::bold);
      ui::text(row.low_input + " gives " + std::string(widgets::format(row.low_output, out->spec.unit)),
               t.of(widgets::Meaning::forward), Type::small);
      ui::text(row.high_input + " gives " + std::string(widgets::format(row.high_output, out->spec.unit)),
               t.of(widgets::Meaning::backward), Type::small);
      ImGui::EndTooltip();
    }
  }
  ui::text(
      "Blue: the lower input (or the option with the least output). Orange: the higher. Numbers on a log scale are "
      "halved and doubled, others moved by a tenth of their range.",
      t.muted, Type::small);
}

void show_compare(Shell& shell, float width) {
  ExploreState& e = shell.explore;
  const auto& t = theme();
  if (ui::button("Set aside as A")) {
    e.scenario_a = shell.workspace.lab().clone();
    e.compared_version = 0;
  }
  if (!e.scenario_a)
    return ui::wrapped("Set the present scenario aside as A, then change anything: what follows is why B differs.",
                       t.muted, Type::small);
  if (e.compared_version != shell.workspace.current().version()) {
    e.compare = compare(*e.scenario_a, shell.workspace.lab());
    e.compared_version = shell.workspace.current().version();
  }
  ImGui::SameLine();
  if (ui::button("Swap A and B")) {
    auto b = shell.workspace.lab().clone();
    if (auto error = shell.workspace.open_with(e.lab, fields_to_json(e.scenario_a->inputs()), Json::object());
        !error.empty())
      shell.workspace.say(error);
    e.scenario_a = std::move(b);
    e.compared_version = 0;
    return;
  }
  if (e.compare.steps.empty()) return ui::text("A and B are the same so far: change an input.", t.muted, Type::small);
  const auto line = [&](const ComparedOutput& o) {
    char shown[256];
    const auto a = widgets::format(o.a, o.unit), b = widgets::format(o.b, o.unit);
    const auto ratio = o.a != 0 ? widgets::format(o.b / o.a, "", 3) : widgets::format(std::nan(""), "");
    std::snprintf(shown, sizeof shown, "%s: %s \xE2\x86\x92 %s  (\xC3\x97 %s)", o.label.c_str(), a.chars, b.chars,
                  ratio.chars);
    ImGui::Indent(t.px(18));
    ui::text(shown, t.text, Type::small);
    ImGui::Unindent(t.px(18));
  };
  for (const CompareStep& s : e.compare.steps) {
    char changed[256];
    std::snprintf(changed, sizeof changed, "%s: %s \xE2\x86\x92 %s", s.label.c_str(), s.from.c_str(), s.to.c_str());
    ui::text(changed, t.accent, Type::body);
    if (s.moved.empty()) ui::text("    moves no output here", t.muted, Type::small);
    for (const auto& o : s.moved) line(o);
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter::window().line(at, {at.x + width, at.y}, t.line);
  ui::spacing(4);
  ui::text("A to B in all", t.text, Type::small, Font::bold);
  for (const auto& o : e.compare.total) line(o);
}

}  // namespace

void draw_explore(Shell& shell) {
  const auto& t = theme();
  ExploreState& e = shell.explore;
  const chapters::Lab& lab = shell.workspace.lab();
  if (e.lab != lab.info().id) begin_lab(shell);
  if (take_result(e) && e.mode == ExploreState::Mode::sweep) label_axes(e, lab);
  using Mode = ExploreState::Mode;
  static constexpr std::pair<const char*, Mode> modes[] = {
      {"Sweep", Mode::sweep}, {"Sensitivity", Mode::sensitivity}, {"Solve", Mode::solve}, {"Compare", Mode::compare}};
  for (const auto& [name, mode] : modes) {
    if (mode != Mode::sweep) ImGui::SameLine(0, t.px(6));
    if (ui::pill(name, e.mode == mode) && e.mode != mode) {
      e.mode = mode;
      e.error.clear();
    }
  }
  const float width = ImGui::GetContentRegionAvail().x;
  if (e.mode == Mode::compare) return show_compare(shell, width);

  const float box = std::clamp(width / 6, t.px(110), t.px(190));
  bool changed = false, run = false;
  // Each piece has its place: Dear ImGui's own lines would shift them by the baselines of text and boxes.
  const ImVec2 row = ImGui::GetCursorScreenPos();
  float x = row.x;
  const auto next = [&](float piece) {
    ImGui::SetCursorScreenPos({x, row.y});
    x += piece + t.px(8);
    return piece;
  };
  if (e.mode != Mode::sensitivity) {
    if (pick("Input", e.input, e.inputs, lab.inputs(), next(box))) {
      changed = true;
      e.lo.clear();
      e.hi.clear();
    }
    changed |= typed("From", e.lo, next(box * 0.5f));
    changed |= typed("To", e.hi, next(box * 0.5f));
    if (e.mode == Mode::sweep)
      changed |= pick("Second input", e.second_input, e.inputs, lab.inputs(), next(box), "none");
  }
  changed |= pick("Output", e.output, e.outputs, lab.outputs(), next(box));
  if (e.mode == Mode::solve) typed("Target", e.target, next(box * 0.6f));
  ImGui::SetCursorScreenPos({x, row.y + t.type(Type::small) + t.px(5)});
  run = ui::button("Run", true);
  // An item as high as the row: where nothing follows, Dear ImGui refuses a cursor that was only set.
  ImGui::SetCursorScreenPos(row);
  ImGui::Dummy({0, t.type(Type::small) + t.px(37)});
  const bool one_number = !e.lo.empty() != !e.hi.empty();  // half typed: wait for the other end
  const bool stale = e.for_version != shell.workspace.current().version() && e.mode != Mode::solve;
  if (run || ((changed || stale) && !one_number && e.mode != Mode::solve)) start(shell);
  if (e.running) {
    shell.animating = true;
    ui::bar(ImGui::GetCursorScreenPos(), width, e.job.fraction(), t.accent);
    ui::spacing(4);
  }
  if (!e.error.empty()) return ui::wrapped(e.error, t.warning, Type::small);
  const float height = std::max(ImGui::GetContentRegionAvail().y - t.px(4), t.px(150));
  if (e.mode == Mode::sweep) {
    show_sweep(shell, {width, height});
  } else if (e.mode == Mode::sensitivity) {
    show_tornado(shell, width);
  } else if (e.solve.found) {
    const Field *in = lab.inputs().find(e.input), *out = lab.outputs().find(e.output);
    ui::text(label_of(lab.inputs(), e.input), t.muted);
    ImGui::SameLine();
    ui::text(widgets::format(e.solve.input, in ? in->spec.unit : "", 5), t.accent, Type::body, Font::mono);
    ImGui::SameLine();
    ui::text("gives", t.muted);
    ImGui::SameLine();
    ui::text(widgets::format(e.solve.output, out ? out->spec.unit : "", 5), t.text, Type::body, Font::mono);
    if (!e.solve.why.empty()) ui::wrapped(e.solve.why, t.muted, Type::small);
    if (in && ui::button("Set it in the lab")) in->set_number(e.solve.input);
  } else {
    ui::wrapped(e.solve.why, t.text);
  }
}

}  // namespace app
