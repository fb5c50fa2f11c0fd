#include <catch2/catch_test_macros.hpp>
#include <map>
#include <regex>
#include <set>

#include "tests/house/sources.h"
#include "tests/support/base/paths.h"

// Two types of one name in one namespace compile, link and run without a word, and the linker takes either's functions:
// undefined behaviour. So no type name of models is defined in two files of a namespace.
//
// The rule for namespaces: the wings that were there when this test was written are flat in models (trace has its own).
// A new wing whose types are everyday words (Schedule, Plan, Network, Layer) has a namespace of its own, named after
// the wing: models::parallel, models::memory, models::inference, models::gpu.

namespace {

/// A type at namespace scope and the file that defines it.
struct TypeName {
  std::string name;  ///< with its namespaces: "models::trace::Event"
  std::string path;
};

/// The lines as one text, without comments, texts and lines of the preprocessor.
std::string code_of(const house::Source& source) {
  static const std::regex quoted(R"re("(\\.|[^"\\])*"|'(\\.|[^'\\])')re");
  std::string code;
  for (const std::string& line : source.lines) {
    if (line.find_first_not_of(" \t") != std::string::npos && line[line.find_first_not_of(" \t")] == '#') continue;
    const bool plain = line.find_first_of("\"'") == std::string::npos;
    const std::string unquoted = plain ? line : std::regex_replace(line, quoted, "0");
    code += unquoted.substr(0, unquoted.find("//")) + "\n";
  }
  return code;
}

/// The name of the type that a statement at namespace scope defines; `body` when it ends with a brace.
std::string type_defined(const std::string& statement, bool body) {
  static const std::regex definition(
      R"(^\s*(?:template\s*<[^{};]*>\s*)?(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\s*)"
      R"(\([^)]*\)\s*)?)"
      R"((\w+)\s*(?:final\s*)?(?::[^:][\s\S]*)?$)");
  static const std::regex alias(R"(^\s*(?:template\s*<[^{};]*>\s*)?using\s+(\w+)\s*=)");
  std::smatch found;
  if (body ? std::regex_search(statement, found, definition) : std::regex_search(statement, found, alias))
    return found[1].str();
  return {};
}

/// Types defined at namespace scope outside anonymous namespaces: what other files' names can clash with.
std::vector<TypeName> types_in(const house::Source& source) {
  static const std::regex opens(R"((?:^|\s)(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*$)");
  std::vector<TypeName> types;
  std::vector<std::string> scopes;  // "models", "" for an anonymous namespace, "{" for anything else
  std::string statement;
  const auto add = [&](bool body) {
    std::string prefix;
    for (const std::string& scope : scopes) {
      if (scope.empty() || scope == "{") return;
      prefix += scope + "::";
    }
    if (const std::string name = type_defined(statement, body); !name.empty())
      types.push_back({prefix + name, source.path});
  };
  for (const char c : code_of(source)) {
    if (c == '{') {
      std::smatch found;
      if (std::regex_search(statement, found, opens)) {
        scopes.push_back(found[1].str());
      } else {
        add(true);
        scopes.push_back("{");
      }
    } else if (c == '}') {
      if (!scopes.empty()) scopes.pop_back();
    } else if (c == ';') {
      add(false);
    } else {
      statement += c;
      continue;
    }
    statement.clear();
  }
  return types;
}

/// "models::Network: models/a.h, models/b.h" for each name that two files define.
std::string clashes(const std::vector<house::Source>& sources) {
  std::map<std::string, std::set<std::string>> files;
  for (const house::Source& source : sources)
    for (const TypeName& type : types_in(source)) files[type.name].insert(type.path);
  std::string out;
  for (const auto& [name, paths] : files) {
    if (paths.size() < 2) continue;
    out += name + ":";
    for (const std::string& path : paths) out += " " + path;
    out += "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("no type name of models is defined in two files of one namespace") {
  const auto sources = house::read_sources(support::source_file(""), {"models"});
  std::size_t types = 0;
  for (const house::Source& source : sources) types += types_in(source).size();
  CHECK(types > 250);  // the reading finds them
  CHECK(clashes(sources) == "");
}

TEST_CASE("the test of type names sees a planted clash, and no clash where names differ in namespace or are hidden") {
  const house::Source first{
      "models/machine/hardware.h",
      {"namespace models {", "struct Network {", "  struct Link {};", "  std::string name;", "};",
       "enum class Level : std::uint8_t { low, high };", "class Later;", "using Plan = int;", "template <class T>",
       "class Held final : public Base<T> {};", "inline int f() { struct Local {}; return 0; }", "}"}};
  CHECK(types_in(first).size() == 4);
  const auto with = [&](std::vector<std::string> lines) {
    return clashes({first, {"models/parallel/links.cpp", std::move(lines)}});
  };
  const std::string clash = "models::Network: models/machine/hardware.h models/parallel/links.cpp\n";
  CHECK(with({"namespace models {", "namespace {", "struct Mine {};", "}", "struct Network {};", "}"}) == clash);
  CHECK(with({"namespace models {", "using Network = int;", "}"}) == clash);
  CHECK(with({"namespace models { enum Network { a }; }"}) == clash);
  CHECK(with({"namespace models { template <class T> class Held {}; }"}).starts_with("models::Held"));
  CHECK(with({"namespace models::parallel {", "struct Network {};", "}"}) == "");
  CHECK(with({"namespace models {", "namespace {", "struct Network {};", "}", "}"}) == "");
  CHECK(with({"namespace models {", "struct Network;", "// struct Network {", "struct Other { struct Link {}; };",
              "using models::Network;", "}"}) == "");
}
