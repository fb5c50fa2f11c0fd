#include <algorithm>

#include "chapters/debugging/pyramid/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/tint.h"
#include "widgets/number/number.h"

namespace chapters::debugging::pyramid {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Theme, widgets::Type;

bool has_run(const Play& play, std::size_t check) { return play.set >> check & 1; }

/// The person pays for a check and learns what it says.
void run_check(const Run& run, std::size_t check, Play& play) {
  if (play.found || has_run(play, check)) return;
  play.ran.push_back(static_cast<std::uint8_t>(check));
  play.set |= std::uint32_t{1} << check;
  play.minutes += run.search.checks[check].minutes;
  if (run.verdicts[check] == Verdict::alarm) play.minutes += run.search.chase_minutes;
  play.found = run.verdicts[check] == Verdict::found || (play.set < run.named.size() && run.named[play.set] != 0);
}

void escalate(const Run& run, Play& play) {
  play.minutes += run.search.escalation_minutes;
  play.found = play.escalated = true;
}

/// A row that is pressed; returns whether it was.
bool press_row(int id, ImVec2 at, ImVec2 size, bool open) {
  const Theme& t = widgets::theme();
  ImGui::PushID(id);
  ImGui::SetCursorScreenPos(at);
  const bool pressed = widgets::press_area("run", size);
  const bool hot = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  const Painter p = Painter::window();
  if (open) p.rect(at, {at.x + size.x, at.y + size.y}, t.card, t.px(4));
  p.frame(at, {at.x + size.x, at.y + size.y}, hot && open ? t.accent : t.line, t.px(1), t.px(4));
  ImGui::PopID();
  return pressed && open;
}

void draw_play_checks(const Run& run, const Picture& picture, Play& play, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), count = static_cast<float>(picture.deal_names.size()) + 1;
  const float line = std::clamp(size.y / count, small + t.px(4), small + t.px(14)), gap = t.px(3);
  for (std::size_t k = 0; k <= picture.deal_names.size(); ++k) {
    const ImVec2 from{at.x, at.y + line * static_cast<float>(k)};
    if (from.y + line > at.y + size.y + 1) break;
    const bool last = k == picture.deal_names.size();
    const bool ran = last ? play.escalated : has_run(play, k);
    const bool open = !play.found && !ran;
    if (press_row(static_cast<int>(k), from, {size.x, line - gap}, open)) {
      if (last)
        escalate(run, play);
      else
        run_check(run, k, play);
    }
    const float y = from.y + (line - gap - small) / 2, pad = t.px(8);
    const float half = size.x * 0.48f;
    widgets::fit_text(p, {from.x + pad, y}, last ? std::string_view("call everybody in") : picture.deal_names[k],
                      half - pad, open ? t.text : t.muted, Type::small);
    std::string_view says;
    if (ran && !last)
      says = run.verdicts[k] == Verdict::found    ? "found it"
             : run.verdicts[k] == Verdict::points ? "one of a group"
             : run.verdicts[k] == Verdict::alarm  ? "a false alarm"
                                                  : "nothing";
    widgets::fit_text(p, {from.x + half, y}, says, size.x * 0.26f, t.text, Type::small);
    const widgets::NumberText takes = widgets::format(run.search.escalation_minutes, "min");
    widgets::fit_text(p, {from.x + size.x - pad, y}, last ? takes.view() : std::string_view(picture.deal_minutes[k]),
                      size.x * 0.24f, t.muted, Type::small, Font::mono, Align::right);
  }
}

/// What the causes' probabilities are after the checks that were run.
void draw_play_causes(const Run& run, const Picture& picture, const Play& play, ImVec2 at, ImVec2 size) {
  if (play.set >= run.left.size()) return;
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), line = small + t.px(8), names = size.x * 0.5f;
  for (std::size_t i = 0; i < picture.cause_names.size(); ++i) {
    const float y = at.y + line * static_cast<float>(i);
    if (y + small > at.y + size.y) return;
    const bool it = play.found && i == run.cause;
    const double share = play.found ? (it ? 1 : 0) : static_cast<double>(run.left[play.set][i]);
    const float room = size.x - names - 4 * small;
    widgets::fit_text(p, {at.x + names - t.px(8), y}, picture.cause_names[i], names - t.px(8), it ? t.text : t.muted,
                      Type::small, it ? Font::bold : Font::sans, Align::right);
    const float x1 = at.x + names + std::max(1.0f, static_cast<float>(share) * room);
    p.rect({at.x + names, y + t.px(1)}, {x1, y + small}, it ? t.good : widgets::with_alpha(t.muted, 0.6f));
    p.text({x1 + t.px(5), y}, widgets::format(100 * share, "%", 2), t.text, Type::small, Font::mono);
  }
}

}  // namespace

void draw_play(const Picture& picture, View& view, ImVec2 size) {
  const Run& run = *picture.run;
  Play& play = view.play;
  if (play.deal_key != picture.deal_key || run.verdicts.size() != picture.deal_names.size()) {
    play.ran.clear();
    play.found = play.escalated = false;
    play.minutes = 0;
    play.set = 0;
    play.deal_key = picture.deal_key;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), head = 2 * small + t.px(16);
  widgets::fit_text(p, at, picture.symptom, size.x, t.text, Type::small);
  float x = at.x;
  const float y = at.y + small + t.px(5);
  x += p.text({x, y}, widgets::format(play.minutes, "min"), t.accent, Type::small, Font::mono) + t.px(10);
  if (!play.found) {
    widgets::fit_text(p, {x, y}, "paid so far. Press a check to run it.", at.x + size.x - x, t.muted, Type::small);
  } else {
    x += p.text({x, y}, "until it was found; the best order takes", t.muted, Type::small) + t.px(6);
    widgets::fit_text(p, {x, y}, widgets::format(run.best_would_take, "min"), at.x + size.x - x, t.text, Type::small,
                      Font::mono);
  }
  const float left = size.x * 0.5f - t.px(10);
  draw_play_checks(run, picture, play, {at.x, at.y + head}, {left, size.y - head});
  draw_play_causes(run, picture, play, {at.x + size.x * 0.5f + t.px(10), at.y + head},
                   {size.x * 0.5f - t.px(10), size.y - head});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::debugging::pyramid
