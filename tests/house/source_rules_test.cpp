#include "tests/house/source_rules.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/paths.h"

namespace {

/// The code of the product, and with `tests` that of the tests.
std::vector<house::Source> sources_of(bool tests) {
  std::vector<std::string_view> rooms{"models", "widgets", "kernels", "chapters", "app"};
  if (tests) rooms.push_back("tests");
  auto sources = house::read_sources(support::source_file(""), rooms);
  REQUIRE(sources.size() > 100);
  return sources;
}

}  // namespace

TEST_CASE("no line is longer than 120 characters") {
  CHECK_FALSE(house::line_length_fault(std::string(121, 'x')).empty());
  CHECK(house::line_length_fault(std::string(120, 'x')).empty());
  CHECK(house::line_length_fault(std::string(119, 'x') + "\xC2\xB5").empty());
  CHECK(house::faults_of_lines(sources_of(true),
                               [](const auto&, const auto& line) { return house::line_length_fault(line); }) == "");
}

TEST_CASE("no source file is longer than 400 lines") {
  CHECK_FALSE(house::file_length_fault({"models/base/long.cpp", std::vector<std::string>(401)}).empty());
  CHECK(house::file_length_fault({"models/base/long.cpp", std::vector<std::string>(400)}).empty());
  std::string faults;
  for (const auto& source : sources_of(true))
    if (const std::string fault = house::file_length_fault(source); !fault.empty()) faults += fault + "\n";
  CHECK(faults == "");
}

TEST_CASE("colours are written in widgets/base/theme alone") {
  const std::string path = "widgets/plot/plot.cpp";
  CHECK_FALSE(house::colour_fault(path, "list->AddLine(a, b, IM_COL32(255, 0, 0, 255));").empty());
  CHECK_FALSE(house::colour_fault(path, "const ImVec4 red{1.0f, 0.0f, 0.0f, 1.0f};").empty());
  CHECK(house::colour_fault("widgets/base/theme.cpp", "const ImVec4 red{1.0f, 0.0f, 0.0f, 1.0f};").empty());
  CHECK(house::faults_of_lines(sources_of(false), house::colour_fault) == "");
}

TEST_CASE("a shared choice is declared in the mechanism alone") {
  const std::string line = "         {.range = {1, 256}, .shared = \"batch\"});";
  CHECK_FALSE(house::shared_choice_fault("chapters/roofline/roofline/describe.cpp", line).empty());
  CHECK(house::shared_choice_fault("chapters/mechanism/shared_choices.cpp", line).empty());
  CHECK(house::shared_choice_fault("app/shell/bar.cpp", "if (spec.shared == name) return;").empty());
  CHECK(house::shared_choice_fault("models/transformer/families.cpp", "  out.shared = 1;").empty());
  CHECK(house::faults_of_lines(sources_of(false), house::shared_choice_fault) == "");
}

TEST_CASE("a place to press has a size whatever the window leaves of it") {
  const std::string line = "  const bool pressed = ImGui::InvisibleButton(label, {width, 0});";
  CHECK_FALSE(house::bare_press_fault("chapters/precision/bits/draw_bits.cpp", line).empty());
  CHECK(house::bare_press_fault("widgets/base/press_area.cpp", line).empty());
  CHECK(house::bare_press_fault("widgets/base/parts.cpp", "  press_area(label, size);").empty());
  CHECK(house::faults_of_lines(sources_of(false), house::bare_press_fault) == "");
}

TEST_CASE("no comment, label or help text begins with \"of\"") {
  const auto faults = [](const std::string& path, std::vector<std::string> lines) {
    return house::headless_text_faults({path, std::move(lines)});
  };
  const std::string header = "models/training/packing.h";
  CHECK(faults(header, {"", "  std::uint64_t tokens = 0;  ///< of all documents"}) ==
        header + ":2: the comment begins with \"of\"; say what the thing is\n");
  CHECK_FALSE(faults(header, {"/// Of all scales.", "double scale_bytes();"}).empty());
  CHECK(faults(header, {"/// The share", "/// of all documents."}).empty());
  CHECK(faults(header, {"  std::uint64_t tokens = 0;  ///< offset of all documents"}).empty());

  const std::string describe = "chapters/distributed/moe/describe.cpp";
  CHECK(faults(describe, {"  f.integer(\"seed\", in.seed, \"Seed\", \"Of tokens.\");"}) ==
        describe + ":1: the text begins with \"Of\"; say what the thing is\n");
  CHECK_FALSE(faults(describe, {"         \"Of a token that \""}).empty());
  CHECK_FALSE(faults("chapters/practice/drawn_curve.cpp", {"  f.real(\"score\", r.score, \"Of 100.\");"}).empty());
  CHECK(faults("chapters/distributed/moe/arrange.cpp", {"  p.answer = \"Of \" + figure(s) + \" half.\";"}).empty());

  std::string all;
  for (const auto& source : sources_of(true))
    if (!source.path.starts_with("tests/house/")) all += house::headless_text_faults(source);
  CHECK(all == "");
}
