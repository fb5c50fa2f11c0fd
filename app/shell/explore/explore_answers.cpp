#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/scenario/fields_json.h"
#include "app/shell/explore/explore_parts.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {
namespace {

/// Where the outputs of a tornado chart lie on the screen.
struct TornadoScale {
  double lo = 0, hi = 0;
  float label_width = 0, left = 0, span = 0;
  float x_of(double v) const { return left + span * static_cast<float>(hi > lo ? (v - lo) / (hi - lo) : 0.5); }
};

TornadoScale tornado_scale(const SensitivityResult& r, float width) {
  const auto& t = theme();
  TornadoScale out{.lo = r.base, .hi = r.base, .label_width = t.px(200)};
  for (const auto& row : r.rows)
    for (double v : {row.low_output, row.high_output})
      if (std::isfinite(v)) {
        out.lo = std::min(out.lo, v);
        out.hi = std::max(out.hi, v);
      }
  out.left = ImGui::GetCursorScreenPos().x + out.label_width;
  out.span = std::max(width - out.label_width - t.px(170), t.px(80));
  return out;
}

void tornado_hint(const SensitivityRow& row, const Field& out) {
  const auto& t = theme();
  ui::text(row.label, t.text, Type::small, Font::bold);
  ui::text(row.low_input + " gives " + std::string(widgets::format(row.low_output, out.spec.unit)),
           t.of(widgets::Meaning::forward), Type::small);
  ui::text(row.high_input + " gives " + std::string(widgets::format(row.high_output, out.spec.unit)),
           t.of(widgets::Meaning::backward), Type::small);
}

void tornado_row(const SensitivityRow& row, double base_output, const Field& out, const TornadoScale& scale,
                 float width) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, t.px(22)});
  const bool hovered = ImGui::IsItemHovered();
  p.text_fit({scale.left - t.px(10), at.y + t.px(3)}, row.label, scale.label_width - t.px(12),
             hovered ? t.text : t.muted, Type::small, Font::sans, widgets::Align::right);
  {
    const float a = scale.x_of(row.low_output), b = scale.x_of(row.high_output), base = scale.x_of(base_output);
    p.rect({std::min(a, base), at.y + t.px(4)}, {std::max(a, base), at.y + t.px(17)}, t.of(widgets::Meaning::forward),
           t.px(2));
    p.rect({std::min(b, base), at.y + t.px(4)}, {std::max(b, base), at.y + t.px(17)}, t.of(widgets::Meaning::backward),
           t.px(2));
    const widgets::NumberText low = widgets::format(row.low_output, out.spec.unit),
                              high = widgets::format(row.high_output, out.spec.unit);
    char shown[160];
    std::snprintf(shown, sizeof shown, "%s \xE2\x80\xA6 %s", low.chars, high.chars);
    p.text_fit({scale.left + scale.span + t.px(8), at.y + t.px(3)}, shown, t.px(162), t.text, Type::small, Font::mono);
  }
  if (hovered && ImGui::BeginTooltip()) {
    tornado_hint(row, out);
    ImGui::EndTooltip();
  }
}

}  // namespace

void show_tornado(Shell& shell, float width) {
  const SensitivityResult& r = shell.explore.sensitivity;
  const Field* out = shell.workspace.lab().outputs().find(r.output);
  if (!out || r.rows.empty()) return;
  const TornadoScale scale = tornado_scale(r, width);
  std::size_t still = 0;
  for (const auto& row : r.rows) {
    if (row.span() > 0)
      tornado_row(row, r.base, *out, scale, width);
    else
      ++still;
  }
  if (still > 0) {
    char words[64];
    std::snprintf(words, sizeof words,
                  still == 1 ? "%zu other input moves nothing here." : "%zu other inputs move nothing here.", still);
    ui::text(words, theme().muted, Type::small);
  }
  const auto& t = theme();
  ui::text(
      "Blue: the lower input (or the option with the least output). Orange: the higher. Numbers on a log scale are "
      "halved and doubled, others moved by a tenth of their range.",
      t.muted, Type::small);
}

