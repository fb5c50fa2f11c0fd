#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/compression/sparsity/lab.h"
#include "widgets/base/arrow.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::compression::sparsity {
namespace {

using widgets::Align, widgets::Font, widgets::Line, widgets::Painter, widgets::Type;

/// The four neighbours that are followed, or four pairs of them, and how many of them are stored and multiplied.
struct Four {
  std::array<double, group_size> weights{};   ///< the first of a pair
  std::array<double, group_size> partners{};  ///< the second of a pair; 0 where there are no pairs
  std::array<bool, group_size> kept{};
  std::array<std::size_t, group_size> row{};  ///< multiplier that takes the i-th weight
  std::size_t rows = group_size;              ///< multipliers at work
};

Four four_of(const Run& example, const Inputs& in, Skips skips, const View& view) {
  Four f;
  const auto r = static_cast<std::size_t>(std::clamp<std::int64_t>(view.group_row, 0, mask_rows - 1));
  const auto g = static_cast<std::size_t>(std::clamp<std::int64_t>(view.group, 0, mask_cols / group_size - 1));
  const auto& mask = example.masks[static_cast<std::size_t>(in.pattern)];
  const bool pairs = zeros_in_pairs(in);
  const std::size_t unit = pairs ? 2 : 1, first = r * mask_cols + (pairs ? g / 2 * 2 : g) * group_size;
  const auto& all = example.weights;
  std::size_t stored = 0;
  for (std::size_t i = 0; i < group_size; ++i) {
    const std::size_t at = first + i * unit;
    f.weights[i] = all[at];
    f.partners[i] = pairs ? all[at + 1] : 0;
    f.kept[i] = mask[at] != 0;
    f.row[i] = skips == Skips::products ? stored : i;
    stored += f.kept[i] ? 1 : 0;
  }
  if (skips == Skips::products || skips == Skips::rows) f.rows = stored;
  return f;
}

/// Columns and rows of the picture in screen pixels.
struct PathPlan {
  ImVec2 at, size;
  float title = 0, foot = 0;  ///< y of the words above and below
  float top = 0, pitch = 0;   ///< where the four rows of weights stand
  float cell_w = 0, cell_h = 0;
  float stored_x = 0, wires_x = 0, wire_gap = 0, multiply_x = 0, add_x = 0;
  float input_y = 0;  ///< top of the input cells
  float radius = 0;

