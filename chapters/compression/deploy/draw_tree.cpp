#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "chapters/compression/deploy/lab.h"
#include "chapters/compression/shared/guess_note.h"
#include "widgets/base/arrow.h"
#include "widgets/base/marks.h"

namespace chapters::compression::deploy {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// Where the boxes stand, in screen pixels.
struct TreePlan {
  Rect area;
  float pitch_x = 1, pitch_y = 1, box_w = 1, leaf_w = 1, box_h = 1;
  bool notes = false, small = false;  ///< a second line; both in small type

  Rect box(const TreeBox& b) const {
    const float x = area.min.x + pitch_x * static_cast<float>(b.column),
                y = area.min.y + pitch_y * (static_cast<float>(b.row) + 0.5f) - box_h / 2;
    return {{std::round(x), std::round(y)}, {std::round(x + (b.leaf ? leaf_w : box_w)), std::round(y + box_h)}};
  }
};

TreePlan plan_of(const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  TreePlan p{.area = area};
  const auto columns = static_cast<float>(picture.columns), rows = static_cast<float>(picture.rows);
  const float gap = std::clamp(area.width() * 0.026f, t.px(8), t.px(34));
  // Recipes have longer names than questions.
  p.box_w = std::max(1.0f, (area.width() - gap * (columns - 1)) / (columns + 0.2f));
  p.leaf_w = std::max(1.0f, area.width() - (p.box_w + gap) * (columns - 1));
  p.pitch_x = p.box_w + gap;
  p.pitch_y = area.height() / rows;
  const float two = t.type(Type::body) + t.type(Type::small) + t.px(8), one = t.type(Type::small) + t.px(8);
  const float tight = 2 * t.type(Type::small) + t.px(8);
  p.small = p.pitch_y < two + t.px(3);
  p.notes = !p.small || p.pitch_y >= tight + t.px(3);
  p.box_h = std::min(!p.notes ? one : p.small ? tight : two, p.pitch_y - t.px(2));
  return p;
}

/// From the parent's upper or lower edge to the child's left one, with a corner.
void draw_branch(const Painter& p, const TreePlan& plan, const TreeBox& parent, const TreeBox& child) {
  const auto& t = widgets::theme();
  const Rect from = plan.box(parent), to = plan.box(child);
  const float x = std::round(from.min.x + from.width() * 0.5f), y = std::round((to.min.y + to.max.y) / 2);
  const bool walked = parent.reached && child.reached;
  const std::array<ImVec2, 3> path{ImVec2{x, child.yes ? from.min.y : from.max.y}, ImVec2{x, y},
                                   ImVec2{to.min.x - t.px(1), y}};
  widgets::draw_arrow(p, path, walked ? t.text : widgets::with_alpha(t.muted, 0.6f), t.px(walked ? 2.5f : 1.2f));
  const std::string_view word = child.yes ? "yes" : "no";
  const float room = from.max.x - x, high = t.type(Type::small);
  const float clear = child.yes ? from.min.y - y : y - from.max.y;
  if (room < widgets::text_size(word, Type::small).x + t.px(8)) return;
  if (plan.pitch_y < (walked ? 1.7f : 2.1f) * high) return;  // rows too close for words between them
  // Yes stands over its line and no under it, so that neither touches the question.
  if (clear < 0) return;
  const float at = child.yes ? y - high - t.px(3) : y + t.px(2);
  if (at < plan.area.min.y || at + high > plan.area.max.y) return;
  p.text({x + t.px(5), at}, word, walked ? t.text : t.muted, Type::small, walked ? Font::bold : Font::sans);
}

void draw_box(const Painter& p, const TreePlan& plan, const TreeBox& box) {
  const auto& t = widgets::theme();
  const Rect at = plan.box(box);
  const bool says = box.leaf && box.reached;
  p.rect(at.min, at.max, box.reached ? t.card : t.grid, t.px(box.leaf ? 9 : 4));
  // Accent is what was set; the way through the tree and what it recommends have a frame.
  if (box.yours) p.rect(at.min, at.max, t.accent, t.px(9));
  if (box.reached) p.frame(at.min, at.max, t.text, t.px(says ? 2.5f : 2), t.px(says ? 9 : 4));
  const ImU32 ink = box.yours ? widgets::text_on(t.accent, t) : box.reached ? t.text : t.muted;
  const float room = at.width() - t.px(8), x = (at.min.x + at.max.x) / 2;
  const Type type = !plan.small && widgets::text_size(box.text, Type::body, says ? Font::bold : Font::sans).x <= room
                        ? Type::body
                        : Type::small;
  const bool two = plan.notes && !box.note.empty();
  const float height = t.type(type) + (two ? t.type(Type::small) + t.px(2) : 0.0f);
  const float y = (at.min.y + at.max.y - height) / 2;
  const bool bold = says && widgets::text_size(box.text, type, Font::bold).x <= room;
  const bool whole = box.brief.empty() || widgets::text_size(box.text, type).x <= room;
  widgets::fit_text(p, {x, y}, whole ? box.text : box.brief, room, ink, type, bold ? Font::bold : Font::sans,
                    widgets::Align::center);
  if (two && widgets::text_size(box.note, Type::small).x <= room)
    p.text({x, y + t.type(type) + t.px(2)}, box.note, ink, Type::small, Font::sans, widgets::Align::center);
}

/// In the empty corner over the first questions: what was set and what it takes, where the tree says otherwise.
void draw_yours(const Painter& p, const TreePlan& plan, const Picture& picture) {
  const auto& t = widgets::theme();
  if (picture.yours.empty()) return;
  const float room = 2 * plan.pitch_x - t.px(4), high = t.type(Type::small);
  if (plan.pitch_y * 2 < 2 * high + t.px(10)) return;
  float y = plan.area.min.y + t.px(2);
  for (const auto& [words, ink] : {std::pair(&picture.yours, t.accent), std::pair(&picture.yours_takes, t.text)}) {
    if (widgets::text_size(*words, Type::small).x > room) continue;
    p.text({plan.area.min.x, y}, *words, ink, Type::small);
    y += high + t.px(4);
  }
}

/// The guess, in the empty corner under the first questions.
void draw_guess(const TreePlan& plan) {
  const auto& t = widgets::theme();
  paint_guess_note({plan.area.min.x + plan.box_w, plan.area.max.y - t.type(Type::small) - t.px(4)});
}

void show_tip(const TreePlan& plan, const Picture& picture) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (const TreeBox& box : picture.tree)
    if (plan.box(box).contains(mouse))
      widgets::tip(box.text, box.note,
                   box.leaf ? "weights and cache on these chips, and how many of them they need"
                            : (box.reached ? "asked: the figure decided" : "not asked on this way"));
}

