#include "widgets/prose/formula.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/widgets/prose/typeset_fixture.h"

using widgets::Formula;
using widgets::FormulaLayout;
using widgets::FormulaText;
using widgets::layout_formula;
using widgets::parse_formula;

namespace {

FormulaLayout laid(std::string_view markup, widgets::FormulaStyle style = {}) {
  const Formula f = parse_formula(markup);
  INFO(markup);
  REQUIRE(f.error.empty());
  return layout_formula(f, style);
}

const FormulaText& piece(const FormulaLayout& l, std::string_view text) {
  const auto found = std::find_if(l.texts.begin(), l.texts.end(), [&](const FormulaText& t) { return t.text == text; });
  INFO(text);
  REQUIRE(found != l.texts.end());
  return *found;
}

std::string error(std::string_view markup) { return parse_formula(markup).error; }

}  // namespace

TEST_CASE("a fraction's bar lies between its two parts and spans the wider one") {
  const typeset::Page page;
  const FormulaLayout l = laid("\\frac{a}{bbbb}");
  REQUIRE(l.strokes.size() == 1);
  const float bar = l.strokes[0].points[0].y;
  const FormulaText &above = piece(l, "a"), &under = piece(l, "bbbb");
  CHECK(above.baseline.y < bar);
  CHECK(under.baseline.y > bar);
  CHECK(under.baseline.y - 0.64f * under.size > bar);  // capitals reach 0.64 of the type size
  CHECK(l.strokes[0].points[1].x - l.strokes[0].points[0].x >= under.width);
  const float middle_above = above.baseline.x + above.width / 2, middle_under = under.baseline.x + under.width / 2;
  CHECK(std::abs(middle_above - middle_under) <= 0.01f);
  CHECK(l.ascent > -above.baseline.y);
  CHECK(l.descent > under.baseline.y);
}

TEST_CASE("symbols of one row share the baseline, scripts stand above and below it") {
  const typeset::Page page;
  const FormulaLayout l = laid("a + \\frac{1}{2} + x_{i}^{n} = y");
  CHECK(piece(l, "a").baseline.y == 0);
  CHECK(piece(l, "y").baseline.y == 0);
  CHECK(piece(l, "x").baseline.y == 0);
  CHECK(piece(l, "n").baseline.y < 0);
  CHECK(piece(l, "i").baseline.y > 0);
  const float size = widgets::theme().type(widgets::Type::body);
  CHECK(std::abs(piece(l, "n").size - 0.7f * size) <= 0.01f);
  CHECK(piece(l, "n").baseline.x >= piece(l, "x").baseline.x + piece(l, "x").width);
  CHECK(piece(l, "y").baseline.x > piece(l, "n").baseline.x);
}

TEST_CASE("a sum carries its limits above and below on a line of its own, at its side within a text") {
  const typeset::Page page;
  const FormulaLayout display = laid("\\sum_{i}^{n} b");
  const FormulaText& sum = piece(display, "∑");
  CHECK(sum.size >= 1.5f * widgets::theme().type(widgets::Type::body));
  CHECK(piece(display, "n").baseline.y < sum.baseline.y - widgets::theme().type(widgets::Type::small));
  CHECK(piece(display, "i").baseline.y > sum.baseline.y);
  CHECK(piece(display, "n").baseline.x < sum.baseline.x + sum.width);
  const FormulaLayout inline_sum = laid("\\sum_{i}^{n} b", {.display = false});
  CHECK(piece(inline_sum, "n").baseline.x >= piece(inline_sum, "∑").baseline.x + piece(inline_sum, "∑").width);
}

