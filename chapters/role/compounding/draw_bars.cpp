#include <algorithm>
#include <array>

#include "chapters/role/compounding/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/stage/stage.h"

namespace chapters::role::compounding {
namespace {

using widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::array<Meaning, models::stack_part_count> part_meanings{
    Meaning::forward, Meaning::backward, Meaning::optimizer, Meaning::idle, Meaning::data_loading};
constexpr std::array<std::string_view, models::stack_part_count> part_names{"forward", "backward", "optimizer", "rest",
                                                                            "data"};

constexpr std::array<std::string_view, models::stack_part_count> part_letters{"F", "B", "O", "R", "D"};

/// Names at the left, bars on one scale, figures at the right; in pixels.
struct BarPlan {
  Rect area{};
  float names = 0, figures = 0, pad = 1;
  std::array<float, technique_count + 5> tops{};  ///< tops of the rows, and where the last one ends
  double px_per_s = 1;
  float x(double seconds) const { return area.min.x + names + static_cast<float>(seconds * px_per_s); }
  float y(std::size_t index) const { return tops[index]; }
  float row(std::size_t index) const { return tops[index + 1] - tops[index]; }
  Rect place(std::size_t index, double from_s, double to_s) const {
    return {{x(from_s), y(index) + pad}, {x(to_s), std::max(y(index) + pad + 1, tops[index + 1] - pad)}};
  }
  /// The row at a height; their number below the last.
  std::size_t row_at(float at, std::size_t rows) const {
    std::size_t index = 0;
    while (index < rows && at >= tops[index + 1]) ++index;
    return index;
  }
};

/// A technique that is off is a line of words alone: a row of its own height would be a blank band.
constexpr float off_share = 0.45f;

BarPlan plan_of(const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  BarPlan plan;
  plan.area = area;
  plan.names = std::clamp(area.width() * 0.26f, t.px(110), t.px(230));
  plan.figures = std::clamp(area.width() * 0.17f, t.px(70), t.px(140));
  float shares = 0;
  for (const BarRow& row : picture.rows) shares += row.on ? 1 : off_share;
  const float each = std::min(area.height() / std::max(1.0f, shares), t.px(72));
  plan.pad = std::min(t.px(5), each / 4);
  plan.tops[0] = area.min.y;
  for (std::size_t i = 0; i < picture.rows.size(); ++i)
    plan.tops[i + 1] = plan.tops[i] + (picture.rows[i].on ? each : off_share * each);
  plan.px_per_s = static_cast<double>(std::max(1.0f, area.width() - plan.names - plan.figures)) / picture.longest_s;
  return plan;
}

/// `named` is the piece of it that its name stands in.
void paint_part(const Painter& p, const Rect& r, const Rect& named, std::size_t part) {
  const auto& t = widgets::theme();
  if (r.width() < 0.3f) return;
  const ImU32 fill = part == static_cast<std::size_t>(models::StackPart::rest) ? t.muted : t.of(part_meanings[part]);
  p.rect(r.min, {std::max(r.min.x + 0.5f, r.max.x - 1), r.max.y}, fill);
  // The whole name where it has room, else a letter.
  for (const std::string_view said : {part_names[part], part_letters[part]}) {
    const ImVec2 words = widgets::text_size(said, Type::small);
    if (words.x + t.px(8) > named.width() || words.y > r.height()) continue;
    p.text({named.min.x + t.px(4), (r.min.y + r.max.y - words.y) / 2}, said, widgets::text_on(fill, t), Type::small);
    return;
  }
}

/// What a technique took away in this row, and what those before it did.
void paint_bite(const Painter& p, const Rect& r, bool now) {
  const auto& t = widgets::theme();
  if (r.width() < 1) return;
  if (now) {
    p.rect(r.min, r.max, widgets::with_alpha(t.accent, 0.16f));
    widgets::hatch(p, r, widgets::with_alpha(t.accent, 0.55f), t.px(6));
    p.frame(r.min, r.max, t.accent, t.px(1.5f));
  } else {
    p.frame(r.min, r.max, widgets::with_alpha(t.muted, 0.35f), 1);
  }
}

/// A thin strip under the bar: the loader at work while the device is.
void paint_meanwhile(const Painter& p, const BarPlan& plan, std::size_t index, double seconds) {
  const auto& t = widgets::theme();
  if (!(seconds > 0)) return;
  const Rect whole = plan.place(index, 0, seconds);
  p.rect({whole.min.x, whole.max.y - t.px(4)}, whole.max, t.background);
  p.rect({whole.min.x, whole.max.y - t.px(3)}, whole.max, t.of(Meaning::data_loading));
}

/// What the learner said the step takes, or how many times as fast it is, as a time across the row of the end.
void mark_guess(const Painter& p, const BarPlan& plan, const Picture& picture) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || !(guess->value > 0)) return;
  double before_s = 0;
  for (const double part : picture.run->stack.stages.front().part_s) before_s += part;
  const bool time = guess->output == "step_s";
  if (!time && guess->output != "speedup") return;
  const double seconds = time ? guess->value : before_s / guess->value;
  const auto& t = widgets::theme();
  for (std::size_t i = 0; i < picture.rows.size(); ++i) {
    if (!picture.rows[i].packed) continue;
    const bool off = seconds > picture.longest_s;
    const float x = plan.x(std::min(seconds, picture.longest_s)), top = plan.y(i), bottom = top + plan.row(i);
    p.dashed_line({x, top}, {x, bottom}, t.accent, t.px(2), t.px(4));
    const auto figure = widgets::format(guess->value, time ? std::string_view("s") : widgets::times_unit);
    const auto words = widgets::guess_words(figure.view(), off);
    const float width = widgets::text_size(words.view(), Type::small).x, right = plan.area.max.x - plan.figures;
    widgets::paint_guess_words(
        p, {x + t.px(6) + width > right ? x - t.px(6) - width : x + t.px(6), (top + bottom - t.type(Type::small)) / 2},
        words.view());
  }
}

