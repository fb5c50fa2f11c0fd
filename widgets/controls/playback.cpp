#include "widgets/controls/playback.h"

#include <imgui.h>

#include <algorithm>

#include "widgets/base/parts.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

/// As many whole clauses from the left as fit: what is cut is cut before a comma or a semicolon.
std::string_view whole_clauses(std::string_view s, float width) {
  while (text_size(s, Type::small).x > width) {
    std::size_t cut = s.size();
    while (cut > 0 && !((s[cut - 1] == ';' || s[cut - 1] == ',') && cut < s.size() && s[cut] == ' ')) --cut;
    if (cut == 0) break;
    s = s.substr(0, cut - 1);
  }
  return s;
}

constexpr double min_speed = 0.01, max_speed = 100;

}  // namespace

void start_or_stop(Playback& playback, double end_s) {
  playback.playing = !playback.playing;
  if (playback.playing && playback.time_s >= end_s) playback.time_s = 0;
}

void advance(Playback& playback, double end_s, double dt_s) {
  if (!playback.playing) return;
  playback.time_s = std::min(playback.time_s, end_s) + playback.speed * dt_s;
  if (playback.time_s < end_s) return;
  playback.playing = false;
  playback.time_s = end_s;
}

void draw_playback(const char* id, Playback& playback, double end_s, std::string_view caption) {
  const Theme& t = theme();
  advance(playback, end_s, static_cast<double>(ImGui::GetIO().DeltaTime));
  Line play;
  play.add(playback.playing ? "Pause##" : "Play##").add(id);
  if (button(play.c_str())) start_or_stop(playback, end_s);
  ImGui::SameLine(0, t.px(6));
  if (button("Slower")) playback.speed = std::max(min_speed, playback.speed / 2);
  ImGui::SameLine(0, t.px(6));
  if (button("Faster")) playback.speed = std::min(max_speed, playback.speed * 2);
  ImGui::SameLine(0, t.px(12));
  Line line;
  line.add(format(std::min(playback.time_s, end_s), "s"))
      .add(" of ")
      .add(format(end_s, "s"))
      .add(" at ")
      .add(format(playback.speed, ""))
      .add(" x.  ")
      .add(caption);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = button_size("Play").y;
  fit_text(Painter::window(), {at.x, at.y + (height - t.type(Type::small)) / 2}, whole_clauses(line.view(), width),
           width, t.muted, Type::small);
  ImGui::Dummy({width, height});
}

}  // namespace widgets
