#include <algorithm>

#include "chapters/capstone/train/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"

namespace chapters::capstone::train {
namespace {

using widgets::Font, widgets::Painter, widgets::Type;

void draw_game(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const BoardMove move = draw_board(picture.board, view.board, size);
  widgets::drew("rounds");
  take_move(move, in.rounds, in.said);
  if (move.open >= 0 && static_cast<std::size_t>(move.open) < picture.links.size())
    view.requests.open_link = picture.links[static_cast<std::size_t>(move.open)];
}

void paint_box(const Painter& p, ImVec2 at, float side, bool ticked, bool hot) {
  const auto& t = widgets::theme();
  const ImVec2 end{at.x + side, at.y + side};
  if (ticked) p.rect(at, end, t.good, t.px(3));
  p.frame(at, end, hot ? t.accent : ticked ? t.good : t.muted, t.px(1.5f), t.px(3));
  if (!ticked) return;
  const std::array<ImVec2, 3> check{{{at.x + 0.22f * side, at.y + 0.52f * side},
                                     {at.x + 0.43f * side, at.y + 0.74f * side},
                                     {at.x + 0.8f * side, at.y + 0.26f * side}}};
  p.polyline(check, widgets::text_on(t.good, t), t.px(2));
}

/// One thing: a box to tick, its name, and the lab that it is about.
void draw_item(Inputs& in, const Picture& picture, View& view, std::size_t i, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ItemLab& about = picture.item_labs[i];
  const float side = t.px(16), high = t.type(Type::body) + t.px(10), lab = std::min(t.px(110), 0.45f * width);
  ImGui::PushID(static_cast<int>(i));
  ImGui::SetCursorScreenPos(at);
  if (widgets::press_area("tick", {std::max(1.0f, width - lab), high})) in.ticked[i] = !in.ticked[i];
  const bool hot = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  ImGui::SetCursorScreenPos({at.x + width - lab, at.y});
  if (widgets::press_area(about.name.c_str(), {lab, high})) view.requests.open_link = about.link;
  const bool over = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  ImGui::PopID();
  paint_box(p, {at.x, at.y + (high - side) / 2}, side, in.ticked[i], hot);
  widgets::fit_text(p, {at.x + side + t.px(8), at.y + t.px(4)}, item_name(static_cast<Item>(i)),
                    width - lab - side - t.px(14), t.text);
  widgets::fit_text(p, {at.x + width - lab + t.px(4), at.y + t.px(5)}, about.name, lab - t.px(8),
                    over ? t.accent : t.muted, Type::small);
}

void draw_checklist(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::body) + t.px(12), top = t.type(Type::body) + t.px(10);
  const std::size_t columns = size.x > t.px(620) ? 2 : 1, rows = (item_count + columns - 1) / columns;
  const float width = size.x / static_cast<float>(columns) - t.px(12);
  widgets::fit_text(Painter::window(), at, picture.ticked_words, size.x, t.muted);
  for (std::size_t i = 0; i < item_count; ++i) {
    const ImVec2 corner{at.x + static_cast<float>(i / rows) * (width + t.px(20)),
                        at.y + top + static_cast<float>(i % rows) * line};
    if (corner.y + line <= at.y + size.y + 1) draw_item(in, picture, view, i, corner, width);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

void draw_rounds(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {{"move", "move"},
                                                {"wall_s", "the run"},
                                                {"won_s", "won"},
                                                {"mfu", "MFU"},
                                                {.key = "efficiency", .title = "counts", .priority = 1},
                                                {"memory_bytes", "a GPU"},
                                                {.key = "said_s", .title = "you said", .priority = 2},
                                                {.key = "bounced", .title = "bounced", .priority = 3}};
  view.rounds.draw("rounds", out.board, columns, size);
}

void draw_causes(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"cause", "goes into"}, {.key = "wall_s", .title = "of the run", .bar = true}, {"share", "share"}};
  view.causes.draw("causes", out.causes, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("board",
              {.title = "The board", .least = {640, 330}, .ideal = {0, 500}, .answers = true, .marks = "rounds"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 room) { draw_game(in, picture, view, room); }, 460);
              });
  stage.panel("checklist", {.title = "No slab shows these", .least = {300, 240}},
              [&](ImVec2 size) { draw_checklist(in, picture, view, size); });
  stage.panel("causes", {.title = "Where the run goes", .least = {360, 230}, .scrolls = true},
              [&](ImVec2 size) { draw_causes(out, view, size); });
  stage.panel("rounds", {.title = "Round by round", .least = {440, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_rounds(out, view, size); });
}

}  // namespace chapters::capstone::train
