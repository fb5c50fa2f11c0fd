#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/content.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/lab_walk.h"
#include "widgets/number/number.h"

// What holds of the sentence that every lab of this chapter answers with: how long it is, what its figures are, and
// that it speaks of the state that is on screen.

using namespace support;

namespace {

constexpr std::array answered_labs{"distributed/memory-split", "distributed/collectives",     "distributed/pipeline",
                                   "distributed/overlap",      "distributed/tensor-parallel", "distributed/context",
                                   "distributed/moe",          "distributed/topology",        "distributed/planner"};

struct AnswerLine {
  std::string plain;
  std::vector<std::string> figures;
};

std::vector<AnswerLine> answer_lines(std::string_view answer) {
  std::vector<AnswerLine> out(1);
  bool inside = false;
  for (const char c : answer) {
    if (c == '\n')
      out.emplace_back();
    else if (c == '`') {
      inside = !inside;
      if (inside) out.back().figures.emplace_back();
    } else {
      out.back().plain += c;
      if (inside) out.back().figures.back() += c;
    }
  }
  return out;
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Every number of inputs and outputs as it may be read: in 2 to 4 digits, or whole where it is counted.
std::set<std::string> said_numbers(const Lab& lab) {
  std::set<std::string> out;
  const auto add = [&](const Field& f, const std::string&) {
    if (f.kind != Kind::real && f.kind != Kind::integer && f.kind != Kind::choice) return;
    if (f.kind == Kind::choice) return;
    for (const int digits : {2, 3, 4, 9})
      for (const auto prefix : {widgets::Prefix::si, widgets::Prefix::binary}) {
        const std::string text = widgets::format_text(f.number(), f.spec.unit, digits, prefix);
        out.insert(text);
        if (f.spec.unit.empty()) out.insert(text + "×");
      }
  };
  each_field(lab.inputs(), add);
  each_field(lab.outputs(), add);
  return out;
}

/// What is wrong with the answer to a computed state; empty where nothing is.
std::string answer_fault(Lab& lab) {
  if (!lab.reason().empty()) return {};
  const std::string answer(lab.answer());
  const std::vector<AnswerLine> lines = answer_lines(answer);
  const std::set<std::string> known = said_numbers(lab);
  if (lines.size() > 2) return "more than two lines: " + answer;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const AnswerLine& line = lines[i];
    if (letters(line.plain) > (i == 0 ? 140u : 130u)) return "too long: " + answer;
    if (line.figures.size() > (i == 0 ? 4u : 3u)) return "too many figures: " + answer;
    if (line.plain.empty() || line.plain.back() != '.') return "no full stop: " + answer;
    if (line.plain.front() >= 'a' && line.plain.front() <= 'z') return "begins small: " + answer;
    for (const std::string& figure : line.figures)
      if (!known.contains(figure)) return "\"" + figure + "\" is no input or output: " + answer;
    for (const std::string_view word : {" beside", " behind", " again", "roduct", " nan", "—", "inf"})
      if (line.plain.find(word) != std::string::npos && line.plain.find("infeas") == std::string::npos)
        return "says \"" + std::string(word) + "\": " + answer;
    for (const std::string_view one : {" ranks", " GPUs", " steps", " micro-batches", " experts", " groups", " copies"})
      if (line.plain.find(" 1" + std::string(one)) != std::string::npos) return "one is not many: " + answer;
  }
  return {};
}

}  // namespace

TEST_CASE("distributed: every preset has an answer of its own, short, in figures that the lab has") {
  for (const std::string_view id : answered_labs) {
    std::map<std::string, std::string> said;
    for (const auto& preset : bundled_content().of(id).presets) {
      const LabPtr lab = open_preset(id, preset.name);
      lab->compute();
      INFO(id << ", " << preset.name);
      CHECK(answer_fault(*lab) == "");
      const auto [other, fresh] = said.emplace(lab->answer(), preset.name);
      INFO("as " << other->second);
      CHECK(fresh);
    }
  }
}

TEST_CASE("distributed: the answer holds at the ends of every control") {
  for (const std::string_view id : answered_labs) {
    if (id == "distributed/moe" || id == "distributed/planner") continue;  // each state is trained or searched for
    const LabPtr first = open_lab(id);
    for (const Field& f : first->inputs()) {
      std::vector<LabPtr> states;
      const auto state = [&](const auto& change) {
        states.push_back(open_lab(id));
        for (const Field& g : states.back()->inputs())
          if (g.key == f.key) change(g);
      };
      if (f.kind == Kind::real || f.kind == Kind::integer) {
        for (const double end : {f.spec.range.lo, f.spec.range.hi, f.spec.drag().lo, f.spec.drag().hi})
          state([end](const Field& g) { g.set_number(end); });
      } else if (f.kind == Kind::toggle) {
        state([](const Field& g) { g.toggle() = !g.toggle(); });
      } else if (f.kind == Kind::choice && f.options->size() <= 40) {
        for (const auto& option : *f.options) state([&](const Field& g) { g.set_choice_id(option.id); });
      }
      for (const LabPtr& lab : states) {
        lab->compute();
        INFO(id << ", " << f.key);
        CHECK(answer_fault(*lab) == "");
      }
    }
  }
}
