#include "tests/house/lab_rules.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace house {
namespace {

std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find("//"), text.size());
    out += text.substr(0, at);
    text.remove_prefix(std::min(text.find('\n', at), text.size()));
  }
  return out;
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

/// "bool empty() const", and not "double a = nan()".
bool is_function(const std::string& statement) {
  if (statement.find('(') == std::string::npos) return false;
  const std::string plain = without_arguments(statement);
  return plain.find('=') == std::string::npos || plain.find("operator") != std::string::npos;
}

/// Statements at the outermost level of a struct's body, without what stands in braces and without functions.
std::vector<std::string> statements_of(const std::string& body) {
  std::vector<std::string> statements;
  std::string statement;
  int depth = 0;
  for (const char c : body) {
    if (c == '{') {
      ++depth;
    } else if (c == '}') {
      --depth;
      if (depth == 0 && is_function(statement)) statement.clear();  // its body
    } else if (c == ';' && depth == 0) {
      if (!is_function(statement)) statements.push_back(statement);
      statement.clear();
    } else if (depth == 0) {
      statement += c;
    }
  }
  return statements;
}

bool is_word(char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_'; }

/// Does the code say "out.member" of what it calls o, out or outputs?
bool names_member(const std::string& code, const std::string& member) {
  for (const std::string_view object : {"o.", "out.", "outputs."}) {
    const std::string name = std::string(object) + member;
    for (std::size_t i = 0; (i = code.find(name, i)) != std::string::npos; ++i)
      if ((i == 0 || !is_word(code[i - 1])) && (i + name.size() == code.size() || !is_word(code[i + name.size()])))
        return true;
  }
  return false;
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
    if (!names_member(code, member))
      faults += "Outputs::" + member + " has no row in describe: a fact gets one, anything else belongs to Run\n";
  }
  return faults;
}

std::string drawing_computes_fault(const std::string& path, const std::string& line) {
  // Plain searches come first: a regular expression for each of sixty thousand lines takes minutes.
  if (!path.starts_with("chapters/") || !path.ends_with(".cpp") || path.find("/draw") != path.rfind('/')) return {};
  if (line.find("compute") == std::string::npos && line.find("models::") == std::string::npos) return {};
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
  // The mechanism holds the catalog in force and the table of contents; the gallery shows widgets.
  if (!path.starts_with("chapters/") || path.starts_with("chapters/mechanism/") ||
      path.starts_with("chapters/gallery/"))
    return {};
  if (line.find("static ") == std::string::npos && line.find("thread_local ") == std::string::npos) return {};
  static const std::regex changing(R"(^\s*(static|thread_local|static\s+thread_local)\s+)"
                                   R"((?!const\b|constexpr\b|inline\b|consteval\b|void\b|bool\s+\w+\())"
                                   R"([A-Za-z_:<>,* ]+\s[a-z_]+\s*(=|;|\{))");
  return std::regex_search(line, changing) ? "state that outlives a lab: keep it in Run or View" : "";
}

}  // namespace house
