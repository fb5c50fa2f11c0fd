#include "widgets/prose/prose.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/widgets/prose/typeset_fixture.h"

using widgets::layout_prose;
using widgets::parse_prose;
using widgets::ProseDoc;
using widgets::ProseItem;
using widgets::ProseLayout;

namespace {

/// Lays `markdown` out and finds pieces by what they show.
struct Laid {
  ProseDoc doc;
  ProseLayout layout;
  Laid(std::string_view markdown, float width, typeset::Values values = {}) : doc(parse_prose(markdown)) {
    doc.refresh(values.source());
    layout = layout_prose(doc, width);
  }
  std::string shown(const ProseItem& item) const {
    if (item.kind == ProseItem::Kind::text) return std::string(doc.shown(item.begin, item.end));
    if (item.kind == ProseItem::Kind::marker) return doc.blocks[item.index].marker;
    if (item.kind == ProseItem::Kind::value)
      return doc.values.texts[item.index].substr(item.begin, item.end - item.begin);
    return {};
  }
  const ProseItem& item(std::string_view text) const {
    const auto found = std::find_if(layout.items.begin(), layout.items.end(),
                                    [&](const ProseItem& i) { return shown(i).find(text) != std::string::npos; });
    INFO(text);
    REQUIRE(found != layout.items.end());
    return *found;
  }
  float right_edge() const {
    float right = 0;
    for (const ProseItem& i : layout.items) right = std::max(right, i.at.x + i.size.x);
    return right;
  }
};

}  // namespace

TEST_CASE("no line of prose is wider than it may be, and none is shorter than it needs to be") {
  const typeset::Page page;
  std::string words;
  for (int i = 0; i < 120; ++i) words += (i % 7 ? "word " : "considerably ");
  for (const float width : {120.0f, 333.0f, 700.0f}) {
    const Laid p(words, width);
    CHECK(p.right_edge() <= width);
    // Greedy lines: each one's first word would not have fitted on the line before.
    for (std::size_t i = 1; i < p.layout.items.size(); ++i) {
      const ProseItem &last = p.layout.items[i - 1], &here = p.layout.items[i];
      REQUIRE(here.at.y > last.at.y);
      const std::string first_word = p.shown(here).substr(0, p.shown(here).find(' '));
      CHECK(last.size.x + widgets::text_size(" " + first_word).x > width);
    }
  }
}

TEST_CASE("a word wider than the line is broken inside, losing nothing") {
  const typeset::Page page;
  const std::string word(200, 'x');
  const Laid p("a " + word + " b", 150);
  CHECK(p.right_edge() <= 150);
  std::string together;
  for (const ProseItem& i : p.layout.items) together += p.shown(i);
  CHECK(together == "a" + word + " b");
}

TEST_CASE("punctuation stays with the value before it") {
  const typeset::Page page;
  const typeset::Values values{{{"time", "1,234,567 ms"}}};
  for (float width = 60; width < 300; width += 7) {
    const Laid p("it takes ({time}), no less", width, values);
    const ProseItem& value = p.item("1,234,567 ms");
    const ProseItem& after = p.item("),");
    if (widgets::text_size("(1,234,567 ms),").x <= width) CHECK(after.at.y == value.at.y);
  }
}

TEST_CASE("nested lists are indented by level, with their marks before them") {
  const typeset::Page page;
  const Laid p("1. one\n2. two\n   - inner\n     - innermost\n3. three\n", 400);
  CHECK(p.item("two").at.x == p.item("one").at.x);
  CHECK(p.item("inner").at.x > p.item("two").at.x);
  CHECK(p.item("innermost").at.x > p.item("inner").at.x);
  CHECK(p.item("three").at.x == p.item("one").at.x);
  CHECK(p.item("3.").at.x + p.item("3.").size.x < p.item("three").at.x);
  CHECK(p.item("3.").at.y == p.item("three").at.y);
}

