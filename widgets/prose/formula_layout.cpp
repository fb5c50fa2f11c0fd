#include <algorithm>
#include <cmath>

#include "widgets/prose/formula.h"

namespace widgets {
namespace {

using Kind = FormulaNode::Kind;
using Air = FormulaNode::Air;

/// Extents of one laid-out node; `ascent` and `descent` are distances from its baseline, both positive outwards.
struct SetBox {
  float width = 0, ascent = 0, descent = 0;
};

// Shares of the type size (which in Dear ImGui is ascent plus descent). Inter: capitals 0.60, descenders 0.17, centre
// of '+' 0.30.
constexpr float cap = 0.64f, below = 0.20f, axis = 0.29f;

/// Scripts have 70 % of what they stand at, as in TeX; under nine pixels nobody can read them.
float script_size(float size) { return std::max(0.7f * size, std::min(size, theme().px(9))); }
/// Both parts of a fraction within a text.
float inline_size(float size) { return std::max(0.8f * size, std::min(size, theme().px(9))); }

class Setter {
 public:
  Setter(const Formula& formula, FormulaLayout& out) : f_(formula), out_(out) {}

  /// Lays the outermost row over as many lines as `max_width` asks for.
  SetBox lines(const FormulaStyle& style) {
    const FormulaNode& root = f_.nodes[f_.root];
    const float size = theme().type(style.type), indent = 1.5f * size;
    SetBox all, line;
    float baseline = 0;
    Mark line_start = mark();
    bool first_line = true;
    for (std::size_t i = 0; i < root.children.size(); ++i) {
      const Air air = air_of(root, i);
      const float gap = line.width > 0 || !first_line ? gap_before(root, i, theme().type(style.type)) : 0;
      const Mark here = mark();
      const SetBox box = node(root.children[i], theme().type(style.type), style.display);
      const bool breakable = i > 0 && (air == Air::relation || air == Air::binary) && line.width > 0;
      if (breakable && line.width + gap + segment_width(root, i, style) > style.max_width) {
        shift(line_start, here, 0, baseline);
        all.width = std::max(all.width, line.width);
        if (first_line) all.ascent = line.ascent;
        baseline += line.descent + 0.3f * size + box.ascent;
        first_line = false;
        line_start = here;
        line = {indent, 0, 0};
      } else {
        line.width += gap;
      }
      shift(here, mark(), line.width, 0);
      line.width += box.width;
      line.ascent = std::max(line.ascent, box.ascent);
      line.descent = std::max(line.descent, box.descent);
    }
    shift(line_start, mark(), 0, baseline);
    if (first_line) all.ascent = line.ascent;
    all.width = std::max(all.width, line.width);
    all.descent = baseline + line.descent;
    return all;
  }

 private:
  struct Mark {
    std::size_t texts, strokes;
  };
  const Formula& f_;
  FormulaLayout& out_;

  Mark mark() const { return {out_.texts.size(), out_.strokes.size()}; }
  void shift(Mark from, Mark to, float dx, float dy) {
    for (std::size_t i = from.texts; i < to.texts; ++i) {
      out_.texts[i].baseline.x += dx;
      out_.texts[i].baseline.y += dy;
    }
    for (std::size_t i = from.strokes; i < to.strokes; ++i)
      for (ImVec2& p : out_.strokes[i].points) {
        p.x += dx;
        p.y += dy;
      }
  }
  void stroke(std::vector<ImVec2> points, float width) { out_.strokes.push_back({std::move(points), width}); }

  /// Width from child i to just before the next place where a line may break.
  float segment_width(const FormulaNode& row, std::size_t i, const FormulaStyle& style) {
    const Mark before = mark();
    float width = 0;
    for (std::size_t k = i; k < row.children.size(); ++k) {
      const Air air = air_of(row, k);
      if (k > i && (air == Air::relation || air == Air::binary)) break;
      width += (k > i ? gap_before(row, k, theme().type(style.type)) : 0) +
               node(row.children[k], theme().type(style.type), style.display).width;
    }
    out_.texts.resize(before.texts);
    out_.strokes.resize(before.strokes);
    return width;
  }

  /// A sign at the start of a row or after another sign belongs to what follows it.
  Air air_of(const FormulaNode& row, std::size_t i) const {
    const Air air = f_.nodes[row.children[i]].air;
    if (air != Air::binary) return air;
    if (i == 0 || i + 1 == row.children.size()) return Air::ordinary;
    const Air before = f_.nodes[row.children[i - 1]].air;
    return before == Air::binary || before == Air::relation || before == Air::punctuation ? Air::ordinary : Air::binary;
  }

