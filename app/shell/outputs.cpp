#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "app/shell/controls/field_text.h"
#include "app/shell/inspector.h"
#include "app/shell/stage_area.h"
#include "app/shell/ui.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/times_sign.h"
#include "widgets/base/wrapped_text.h"

namespace app {
namespace {

/// Follows the headline figures from edit to edit, so that each card can say what it was before.
void follow_headlines(Shell& shell) {
  HeadlineState& state = shell.headlines;
  const Session& session = shell.workspace.current();
  const chapters::Lab& lab = session.lab();
  std::array<double, HeadlineState::most> values{};
  std::size_t n = 0;
  for (const Field& f : lab.outputs())
    if (f.spec.headline && n < values.size()) values[n++] = f.is_number() ? f.number() : std::nan("");
  // A job's first figures are a change of nothing.
  const bool nothing_yet = shell.workspace.lab().answer().empty() && lab.reason().empty();
  if (nothing_yet || state.lab != lab.info().id) {
    state.lab = nothing_yet ? std::string_view{} : lab.info().id;
    state.edits = session.edits();
    state.before = state.now = values;
    return;
  }
  if (!lab.reason().empty() || session.computing()) return;
  if (state.edits != session.edits()) {
    state.edits = session.edits();
    state.before = state.now;
    state.now = values;
  } else if (session.edits() == 0) {
    state.before = state.now = values;
  } else {
    state.now = values;  // a job's figures come after the edit that asked for them
  }
}

/// "▲ 3.9× from 31.7", or in points where the figure is a share or crosses zero. `than` says what it was before:
/// "from", or "A:" for the scenario that was set aside. False where nothing has changed.
bool draw_change(ImVec2 at, float width, const Field& f, double now, double before, const char* than) {
  const auto& t = theme();
  if (!std::isfinite(now) || !std::isfinite(before)) return false;
  char words[96];
  const double size = std::max(std::abs(now), std::abs(before));
  if (std::abs(now - before) <= 1e-9 * size) return false;
  const auto from = widgets::format(before, f.spec.unit, 3, prefix_of(f));
  const double ratio = before != 0 ? now / before : 0;
  const char* arrow = now > before ? "\xE2\x96\xB2" : "\xE2\x96\xBC";
  if (ratio > 0 && f.spec.unit != "%") {
    const double times = now > before ? ratio : 1 / ratio;
    if (times >= 1.1)
      std::snprintf(words, sizeof words, "%s %.3g\xC3\x97 %s %.*s", arrow, times, than, static_cast<int>(from.length),
                    from.chars);
    else
      std::snprintf(words, sizeof words, "%s %.2g %% %s %.*s", arrow, 100 * (times - 1), than,
                    static_cast<int>(from.length), from.chars);
  } else {
    std::snprintf(words, sizeof words, "%s %s %.*s", arrow, than, static_cast<int>(from.length), from.chars);
  }
  const float needed = widgets::text_size(words, Type::small).x;
  if (needed <= width) {
    Painter::window().text(at, words, t.muted, Type::small);
    return true;
  }
  char* space = std::strstr(words, than);
  if (!space) return true;
  *(space - 1) = '\0';
  Painter::window().text(at, words, t.muted, Type::small);
  return true;
}

/// What the figure is to be seen against, where the lab says so: "of 80 GB".
void draw_reference(const chapters::Lab& lab, const Field& f, ImVec2 at, float room) {
  const std::string_view key = f.spec.against.key;
  if (key.empty()) return;
  const Field* other = lab.outputs().find(key);
  if (!other) other = lab.inputs().find(key);
  if (!other || !has_value(*other)) return;
  widgets::NumberText scratch;
  widgets::Line words;
  words.add(f.spec.against.words).add(" ").add(field_text(*other, scratch, 3));
  widgets::fit_text(Painter::window(), at, words.view(), room, theme().muted, Type::small);
}

}  // namespace

/// The picture lights what shows this output while the pointer rests on the item just made.
static void light_output(const Field& f, const OutputState& state) {
  if (!ImGui::IsItemHovered() || state.hidden || !state.feasible || !has_value(f)) return;
  std::array<widgets::NumberText, 3> written{};
  std::array<std::string_view, 3> words{};
  for (std::size_t i = 0; f.is_number() && i < written.size(); ++i) {
    written[i] = widgets::format(f.number(), f.spec.unit, 4 - static_cast<int>(i), prefix_of(f));
    words[i] = written[i];
  }
  widgets::light_figure(f.key, words);
}

/// What the learner committed to for this figure, while the picture is that of the question.
const Guess* guess_of(const Shell& shell, std::string_view key) {
  for (const Guess& g : guesses(shell, shell.workspace.lab().info().id))
    if (g.here && g.output == key && g.kind == QuestionKind::number) return &g;
  return nullptr;
}

namespace {

/// The last line of a card: the learner's guess where there is one, else the change.
void draw_below(const Shell& shell, const Field& f, ImVec2 at, float room, double now, double before) {
  const Guess* guess = guess_of(shell, f.key);
  if (!guess) {
    const chapters::Lab* const a = compared_with(shell);
    const Field* const theirs = a ? a->outputs().find(f.key) : nullptr;
    const bool said =
        theirs ? draw_change(at, room, f, now, theirs->number(), "A:") : draw_change(at, room, f, now, before, "from");
    if (!said) draw_reference(shell.workspace.lab(), f, at, room);
    return;
  }
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, f.spec.unit, 3, prefix_of(f)), false);
  if (widgets::text_size(words.view(), Type::small).x <= room)
    Painter::window().text(at, words.view(), theme().accent, Type::small);
}

