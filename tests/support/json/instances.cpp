// The reader and the writer of JSON, compiled once, optimized and without sanitizers, for the sanitized test programs:
// of a function that several compiled the linker takes the first, and this file stands first on its line. The library
// has sanitized tests of its own; what is ours, and what is around it, runs checked as ever.
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

namespace support {

template <class Json, class Adapter>
auto json_reading() {
  using Parser = nlohmann::detail::parser<Json, Adapter>;
  using Lexer = nlohmann::detail::lexer<Json, Adapter>;
  using Tree = nlohmann::detail::json_sax_dom_parser<Json>;
  return std::tuple{&Parser::parse, &Lexer::scan, &Parser::template sax_parse<Tree>};
}

template <class Json>
auto json_writing() {
  void (*copy)(const Json&, Json&) = [](const Json& from, Json& to) { to = from; };
  return std::tuple{&Json::dump, &nlohmann::detail::serializer<Json>::dump, copy};
}

/// Named so that what it points at is compiled.
using Letters = nlohmann::detail::iterator_input_adapter<const char*>;
using Text = nlohmann::detail::iterator_input_adapter<std::string::const_iterator>;
extern const auto instances_of_json = std::tuple{json_reading<nlohmann::json, Letters>(),
                                                 json_reading<nlohmann::json, Text>(),
                                                 json_reading<nlohmann::ordered_json, Letters>(),
                                                 json_reading<nlohmann::ordered_json, Text>(),
                                                 json_writing<nlohmann::json>(),
                                                 json_writing<nlohmann::ordered_json>()};

}  // namespace support