  float gap_before(const FormulaNode& row, std::size_t i, float size) const {
    if (i == 0) return 0;
    const FormulaNode& here = f_.nodes[row.children[i]];
    const FormulaNode& last = f_.nodes[row.children[i - 1]];
    const Air a = air_of(row, i - 1), b = air_of(row, i);
    float em = 0;
    if (here.kind == Kind::space || last.kind == Kind::space) return 0;
    if (a == Air::relation || b == Air::relation)
      em = 0.27f;
    else if (a == Air::binary || b == Air::binary)
      em = 0.20f;
    else if (a == Air::punctuation)
      em = 0.22f;
    else if (b == Air::punctuation && last.kind == Kind::fraction)
      em = 0.10f;  // off the denominator, which stands beside it
    else if (a == Air::big || b == Air::big || (a == Air::function && here.kind != Kind::fence) || b == Air::function)
      em = 0.20f;
    else if (here.after_space || (here.kind == Kind::value) != (last.kind == Kind::value))
      em = 0.17f;
    return em * size;
  }

  SetBox node(std::uint32_t index, float size, bool display) {
    const FormulaNode& n = f_.nodes[index];
    switch (n.kind) {
      case Kind::row:
        return row(n, size, display);
      case Kind::symbol:
        return text(n.text, n.air == Air::big && display ? 1.6f * size : size, n);
      case Kind::value:
        return value(n, size);
      case Kind::space:
        return {n.em * size, 0, 0};
      case Kind::fraction:
        return fraction(n, size, display);
      case Kind::scripts:
        return scripts(n, size, display);
      case Kind::root:
        return radical(n, size, display);
      case Kind::fence:
        return fence(n, size, display);
    }
    return {};
  }

  SetBox row(const FormulaNode& n, float size, bool display) {
    SetBox all;
    for (std::size_t i = 0; i < n.children.size(); ++i) {
      all.width += gap_before(n, i, size);
      const Mark here = mark();
      const SetBox box = node(n.children[i], size, display);
      shift(here, mark(), all.width, 0);
      all.width += box.width;
      all.ascent = std::max(all.ascent, box.ascent);
      all.descent = std::max(all.descent, box.descent);
    }
    return all;
  }

  SetBox text(const std::string& s, float size, const FormulaNode& n) {
    FormulaText t;
    t.font = n.variable ? Font::italic : Font::sans;
    t.width = text_size_at(s, size, t.font).x;
    t.size = size;
    t.text = s;
    const float width = t.width;
    out_.texts.push_back(std::move(t));
    return n.air == Air::big ? SetBox{width, 0.70f * size, below * size} : SetBox{width, cap * size, below * size};
  }

  SetBox value(const FormulaNode& n, float size) {
    const std::string& now = f_.values.texts[n.slot];
    FormulaText t;
    t.size = size;
    t.font = Font::mono;
    t.slot = n.slot;
    t.role = now.empty() ? FormulaRole::unknown : FormulaRole::value;
    t.text = now.empty() ? "{" + f_.values.keys[n.slot] + "}" : now;
    t.width = text_size_at(t.text, size, Font::mono).x;
    const float width = t.width;
    out_.texts.push_back(std::move(t));
    return {width, cap * size, below * size};
  }

  SetBox fraction(const FormulaNode& n, float size, bool display) {
    const float pad = 0.10f * size, gap = 0.16f * size, bar = std::max(1.0f, std::floor(0.07f * size));
    const float inner = display ? size : inline_size(size);
    const Mark start = mark();
    const SetBox above = node(n.children[0], inner, false);
    const Mark middle = mark();
    const SetBox under = node(n.children[1], inner, false);
    const float width = std::max(above.width, under.width) + 2 * pad;
    const float rise = axis * size + bar / 2 + gap + above.descent, fall = -axis * size + bar / 2 + gap + under.ascent;
    shift(start, middle, (width - above.width) / 2, -rise);
    shift(middle, mark(), (width - under.width) / 2, fall);
    stroke({{0, -axis * size}, {width, -axis * size}}, bar);
    return {width, rise + above.ascent, fall + under.descent};
  }

