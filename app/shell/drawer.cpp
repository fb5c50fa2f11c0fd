#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "app/platform/json.h"
#include "app/shell/controls/field_text.h"
#include "app/shell/predict/predict_parts.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"
#include "widgets/prose/prose_veil.h"

namespace app {
namespace {

std::string_view text_of(const Field& f, const widgets::LiveKey& key, widgets::NumberText& scratch) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer: {
      const std::string_view unit = key.unit.empty() ? f.spec.unit : key.unit;
      scratch = widgets::format(f.number(), unit, 3, key.prefix);
      return scratch;
    }
    case Kind::file:
      return f.file().path.empty() ? std::string_view("none") : std::string_view(f.file().path);
    case Kind::choices:
      scratch = widgets::format(static_cast<double>(f.chosen().size()), "");
      return scratch;
    case Kind::reals:
      scratch = widgets::format(static_cast<double>(f.reals().size()), "");
      return scratch;
    case Kind::table:
      scratch = widgets::format(static_cast<double>(f.table_size()), "");
      return scratch;
    default:
      return field_text(f, scratch);
  }
}

/// What the open question asks for; without a key where none is open.
widgets::AskedOutput asked_of(const Shell& shell, widgets::NumberText& figure) {
  const PredictState& state = shell.predict;
  if (!question_open(shell) || !state.asked) return {};
  const Prediction* const asked = question_of(shell);
  const Field* const output = asked ? state.asked->outputs().find(asked->output) : nullptr;
  if (!output) return {};
  widgets::AskedOutput out{.key = output->key, .label = output->spec.label, .options = state.choices};
  const bool number = output->is_number();
  if (number && shell.workspace.lab().reason().empty())
    if (const Field* const computed = shell.workspace.lab().outputs().find(output->key)) {
      constexpr std::ptrdiff_t telling = 3;  // digits; shorter figures stand in any text
      figure = widgets::format(computed->number(), computed->spec.unit, 3);
      const std::string_view words = figure;
      if (std::count_if(words.begin(), words.end(), [](char c) { return c >= '0' && c <= '9'; }) >= telling)
        out.figure = words;
    }
  return out;
}

void draw_angle(Shell& shell, std::size_t angle) {
  const chapters::Lab& lab = shell.workspace.lab();
  const std::string& text =
      angle == 0 ? concept_with_aims(shell) : shell.workspace.content.of(lab.info().id).prose[angle];
  if (text.empty()) return ui::text("Nothing is written here yet for this lab.", theme().muted);
  using LiveValue = std::string_view (*)(const void*, std::string_view, widgets::NumberText&);
  const LiveValue value = [](const void* context, std::string_view key, widgets::NumberText& scratch) {
    return live_value(*static_cast<const chapters::Lab*>(context), key, scratch);
  };
  const LiveValue veiled = [](const void* context, std::string_view key, widgets::NumberText& scratch) {
    const auto& l = *static_cast<const chapters::Lab*>(context);
    return l.outputs().find(widgets::split_live_key(key).name) ? std::string_view("veiled")
                                                               : live_value(l, key, scratch);
  };
  const widgets::ProseSource source{
      &lab, question_open(shell) ? veiled : value, [](const void* context, std::string_view key) -> std::string_view {
        const auto& l = *static_cast<const chapters::Lab*>(context);
        const auto name = widgets::split_live_key(key).name;
        const Field* f = l.outputs().find(name);
        if (!f) f = l.inputs().find(name);
        return !f ? std::string_view() : !f->spec.formula.empty() ? f->spec.formula : f->spec.label;
      }};
  widgets::NumberText figure;
  const widgets::AskedOutput asked = asked_of(shell, figure);
  std::optional<widgets::VeilProse> veil;
  if (!asked.key.empty()) veil.emplace(asked);
  const auto result = widgets::draw_prose("prose", prose_with_terms(shell, text), source, shell.prose,
                                          ImGui::GetContentRegionAvail().x);
  if (!serve_terms(shell, result.hovered, result.clicked) && !result.clicked.empty())
    shell.workspace.say_failure(shell.workspace.open_link(result.clicked));
  if (!result.copied.empty()) shell.workspace.say("Copied " + std::string(result.copied) + ".");
}

void claim_heading(const Claim& claim, const models::Result<CheckedClaim>& checked) {
  const auto& t = theme();
  if (!checked)
    ui::text("?", t.warning, Type::body, Font::bold);
  else if (checked->verdict == Verdict::right)
    ui::text("\xE2\x9C\x93 holds", t.good, Type::body, Font::bold);
  else if (checked->verdict == Verdict::unsettled)
    ui::text("? unsettled", t.warning, Type::body, Font::bold);
  else
    ui::text("\xC3\x97 does not hold", t.bad, Type::body, Font::bold);
  ImGui::SameLine();
  ui::text(claim.source, t.muted, Type::small);
}

