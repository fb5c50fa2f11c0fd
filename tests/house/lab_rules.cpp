#include "tests/house/lab_rules.h"

#include <array>
#include <regex>

namespace house {
namespace {

std::string without_comments(std::string_view text) {
  static const std::regex comment(R"(//[^\n]*)");
  return std::regex_replace(std::string(text), comment, "");
}

/// What stands between the braces of `struct Outputs`; empty where there is none.
std::string outputs_body(const std::string& code) {
  static const std::regex head(R"(struct Outputs\b[^;{]*\{)");
  std::smatch at;
  if (!std::regex_search(code, at, head)) return {};
  std::size_t depth = 1, i = static_cast<std::size_t>(at.position() + at.length());
  const std::size_t begin = i;
  for (; i < code.size() && depth > 0; ++i) depth += code[i] == '{' ? 1 : code[i] == '}' ? std::size_t(-1) : 0;
  return code.substr(begin, i - begin - 1);
}

/// Statements at the outermost level of a struct's body, without what stands in braces.
std::vector<std::string> statements_of(const std::string& body) {
  std::vector<std::string> statements;
  std::string statement;
  int depth = 0;
  bool braced = false;
  for (const char c : body) {
    if (c == '{') {
      ++depth;
      braced = true;
    } else if (c == '}') {
      --depth;
      if (depth == 0 && statement.find('(') != std::string::npos) statement.clear();  // the body of a function
    } else if (c == ';' && depth == 0) {
      statements.push_back(statement);
      statement.clear();
      braced = false;
    } else if (depth == 0) {
      statement += c;
    }
  }
  (void)braced;
  return statements;
}

/// "std::vector<std::pair<A, B>> rows" without what stands between angle brackets or brackets.
std::string without_arguments(const std::string& statement) {
  std::string out;
  int depth = 0;
  for (const char c : statement) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (depth == 0) out += c;
    if (c == '>' || c == ')' || c == ']') --depth;
  }
  return out;
}

std::string last_word(const std::string& text) {
  static const std::regex word(R"((\w+)\s*$)");
  std::smatch found;
  return std::regex_search(text, found, word) ? found[1].str() : std::string();
}

}  // namespace

std::vector<std::string> members_of_outputs(std::string_view header) {
  static const std::regex skipped(R"(^\s*(struct|class|enum|using|static|friend|template|bool operator)\b)");
  std::vector<std::string> members;
  for (const std::string& statement : statements_of(outputs_body(without_comments(header)))) {
    if (std::regex_search(statement, skipped)) continue;
    const std::string plain = without_arguments(statement);
    if (statement.find('(') != std::string::npos && plain.find('=') == std::string::npos) continue;  // a function
    std::size_t from = 0;
    while (from <= plain.size()) {
      const std::size_t to = std::min(plain.find(',', from), plain.size());
      std::string one = plain.substr(from, to - from);
      one.resize(std::min(one.find('='), one.size()));
      if (std::string name = last_word(one); !name.empty()) members.push_back(std::move(name));
      from = to + 1;
    }
  }
  return members;
}

std::string undescribed_outputs(std::string_view header, std::string_view descriptions) {
  std::string faults;
  const std::string code = without_comments(descriptions);
  for (const std::string& member : members_of_outputs(header)) {
    if (member == "reason") continue;
    if (!std::regex_search(code, std::regex(R"(\b(o|out|outputs)\.)" + member + R"(\b)")))
      faults += "Outputs::" + member + " has no row in describe: a fact gets one, anything else belongs to Run\n";
  }
  return faults;
}

std::string drawing_computes_fault(const std::string& path, const std::string& line) {
  static const std::regex drawing(R"(^chapters/[^/]+/[^/]+/draw[^/]*\.cpp$)");
  if (!std::regex_search(path, drawing)) return {};
  static const std::regex computing(R"(\bcompute(_\w+)?\()"), model(R"(\bmodels::(?:\w+::)*([a-z]\w*)\()"),
      naming(R"(_(name|label|id|text|words|title)$)");
  if (std::regex_search(line, computing)) return "draw computes: that is the business of compute";
  for (auto at = std::sregex_iterator(line.begin(), line.end(), model); at != std::sregex_iterator(); ++at) {
    const std::string function = (*at)[1];
    if (function != "as_double" && !std::regex_search(function, naming))
      return "draw asks models::" + function + "(): a fact is an Output, what the picture needs comes from arrange";
  }
  return {};
}

std::string hidden_state_fault(const std::string& path, const std::string& line) {
  static const std::regex lab(R"(^chapters/(?!gallery/)[^/]+/.*\.(h|cpp)$)");
  if (!std::regex_search(path, lab)) return {};
  static const std::regex changing(
      R"(^\s*(static|thread_local|static\s+thread_local)\s+(?!const\b|constexpr\b|inline\b|consteval\b|void\b|bool\s+\w+\())"
      R"([A-Za-z_:<>,* ]+\s[a-z_]+\s*(=|;|\{))");
  return std::regex_search(line, changing) ? "state that outlives a lab: keep it in Run or View" : "";
}

}  // namespace house