  SetBox scripts(const FormulaNode& n, float size, bool display) {
    const Mark start = mark();
    const FormulaNode& base_node = f_.nodes[n.children[0]];
    const SetBox base = node(n.children[0], size, display);
    const float tiny = script_size(size), between = 0.06f * size;
    const Mark after_base = mark();
    const bool has_sub = n.children[1] != FormulaNode::none, has_sup = n.children[2] != FormulaNode::none;
    const SetBox sub = has_sub ? node(n.children[1], tiny, false) : SetBox{};
    const Mark after_sub = mark();
    const SetBox sup = has_sup ? node(n.children[2], tiny, false) : SetBox{};
    SetBox all = base;
    if (display && (base_node.air == Air::big || (base_node.air == Air::function && has_sub))) {
      all.width = std::max({base.width, sub.width, sup.width});
      shift(start, after_base, (all.width - base.width) / 2, 0);
      const float fall = base.descent + between + sub.ascent, rise = base.ascent + between + sup.descent;
      shift(after_base, after_sub, (all.width - sub.width) / 2, fall);
      shift(after_sub, mark(), (all.width - sup.width) / 2, -rise);
      if (has_sub) all.descent = fall + sub.descent;
      if (has_sup) all.ascent = rise + sup.ascent;
      return all;
    }
    const float rise = std::max(0.32f * size + sup.descent - below * tiny, base.ascent - 0.46f * tiny);
    float fall = std::max(0.18f * size, base.descent - 0.05f * tiny);
    if (has_sub && has_sup) fall = std::max(fall, sub.ascent + between - (rise - sup.descent));
    shift(after_base, after_sub, base.width + 0.03f * size, fall);
    const float lean = base_node.variable ? 0.08f * size : 0;  // a slanted letter reaches over its width at the top
    shift(after_sub, mark(), base.width + lean + 0.05f * size, -rise);
    all.width += std::max(sub.width, sup.width + lean) + 0.07f * size;
    if (has_sub) all.descent = std::max(all.descent, fall + sub.descent);
    if (has_sup) all.ascent = std::max(all.ascent, rise + sup.ascent);
    return all;
  }

  SetBox radical(const FormulaNode& n, float size, bool display) {
    const float line = std::max(1.0f, 0.08f * size), sign = 0.55f * size, gap = 0.12f * size;
    const Mark start = mark();
    const SetBox inside = node(n.children[0], size, display);
    shift(start, mark(), sign, 0);
    const float top = -(inside.ascent + gap), bottom = inside.descent, width = sign + inside.width + gap;
    stroke({{0, bottom - 0.45f * (bottom - top)},
            {0.16f * sign, bottom - 0.52f * (bottom - top)},
            {0.42f * sign, bottom},
            {0.85f * sign, top},
            {width, top}},
           line);
    return {width + 0.05f * size, -top + line, bottom};
  }

  SetBox fence(const FormulaNode& n, float size, bool display) {
    const Mark start = mark();
    const SetBox inside = node(n.children[0], size, display);
    // What is a line high keeps the font's own brackets; anything taller, and every ceiling or floor, is drawn.
    const auto drawn = [&](char c) {
      return inside.ascent > 0.95f * size || inside.descent > 0.45f * size || (c >= 'c' && c <= 'g');
    };
    const float half = std::max(inside.ascent - axis * size, inside.descent + axis * size) + 0.05f * size;
    const auto bracket = [&](char c) {
      if (drawn(c)) return tall(c, size, half);
      return text(std::string(1, c), size, FormulaNode{});
    };
    const Mark before_open = mark();
    const SetBox open = bracket(n.text[0]);
    const Mark after_open = mark();
    shift(start, before_open, open.width, 0);
    const SetBox close = bracket(n.text[1]);
    shift(after_open, mark(), open.width + inside.width, 0);
    return {open.width + inside.width + close.width, std::max({inside.ascent, open.ascent, close.ascent}),
            std::max({inside.descent, open.descent, close.descent})};
  }

  /// A bracket drawn with strokes, `half` pixels up and down from the axis.
  SetBox tall(char c, float size, float half) {
    const float width = 0.34f * size, line = std::max(1.0f, 0.08f * size), mid = -axis * size, top = mid - half,
                bottom = mid + half;
    const bool opens = c == '(' || c == '[' || c == 'c' || c == 'f';
    const float back = opens ? 0.30f * width : 0.70f * width, tip = opens ? 0.85f * width : 0.15f * width;
    std::vector<ImVec2> points;
    if (c == '(' || c == ')') {
      for (int i = 0; i <= 10; ++i) {
        const float t = static_cast<float>(i) / 5.0f - 1.0f;
        points.push_back({back + (tip - back) * t * t, mid + half * t});
      }
    } else {
      if (c != 'f' && c != 'g') points.push_back({tip, top});
      points.push_back({back, top});
      points.push_back({back, bottom});
      if (c != 'c' && c != 'd') points.push_back({tip, bottom});
    }
    stroke(std::move(points), line);
    return {width, -top, bottom};
  }
};

}  // namespace

float baseline_at(float size_px, Font font) { return font_of(font)->GetFontBaked(size_px)->Ascent; }

float baseline_of(Type type, Font font) { return baseline_at(theme().type(type), font); }

FormulaLayout layout_formula(const Formula& formula, const FormulaStyle& style) {
  FormulaLayout out;
  if (formula.root == FormulaNode::none) return out;
  const SetBox box = Setter(formula, out).lines(style);
  out.width = box.width;
  out.ascent = box.ascent;
  out.descent = box.descent;
  return out;
}

}  // namespace widgets
