#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// The one place where models parse JSON, so that the parser is compiled once. Nothing here throws but std::bad_alloc:
/// that there is no memory says nothing about a text. Texts that may nest deeper than a parser should recurse are
/// refused before, see json_nesting.h.
namespace models {

struct JsonFailure {
  enum class Kind : std::uint8_t {
    none,
    syntax,        ///< not JSON in UTF-8
    number,        ///< a number beyond the range of double
    other,         ///< whatever else the parser refuses, and where a JsonVisitor stopped
    repeated_key,  ///< a key that stands twice in one object; only find_json_failure looks for these
  };
  Kind kind = Kind::none;
  std::size_t byte = 0;  ///< syntax: where, counted from 1; one past the end where the text ends too early
  std::string key;       ///< repeated_key: the first of them, which may be empty
};

/// The value of a whole text. Where it is not JSON the value is discarded (is_discarded()) and `failure` says why.
nlohmann::json parse_json(std::string_view text, JsonFailure* failure = nullptr);

/// The same without what lies in `levels` brackets or more.
nlohmann::json parse_shallow_json(std::string_view text, int levels);

/// Parses the text and drops it: what is wrong with it, a key given twice in one object included.
JsonFailure find_json_failure(std::string_view text);

/// Is the text one JSON value?
bool is_json(std::string_view text);

/// What is told of a text piece by piece, so that a large one need not be held as a tree. False stops.
class JsonVisitor {
 public:
  JsonVisitor() = default;
  JsonVisitor(const JsonVisitor&) = delete;
  JsonVisitor& operator=(const JsonVisitor&) = delete;
  virtual ~JsonVisitor() = default;
  virtual bool open(bool object) = 0;                ///< an object or a list begins
  virtual bool close() = 0;                          ///< and ends
  virtual bool key(std::string& key) = 0;            ///< may be moved from
  virtual bool scalar(nlohmann::json&& scalar) = 0;  ///< a number, a text, true, false or null
};
/// Walks through the text in time that is proportional to its length.
JsonFailure visit_json(std::string_view text, JsonVisitor& visitor);

}  // namespace models
