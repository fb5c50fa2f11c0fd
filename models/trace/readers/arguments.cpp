#include <simdjson.h>

#include <cstdint>
#include <new>

#include "models/base/json_text.h"
#include "models/trace/readers/event.h"
#include "models/trace/trace.h"

namespace models::trace {

std::vector<std::pair<std::string, Argument>> arguments(const Trace& trace, const Event& event) {
  const Result<std::string> written = trace.args(event);
  return written ? arguments(*written) : std::vector<std::pair<std::string, Argument>>();
}

std::vector<std::pair<std::string, Argument>> arguments(std::string_view written) {
  std::vector<std::pair<std::string, Argument>> out;
  std::string text(written);
  mend(text);
  const std::size_t bytes = text.size();
  if (bytes == 0) return out;
  text.append(simdjson::SIMDJSON_PADDING, ' ');
  namespace json = simdjson::ondemand;
  json::parser parser;
  json::document document;
  json::object object;
  const auto begun = parser.iterate(simdjson::padded_string_view(text.data(), bytes, text.size())).get(document);
  if (begun == simdjson::MEMALLOC) throw std::bad_alloc();
  if (begun != simdjson::SUCCESS) return out;
  if (document.get_object().get(object) != simdjson::SUCCESS) return out;
  // The parser's own buffer for texts is missing where there was no memory for it, and nothing says so.
  std::string buffer(text.size(), ' ');
  const auto unescape = [&](json::raw_json_string raw, std::string_view& to) {
    auto* end = reinterpret_cast<std::uint8_t*>(buffer.data());
    return parser.unescape(raw, end).get(to);
  };
  for (auto item : object) {
    json::field field;
    json::raw_json_string raw;
    std::string_view key, value;
    json::value at;
    if (std::move(item).get(field) != simdjson::SUCCESS || unescape(field.key(), key) != simdjson::SUCCESS) return out;
    std::string name(key);
    at = field.value();
    const std::string_view token = at.raw_json_token();
    Argument argument;
    if (!token.empty() && token[0] == '"') {
      if (at.get_raw_json_string().get(raw) != simdjson::SUCCESS || unescape(raw, value) != simdjson::SUCCESS)
        return out;
      argument.text = value;
    } else if (!token.empty() && (token[0] == '{' || token[0] == '[')) {
      if (simdjson::to_json_string(at).get(value) != simdjson::SUCCESS) return out;
      argument.text = value;
      argument.is_json = is_json(argument.text);
    } else {
      argument.text = token;
      while (!argument.text.empty() && static_cast<unsigned char>(argument.text.back()) <= ' ')
        argument.text.pop_back();
      argument.is_json = is_json(argument.text);
    }
    out.emplace_back(std::move(name), std::move(argument));
  }
  return out;
}

std::string argument(const Trace& trace, const Event& event, std::string_view key) {
  for (auto& [name, value] : arguments(trace, event))
    if (name == key) return std::move(value.text);
  return {};
}

}  // namespace models::trace
