#include "app/shell/stage_area.h"
#include "app/shell/controls/field_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/explore/fixes.h"
#include "app/scenario/scenario.h"
#include "app/shell/presets_row.h"
#include "app/shell/ui.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/stage/sentence.h"

namespace app {
namespace {

/// What the bar and the button of a job take at the right.
float job_width() { return theme().px(64 + 150 + 24); }

/// A job that lasts longer than a blink shows how far it is, and can be stopped; the last good picture stays meanwhile.
void draw_job(Shell& shell, ImVec2 top_right) {
  Session& session = shell.workspace.current();
  shell.computing_frames = session.computing() ? shell.computing_frames + 1 : 0;
  constexpr int blink = 8;
  if (shell.computing_frames <= blink) return;
  const auto& t = theme();
  const float stop = t.px(64), bar = t.px(150);
  ImGui::SetCursorScreenPos({top_right.x - stop, top_right.y});
  if (ui::button("Stop")) session.cancel();
  const ImVec2 at{top_right.x - stop - bar - t.px(10), top_right.y + t.px(15)};
  ui::bar(at, bar, session.fraction(), t.accent);
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.0f %%", 100 * session.fraction());
  Painter::window().text({at.x, at.y - t.px(16)}, percent, t.muted, Type::small);
}

/// A figure of the answer that the pointer rests on is an output's: its marks are lit too, and its figure with the unit
/// that the sentence has beside it. Of outputs that read alike one of the large ones is meant.
void light_answered_output(const chapters::Lab& lab) {
  const std::string_view words = widgets::lit_words();
  if (words.empty()) return;
  for (const bool headline : {true, false})
    for (const chapters::Field& f : lab.outputs()) {
      if (f.spec.headline != headline || !f.is_number()) continue;
      for (const int digits : {3, 4, 2}) {
        const auto whole = widgets::format(f.number(), f.spec.unit, digits, prefix_of(f));
        const auto parts = widgets::format_parts(f.number(), f.spec.unit, digits, prefix_of(f));
        if (whole.view() != words && (parts.number.view() != words || words.size() < 2)) continue;
        const std::string_view same[] = {parts.number, whole};
        return widgets::light_figure(f.key, same);
      }
    }
}

/// How the verdict of an answer is set: a long one, which breaks the rules of an answer or is a reason, in smaller
/// type.
widgets::SentenceStyle verdict_style(std::string_view verdict, float width, bool bad) {
  const auto& t = theme();
  widgets::SentenceStyle style{Type::title, Font::bold, bad ? t.warning : t.text, t.accent};
  if (bad || widgets::sentence_lines(verdict, width, style) > 2) style.type = Type::body;
  return style;
}

/// The question, which is never cut, and under it the answer: its verdict, and in smaller type the line that says why;
/// or the reason why there is none. Returns their height, in which two lines of verdict and one of why have room
/// whatever is said, so that no picture moves when a sentence grows. Where room is `scarce` one line is kept.
float draw_lines(Shell& shell, ImVec2 at, float width, bool scarce) {
  const auto& t = theme();
  const Painter p = Painter::window();
  chapters::Lab& lab = shell.workspace.lab();
  const bool by_job = lab.info().job;
  const widgets::SentenceStyle asks{Type::body, Font::sans, t.muted, t.muted};
  float y = at.y + widgets::draw_sentence(p, at, lab.info().question, width - (by_job ? job_width() : 0), asks);
  if (by_job) y = std::max(y, at.y + ImGui::GetFrameHeight());
  y += t.px(4);
  const float top = y;
  const std::string_view answer = shell.prediction_hides_outputs ? std::string_view() : lab.answer();
  const bool bad = !lab.reason().empty();
  const std::size_t cut = std::min(answer.find('\n'), answer.size());
  const std::string_view verdict = answer.substr(0, cut), why = answer.substr(std::min(cut + 1, answer.size()));
  const widgets::SentenceStyle says{Type::small, Font::sans, t.muted, t.text};
  if (!verdict.empty()) {
    y += widgets::draw_sentence(p, {at.x, y}, verdict, width, verdict_style(verdict, width, bad));
    if (!why.empty()) y += widgets::draw_sentence(p, {at.x, y}, why, width, says);
    if (ImGui::IsMouseHoveringRect({at.x, top}, {at.x + width, y})) light_answered_output(lab);
  }
  if (lab.info().hidden) return (answer.empty() ? top - t.px(4) : y) - at.y;
  const auto line = [&](Type type) {
    return widgets::sentence_height("A", width, {type, Font::bold, t.text, t.accent});
  };
  // A verdict of three lines is set in the smaller type, which takes a little more than two of the larger.
  const float verdict_px = std::max(2 * line(Type::title), 3 * line(Type::body));
  const float kept = scarce ? line(Type::title) : verdict_px + line(Type::small);
  return std::max(y, top + kept) - at.y;
}

void apply_fix(Shell& shell, const Fix& fix) {
  if (const auto* f = shell.workspace.lab().inputs().find(fix.key)) f->set_number(fix.value);
}

/// What a press would make feasible again, once a job has found it.
void draw_fixes(Shell& shell) {
  FixState& state = shell.fixes;
  Session& session = shell.workspace.current();
  const std::string_view lab = session.lab().info().id;
  if (state.lab != lab || state.version != session.version()) {
    state.lab = lab;
    state.version = session.version();
    state.found.clear();
    state.result = std::make_shared<std::vector<Fix>>();
    const std::shared_ptr<const chapters::Lab> copy = session.lab().clone();
    state.job = shell.workspace.jobs.submit(
        "fixes", [copy, out = state.result](chapters::Progress& progress) { *out = find_fixes(*copy, progress); });
  }
  if (state.job && state.job.ended()) {
    if (state.job.done()) state.found = std::move(*state.result);
    state.job = {};
  }
  if (state.job) shell.animating = true;
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  bool first = true;
  for (const Fix& fix : state.found) {
    if (!first) widgets::next_button(fix.words.c_str(), right);
    first = false;
    ImGui::PushID(fix.key.c_str());
    if (ui::button(fix.words.c_str())) apply_fix(shell, fix);
    ImGui::PopID();
    ui::hint("Sets this one input to the nearest value that works; undo takes it back.");
  }
}

/// Draws the scenario that was set aside once, out of sight, to learn what its plots and bars show. Marks that can be
/// dragged are offered from a plot's second frame on, so it takes three frames.
void gather_a(Shell& shell, const widgets::Rect& area) {
  ExploreState& e = shell.explore;
  constexpr int frames = 3;
  if (!compared_with(shell) || e.frames_of_a >= frames || shell.record) return;
  ++e.frames_of_a;
  shell.animating = true;
  const ImVec2 at{-4 * ImGui::GetIO().DisplaySize.x, 0}, size{2 * area.width(), 2 * area.height()};
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("the scenario set aside", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                   ImGuiWindowFlags_NoBringToFrontOnFocus);
  {
    const widgets::GatherReference gather(e.picture_a);
    widgets::Stage stage(e.stage_a, {at, {at.x + size.x, at.y + size.y}}, {.scale = theme().scale});
    e.scenario_a->draw(stage);
  }
  ImGui::End();
}

/// The number that was guessed last of what the picture shows; none while a question is open.
std::optional<widgets::ShownGuess> guess_in_picture(const Shell& shell) {
  if (shell.prediction_hides_outputs) return std::nullopt;
  const chapters::Lab& lab = shell.workspace.lab();
  const auto all = guesses(shell, lab.info().id);
  for (std::size_t i = all.size(); i > 0; --i) {
    const Guess& guess = all[i - 1];
    if (!guess.here || guess.kind != QuestionKind::number) continue;
    const chapters::Field* const output = lab.outputs().find(guess.output);
    if (output) return widgets::ShownGuess{guess.output, output->spec.label, output->spec.unit, guess.value};
  }
  return std::nullopt;
}

/// Covers the whole place of the picture where there is none to draw: under a question, or because inputs without an
/// answer came first.
void draw_no_picture(const widgets::Rect& area, const char* why) {
  widgets::draw_veil(Painter::window(), area, why);
  ImGui::SetCursorScreenPos(area.min);
  ImGui::Dummy({std::max(area.width(), 0.0f), std::max(area.height(), 0.0f)});  // the row of fixes may be empty
}

}  // namespace

const chapters::Lab* compared_with(const Shell& shell) {
  const ExploreState& e = shell.explore;
  return e.scenario_a && e.lab == shell.workspace.lab().info().id && e.scenario_a->reason().empty() ? e.scenario_a.get()
                                                                                                    : nullptr;
}

widgets::StageView& stage_view(Shell& shell) {
  const std::string_view id = shell.workspace.lab().info().id;
  const auto at = shell.stages.find(id);
  return at != shell.stages.end() ? at->second : shell.stages[std::string(id)];
}

void draw_stage_area(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  chapters::Lab& lab = shell.workspace.lab();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool bad = !lab.reason().empty();
  float y = at.y;
  const bool words = !shell.picture_alone;
  if (words && question_shown(shell)) {  // in the same lines, so that nothing jumps at the reveal
    y += draw_question(shell, {at, {at.x + size.x, at.y + size.y}});
    if (question_takes_stage(shell)) return;
  } else if (words) {
    draw_job(shell, {at.x + size.x, at.y});
    y += draw_lines(shell, at, size.x, size.y < t.px(420)) + t.px(8);
  }
  const bool low = size.y < t.px(330);  // the picture needs what height there is; the palette has the presets too
  if (!question_shown(shell) && !shell.presentation && words && (bad || !low) &&
      (bad || !shell.workspace.content.of(lab.info().id).presets.empty())) {
    ImGui::SetCursorScreenPos({at.x, y});
    const bool notes = size.y > t.px(500);
    if (bad) {  // in the presets' place, and as high
      draw_fixes(shell);
      y += presets_height(shell, size.x, notes);
    } else {
      y += draw_presets(shell, size.x, notes);
    }
  }
  const widgets::Rect area{{at.x, std::floor(y)}, {at.x + size.x, at.y + size.y}};
  const widgets::Cover cover = shell.prediction_hides_outputs ? widgets::Cover::veiled
                               : lab.shows_earlier()          ? widgets::Cover::dimmed
                                                              : widgets::Cover::none;
  gather_a(shell, area);
  const std::optional<widgets::ShownGuess> guess = guess_in_picture(shell);
  const widgets::ShowGuess guessed(guess ? &*guess : nullptr);
  const widgets::ShowReference reference(compared_with(shell) ? &shell.explore.picture_a : nullptr);
  widgets::Stage stage(stage_view(shell), area,
                       {.scale = t.scale, .one_panel = shell.presentation || shell.picture_alone}, cover);
  stage.give(shell.predict.given_axes);
  if (shell.record_panel != 0) stage.record(shell.record_panel, shell.record);
  if (bad && cover == widgets::Cover::veiled)  // which panels there are would say it
    draw_no_picture(area, "veiled until you commit");
  else if (!bad || lab.shows_earlier())
    lab.draw(stage);
  else
    draw_no_picture(area, "there is no picture of inputs without an answer");
}

}  // namespace app
