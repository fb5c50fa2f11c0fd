#include "widgets/base/wrapped_text.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/widgets/prose/typeset_fixture.h"

using widgets::Stroke;

namespace {

/// The lines that are painted, from the top.
std::vector<std::string> lines_of(std::string_view text, float width, const widgets::WrapOptions& options,
                                  float& height) {
  support::UiDriver ui(typeset::in_window([&] {
                         height = widgets::wrapped_text(widgets::Painter::window(), ImGui::GetCursorScreenPos(), text,
                                                        width, widgets::theme().text, options);
                       }),
                       {800, 400}, typeset::set_up);
  std::vector<std::string> lines;
  for (const Stroke& s : ui.record().strokes)
    if (s.kind == Stroke::Kind::text) lines.push_back(s.text);
  return lines;
}

float width_of(std::string_view text) { return static_cast<float>(text.size()) * 7; }

}  // namespace

TEST_CASE("wrapped text: lines break at spaces, a number is never cut in two") {
  float height = 0;
  const auto lines = lines_of("takes 1234.5678 seconds", width_of("takes 1234.5"), {.line_px = 20}, height);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("takes"));
  CHECK(lines[1].starts_with("1234.5678"));
  CHECK(height == 60);
}

TEST_CASE("wrapped text: a line end in the text ends the line, and no text has no height") {
  float height = 0;
  const auto lines = lines_of("one\ntwo", 700, {.line_px = 20}, height);
  CHECK(lines == std::vector<std::string>{"one", "two"});
  CHECK(lines_of("", 700, {}, height).empty());
  CHECK(height == 0);
}

TEST_CASE("wrapped text: of more lines than allowed the last is shortened, and measuring paints nothing") {
  float height = 0, measured = 0;
  const auto lines =
      lines_of("alpha beta gamma delta", width_of("alpha beta"), {.line_px = 20, .max_lines = 2}, height);
  REQUIRE(lines.size() == 2);
  CHECK(height == 40);
  CHECK(lines[1].find("delta") == std::string::npos);
  CHECK(lines_of("alpha beta gamma delta", width_of("alpha beta"), {.line_px = 20, .max_lines = 2, .paint = false},
                 measured)
            .empty());
  CHECK(measured == height);
}