/// A figure that there is none of: a dash with the reason under it, the reason alone in lines where one line is too
/// narrow for it, and the dash alone, with the reason in the hover, where there is no room for all of its words.
void draw_none(const Painter& p, ImVec2 at, ImVec2 room, std::string_view reason) {
  const auto& t = theme();
  const widgets::WrapOptions lines{.line_px = t.px(15)};
  widgets::WrapOptions measure = lines;
  measure.paint = false;
  const bool one_line = widgets::text_size(reason, Type::small).x <= room.x;
  if (!one_line && widgets::wrapped_text(p, at, reason, room.x, t.muted, measure) <= room.y) {
    widgets::wrapped_text(p, at, reason, room.x, t.muted, lines);
    return;
  }
  p.text(at, "\xE2\x80\x94", t.muted, Type::title, Font::mono);
  if (one_line) p.text({at.x, at.y + t.px(26)}, reason, t.muted, Type::small);
}

void draw_card(Shell& shell, const Field& f, const OutputState& state, ImVec2 at, ImVec2 size, double now,
               double before) {
  const auto& t = theme();
  const Painter p = Painter::window();
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(f.key.data());
  widgets::press_area(f.spec.label.data(), size);
  ImGui::PopID();
  copy_output(shell, f, state);
  mark_sought(shell, f);
  p.rect(at, {at.x + size.x, at.y + size.y}, t.card, t.px(6));
  if (ImGui::IsItemHovered()) p.frame(at, {at.x + size.x, at.y + size.y}, t.line, 1, t.px(6));
  ui::focus_ring(t.px(6));
  const float x = at.x + t.px(10), room = size.x - t.px(16);
  p.text_fit({x, at.y + t.px(7)}, f.spec.label, room, t.muted, Type::small);
  const float y = at.y + t.px(27);
  if (state.hidden) {
    const widgets::Rect veil{{x, y}, {at.x + size.x - t.px(10), y + t.px(19)}};
    widgets::hatch(p, veil, t.muted, t.px(6));
    p.frame(veil.min, veil.max, t.line);
    p.text({x, at.y + t.px(53)}, f.spec.unit, t.muted, Type::small);
    return explain_output(f, state);
  }
  if (!state.feasible || !has_value(f)) {
    draw_none(p, {x, y}, {room, at.y + size.y - t.px(3) - y}, state.feasible ? f.spec.absent : std::string_view());
  } else if (f.is_number()) {
    widgets::NumberParts parts;
    Type type = Type::title;
    float number = 0, unit = 0;
    const float gap = f.spec.unit == widgets::times_unit ? t.px(1) : t.px(6);
    for (const int digits : {4, 3, 2}) {  // a figure is never cut: it gives up digits, then size
      parts = widgets::format_parts(f.number(), f.spec.unit, f.kind == Kind::integer && digits == 4 ? 9 : digits,
                                    prefix_of(f));
      number = widgets::text_size(parts.number.view(), type, Font::mono).x;
      unit = parts.unit.length == 0 ? 0 : widgets::text_size(parts.unit, Type::small).x + gap;
      if (number + unit <= room) break;
    }
    if (number + unit > room) type = Type::body;
    number = p.text({x, y}, parts.number.view(), t.text, type, Font::mono);
    if (number + unit <= room + t.px(6))
      p.text({x + number + gap, y + t.type(type) - t.type(Type::small)}, parts.unit, t.muted, Type::small);
    draw_below(shell, f, {x, at.y + t.px(53)}, room, now, before);
  } else {
    widgets::NumberText scratch;
    p.text_fit({x, y + t.px(3)}, field_text(f, scratch), room, t.text, Type::body, Font::bold);
  }
  explain_output(f, state);
}

}  // namespace

void copy_output(Shell& shell, const Field& f, const OutputState& state) {
  const bool key = ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_C) && !ImGui::GetIO().WantTextInput &&
                   (ImGui::IsItemHovered() || ImGui::IsItemFocused());
  if (!key && !ImGui::IsItemClicked(ImGuiMouseButton_Right)) return;
  if (state.hidden || !state.feasible || !has_value(f) || !shell.host.copy) return;
  constexpr int digits = 6;
  widgets::NumberText scratch;
  const std::string text = f.is_number() ? std::string(widgets::format(f.number(), f.spec.unit, digits, prefix_of(f)))
                                         : std::string(field_text(f, scratch));
  shell.host.copy(text);
  shell.workspace.say("Copied " + text + ".");
}