void show_solution(Shell& shell) {
  const auto& t = theme();
  const ExploreState& e = shell.explore;
  if (!e.solve.found) return ui::wrapped(e.solve.why, t.text);
  const chapters::Lab& lab = shell.workspace.lab();
  const Field *in = lab.inputs().find(e.input), *out = lab.outputs().find(e.output);
  ui::text(field_label(lab.inputs(), e.input), t.muted);
  ImGui::SameLine();
  ui::text(widgets::format(e.solve.input, in ? in->spec.unit : "", 5), t.accent, Type::body, Font::mono);
  ImGui::SameLine();
  ui::text("gives", t.muted);
  ImGui::SameLine();
  ui::text(widgets::format(e.solve.output, out ? out->spec.unit : "", 5), t.text, Type::body, Font::mono);
  if (!e.solve.why.empty()) ui::wrapped(e.solve.why, t.muted, Type::small);
  if (in && ui::button("Set it in the lab")) in->set_number(e.solve.input);
}

void set_aside_a(Shell& shell) {
  ExploreState& e = shell.explore;
  auto shown = shell.workspace.current().shown();
  if (!shown) return shell.workspace.say("Nothing is computed yet: set it aside once the picture is there.");
  forget_a(shell);
  e.scenario_a = std::move(shown);
}

void forget_a(Shell& shell) {
  ExploreState& e = shell.explore;
  e.compare_job.cancel();
  e.compare_job = {};
  e.scenario_a = nullptr;
  e.picture_a = {};
  e.frames_of_a = 0;
  e.compare = {};
  e.compared_version = 0;
}

/// Compares A with the present scenario: at once, or as a job where the lab computes as one.
static void bring_up_to_date(Shell& shell) {
  ExploreState& e = shell.explore;
  const Session& session = shell.workspace.current();
  if (e.compare_job.ended()) {
    const bool found = e.compare_job.done() && *e.compare_found;
    e.compare = found ? std::move(**e.compare_found) : CompareResult{};
    e.compare_job = {};
  }
  if (e.compare_job) shell.animating = true;
  if (e.compared_version == session.version() || e.compare_job || session.computing()) return;
  e.compared_version = session.version();
  if (!session.lab().info().job) {
    auto compared = compare(*e.scenario_a, session.lab());
    e.compare = compared ? std::move(*compared) : CompareResult{};
    return;
  }
  e.compare_found = std::make_shared<models::Result<CompareResult>>();
  e.compare_job = shell.workspace.jobs.submit(
      "compare", [a = std::shared_ptr<const chapters::Lab>(e.scenario_a->clone()),
                  b = std::shared_ptr<const chapters::Lab>(session.lab().clone()),
                  found = e.compare_found](chapters::Progress&) { *found = compare(*a, *b); });
}

void show_compare(Shell& shell, float width) {
  ExploreState& e = shell.explore;
  const auto& t = theme();
  if (ui::button("Set aside as A")) set_aside_a(shell);
  if (!e.scenario_a)
    return ui::wrapped("Set the present scenario aside as A, then change anything: what follows is why B differs.",
                       t.muted, Type::small);
  bring_up_to_date(shell);
  ImGui::SameLine();
  if (ui::button("Swap A and B")) {
    auto b = shell.workspace.current().shown();
    shell.workspace.say_failure(
        shell.workspace.open_with(e.lab, fields_to_json(e.scenario_a->inputs()), Json::object()));
    forget_a(shell);
    e.scenario_a = std::move(b);
    return;
  }
  ImGui::SameLine();
  if (ui::button("Forget A")) return forget_a(shell);
  if (e.compare.steps.empty()) return ui::text("A and B are the same so far: change an input.", t.muted, Type::small);
  const auto line = [&](const ComparedOutput& o) {
    char shown[256];
    const auto a = widgets::format(o.a, o.unit), b = widgets::format(o.b, o.unit);
    if (a.view() == b.view()) return;  // too small a change to be told apart
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
  if (e.compare.steps.size() < 2) return;  // one change is the whole difference
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter::window().line(at, {at.x + width, at.y}, t.line);
  ui::spacing(4);
  ui::text("A to B in all", t.text, Type::small, Font::bold);
  for (const auto& o : e.compare.total) line(o);
}

}  // namespace app
