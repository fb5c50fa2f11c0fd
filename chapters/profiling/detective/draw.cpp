#include <algorithm>
#include <array>

#include "chapters/profiling/detective/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/controls/button.h"

namespace chapters::profiling::detective {
namespace {

/// Design pixels of the line-up: its head and a row.
constexpr float head_px = 24, row_px = 30;

float line_up_height(const Picture& picture) { return head_px + row_px * static_cast<float>(picture.suspects.size()); }

void seal(Inputs& in) {
  in.sealed = true;
  in.accused = 0;
  in.charge = Charge::none;
  in.fix = models::trace::Fix::nothing;
}
void deal(Inputs& in, std::int64_t seed) {
  in.recording = Source::dealt;
  in.seed = seed;
  seal(in);
}
/// The next of the real ones, after the last the first.
void deal_next(Inputs& in) {
  if (in.recording == Source::dealt) return deal(in, in.seed % 99999 + 1);
  const std::size_t next = static_cast<std::size_t>(in.recording) % models::trace::real_recording_count + 1;
  in.recording = static_cast<Source>(next);
  seal(in);
}

/// Width of the buttons that deal another case; 0 where nobody planted anything.
float deal_width(const Outputs& out, const Picture& picture) {
  if (!picture.graded) return 0;
  const float next = widgets::button_size("Next case").x;
  return out.today_case > 0 ? next + widgets::theme().px(8) + widgets::button_size("Case of the day").x : next;
}

void deal_buttons(Inputs& in, const Outputs& out) {
  if (widgets::button("Next case") && !widgets::veiled()) deal_next(in);
  if (!(out.today_case > 0)) return;
  ImGui::SameLine(0, widgets::theme().px(8));
  if (widgets::button("Case of the day") && !widgets::veiled()) deal(in, static_cast<std::int64_t>(out.today_case));
}

/// The board, and under it the line-up with the buttons in its head; where there is no room for both, the buttons stand
/// above the board.
void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float buttons = deal_width(out, picture), button = widgets::button_size("Next case").y + t.px(6);
  if (picture.suspects.empty() || size.y < t.px(360)) {
    const float above = buttons > 0 ? button : 0;
    if (buttons > 0) deal_buttons(in, out);
    ImGui::SetCursorScreenPos({corner.x, corner.y + above});
    draw_board(in, picture, view, {size.x, size.y - above});
    return;
  }
  const float below = std::min(t.px(line_up_height(picture)), 0.46f * (size.y - button));
  draw_board(in, picture, view, {size.x, size.y - below - t.px(12)});
  const float head = corner.y + size.y - below;
  if (buttons > 0) {
    ImGui::SetCursorScreenPos({corner.x + size.x - buttons, head - t.px(8)});
    deal_buttons(in, out);
  }
  ImGui::SetCursorScreenPos({corner.x, head});
  draw_line_up(in, picture, view, {size.x, below}, buttons);
}

void draw_suspects(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "letter", .title = ""},
                                                           {.key = "name"},
                                                           {.key = "suspect_longest_s"},
                                                           {.key = "suspect_length_s", .priority = 1},
                                                           {.key = "suspect_won_s", .bar = true},
                                                           {.key = "verdict"}}};
  view.suspects.draw("suspects", out.suspects, columns, size);
}

void draw_witnesses(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 4> columns{{{.key = "cause"},
                                                           {.key = "where"},
                                                           {.key = "cost_s", .bar = true},
                                                           {.key = "span", .priority = 1, .code = true}}};
  view.witnesses.draw("witnesses", out.witnesses, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("board", {.title = "The board", .least = {560, 400}, .answers = true, .marks = "board"},
              [&](ImVec2 size) {
                if (picture.version == 0) {
                  ImGui::Dummy(size);
                  return;
                }
                draw_hero(in, out, picture, view, size);
              });
  stage.panel("suspects", {.title = "Line-up", .least = {1200, 640}, .scrolls = true},
              [&](ImVec2 size) { draw_suspects(out, view, size); });
  stage.panel("witnesses", {.title = "What the program found", .least = {1200, 640}, .scrolls = true},
              [&](ImVec2 size) { draw_witnesses(out, view, size); });
}

}  // namespace chapters::profiling::detective