TEST_CASE("columns of a table stand in line, each to its side, and long cells wrap") {
  const typeset::Page page;
  const Laid p(
      "| Name | Rate |\n|:--|--:|\n| aa | 5 |\n| bb | 12345 |\n| cc a very long cell that has to wrap somewhere | 7 "
      "|\n",
      260);
  CHECK(p.item("aa").at.x == p.item("bb").at.x);
  CHECK(p.item("Name").at.x == p.item("aa").at.x);
  const auto right = [](const ProseItem& i) { return i.at.x + i.size.x; };
  CHECK(std::abs(right(p.item("12345")) - right(p.item("7"))) <= 0.01f);
  CHECK(std::abs(right(p.item("12345")) - right(p.item("Rate"))) <= 0.01f);
  CHECK(p.item("somewhere").at.y > p.item("cc a").at.y);
  CHECK(p.right_edge() <= 260);
}

TEST_CASE(
    "headings differ in type from text, a block of code keeps its lines and its braces, a span of code is filled") {
  const typeset::Page page;
  const typeset::Values values{{{"n", "8"}}};
  const Laid p("# Title\ntext {n} and `{n}`\n```\nfor {n}\n  two\n```\n", 400, values);
  CHECK(p.item("Title").type == widgets::Type::title);
  CHECK(p.item("text").type == widgets::Type::body);
  CHECK(p.item("8").kind == ProseItem::Kind::value);
  CHECK(p.item("for {n}").font == widgets::Font::mono);
  CHECK(p.item("  two").at.y > p.item("for {n}").at.y);
  CHECK(std::count_if(p.layout.items.begin(), p.layout.items.end(),
                      [](const ProseItem& i) { return i.kind == ProseItem::Kind::value; }) == 2);
}

TEST_CASE("dollars that are money are not formulas") {
  const ProseDoc money = parse_prose("It costs $2.10 an hour, or $3 with support.");
  CHECK(money.formulas.empty());
  CHECK(money.text.find("$2.10 an hour, or $3") != std::string::npos);
  const ProseDoc math = parse_prose("With $I = \\frac{a}{b}$ and\n\n$$x \\le \\{1\\}$$\n");
  REQUIRE(math.formulas.size() == 2);
  CHECK(math.problems.empty());
  CHECK_FALSE(math.formulas[0].display);
  CHECK(math.formulas[1].display);
  CHECK(math.shown(math.formulas[1].begin, math.formulas[1].end) == "$$x \\le \\{1\\}$$");
}

TEST_CASE("a formula makes room in its line and stands on the text's baseline") {
  const typeset::Page page;
  const Laid plain("before x after", 400), with("before $\\frac{\\frac{a}{b}}{\\frac{c}{d}}$ after", 400);
  CHECK(with.layout.height > plain.layout.height);
  const auto formula = std::find_if(with.layout.items.begin(), with.layout.items.end(),
                                    [](const ProseItem& i) { return i.kind == ProseItem::Kind::formula; });
  REQUIRE(formula != with.layout.items.end());
  const float baseline = formula->at.y + with.layout.formulas[formula->index].ascent;
  CHECK(std::abs(baseline - (with.item("before").at.y + widgets::baseline_of(widgets::Type::body))) <= 0.01f);
  CHECK(formula->at.y >= 0);
  CHECK(formula->at.y + formula->size.y <= with.layout.height);
}

TEST_CASE("unknown keys and unreadable formulas are listed") {
  typeset::Values values{{{"batch", "1"}}};
  const std::string_view text = "{batch} {batches} {batch.bin} `{code}` {Not a key} $\\val{flops}$ {batches}";
  CHECK(widgets::unknown_keys(text, values.source()) ==
        std::vector<std::string>{"batches", "batch.bin", "code", "flops"});
  const auto problems = widgets::prose_problems("$\\frac{a}$ and \xff");
  REQUIRE(problems.size() == 2);
  CHECK(problems[0] == "Byte 16 of the text is not UTF-8; save the text as UTF-8.");
  CHECK(problems[1] ==
        "Formula, position 9: \\frac needs two groups in braces, as in \\frac{a}{b}. The formula is: \\frac{a}");
}