void paint_step(const Painter& p, const BarPlan& plan, const Picture& picture, std::size_t index) {
  const BarRow& row = picture.rows[index];
  const models::StackTimes& now = picture.run->stack.stages[row.stage].part_s;
  const models::StackTimes& first = picture.run->stack.stages.front().part_s;
  const bool applied = row.technique >= 0 && row.on && row.stage > 0;
  const models::StackTimes& before = applied ? picture.run->stack.stages[row.stage - 1].part_s : now;
  double at = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double from = row.packed ? at : picture.slot_s[i];
    const Rect whole = plan.place(index, from, from + now[i]);
    Rect named = whole;
    if (!row.packed && now[i] > before[i]) {  // the frame of what grew would cross the name
      const bool grown = now[i] > 2 * before[i];
      named = plan.place(index, from + (grown ? before[i] : 0), from + (grown ? now[i] : before[i]));
    }
    paint_part(p, whole, named, i);
    at += now[i];
    if (row.packed) continue;
    if (before[i] > now[i]) paint_bite(p, plan.place(index, from + now[i], from + before[i]), true);
    if (first[i] > std::max(before[i], now[i]))
      paint_bite(p, plan.place(index, from + std::max(before[i], now[i]), from + first[i]), false);
    if (now[i] > before[i]) {  // what came out from behind the device
      const Rect grown = plan.place(index, from + before[i], from + now[i]);
      p.frame(grown.min, grown.max, widgets::theme().warning, widgets::theme().px(2));
    }
  }
}

void paint_ghost(const Painter& p, const BarPlan& plan, const BarRow& row, std::size_t index) {
  const auto& t = widgets::theme();
  const Rect r = plan.place(index, 0, row.ghost_s);
  p.rect(r.min, r.max, widgets::with_alpha(t.muted, 0.12f));
  const ImVec2 corners[] = {r.min, {r.max.x, r.min.y}, r.max, {r.min.x, r.max.y}, r.min};
  p.dashed_polyline(corners, t.muted, t.px(1.5f), t.px(4));
  widgets::fit_text(p, {r.max.x + t.px(8), (r.min.y + r.max.y - t.type(Type::small)) / 2}, row.words,
                    plan.area.max.x - plan.figures - r.max.x - t.px(12), t.text, Type::small);
}

void paint_words(const Painter& p, const BarPlan& plan, const BarRow& row, std::size_t index, bool held) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), top = plan.y(index), height = plan.row(index), room = plan.names - t.px(12);
  const ImU32 ink = row.on ? t.text : t.muted;
  const std::string_view below = row.ghost ? row.verdict : row.words;
  const bool two = height >= 2 * small + t.px(6) && !below.empty();
  const float y = top + (height - (two ? 2 * small + t.px(2) : small)) / 2;
  if (held) p.rect({plan.area.min.x, top}, {plan.area.max.x, top + height}, widgets::with_alpha(t.accent, 0.12f));
  widgets::fit_text(p, {plan.area.min.x, y}, row.name, room, ink, Type::small,
                    row.technique < 0 && !row.ghost ? widgets::Font::bold : widgets::Font::sans);
  if (two) widgets::fit_text(p, {plan.area.min.x, y + small + t.px(2)}, below, room, t.muted, Type::small);
  widgets::fit_text(p, {plan.area.max.x - plan.figures + t.px(8), top + (height - small) / 2}, row.figure,
                    plan.figures - t.px(8), ink, Type::small, widgets::Font::mono);
}

/// The technique goes to where the row `target` is; rows of techniques begin at 1.
void move_technique(Inputs& in, std::size_t technique, std::int64_t target) {
  auto order = order_of(in);
  const auto from = std::find(order.begin(), order.end(), technique);
  const auto place = std::clamp<std::int64_t>(target - 1, 0, technique_count - 1);
  const auto to = order.begin() + place;
  if (from == to) return;
  if (from < to)
    std::rotate(from, from + 1, to + 1);
  else
    std::rotate(to, from, from + 1);
  in.order = Order::own;
  in.own_order = order_number(order);
}