TEST_CASE("parentheses grow with what they hold and stay letters around one line") {
  const typeset::Page page;
  CHECK(laid("(a + b)").strokes.empty());
  const FormulaLayout l = laid("(\\frac{a}{b})");
  REQUIRE(l.strokes.size() == 3);  // the bar and two brackets
  const FormulaText &above = piece(l, "a"), &under = piece(l, "b");
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(l.strokes[i].points.front().y < above.baseline.y);
    CHECK(l.strokes[i].points.back().y > under.baseline.y);
  }
  CHECK(l.strokes[1].points.front().x < above.baseline.x);
  CHECK(l.strokes[2].points.front().x > above.baseline.x + above.width);
  CHECK(parse_formula("\\left[0, 1\\right)").error.empty());
}

TEST_CASE("a square root's line covers what is under it") {
  const typeset::Page page;
  const FormulaLayout l = laid("\\sqrt{x^{2} + y}");
  REQUIRE(l.strokes.size() == 1);
  const auto& sign = l.strokes[0].points;
  CHECK(sign.back().x >= piece(l, "y").baseline.x + piece(l, "y").width);
  CHECK(sign.back().y < piece(l, "2").baseline.y - 0.5f * widgets::theme().type(widgets::Type::small));
  CHECK(sign[3].y == sign[4].y);
}

TEST_CASE("a minus sign between two symbols has more air than one before a number") {
  const typeset::Page page;
  const auto gap = [](const FormulaLayout& l, std::string_view before, std::string_view after) {
    return piece(l, after).baseline.x - piece(l, before).baseline.x - piece(l, before).width;
  };
  CHECK(gap(laid("a - 3"), "−", "3") > 1);
  CHECK(std::abs(gap(laid("-3"), "−", "3")) <= 0.01f);
  CHECK(std::abs(gap(laid("a = -3"), "−", "3")) <= 0.01f);
}

TEST_CASE("a formula wider than its room breaks before a relation or a sign and fits") {
  const typeset::Page page;
  const std::string_view markup = "aaaaaaaa = bbbbbbbb + cccccccc + dddddddd";
  const float whole = laid(markup).width;
  const FormulaLayout broken = laid(markup, {.max_width = whole * 0.6f});
  CHECK(broken.width <= whole * 0.6f);
  CHECK(broken.descent > laid(markup).descent + widgets::theme().type(widgets::Type::body));
  CHECK(piece(broken, "aaaaaaaa").baseline.y == 0);
  CHECK(piece(broken, "dddddddd").baseline.y > 0);
}

TEST_CASE("live values are shown, unknown ones by their key") {
  const typeset::Page page;
  Formula f = parse_formula("I = \\frac{\\val{flops}}{{{bytes}}} + {{nothing.bin}}");
  REQUIRE(f.error.empty());
  CHECK(f.values.keys == std::vector<std::string>{"flops", "bytes", "nothing.bin"});
  typeset::Values values{{{"flops", "2 GFLOP"}, {"bytes", "1 GB"}}};
  CHECK(f.values.refresh(values.source()));
  CHECK_FALSE(f.values.refresh(values.source()));
  const FormulaLayout l = layout_formula(f);
  CHECK(piece(l, "2 GFLOP").role == widgets::FormulaRole::value);
  CHECK(piece(l, "1 GB").role == widgets::FormulaRole::value);
  CHECK(piece(l, "{nothing.bin}").role == widgets::FormulaRole::unknown);
}

TEST_CASE("a faulty formula is told in one sentence with its place") {
  CHECK(error("\\frac{a}") == "Formula, position 9: \\frac needs two groups in braces, as in \\frac{a}{b}.");
  CHECK(error("a + \\alhpa") == "Formula, position 5: \\alhpa is not a command; write \\text{alhpa} for words.");
  CHECK(error("(a + b") == "Formula, position 1: this '(' is never closed.");
  CHECK(error("a)") == "Formula, position 2: there is a ')' that nothing opened.");
  CHECK(error("a}") == "Formula, position 2: there is a '}' that nothing opened.");
  CHECK(error("x^{2") == "Formula, position 3: this '{' is never closed.");
  CHECK(error("10^-3") ==
        "Formula, position 4: '^' needs a letter, a number or a group in braces after it, as in x^{2}.");
  CHECK(error("x^2^3") == "Formula, position 4: a second '^' follows the same symbol; join both in one group.");
  CHECK(error("_i") == "Formula, position 1: '_' has no symbol before it.");
  CHECK(error("\\val{Total}") == "Formula, position 1: \\val needs a key in braces, as in \\val{total_bytes}.");
  CHECK(error("a\xff") == "Formula, position 2: a byte here is not UTF-8 text.");
  CHECK(error("a \\") == "Formula, position 3: a '\\' stands alone at the end.");
  CHECK(error(std::string(5000, 'x')) == "Formula, position 4097: it is longer than 4,096 bytes; split it.");
  std::string deep;
  for (int i = 0; i < 600; ++i) deep += "\\sqrt{";
  CHECK(error(deep).ends_with("it nests deeper than 24 levels."));
}