TEST_CASE("copied Markdown holds the current values and all else as it was written") {
  typeset::Values values{{{"total_bytes", "1.07 GB"}, {"total_bytes.bin", "1.00 GiB"}, {"rate:GB/s", "3,350 GB/s"}}};
  const std::string_view text =
      "**{total_bytes}** is {total_bytes.bin}; *{rate:GB/s}* \\{x\\}, {unknown}, `{total_bytes}` and $a = "
      "\\val{total_bytes}$\n";
  CHECK(widgets::prose_as_markdown(text, values.source()) ==
        "**1.07 GB** is 1.00 GiB; *3,350 GB/s* \\{x\\}, {unknown}, `1.07 GB` and $a = \\text{1.07 GB}$\n");
}

TEST_CASE("a live key splits into its name and how it is to be shown") {
  CHECK(widgets::split_live_key("rate:GB/s").name == "rate");
  CHECK(widgets::split_live_key("rate:GB/s").unit == "GB/s");
  CHECK(widgets::split_live_key("total_bytes.bin").prefix == widgets::Prefix::binary);
  CHECK(widgets::split_live_key("total_bytes.bim").name == "total_bytes.bim");  // not "total_bytes": the slip must show
}

TEST_CASE("hostile Markdown is laid out all the same") {
  const typeset::Page page;
  std::string quotes(10000, '>'), lists, brackets(50000, '['), stars;
  for (int i = 0; i < 400; ++i) lists += std::string(static_cast<std::size_t>(2 * i), ' ') + "- x\n";
  for (int i = 0; i < 20000; ++i) stars += "*a _b ";
  for (const std::string& text :
       {quotes + " deep", lists, brackets, stars, std::string("a\0b", 3), std::string("\xed\xa0\x80 \xf8 |-|")}) {
    const Laid p(text, 200);
    CHECK(p.right_edge() <= 200);
    CHECK(p.layout.height > 0);
  }
  CHECK(Laid(quotes + " deep", 200).item("deep").at.x < 200);
  CHECK(widgets::prose_problems(std::string(300 * 1024, 'a')) ==
        std::vector<std::string>{"The text is longer than 256 KiB and is cut there; split it."});
}

TEST_CASE("prose is laid out again only when its text, its width or a value changes") {
  typeset::Values values{{{"n", "1"}}};
  widgets::ProseView view;
  std::string text = "value {n} here";
  float width = 300;
  support::UiDriver ui(typeset::in_window([&] { widgets::draw_prose("p", text, values.source(), view, width); }),
                       {400, 300}, typeset::set_up);
  ui.frames(5);
  CHECK(view.layouts == 1);
  values.texts["n"] = "2";
  ui.frames(2);
  CHECK(view.layouts == 2);
  CHECK(ui.text_present("2"));
  width = 120;
  ui.frames(2);
  CHECK(view.layouts == 3);
  text = "other";
  ui.frames(2);
  CHECK(view.layouts == 4);
  CHECK(ui.text_present("other"));
}

TEST_CASE("a click on a lab link reports it, a click on a web link copies its address") {
  typeset::Values values;
  widgets::ProseView view;
  std::string clicked, copied;
  support::UiDriver ui(typeset::in_window([&] {
                         const auto r = widgets::draw_prose(
                             "p",
                             "See [the roofline at batch 4](lab:roofline/roofline?chip=h100_sxm&batch=4) or [a "
                             "page](https://example.org/a?b=c).",
                             values.source(), view, 160);
                         if (!r.clicked.empty()) clicked = r.clicked;
                         if (!r.copied.empty()) copied = r.copied;
                       }),
                       {400, 300}, typeset::set_up);
  CHECK(view.layout.links.size() >= 3);  // the first one goes over two lines; each line's part can be clicked
  ui.click("the roofline at batch 4");
  CHECK(clicked == "lab:roofline/roofline?chip=h100_sxm&batch=4");
  CHECK(copied.empty());
  ui.click("a page");
  CHECK(copied == "https://example.org/a?b=c");
  CHECK(std::string(ImGui::GetClipboardText()) == "https://example.org/a?b=c");
}