void press_row(Inputs& in, View& view, const BarPlan& plan, const Picture& picture, std::size_t index) {
  const BarRow& row = picture.rows[index];
  const std::size_t rows = picture.rows.size();
  ImGui::SetCursorScreenPos({plan.area.min.x, plan.y(index)});
  widgets::press_area(row.name.c_str(), {plan.area.width(), plan.row(index)},
                      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_EnableNav);
  const auto technique = static_cast<std::size_t>(row.technique);
  if (ImGui::IsItemActivated()) {
    view.held = row.technique;
    view.moved = false;
  }
  if (ImGui::IsItemActive() && view.held == row.technique && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4.0f)) {
    view.moved = true;
    const auto target = static_cast<std::int64_t>(plan.row_at(ImGui::GetIO().MousePos.y, rows));
    if (target != static_cast<std::int64_t>(index)) move_technique(in, technique, target);
  }
  if (ImGui::IsItemDeactivated() && view.held == row.technique) {
    if (!view.moved) in.techniques[technique].on = !in.techniques[technique].on;
    view.held = -1;
  }
}

/// The part under the pointer and its time in that row, or the row itself.
void tell_row(const BarPlan& plan, const Picture& picture) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const std::size_t index = plan.row_at(mouse.y, picture.rows.size());
  if (index >= picture.rows.size()) return;
  const BarRow& row = picture.rows[index];
  const std::string_view hands =
      row.technique >= 0 ? "click: on or off; drag: another place in the order" : std::string_view();
  const double at = static_cast<double>(mouse.x - plan.area.min.x - plan.names) / plan.px_per_s;
  const models::StackTimes& now = picture.run->stack.stages[row.stage].part_s;
  double packed = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double from = row.packed ? packed : picture.slot_s[i];
    packed += now[i];
    if (row.ghost || !row.on || at < from || at >= from + now[i]) continue;
    widgets::tip(part_names[i], widgets::format(now[i], "s"), hands);
    return;
  }
  widgets::tip(row.name, row.words, row.ghost ? row.verdict : hands);
}

/// What a question gives: the step as it is, by the inputs alone, and the techniques by name.
void paint_given(const Painter& p, const Inputs& in, const BarPlan& plan, const Picture& picture) {
  const widgets::GivenMarks given;
  const double parts[] = {in.forward_s, in.backward_s, in.optimizer_s, in.rest_s, in.data_s};
  double sum = 0, at = 0;
  for (const double part : parts) sum += part;
  const auto px_per_s = static_cast<double>(plan.area.width() - plan.names - plan.figures) / std::max(sum, 1e-12);
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    Rect piece = plan.place(0, 0, 0);
    piece.min.x = plan.x(0) + static_cast<float>(at * px_per_s);
    piece.max.x = piece.min.x + static_cast<float>(parts[i] * px_per_s);
    if (!in.loader_beside || i + 1 < std::size(parts)) paint_part(p, piece, piece, i);
    at += parts[i];
  }
  const auto& t = widgets::theme();
  for (std::size_t i = 0; i < picture.rows.size(); ++i)
    if (!picture.rows[i].ghost && !picture.rows[i].packed)
      widgets::fit_text(p, {plan.area.min.x, plan.y(i) + (plan.row(i) - t.type(Type::small)) / 2}, picture.rows[i].name,
                        plan.names - t.px(12), picture.rows[i].on ? t.text : t.muted, Type::small);
}

}  // namespace

void draw_bars(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (picture.rows.empty() || picture.run->stack.stages.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const Rect area{corner, {corner.x + size.x, corner.y + size.y}};
  const Painter p = Painter::window();
  const BarPlan plan = plan_of(picture, area);
  if (widgets::veiled()) {
    paint_given(p, in, plan, picture);
    ImGui::Dummy(size);
    return;
  }
  for (std::size_t i = 0; i < picture.rows.size(); ++i) {
    const BarRow& row = picture.rows[i];
    paint_words(p, plan, row, i, row.technique >= 0 && view.held == row.technique && view.moved);
    if (row.ghost)
      paint_ghost(p, plan, row, i);
    else if (row.on)
      paint_step(p, plan, picture, i);
    paint_meanwhile(p, plan, i, row.meanwhile_s);
  }
  mark_guess(p, plan, picture);
  for (std::size_t i = 0; i < picture.rows.size(); ++i)
    if (picture.rows[i].technique >= 0) press_row(in, view, plan, picture, i);
  widgets::drew("steps");
  widgets::drew("after");
  if (view.held < 0 && ImGui::IsWindowHovered() && area.contains(ImGui::GetIO().MousePos)) tell_row(plan, picture);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
  if (!p.record()) return;
  widgets::DataTable table{"steps", {"row", "forward s", "backward s", "optimizer s", "the rest s", "data s"}, {}};
  for (const BarRow& row : picture.rows) {
    if (row.ghost || !row.on) continue;
    std::vector<std::string> cells{row.name};
    for (const double part : picture.run->stack.stages[row.stage].part_s) cells.push_back(widgets::exact(part));
    table.rows.push_back(std::move(cells));
  }
  p.record()->tables.push_back(std::move(table));
}

}  // namespace chapters::role::compounding