/// "claimed 312 TFLOP/s computed 311 TFLOP/s off by 0.3 %".
void claim_figures(const Claim& claim, const CheckedClaim& checked) {
  const auto& t = theme();
  const auto labelled = [&](const char* label, const widgets::NumberText& figure, ImU32 colour) {
    ui::text(label, t.muted, Type::small);
    ImGui::SameLine();
    ui::text(figure, colour, Type::small, Font::mono);
  };
  labelled("claimed", widgets::format(claim.claimed, checked.unit, 5), t.text);
  ImGui::SameLine();
  labelled("computed", widgets::format(checked.computed, checked.unit, 5), t.accent);
  ImGui::SameLine();
  labelled("off by", widgets::format(std::round(checked.residual * 1e4) / 100.0, "%", 3), t.text);
}

void draw_claim(Shell& shell, const Claim& claim, const models::Result<CheckedClaim>& checked) {
  const auto& t = theme();
  claim_heading(claim, checked);
  ui::wrapped(claim.statement, t.text);
  if (checked) {
    claim_figures(claim, *checked);
    ui::wrapped(claim.why, t.text, Type::small);
  } else {
    ui::wrapped(checked.error, t.warning, Type::small);
  }
  if (ui::button("See it in the lab")) {
    shell.workspace.progress.explore(claim.lab);
    shell.workspace.say_failure(shell.workspace.open_with(claim.lab, parse_own_json(claim.set), Json::object()));
  }
  ui::spacing(4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter::window().line(at, {at.x + ImGui::GetContentRegionAvail().x, at.y}, t.grid);
  ui::spacing(4);
}

/// The editor asks for more room, or gives some back.
int fit_note(ImGuiInputTextCallbackData* data) {
  auto& note = *static_cast<std::string*>(data->UserData);
  note.resize(static_cast<std::size_t>(data->BufTextLen));
  data->Buf = note.data();
  return 0;
}

/// The tabs in one row; those without room stand behind "more". Over a canvas the row ends in the word that folds it.
template <class Shown, class Press>
void draw_drawer_tabs(Shell& shell, std::span<const char* const> names, const Shown& shown, const Press& press) {
  const auto& t = theme();
  const auto width_of = [](std::string_view s) { return widgets::text_size(s, Type::body).x; };
  constexpr std::string_view fold = "Fold";
  const float left = ImGui::GetCursorScreenPos().x, least = t.px(8);
  const float right = left + ImGui::GetContentRegionAvail().x - (shell.drawer_over ? width_of(fold) + t.px(16) : 0);
  const auto count = static_cast<int>(names.size());
  float needed = 0, tabs = 0;
  for (int i = 0; i < count; ++i) {
    if (!shown(i)) continue;
    needed += width_of(names[static_cast<std::size_t>(i)]);
    ++tabs;
  }
  const float spare = (right - left - needed) / std::max(tabs - 1, 1.0f);
  const float gap = std::clamp(spare, least, t.px(22));
  const bool all_fit = spare >= least;
  float end = all_fit ? HUGE_VALF : right - width_of("more") - gap;
  float x = left;
  int first_hidden = count;
  for (int i = 0; i < count; ++i) {
    if (!shown(i)) continue;
    const char* const name = names[static_cast<std::size_t>(i)];
    if (x + width_of(name) > end) {
      first_hidden = i;
      break;
    }
    if (x > left) ImGui::SameLine(0, gap);
    if (ui::tab(name, shell.drawer_open && static_cast<int>(shell.drawer) == i, true)) press(i);
    x += width_of(name) + gap;
  }
  if (first_hidden < count) {
    ImGui::SameLine(0, gap);
    const bool behind = shell.drawer_open && static_cast<int>(shell.drawer) >= first_hidden;
    if (ui::tab("more", behind, true)) ImGui::OpenPopup("more of the drawer");
    if (ImGui::BeginPopup("more of the drawer")) {
      for (int i = first_hidden; i < count; ++i)
        if (shown(i) && ImGui::Selectable(names[static_cast<std::size_t>(i)], static_cast<int>(shell.drawer) == i))
          press(i);
      ImGui::EndPopup();
    }
  }
  if (!shell.drawer_over) return;
  ImGui::SameLine(0, 0);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({std::max(at.x, right + t.px(16)), at.y});
  if (ui::tab(fold.data(), false, true)) shell.drawer_open = false;
}

}  // namespace

std::string_view live_value(const chapters::Lab& lab, std::string_view key, widgets::NumberText& scratch) {
  const auto live = widgets::split_live_key(key);
  if (const Field* f = lab.outputs().find(live.name)) {
    if (!lab.reason().empty()) return "—";
    return text_of(*f, live, scratch);
  }
  if (const Field* f = lab.inputs().find(live.name)) return text_of(*f, live, scratch);
  return {};
}

