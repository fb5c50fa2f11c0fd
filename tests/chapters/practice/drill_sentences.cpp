#include "tests/chapters/practice/drill_sentences.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "chapters/practice/drill_text.h"
#include "tests/chapters/practice/drill_equation.h"

namespace sentences {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::vector<std::string> split_at_spaces(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text)
    if (c == ' ') {
      if (!word.empty()) out.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  if (!word.empty()) out.push_back(word);
  return out;
}

/// Without the marks around a word.
std::string bare(std::string word) {
  while (!word.empty() && std::string_view(",.;:?!()\"").find(word.back()) != std::string_view::npos) word.pop_back();
  while (!word.empty() && std::string_view("(\"").find(word.front()) != std::string_view::npos) word.erase(0, 1);
  return word;
}

bool is_number(const std::string& word) {
  return !word.empty() && is_digit(word.front()) && word.find_first_not_of("0123456789.,") == std::string::npos;
}

const std::set<std::string>& units() {
  static const std::set<std::string> all = [] {
    std::set<std::string> names{"%", "tokens", "parameters", "FLOP/B", "min", "h", "days"};
    for (const char* unit : {"B", "s", "B/s", "FLOP", "FLOP/s", "W", "J", "Hz"})
      for (const char* prefix : {"", "n", "\xC2\xB5", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi"})
        names.insert(std::string(prefix) + unit);
    return names;
  }();
  return all;
}

const std::set<std::string>& plurals() {
  static const std::set<std::string> all{
      "experts", "layers", "GPUs",  "ranks",   "requests", "sequences", "tokens", "stages",    "chips",   "bytes",
      "bits",    "waves",  "rows",  "workers", "nodes",    "boards",    "steps",  "replicas",  "tiles",   "blocks",
      "chunks",  "cores",  "heads", "buckets", "units",    "samples",   "copies", "documents", "columns", "batches"};
  return all;
}

std::string article_fault(const std::string& article, const std::string& next) {
  const bool small = article == "a" || article == "A", more = article == "an" || article == "An";
  if ((!small && !more) || next.size() < 2 || !std::isalnum(static_cast<unsigned char>(next.front()))) return {};
  // "A and B" are matrices; the others are vowels that are heard as "w" or "y".
  for (const char* heard : {"and", "one", "uni", "use", "eu"})
    if (next.starts_with(heard)) return {};
  return chapters::article_of(next) == (small ? "a" : "an") ? "" : "\"" + article + " " + next + "\"";
}

/// What is wrong with a word and the one after it; `before` is the one before them.
std::string pair_fault(const std::string& before, const std::string& word, const std::string& next,
                       const std::string& third) {
  const std::string plain = bare(word), second = bare(next);
  const bool marked = word != plain;
  if (!marked && plain == second && plain.size() > 1 && !is_number(plain)) return "\"" + word + " " + second + "\"";
  if (auto fault = article_fault(word, second); !fault.empty()) return fault;
  if (marked) return {};
  if (plain == "1" && plurals().contains(second) && before != "/" && before != "+" && before != "-" &&
      before != "\xE2\x88\x92")
    return "\"1 " + second + "\"";
  if (is_number(before) && units().contains(plain) && units().contains(second))
    return "\"" + plain + " " + second + "\"";
  const bool prefix = second == "k" || second == "M" || second == "G" || second == "T";
  if (is_number(plain) && prefix && !third.empty() && is_letter(third.front()))
    return "\"" + plain + " " + second + " " + third + "\"";
  return {};
}

}  // namespace

std::string fault_of(std::string_view text) {
  for (const char* mark : {"  ", " .", " ,", " ;", " ?", "..", ",,", "% %", "1th", "2th", "3th"})
    if (text.find(mark) != std::string_view::npos) return "\"" + std::string(mark) + "\"";
  const auto words = split_at_spaces(text);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (auto fault = pair_fault(i > 0 ? bare(words[i - 1]) : "", words[i], words[i + 1],
                                i + 2 < words.size() ? words[i + 2] : "");
        !fault.empty())
      return fault;
  return {};
}

std::string question_fault(std::string_view text, std::string_view unit) {
  const auto before = text.substr(0, text.size() - std::min<std::size_t>(text.size(), 2)).rfind(". ");
  const std::string_view last = before == std::string_view::npos ? text : text.substr(before + 2);
  const auto asks = [&](std::string_view what) { return last.find(what) != std::string_view::npos; };
  if (asks("How often") && unit == "s") return "\"How often\" asks for no time";
  if (asks("How long") && unit != "s") return "\"How long\" asks for a time";
  if (asks("How many bytes") && unit != "B") return "bytes are asked for";
  if ((asks("hat share") || asks("ercentage")) && unit != "%") return "a percentage is asked for";
  return {};
}

std::string last_figure(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == ',' ||
                       (begin > 1 && text[begin - 1] == '-' && text[begin - 2] == 'e') ||
                       (begin > 1 && text[begin - 1] == 'e' && is_digit(text[begin - 2]))))
    --begin;
  if (begin > 0 && (text[begin - 1] == '$' || text[begin - 1] == '-')) --begin;
  if (begin > 0 && text[begin - 1] == '-' && text[begin] == '$') --begin;
  return std::string(text.substr(begin, end - begin));
}

bool has_arithmetic(std::string_view text) {
  for (const char* sign :
       {" \xC3\x97 ", " x ", " / ", " + ", " - ", " \xE2\x88\x92 ", "max(", "min(", "2^", "log2", ")\xC2\xB2"})
    if (text.find(sign) != std::string_view::npos) return true;
  return false;
}

}  // namespace sentences