  float weight_y(std::size_t i) const { return top + pitch * (static_cast<float>(i) + 0.5f); }
  /// The middle of one of n multipliers, spread over the same height.
  float row_y(std::size_t i, std::size_t n) const {
    const float step = pitch * static_cast<float>(group_size) / static_cast<float>(std::max<std::size_t>(n, 1));
    return top + step * (static_cast<float>(i) + 0.5f);
  }
  float wire_x(std::size_t i) const { return wires_x + wire_gap * static_cast<float>(i); }
};

PathPlan plan_of(ImVec2 at, ImVec2 size, bool pairs) {
  const auto& t = widgets::theme();
  PathPlan p{.at = at, .size = size};
  const float line = t.type(Type::small);
  p.title = at.y;
  p.foot = at.y + size.y - line - t.px(4);
  p.cell_h = std::min(t.px(34), (size.y - 3 * line - t.px(20)) / 6);
  p.input_y = at.y + line + t.px(5);
  p.top = p.input_y + p.cell_h + line + t.px(4);
  p.pitch = (p.foot - t.px(4) - p.top) / static_cast<float>(group_size);
  p.cell_h = std::min(p.cell_h, p.pitch * 0.8f);
  p.cell_w = pairs ? std::clamp(size.x * 0.17f, t.px(40), t.px(130)) : std::clamp(size.x * 0.11f, t.px(40), t.px(110));
  p.stored_x = at.x + size.x * 0.21f;
  p.wires_x = at.x + size.x * 0.5f;
  p.wire_gap = size.x * 0.07f;
  p.multiply_x = at.x + size.x * 0.83f;
  p.add_x = at.x + size.x * 0.93f;
  p.radius = std::min({t.px(15), p.pitch * 0.36f, size.x * 0.035f});
  return p;
}

/// What is written in a cell: a weight, or the two of a pair.
Line cell_text(const Four& f, std::size_t i, bool pairs, bool zero) {
  Line text;
  text.add(widgets::format(zero ? 0.0 : f.weights[i], "", 2));
  if (pairs) text.add(" ").add(widgets::format(zero ? 0.0 : f.partners[i], "", 2));
  return text;
}

/// A weight, or a pair, as it was or as it is stored; `strength`, 0 to 1, says how large it is; `struck`: it is
/// dropped.
void draw_cell(const Painter& p, const PathPlan& plan, float x, float y, std::string_view text, double strength,
               bool kept, bool struck) {
  const auto& t = widgets::theme();
  const ImVec2 min{x, y - plan.cell_h / 2}, max{x + plan.cell_w, y + plan.cell_h / 2};
  p.rect(min, max, t.card, t.px(3));
  if (kept) {  // a bar as high as the cell would end inside the figure
    p.rect(min, max, widgets::with_alpha(t.series_at(0), 0.12f), t.px(3));
    const float part = t.px(4) + (plan.cell_w - t.px(4)) * static_cast<float>(strength);
    p.rect({min.x, max.y - std::min(t.px(6), plan.cell_h / 4)}, {min.x + part, max.y}, t.series_at(0), t.px(3));
  }
  p.frame(min, max, kept ? t.series_at(0) : struck ? t.line : t.muted, t.px(kept ? 1.5f : 1.0f), t.px(3));
  const float w = widgets::text_size(text, Type::small, Font::mono).x;
  if (w > plan.cell_w - t.px(4)) return;
  const float mid = (min.x + max.x) / 2;
  p.text({mid, y - t.type(Type::small) / 2}, text, kept ? t.text : t.muted, Type::small, Font::mono, Align::center);
  if (struck) p.line({mid - w / 2, y}, {mid + w / 2, y}, t.muted, t.px(1.2f));
}

void draw_chip(const Painter& p, ImVec2 at, std::string_view bits, bool on) {
  const auto& t = widgets::theme();
  const ImVec2 text = widgets::text_size(bits, Type::small, Font::mono);
  const ImVec2 max{at.x + text.x + t.px(8), at.y + t.type(Type::small) + t.px(4)};
  p.rect(at, max, on ? t.series_at(1) : t.grid, t.px(3));
  p.text({at.x + t.px(4), at.y + t.px(2)}, bits, on ? widgets::text_on(t.series_at(1), t) : t.muted, Type::small,
         Font::mono);
}

constexpr std::array<std::string_view, group_size> places{"00", "01", "10", "11"}, input_names{"x0", "x1", "x2", "x3"},
    pair_names{"x0,1", "x2,3", "x4,5", "x6,7"};

void draw_inputs(const Painter& p, const PathPlan& plan, const Four& f, Skips skips, bool pairs) {
  const auto& t = widgets::theme();
  const float w = std::min(plan.wire_gap * (pairs ? 0.95f : 0.8f), t.px(44));
  for (std::size_t i = 0; i < group_size; ++i) {
    const float x = plan.wire_x(i);
    const bool used = skips != Skips::products ? f.rows > 0 : f.kept[i];
    p.line({x, plan.input_y + plan.cell_h}, {x, plan.foot - t.px(6)}, used ? t.series_at(4) : t.line, t.px(1.2f));
    p.rect({x - w / 2, plan.input_y}, {x + w / 2, plan.input_y + plan.cell_h}, t.card, t.px(3));
    p.frame({x - w / 2, plan.input_y}, {x + w / 2, plan.input_y + plan.cell_h}, used ? t.series_at(4) : t.line,
            t.px(1.2f), t.px(3));
    p.text({x, plan.input_y + (plan.cell_h - t.type(Type::small)) / 2}, (pairs ? pair_names : input_names)[i],
           used ? t.text : t.muted, Type::small, Font::mono, Align::center);
    if (skips != Skips::products) continue;
    const float ground = widgets::text_size(places[i], Type::small, Font::mono).x / 2 + t.px(2);
    const float y = plan.input_y + plan.cell_h + t.px(2);
    p.rect({x - ground, y}, {x + ground, y + t.type(Type::small)}, t.background);
    p.text({x, y}, places[i], f.kept[i] ? t.text : t.muted, Type::small, Font::mono, Align::center);
  }
}

/// A weight's way: stored or not, past the inputs, into its multiplier.
void draw_weight(const Painter& p, const PathPlan& plan, const Four& f, Skips skips, bool pairs, std::size_t i,
                 double largest) {
  const auto& t = widgets::theme();
  // Where every weight has a row of its own it stands beside its stored value, and nothing between them slopes.
  const bool in_line = f.rows == group_size && f.row[i] == i;
  const float from = in_line ? plan.row_y(i, f.rows) - plan.radius * 0.55f : plan.weight_y(i);
  const double strength = std::hypot(f.weights[i], f.partners[i]) / largest;
  draw_cell(p, plan, plan.at.x, from, cell_text(f, i, pairs, false).view(), strength, f.kept[i], !f.kept[i]);
  const bool stored = f.kept[i] || skips == Skips::nothing;
  const bool multiplied = f.rows > 0 && (f.kept[i] || skips == Skips::nothing || skips == Skips::bytes);
  if (!multiplied) return;
  const float y = plan.row_y(f.row[i], f.rows), lower = y + plan.radius * 0.55f, upper = y - plan.radius * 0.55f;
  const ImU32 ink = f.kept[i] ? t.series_at(0) : t.muted;
  const float gap = t.px(4), right = plan.stored_x + plan.cell_w;
  const std::array<ImVec2, 2> in{ImVec2{plan.at.x + plan.cell_w + gap, from}, ImVec2{plan.stored_x - gap, upper}};
  if (stored) {
    widgets::draw_arrow(p, in, ink, t.px(1.5f));
    draw_cell(p, plan, plan.stored_x, upper, cell_text(f, i, pairs, !f.kept[i]).view(), strength, f.kept[i], false);
  }
  const float mark = right + t.px(6);
  float begin = right;
  if (skips == Skips::bytes) {
    draw_chip(p, {mark, upper - t.type(Type::small) / 2 - t.px(2)}, f.kept[i] ? "1" : "0", f.kept[i]);
    begin = mark + widgets::text_size("1", Type::small, Font::mono).x + t.px(10);
  }
  // The weight arrives above, the input below.
  p.line({begin, upper}, {plan.multiply_x - plan.radius * 0.8f, upper}, ink, t.px(1.5f));
  const ImU32 input = f.kept[i] ? t.series_at(4) : t.muted;
  if (skips == Skips::products) {
    const float chip = plan.cell_h / 2 + upper + t.px(3), mid = chip + (t.type(Type::small) + t.px(4)) / 2;
    draw_chip(p, {right - widgets::text_size(places[i], Type::small, Font::mono).x - t.px(8), chip}, places[i], true);
    p.line({right, mid}, {plan.wires_x - plan.wire_gap * 0.5f, mid}, t.series_at(1), t.px(1.5f));
    for (std::size_t k = 0; k < group_size; ++k)
      if (k != i) p.ring({plan.wire_x(k), mid}, t.px(4), t.muted, t.px(1.2f));
    p.line({plan.wires_x - plan.wire_gap * 0.5f, mid}, {plan.wire_x(i), mid}, t.series_at(1), t.px(1.5f));
    p.circle({plan.wire_x(i), mid}, t.px(5), t.series_at(4));
    const float turn = plan.multiply_x - plan.radius - t.px(10);
    const std::array<ImVec2, 4> way{ImVec2{plan.wire_x(i), mid}, ImVec2{turn, mid}, ImVec2{turn, lower},
                                    ImVec2{plan.multiply_x - plan.radius * 0.8f, lower}};
    p.polyline(way, input, t.px(1.5f));
  } else {
    p.circle({plan.wire_x(i), lower}, t.px(4), input);
    p.line({plan.wire_x(i), lower}, {plan.multiply_x - plan.radius * 0.8f, lower}, input, t.px(1.5f));
  }
  const ImVec2 centre{plan.multiply_x, y};
  p.circle(centre, plan.radius, t.card);
  p.ring(centre, plan.radius, f.kept[i] ? t.text : t.muted, t.px(1.5f));
  p.text({centre.x, centre.y - t.type(Type::body) / 2}, "\xC3\x97", f.kept[i] ? t.text : t.muted, Type::body,
         Font::sans, Align::center);
  const float slope_x = plan.add_x - plan.radius, slope_y = plan.row_y(0, 1);
  p.line({centre.x + plan.radius, y}, {slope_x, slope_y}, t.muted, t.px(1.2f));
}

void draw_sum(const Painter& p, const PathPlan& plan) {
  const auto& t = widgets::theme();
  const ImVec2 centre{plan.add_x, plan.row_y(0, 1)};
  p.circle(centre, plan.radius, t.card);
  p.ring(centre, plan.radius, t.text, t.px(1.5f));
  p.text({centre.x, centre.y - t.type(Type::body) / 2}, "+", t.text, Type::body, Font::sans, Align::center);
  const std::array<ImVec2, 2> out{ImVec2{centre.x + plan.radius, centre.y},
                                  ImVec2{plan.at.x + plan.size.x - t.px(2), centre.y}};
  widgets::draw_arrow(p, out, t.text, t.px(1.5f));
}

/// Bits that a group takes in memory; `value_bits` of a weight, or of a pair.
double stored_bits(const Four& f, Skips skips, double value_bits) {
  const auto kept = static_cast<double>(std::count(f.kept.begin(), f.kept.end(), true));
  if (skips == Skips::products) return kept * (value_bits + 2);
  if (skips == Skips::bytes) return group_size + kept * value_bits;
  return static_cast<double>(f.rows) * value_bits;
}

void draw_words(const Painter& p, const PathPlan& plan, const Four& f, const Picture& picture) {
  const auto& t = widgets::theme();
  const Skips skips = picture.skips;
  const double unit = picture.pairs ? 2 : 1;
  const auto word = [&](float x, float y, std::string_view s, float room, ImU32 ink, Font font = Font::sans) {
    if (widgets::text_size(s, Type::small, font).x <= room) p.text({x, y}, s, ink, Type::small, font);
  };
  const float second = plan.stored_x - t.px(8);
  word(plan.at.x, plan.title, picture.pairs ? "four pairs" : "four weights", second - plan.at.x, t.muted);
  word(plan.stored_x, plan.title, skips == Skips::products ? "values and indices" : "stored",
       plan.wires_x - plan.wire_gap * 0.5f - plan.stored_x, t.muted);
  word(plan.wires_x - plan.wire_gap * 0.5f, plan.title,
       skips == Skips::products ? "inputs, picked by the index" : "inputs",
       plan.multiply_x - plan.radius - plan.wires_x, t.muted);
  Line bits;
  bits.add(widgets::format(stored_bits(f, skips, unit * picture.value_bits), "", 4))
      .add(" of ")
      .add(widgets::format(group_size * unit * picture.value_bits, "", 4))
      .add(" bits");
  word(plan.stored_x, plan.foot, bits.view(), plan.wires_x - plan.stored_x, t.text, Font::bold);
  Line products;
  products.add_integer(static_cast<std::int64_t>(f.rows) * (picture.pairs ? 2 : 1))
      .add(picture.pairs ? " of 8 multiplications" : " of 4 multiplications");
  const float room = plan.at.x + plan.size.x - plan.wire_x(3) - t.px(6);
  const float w = widgets::text_size(products.view(), Type::small, Font::bold).x;
  word(plan.at.x + plan.size.x - w, plan.foot, products.view(), room, t.text, Font::bold);
  if (skips == Skips::rows && f.rows > 0)
    word(plan.at.x, plan.foot, "this row is kept", second - plan.at.x, t.text, Font::bold);
  if (f.rows == 0)
    word(plan.stored_x, plan.row_y(0, 1), "This row is gone.", plan.wires_x - plan.wire_gap - plan.stored_x, t.text);
}

/// What a question gives: the weights, the inputs that they wait for, and no way between them.
void draw_given(const PathPlan& plan, Four f, bool pairs) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  f.rows = group_size;
  draw_inputs(p, plan, f, Skips::nothing, pairs);
  for (std::size_t i = 0; i < group_size; ++i)
    draw_cell(p, plan, plan.at.x, plan.weight_y(i), cell_text(f, i, pairs, false).view(), 0, false, false);
  draw_sum(p, plan);
  p.text({plan.at.x, plan.title}, pairs ? "four pairs" : "four weights", t.muted, Type::small);
  p.text({plan.wires_x - plan.wire_gap * 0.5f, plan.title}, "inputs", t.muted, Type::small);
}

}  // namespace