void draw_notes(Shell& shell) {
  const std::string_view lab = shell.workspace.lab().info().id;
  if (shell.note_lab != lab) {
    shell.note_lab = lab;
    shell.note = shell.workspace.notes.of(lab);
    std::replace(shell.note.begin(), shell.note.end(), '\0', ' ');  // where an editor of C strings would end the text
  }
  ui::text("Your notes on this lab, in Markdown. They are kept as you type.", theme().muted, Type::small);
  if (ImGui::InputTextMultiline("##notes", shell.note.data(), shell.note.capacity() + 1, {-1, -1},
                                ImGuiInputTextFlags_CallbackResize, fit_note, &shell.note)) {
    shell.note.resize(std::strlen(shell.note.c_str()));
    shell.workspace.notes.set(lab, shell.note);
  }
  if (ImGui::IsItemDeactivatedAfterEdit()) shell.workspace.save();
}

void draw_claims(Shell& shell) {
  if (question_open(shell)) return ui::text("Veiled until you commit to an answer.", theme().muted);
  const std::string_view lab = shell.workspace.lab().info().id;
  if (shell.workspace.claims.count(lab) == 0) return ui::text("No claim is recorded for this lab.", theme().muted);
  const ClaimTables::Table* const claims = shell.workspace.claims.of(lab);
  if (!claims) {
    shell.animating = true;
    return ui::working("What the lab computes of each claim is being worked out.", shell.workspace.claims.fraction());
  }
  for (const auto& [claim, checked] : *claims) {
    ImGui::PushID(claim->id.c_str());
    draw_claim(shell, *claim, checked);
    ImGui::PopID();
  }
}

namespace {

void draw_open_tab(Shell& shell) {
  ui::spacing(4);
  switch (shell.drawer) {
    case Drawer::claims:
      return draw_claims(shell);
    case Drawer::measured:
      return draw_measured(shell);
    case Drawer::predict:
      return draw_predict(shell);
    case Drawer::explore:
      if (question_open(shell)) return ui::text("Veiled until you commit to an answer.", theme().muted);
      return draw_explore(shell);
    case Drawer::notes:
      return draw_notes(shell);
    case Drawer::lesson:
      return draw_lesson_editor(shell);
    default:
      return draw_angle(shell, static_cast<std::size_t>(shell.drawer));
  }
}

/// A second press on the open tab folds the drawer.
void press_tab(Shell& shell, Drawer tab) {
  const bool selected = shell.drawer_open && shell.drawer == tab;
  shell.workspace.settings.drawer_chosen = true;
  shell.drawer_open = !selected;
  shell.drawer = tab;
  if (shell.drawer_open && tab == Drawer::predict && !question_shown(shell))
    ask_question(shell, first_unanswered(shell));
}

}  // namespace

void draw_drawer(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  if (ui::begin_panel("drawer", size, t.panel, {18, 4},
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const std::string_view lab = shell.workspace.lab().info().id;
    const std::size_t figures = shell.workspace.figures.count(lab);
    char claims[32], measured[32];
    std::snprintf(claims, sizeof claims, "Claims %zu", shell.workspace.claims.count(lab));
    std::snprintf(measured, sizeof measured, "Measured %zu", figures);
    const char* names[] = {"Concept", "Design",  "Code",    "Debug", "Frontier", claims,
                           measured,  "Predict", "Explore", "Notes", "Lesson"};
    const bool lesson_tab = shell.lesson.recording || shell.drawer == Drawer::lesson;
    const auto shown = [&](int i) {
      return (i != static_cast<int>(Drawer::measured) || figures > 0) &&
             (i != static_cast<int>(Drawer::lesson) || lesson_tab);
    };
    const auto press = [&](int i) { press_tab(shell, static_cast<Drawer>(i)); };
    draw_drawer_tabs(shell, names, shown, press);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    Painter::window().line({at.x - t.px(18), at.y - t.px(7)}, {at.x + size.x, at.y - t.px(7)}, t.line);
    ImGui::PushID(lab.data());  // each tab of each lab scrolls for itself
    ImGui::PushID(static_cast<int>(shell.drawer));
    const bool open = shell.drawer_open;
    if (open && ImGui::BeginChild("drawer body", {0, 0}, ImGuiChildFlags_NavFlattened)) draw_open_tab(shell);
    if (open) ImGui::EndChild();
    ImGui::PopID();
    ImGui::PopID();
  }
  ImGui::EndChild();
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  Painter::window().line(a, {b.x, a.y}, t.line);
}

}  // namespace app
