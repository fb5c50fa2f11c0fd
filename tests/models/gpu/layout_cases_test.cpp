#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "models/gpu/layout/layout_operation.h"
#include "models/trace/text/bytes.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

// tests/data/layout_cases.txt.gz: a case a line, 14 columns between tabs: operation, A, B, n, shape, coordinate, index,
// swizzle, status, expected, what C++ CuTe returns where implementations differ or the result is not functional,
// whether that is functional, the condition that C++ asserts where it refuses, size and cosize or offset. C++ CuTe
// (CUTLASS 7107b05, August 2026) on the host, pycute, CuTe IR's printed expectations, and a brute-force postcondition.

using namespace models::gpu;

namespace {

struct LayoutCase {
  std::vector<std::string> cells;
  const std::string& status() const { return cells[8]; }
  const std::string& expected() const { return cells[9]; }
  const std::string& cpp() const { return cells[10]; }
  bool lists() const { return cells[0] == "eval" || cells[0] == "swizzle" || cells[0] == "swizzled_layout"; }
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out{""};
  for (const char c : text) {
    if (c == at) out.emplace_back();
    if (c != at) out.back() += c;
  }
  return out;
}

std::vector<LayoutCase> read_layout_cases() {
  const auto bytes = models::trace::in_memory(support::read_text(support::data_file("layout_cases.txt.gz")));
  models::trace::Inflater inflater(bytes);
  std::string text, part(1 << 18, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) text.append(part, 0, n);
  std::vector<LayoutCase> out;
  for (auto& line : split(text, '\n')) {
    if (!line.empty()) out.push_back({split(line, '\t')});
  }
  return out;
}

LayoutQuestion question_of(const LayoutCase& c) {
  LayoutQuestion q{.a = c.cells[1], .b = c.cells[2], .shape = c.cells[4], .coordinate = c.cells[5]};
  for (int i = 0; i < layout_operation_count; ++i) {
    if (layout_operation_names[static_cast<std::size_t>(i)] == c.cells[0]) q.operation = LayoutOperation{i};
  }
  q.n = std::stoll(c.cells[3]);
  q.index = std::stoll(c.cells[6]);
  if (const auto bits = split(c.cells[7], ','); bits.size() == 3) {
    q.swizzle = {std::stoi(bits[0]), std::stoi(bits[1]), std::stoi(bits[2])};
  }
  return q;
}

std::string canonical_text(const std::string& layout) {
  const auto read = parse_layout(layout);
  return read ? text_of(canonical(*read)) : "does not read: " + layout;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (const auto n : numbers) out += (out.empty() ? "" : ",") + std::to_string(n);
  return out;
}

std::string result_text(const LayoutCase& c, const LayoutAnswer& answer) {
  if (c.lists()) return joined(answer.indices);
  return answer.has_layout ? text_of(canonical(answer.layout)) : answer.text;
}

/// Words of the refusal for the condition that C++ asserts.
bool says_condition(const std::string& condition, const std::string& reason) {
  for (const auto& one : split(condition, ',')) {
    const std::string words = one == "stride"         ? "stride condition"
                              : one == "shape"        ? "shape condition"
                              : one == "adjacent"     ? "adjacent elements"
                              : one == "left inverse" ? "left inverse"
                              : one == "shift"        ? "shift of at least"
                                                      : "0 bits or more";
    if (reason.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("layouts: 773 cases as C++ CuTe computes them, and what is no composition is called so") {
  const auto cases = read_layout_cases();
  REQUIRE(cases.size() == 773);
  int ok = 0, divergent = 0, refused = 0, non_functional = 0;
  for (const auto& c : cases) {
    REQUIRE(c.cells.size() == 14);
    CAPTURE(c.cells[0], c.cells[1], c.cells[2], c.cells[3], c.cells[4], c.cells[7]);
    const auto answer = answer_layout(question_of(c));
    REQUIRE(answer);
    if (c.status() == "ok" || c.status() == "divergent") {
      const auto& wanted = c.status() == "ok" ? c.expected() : c.cpp();
      CHECK(result_text(c, *answer) == (c.lists() || c.cells[0] == "idx2crd" ? wanted : canonical_text(wanted)));
      // Implementations differ, and C++ is right: none of these rows is one in which only pycute holds.
      CHECK(answer->status == LayoutStatus::ok);
      CHECK(c.cells[11] != "0");
      ++(c.status() == "ok" ? ok : divergent);
    } else if (c.status() == "inadmissible" || c.cpp().empty()) {
      CHECK(answer->status == LayoutStatus::refused);
      CHECK(says_condition(c.cells[12], answer->reason));
      CHECK(answer->text.empty());
      ++(c.status() == "inadmissible" ? refused : non_functional);
    } else {
      CHECK(result_text(c, *answer) == canonical_text(c.cpp()));
      CHECK(answer->status == LayoutStatus::non_functional);
      CHECK(answer->wrong_at >= 0);
      CHECK(answer->gives != answer->wanted);
      ++non_functional;
    }
    if (c.cells[0] == "eval") CHECK(std::to_string(answer->size) + "," + std::to_string(answer->cosize) == c.cells[13]);
    if (c.cells[0] == "slice") CHECK(std::to_string(answer->offset) == c.cells[13]);
  }
  CHECK(ok == 682);
  CHECK(divergent == 46);
  CHECK(refused == 26);
  CHECK(non_functional == 19);
}

TEST_CASE("layouts: a result that is no composition is wrong from the index that is named") {
  const auto carry =
      answer_layout({.operation = LayoutOperation::composition, .a = "((4,6),2):((0,8),1)", .b = "(3,6,4):(4,4,0)"});
  REQUIRE(carry);
  CHECK(carry->text == "(3,6,4):(8,8,0)");
  CHECK(carry->status == LayoutStatus::non_functional);
  CHECK(carry->wrong_at == 14);
  CHECK(carry->gives == 48);
  CHECK(carry->wanted == 1);
  CHECK(carry->compared);
  CHECK_FALSE(answer_layout({.operation = LayoutOperation::upcast, .a = "8:1", .n = 2})->compared);
  const auto cover = answer_layout({.operation = LayoutOperation::logical_divide, .a = "(5,8):(8,1)", .b = "2:1"});
  REQUIRE(cover);
  CHECK(cover->over_covers);
  CHECK(cover->size == 48);
  CHECK(cover->wrong_at == 5);
}

TEST_CASE("layouts: the algebra against its definitions on small layouts") {
  const std::array<const char*, 10> shapes{
      "8:1",         "(4,2):(2,1)",         "(2,4):(1,2)", "(2,2,2):(4,1,2)",     "(3,4):(4,1)",
      "(4,3):(1,8)", "((2,3),4):((1,8),2)", "(6,2):(0,1)", "(2,(2,3)):(6,(3,1))", "12:3"};
  int composed = 0;
  for (const auto* first : shapes) {
    const auto a = parse_layout(first);
    REQUIRE(a);
    CAPTURE(first);
    for (std::int64_t i = 0; i < a->size(); ++i) {
      CHECK(coalesce(*a)(i) == (*a)(i));
      CHECK(index_at(*a, coordinate_of(*a, i)).value == (*a)(i));
    }
    const auto inverse = right_inverse(*a);
    for (std::int64_t i = 0; i < inverse.size(); ++i) CHECK((*a)(inverse(i)) == i);
    CHECK(text_of(*parse_layout(text_of(*a))) == text_of(*a));
    for (const auto* second : shapes) {
      const auto answer = answer_layout({.operation = LayoutOperation::composition, .a = first, .b = second});
      REQUIRE(answer);
      if (answer->status != LayoutStatus::ok) continue;
      const auto b = parse_layout(second);
      CHECK(answer->layout.size() == b->size());
      for (std::int64_t i = 0; i < b->size(); ++i) CHECK(answer->layout(i) == (*a)((*b)(i)));
      ++composed;
    }
  }
  CHECK(composed > 50);
}

TEST_CASE("layouts: an element twice as large and half as large again") {
  const auto halves = parse_layout("(8,16):(16,1)");
  CHECK(text_of(*recast(*halves, 16, 32)) == "(8,8):(8,1)");
  CHECK(text_of(*recast(*halves, 16, 8)) == "(8,32):(32,1)");
  CHECK(text_of(*recast(*halves, 16, 16)) == "(8,16):(16,1)");
  CHECK(text_of(*recast(*parse_layout("(24,2):(1,24)"), 8, 12)) == "(16,2):(1,16)");
}

TEST_CASE("layouts: what does not read is refused with the place and what to write") {
  const auto says = [](const char* text, const char* words) {
    const auto read = parse_layout(text);
    CAPTURE(text, read.error);
    return !read && read.error.find(words) != std::string::npos && read.error.back() == '.';
  };
  CHECK(says("", "the text ends"));
  CHECK(says("(4,8", "comma or a closing bracket"));
  CHECK(says("(4,,8)", "At character 4"));
  CHECK(says("(4,8):(1)", "The stride has 1 entry where the shape has 2"));
  CHECK(says("4:(1,2)", "nested where the shape is 4"));
  CHECK(says("(0,8)", "extent of the shape is 0"));
  CHECK(says("8:1 x", "nothing is expected"));
  CHECK(says("8:-1", "whole number"));
  CHECK(says("99999999999999999999", "2^53"));
  CHECK(says("(134217728,134217728)", "2^53"));
  CHECK(says("(((((((((1)))))))))", "deeper than 8"));
  CHECK(says(std::string(100000, '(').c_str(), "deeper than 8"));
  std::string many = "(1";
  for (int i = 0; i < 200; ++i) many += ",1";
  CHECK(says((many + ")").c_str(), "too many"));
  const std::string whole = "[((4,2),_8):((4,32),(1)),_,8:2]";
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(parse_tiler(whole.substr(0, n)));
  CHECK(parse_tiler("[3:4,(2,4):(1,8),_,[2:1,_]]"));
  CHECK(parse_layout(" ( _4 , 8 ) : ( 8 , 1 ) "));
  CHECK(parse_coordinate("((_,1),(0,_))"));
  const auto named = answer_layout({.operation = LayoutOperation::composition, .a = "8:1", .b = "[4:1,2:1]"});
  CHECK(named.error.find("choose the operation by a tiler") != std::string::npos);
}

TEST_CASE("layouts: as C++ to paste") {
  CHECK(cpp_text(*parse_layout("((4,2),8):((1,32),4)"), {.bits = 0}) ==
        "Layout<Shape<Shape<_4, _2>, _8>, Stride<Stride<_1, _32>, _4>>{}");
  CHECK(cpp_text(*parse_layout("8:1"), {3, 0, 3}) == "composition(Swizzle<3, 0, 3>{}, Layout<_8, _1>{})");
}
