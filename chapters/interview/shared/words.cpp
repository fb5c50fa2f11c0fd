#include "chapters/interview/shared/words.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "chapters/practice/drill_text.h"
#include "widgets/number/number.h"
#include "widgets/prose/formula.h"

namespace chapters::interview {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.,") == std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const auto end = std::min(line.find(' '), line.size());
    if (end > 0) out.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return out;
}

}  // namespace

std::string spoken(std::string_view text) {
  std::string out = in_words(std::string(text));
  replace_all(out, " x ", " \xC3\x97 ");
  replace_all(out, "^2", "\xC2\xB2");
  replace_all(out, "^3", "\xC2\xB3");
  return out;
}

std::string typed_prefixes(std::string_view text) {
  std::string out(text);
  for (const auto& [word, prefix] : {std::pair<std::string_view, std::string_view>{"thousand", "k"},
                                     {"million", "M"},
                                     {"billion", "G"},
                                     {"trillion", "T"}})
    replace_all(out, word, prefix);
  return out;
}

std::string formula_of(std::string_view line) {
  std::string out, text;
  bool signs = false;
  const auto flush = [&] {
    if (!text.empty()) out += "\\text{" + text + "} ";
    text.clear();
  };
  for (std::string_view word : words_of(line)) {
    if (word.find_first_of("\\{}[],;:?'%") != std::string_view::npos && !is_number(word)) return {};
    if (word == "x" || word == "\xC3\x97" || word == "/" || word == "+" || word == "-" || word == "=") {
      flush();
      signs |= word != "=" && word != "-";
      out += word == "x" || word == "\xC3\x97" ? std::string("\\times ") : std::string(word) + " ";
      continue;
    }
    std::size_t open = 0;
    while (open < word.size() && word[open] == '(') ++open;
    std::size_t end = word.size();
    while (end > open && word[end - 1] == ')') --end;
    const std::string_view core = word.substr(open, end - open);
    const auto power = core.find('^');
    const bool symbol = core.size() <= 1 || is_number(core) || power != std::string_view::npos;
    if (open > 0 || symbol) flush();
    out.append(open, '(');
    if (symbol) {
      if (power == std::string_view::npos)
        out += std::string(core) + " ";
      else
        out += std::string(core.substr(0, power)) + "^{" + std::string(core.substr(power + 1)) + "} ";
    } else {
      if (!text.empty()) text += " ";
      text += core;
    }
    if (end < word.size()) {
      flush();
      out.append(word.size() - end, ')');
      out += " ";
    }
  }
  flush();
  if (!signs || out.size() > 600 || !widgets::parse_formula(out).error.empty()) return {};
  return out;
}

std::string right_of_asked(const TopicStanding& s) {
  const auto whole = [](double v) { return widgets::format_text(v, "", 9); };
  if (!(s.asked > 0)) return "not asked yet";
  return whole(s.right) + (s.near > 0 ? " right and " + whole(s.near) + " near of " + whole(s.asked)
                                      : " of " + whole(s.asked) + " right");
}

const TopicStanding* weakest_topic(std::span<const TopicStanding> standings) {
  const TopicStanding* out = nullptr;
  for (const TopicStanding& s : standings)
    if (s.asked >= least_asked && (!out || s.ready < out->ready)) out = &s;
  return out;
}

}  // namespace chapters::interview
