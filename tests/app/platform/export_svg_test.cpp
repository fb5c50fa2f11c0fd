#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <regex>

#include "app/platform/svg.h"

using Catch::Matchers::ContainsSubstring;
using widgets::Record;
using widgets::Stroke;

namespace {

/// "" for a document whose tags nest, whose attributes are quoted and which holds no bare ampersand, bracket or control
/// character; otherwise what is wrong. Enough of XML for what an exporter writes.
std::string ill_formed(const std::string& xml) {
  static const std::regex tag(R"(<(\?xml [^<>]*\?|/[A-Za-z]+|[A-Za-z]+( [A-Za-z:\-]+="[^"<]*")*/?)>)");
  static const std::regex entity("&(amp|lt|gt|quot);");
  std::vector<std::string> open;
  std::size_t at = 0;
  for (const unsigned char c : xml)
    if (c < 0x20 && c != '\n' && c != '\t') return "control character";
  for (std::size_t i = xml.find('&'); i != std::string::npos; i = xml.find('&', i + 1))
    if (!std::regex_search(xml.begin() + static_cast<std::ptrdiff_t>(i), xml.end(), entity,
                           std::regex_constants::match_continuous))
      return "bare ampersand";
  while ((at = xml.find('<', at)) != std::string::npos) {
    std::smatch m;
    if (!std::regex_search(xml.begin() + static_cast<std::ptrdiff_t>(at), xml.end(), m, tag,
                           std::regex_constants::match_continuous))
      return "bad tag: " + xml.substr(at, 60);
    const std::string body = m[1];
    at += static_cast<std::size_t>(m.length());
    if (body.front() == '?' || body.back() == '/') continue;
    if (body.front() != '/') {
      open.push_back(body.substr(0, body.find(' ')));
    } else {
      if (open.empty() || open.back() != body.substr(1)) return "unbalanced " + body;
      open.pop_back();
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

Stroke text(std::string s, ImVec2 at = {110, 70}) {
  return {
      .kind = Stroke::Kind::text,
      .points = {at, {80, 15}},
      .fill = IM_COL32(1, 2, 3, 255),
      .size = 15,
      .text = std::move(s),
  };
}
Stroke clip() { return {.kind = Stroke::Kind::clip_push, .points = {{100, 50}, {200, 100}}, .text = {}}; }
Stroke unclip() { return {.kind = Stroke::Kind::clip_pop, .points = {}, .text = {}}; }

Record picture(std::vector<Stroke> strokes) { return {{100, 50}, {400, 250}, std::move(strokes), {}}; }

std::size_t count(const std::string& in, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the checker of these tests sees ill-formed XML") {
  CHECK(ill_formed("<a><b></a></b>") != "");
  CHECK(ill_formed("<a>x & y</a>") != "");
  CHECK(ill_formed("<a") != "");
  CHECK(ill_formed("<a b=\"c\"><d/>&amp;</a>") == "");
}

TEST_CASE("SVG keeps text as text, at the corner's origin, on the baseline of the font") {
  const std::string svg = app::to_svg(picture({text("ridge 295 FLOP/B")}));
  CHECK(ill_formed(svg) == "");
  CHECK_THAT(svg, ContainsSubstring(">ridge 295 FLOP/B</text>"));
  CHECK_THAT(svg, ContainsSubstring("width=\"300\" height=\"200\" viewBox=\"0 0 300 200\""));
  // Top left (110, 70) less the corner (100, 50); the baseline 15 * 2728 / 3408 = 12.007, rounded up as on screen: 13
  // lower.
  CHECK_THAT(svg, ContainsSubstring("x=\"10\" y=\"33\""));
  CHECK_THAT(svg, ContainsSubstring("font-size=\"12.39\""));  // 15 * 2816 / 3408: the em, not the line
  CHECK_THAT(svg, ContainsSubstring("font-family=\"Inter,"));
  CHECK_THAT(svg, ContainsSubstring("fill=\"#010203\""));
}

TEST_CASE("SVG names weight and mono face") {
  Stroke bold = text("b"), mono = text("m");
  bold.font = widgets::Font::bold;
  mono.font = widgets::Font::mono;
  const std::string svg = app::to_svg(picture({bold, mono}));
  CHECK_THAT(svg, ContainsSubstring("font-weight=\"600\""));
  CHECK_THAT(svg, ContainsSubstring("font-family=\"'JetBrains Mono'"));
  CHECK_THAT(svg, ContainsSubstring("font-size=\"11.36\""));  // 15 * 1000 / 1320
}

TEST_CASE("SVG stays well-formed whatever bytes a text holds") {
  const std::string replaced = "\xEF\xBF\xBD";
  struct Case {
    std::string in, out;
  };
  for (const Case& c :
       {Case{"a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;"},
        Case{"]]></text><script>", "]]&gt;&lt;/text&gt;&lt;script&gt;"},
        Case{"\xC2\xB5s \xE2\x89\xA4 \xF0\x9D\x91\x93", "\xC2\xB5s \xE2\x89\xA4 \xF0\x9D\x91\x93"},
        Case{"cut \xE2\x89", "cut " + replaced + replaced}, Case{"\xC0\xAF", replaced + replaced},  // overlong slash
        Case{"\xED\xA0\x80", replaced + replaced + replaced},                                       // surrogate
        Case{"\xEF\xBF\xBF", replaced + replaced + replaced},  // U+FFFF is no XML character
        Case{std::string("nul\0esc\x1B", 8), "nul" + replaced + "esc" + replaced}}) {
    const std::string svg = app::to_svg(picture({text(c.in)}));
    CHECK(ill_formed(svg) == "");
    CHECK_THAT(svg, ContainsSubstring(">" + c.out + "</text>"));
  }
}

TEST_CASE("SVG turns what is turned about its own point") {
  Stroke turned = text("along the line");
  turned.rotation = -30;
  turned.pivot = {110, 70};
  const std::string svg = app::to_svg(picture({turned, text("plain")}));
  CHECK(ill_formed(svg) == "");
  CHECK_THAT(svg, ContainsSubstring("transform=\"rotate(-30 10 20)\" xml:space=\"preserve\">along the line<"));
  CHECK(count(svg, "rotate(") == 1);
}

TEST_CASE("SVG breaks lines as the screen does") {
  const std::string svg = app::to_svg(picture({text("one\n\ntwo")}));
  CHECK_THAT(svg, ContainsSubstring("y=\"33\"") && ContainsSubstring(">one</text>"));
  CHECK_THAT(svg, ContainsSubstring("y=\"63\"") && ContainsSubstring(">two</text>"));
  CHECK(count(svg, "<text") == 2);
}

TEST_CASE("SVG nests clips, and balances those that come without their other half") {
  const std::string nested =
      app::to_svg(picture({clip(), clip(), text("in"), unclip(), text("between"), unclip(), text("out")}));
  CHECK(ill_formed(nested) == "");
  CHECK(count(nested, "<g clip-path=") == 2);
  CHECK_THAT(nested, ContainsSubstring("clip-path=\"url(#c2)\""));
  CHECK(ill_formed(app::to_svg(picture({unclip(), clip(), clip(), text("x")}))) == "");
  Stroke broken = clip();
  broken.points[0].x = std::numeric_limits<float>::infinity();
  CHECK(ill_formed(app::to_svg(picture({broken, text("x"), unclip(), text("y")}))) == "");
}

TEST_CASE("SVG writes shapes with opacity, dashes, rounding and closed outlines") {
  const std::string svg = app::to_svg(picture({{
                                                   .kind = Stroke::Kind::rect,
                                                   .points = {{110, 60}, {130, 80}},
                                                   .fill = IM_COL32(86, 180, 233, 51),
                                                   .rounding = 4,
                                                   .text = {},
                                               },
                                               {
                                                   .kind = Stroke::Kind::rect,
                                                   .points = {{110, 60}, {130, 80}},
                                                   .stroke = IM_COL32(0, 0, 0, 255),
                                                   .width = 1,
                                                   .text = {},
                                               },
                                               {
                                                   .kind = Stroke::Kind::polyline,
                                                   .points = {{100, 50}, {101.256f, 60}},
                                                   .stroke = IM_COL32(255, 0, 16, 255),
                                                   .width = 1.5f,
                                                   .dash = 5,
                                                   .text = {},
                                               },
                                               {
                                                   .kind = Stroke::Kind::polyline,
                                                   .points = {{100, 50}, {110, 60}, {100, 70}},
                                                   .stroke = IM_COL32_WHITE,
                                                   .width = 2,
                                                   .closed = true,
                                                   .text = {},
                                               },
                                               {
                                                   .kind = Stroke::Kind::circle,
                                                   .points = {{150, 100}, {7, 0}},
                                                   .fill = IM_COL32_WHITE,
                                                   .text = {},
                                               }}));
  CHECK(ill_formed(svg) == "");
  CHECK_THAT(svg,
             ContainsSubstring(
                 "<rect x=\"10\" y=\"10\" width=\"20\" height=\"20\" rx=\"4\" fill=\"#56b4e9\" fill-opacity=\"0.2\""));
  CHECK_THAT(svg, ContainsSubstring("<rect x=\"10.5\" y=\"10.5\" width=\"19\" height=\"19\" fill=\"none\" "
                                    "stroke=\"#000000\" stroke-width=\"1\""));
  CHECK_THAT(svg, ContainsSubstring("<polyline points=\"0,0 1.26,10\" fill=\"none\" stroke=\"#ff0010\" "
                                    "stroke-width=\"1.5\" stroke-dasharray=\"5\""));
  CHECK_THAT(svg, ContainsSubstring("<polygon points=\"0,0 10,10 0,20\" fill=\"none\""));
  CHECK_THAT(svg, ContainsSubstring("<circle cx=\"50\" cy=\"50\" r=\"7\" fill=\"#ffffff\""));
}

TEST_CASE("SVG leaves out shapes whose place is not a number") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string svg = app::to_svg(picture({{
                                                   .kind = Stroke::Kind::polyline,
                                                   .points = {{nan, 50}, {110, 60}},
                                                   .stroke = IM_COL32_WHITE,
                                                   .text = {},
                                               },
                                               text("gone", {100, nan}),
                                               {
                                                   .kind = Stroke::Kind::rect,
                                                   .points = {},
                                                   .fill = IM_COL32_WHITE,
                                                   .text = {},
                                               }}));
  CHECK(ill_formed(svg) == "");
  CHECK_THAT(svg, !ContainsSubstring("nan") && !ContainsSubstring("gone") && !ContainsSubstring("<rect"));
}

TEST_CASE("SVG paints the background only when asked") {
  CHECK_THAT(app::to_svg(picture({}), IM_COL32(15, 19, 24, 255)),
             ContainsSubstring("<rect x=\"0\" y=\"0\" width=\"300\" height=\"200\" fill=\"#0f1318\""));
  CHECK_THAT(app::to_svg(picture({})), !ContainsSubstring("<rect"));
}