void explain_output(const Field& f, const OutputState& state) {
  light_output(f, state);
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort) || !ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(theme().px(380));
  ui::text(f.spec.label, theme().text, Type::body, Font::bold);
  if (!f.spec.help.empty()) ui::text(f.spec.help, theme().text, Type::small);
  if (f.is_number() && !state.hidden && state.feasible && has_value(f)) {
    const auto exact = widgets::format(f.number(), "", 10, widgets::Prefix::none);
    ui::text(exact, theme().text, Type::small, Font::mono);
    if (!f.spec.unit.empty()) {
      ImGui::SameLine();
      ui::text(f.spec.unit, theme().muted, Type::small);
    }
  }
  if (state.feasible && !state.hidden && !has_value(f) && !f.spec.absent.empty())
    ui::text(f.spec.absent, theme().text, Type::small);
  std::array<char, 512> room;
  if (!f.spec.formula.empty())
    ui::text(widgets::with_times_signs(f.spec.formula, room), theme().accent, Type::small, Font::mono);
  if (!f.spec.source.empty()) ui::text(f.spec.source, theme().muted, Type::small);
  ui::text(f.key, theme().muted, Type::small, Font::mono);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void draw_headlines(Shell& shell, const OutputState& state, float width) {
  const auto& t = theme();
  follow_headlines(shell);
  const chapters::Lab& lab = shell.workspace.lab();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(8), card = std::floor((width - gap) / 2), height = t.px(74);
  std::size_t n = 0, next = 0;
  for (const Field& f : lab.outputs()) {
    if (!f.spec.headline || next >= HeadlineState::most) continue;
    const std::size_t i = next++;
    if (n >= HeadlineState::drawn || !chapters::holds(f.spec.when, lab.inputs())) continue;
    draw_card(shell, f, state,
              {at.x + (n % 2 == 1 ? card + gap : 0), at.y + static_cast<float>(n / 2) * (height + gap)}, {card, height},
              shell.headlines.now[i], shell.headlines.before[i]);
    ++n;
  }
  // A figure that the learner has guessed stands beside them, whatever group it is of.
  for (const Field& f : lab.outputs()) {
    if (f.spec.headline || !guess_of(shell, f.key)) continue;
    draw_card(shell, f, state,
              {at.x + (n % 2 == 1 ? card + gap : 0), at.y + static_cast<float>(n / 2) * (height + gap)}, {card, height},
              std::nan(""), std::nan(""));
    ++n;
  }
  if (n == 0) return;
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, static_cast<float>((n + 1) / 2) * (height + gap)});
}

void draw_output_row(Shell& shell, const Field& f, const OutputState& state, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = t.px(25), unit_width = t.px(58);
  ImGui::PushID(f.key.data());
  widgets::press_area(f.spec.label.data(), {width, height});
  ImGui::PopID();
  copy_output(shell, f, state);
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const float value_right = at.x + width - unit_width;
  std::string_view value = "—", unit;
  widgets::NumberParts parts;
  widgets::NumberText scratch;
  if (state.hidden) {
    value = "?";
  } else if (state.feasible && has_value(f)) {
    if (f.is_number()) {
      parts = widgets::format_parts(f.number(), f.spec.unit, 4, prefix_of(f));
      value = parts.number;
      unit = parts.unit;
    } else if (f.kind == Kind::toggle) {
      value = f.toggle() ? "yes" : "no";
    } else {
      value = field_text(f, scratch);
    }
  }
  const bool wide = !f.is_number() && !state.hidden;
  const float point_room = widgets::text_size(".0167", Type::small, Font::mono).x;
  const auto point = std::min(value.find('.'), value.size());
  const float fraction = widgets::text_size(value.substr(point), Type::small, Font::mono).x;
  const float whole = widgets::text_size(value.substr(0, point), Type::small, Font::mono).x;
  // On the decimal point: the whole part to its left, the fraction to its right.
  const float x = value_right - std::max(point_room, fraction);
  const float label_width = widgets::text_size(f.spec.label, Type::small).x;
  const float label_room = wide ? width * 0.6f : x - whole - at.x - t.px(8);
  p.text_fit({at.x, at.y + t.px(5)}, f.spec.label, label_room, hovered ? t.text : t.muted, Type::small);
  if (wide) {
    p.text_fit({at.x + width, at.y + t.px(5)}, value, std::max(width - label_width - t.px(16), width * 0.4f), t.text,
               Type::small, Font::mono, widgets::Align::right);
  } else {
    p.text({x, at.y + t.px(5)}, value.substr(0, point), t.text, Type::small, Font::mono, widgets::Align::right);
    p.text({x, at.y + t.px(5)}, value.substr(point), t.text, Type::small, Font::mono);
  }
  p.text_fit({value_right + t.px(6), at.y + t.px(5)}, unit, unit_width - t.px(6), t.muted, Type::small);
  p.line({at.x, at.y + height - 1}, {at.x + width, at.y + height - 1}, t.grid);
  ui::focus_ring(t.px(3));
  explain_output(f, state);
}

}  // namespace app