TEST_CASE("no line ends between a number and its unit, nor at a sign of relation") {
  const typeset::Page page;
  const typeset::Values values{{{"temperature", "4"}}};
  const std::string_view text = "some words and T = {temperature} then a block of 4 KiB and 12 GB/s, x = 3 and so on";
  for (float width = 100; width < 420; width += 3) {
    const Laid p(text, width, values);
    INFO(width);
    std::vector<std::string> lines;
    float y = -1;
    for (const ProseItem& i : p.layout.items) {
      if (lines.empty() || i.at.y > y + 5) lines.emplace_back();
      y = i.at.y;
      lines.back() += (lines.back().empty() ? "" : " ") + p.shown(i);
    }
    for (const std::string& line : lines) {
      CHECK_FALSE(line.ends_with("="));
      CHECK_FALSE(line.starts_with("="));
      CHECK_FALSE(line.starts_with("KiB"));
      CHECK_FALSE(line.starts_with("GB/s"));
      CHECK_FALSE(line.ends_with(" T"));
    }
    CHECK(p.right_edge() <= width);
  }
}

TEST_CASE("a command in code breaks at its spaces and stands on one chip a line") {
  const typeset::Page page;
  const typeset::Values values{{{"command", "ridgeline kernels run gemm --size 1024 --repeat 5"}}};
  const Laid p("What it runs: `{command}`", 220, values);
  CHECK(p.right_edge() <= 220 + 0.15f * widgets::theme().type(widgets::Type::body) + 0.01f);
  std::string together;
  std::size_t chips = 0;
  for (const ProseItem& i : p.layout.items) {
    if (i.kind == ProseItem::Kind::value) together += p.shown(i) + " ";
    chips += i.kind == ProseItem::Kind::card;
  }
  CHECK(together == "ridgeline kernels run gemm --size 1024 --repeat 5 ");
  CHECK(chips >= 2);
  CHECK(chips <= 4);
}

TEST_CASE("wide prose stands in two columns, parted between blocks and never after a heading") {
  const typeset::Page page;
  std::string text;
  for (int i = 0; i < 6; ++i) {
    text += "# Heading " + std::to_string(i) + "\n\n";
    for (int k = 0; k < 60; ++k) text += "word ";
    text += "\n\n";
  }
  const ProseDoc doc = parse_prose(text);
  const ProseLayout narrow = widgets::layout_prose_columns(doc, 900), wide = widgets::layout_prose_columns(doc, 1300);
  CHECK(narrow.width <= widgets::prose_max_width());
  CHECK(wide.width > 1000);
  CHECK(wide.width <= 1300);
  CHECK(wide.height < 0.65f * widgets::layout_prose(doc, 630).height);
  float left_bottom = 0;
  const ProseItem* first_right = nullptr;
  for (const ProseItem& i : wide.items) {
    if (i.at.x < 600) left_bottom = std::max(left_bottom, i.at.y + i.size.y);
    if (i.at.x > 640 && !first_right) first_right = &i;
  }
  REQUIRE(first_right);
  CHECK(first_right->at.y >= 0);
  CHECK(first_right->at.y < 10);
  CHECK(first_right->type == widgets::Type::title);  // a heading begins the column, none ends one
  CHECK(left_bottom <= wide.height + 0.5f);
  const ProseDoc little = parse_prose("Two words.");
  CHECK(widgets::layout_prose_columns(little, 1300).items[0].at.x < 10);
}