/// The tree before anybody has walked through it, which a question gives.
void draw_questions(const TreePlan& plan, const Picture& picture) {
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const auto plain = [](const TreeBox& box) {
    return TreeBox{.text = box.text,
                   .brief = box.brief,
                   .column = box.column,
                   .row = box.row,
                   .parent = box.parent,
                   .leaf = box.leaf,
                   .yes = box.yes};
  };
  for (const TreeBox& box : picture.tree)
    if (box.parent >= 0) draw_branch(p, plan, plain(picture.tree[static_cast<std::size_t>(box.parent)]), plain(box));
  for (const TreeBox& box : picture.tree) draw_box(p, plan, plain(box));
}

}  // namespace

void draw_tree(const Picture& picture, ImVec2 size) {
  const Rect area = widgets::canvas("decision tree", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  if (picture.tree.empty() || area.height() < widgets::theme().px(90)) return;  // no box could be told from another
  const Painter p = Painter::window();
  if (widgets::veiled()) {  // above the words of the veil
    const float high = area.height() - widgets::theme().px(44);
    draw_questions(plan_of(picture, {area.min, {area.max.x, area.min.y + high}}), picture);
    return;
  }
  const TreePlan plan = plan_of(picture, area);
  for (const bool walked : {false, true})  // the way that was taken lies over the others
    for (const TreeBox& box : picture.tree)
      if (box.parent >= 0 && box.reached == walked)
        draw_branch(p, plan, picture.tree[static_cast<std::size_t>(box.parent)], box);
  for (const TreeBox& box : picture.tree) draw_box(p, plan, box);
  draw_yours(p, plan, picture);
  draw_guess(plan);
  widgets::drew("decision tree");
  if (hovered) show_tip(plan, picture);
  if (p.record()) {
    widgets::DataTable table{"decision tree", {"box", "note", "reached"}, {}};
    for (const TreeBox& box : picture.tree)
      table.rows.push_back({std::string(box.text), box.note, box.reached ? "1" : "0"});
    p.record()->tables.push_back(std::move(table));
  }
}

}  // namespace chapters::compression::deploy