void draw_path(const Inputs& in, const Picture& picture, const View& view, ImVec2 size) {
  const widgets::Rect area = widgets::reserve(size, {16, 16});
  if (area.height() < widgets::theme().px(90)) return;  // no cell could be told from another
  const Painter p = Painter::window();
  // Taller brings nothing: it stands near the top then.
  const float high = std::min(area.height(), widgets::theme().px(480));
  const PathPlan plan =
      plan_of({area.min.x, area.min.y + std::min((area.height() - high) / 2, widgets::theme().px(24))},
              {area.width(), high}, picture.pairs);
  const Four f = four_of(*picture.run, in, picture.skips, view);
  if (widgets::veiled()) {  // a little off the frame of the veil
    const float air = widgets::theme().px(12);
    return draw_given(
        plan_of({area.min.x + air, area.min.y + air}, {area.width() - 2 * air, high - 2 * air}, picture.pairs), f,
        picture.pairs);
  }
  double largest = 1e-300;
  for (std::size_t i = 0; i < group_size; ++i) largest = std::max(largest, std::hypot(f.weights[i], f.partners[i]));
  draw_inputs(p, plan, f, picture.skips, picture.pairs);
  for (std::size_t i = 0; i < group_size; ++i) draw_weight(p, plan, f, picture.skips, picture.pairs, i, largest);
  if (f.rows > 0) draw_sum(p, plan);
  draw_words(p, plan, f, picture);
  widgets::drew("four weights");
  if (p.record()) {
    widgets::DataTable table{"four weights", {"weight", "kept"}, {}};
    for (std::size_t i = 0; i < group_size; ++i) {
      table.rows.push_back({widgets::exact(f.weights[i]), f.kept[i] ? "1" : "0"});
      if (picture.pairs) table.rows.push_back({widgets::exact(f.partners[i]), f.kept[i] ? "1" : "0"});
    }
    p.record()->tables.push_back(std::move(table));
  }
}

}  // namespace chapters::compression::sparsity