TEST_CASE("a drawn formula is laid out again only when a value or its source changes") {
  typeset::Values values{{{"x", "1"}}};
  widgets::FormulaView view;
  std::string markup = "y = \\val{x}";
  support::UiDriver ui(typeset::in_window([&] { widgets::draw_formula("f", markup, values.source(), view); }),
                       {400, 300}, typeset::set_up);
  CHECK(ui.text_present("1"));
  CHECK(view.layouts == 1);
  values.texts["x"] = "2";
  CHECK(ui.text_present("2"));
  CHECK(view.layouts == 2);
  markup = "y = \\val{x} + )";
  CHECK(ui.text_present("Formula, position 15: there is a ')' that nothing opened."));
}

TEST_CASE("scripts of scripts shrink by 70 % each time and stop at nine pixels") {
  const typeset::Page page;
  const FormulaLayout l = laid("a^{b^{c^{d}}}", {.type = widgets::Type::title});
  const float size = widgets::theme().type(widgets::Type::title);
  CHECK(piece(l, "a").size == size);
  CHECK(std::abs(piece(l, "b").size - 0.7f * size) <= 0.01f);
  CHECK(piece(l, "c").size >= widgets::theme().px(9));
  CHECK(piece(l, "c").size < piece(l, "b").size);
  CHECK(piece(l, "d").size == std::max(0.7f * piece(l, "c").size, widgets::theme().px(9)));
}

TEST_CASE("quantities of one letter are slanted; words, functions, a transpose and digits are upright") {
  const typeset::Page page;
  const FormulaLayout l = laid("x \\max(y) + log + \\text{e} + K^T + \\alpha + 2");
  using widgets::Font;
  CHECK(piece(l, "x").font == Font::italic);
  CHECK(piece(l, "y").font == Font::italic);
  CHECK(piece(l, "K").font == Font::italic);
  CHECK(piece(l, "α").font == Font::italic);
  CHECK(piece(l, "max").font == Font::sans);
  CHECK(piece(l, "log").font == Font::sans);
  CHECK(piece(l, "e").font == Font::sans);
  CHECK(piece(l, "T").font == Font::sans);
  CHECK(piece(l, "2").font == Font::sans);
  CHECK(piece(l, "T").baseline.x >= piece(l, "K").baseline.x + piece(l, "K").width);
  CHECK(piece(l, "T").baseline.y < 0);
}

TEST_CASE("the brackets of both sides of a fraction are of one kind and height, whatever stands above and below") {
  const typeset::Page page;
  const FormulaLayout l = laid("\\frac{w^{2}}{[H^{-1}]_{jj}} + \\left(\\frac{a^{2}}{b}\\right)");
  std::vector<const widgets::FormulaStroke*> tall;
  for (const auto& s : l.strokes)
    if (s.points.size() > 2) tall.push_back(&s);
  REQUIRE(tall.size() == 2);
  CHECK(tall[0]->points.front().y == tall[1]->points.front().y);
  CHECK(tall[0]->points.back().y == tall[1]->points.back().y);
  CHECK(piece(l, "[").size == piece(l, "]").size);
  CHECK(piece(l, "[").baseline.y == piece(l, "]").baseline.y);
}
