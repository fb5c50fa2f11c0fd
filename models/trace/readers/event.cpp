#include "models/trace/readers/event.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

#include "models/trace/readers/number.h"
#include "models/trace/readers/plain_event.h"

namespace models::trace {
namespace {

namespace json = simdjson::ondemand;

/// A scalar as written, without quotes and the blanks after it.
std::string_view scalar(json::value value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t'))
    token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
  return token;
}

/// Whether a scalar can be written between quotes as it is: zeros before a text make simdjson hand over both as one
/// token.
bool is_clean(std::string_view token) {
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (static_cast<unsigned char>(token[i]) < 0x20 || token[i] == '"') return false;
    if (token[i] == '\\' && ++i == token.size()) return false;
  }
  return true;
}

std::string_view key_of(const char* raw) {
  const char* end = raw;
  while (*end != '"' && end - raw < 64) ++end;
  return {raw, static_cast<std::size_t>(end - raw)};
}

enum class Key { other, phase, category, name, process, thread, time, duration, id, arguments };

/// By length and first letter, since this is asked ten times an event.
Key kind_of(std::string_view key) {
  const auto is = [&](std::string_view name, Key kind) { return key == name ? kind : Key::other; };
  if (key.size() == 2)
    return key[0] == 'p' ? is("ph", Key::phase) : key[0] == 't' ? is("ts", Key::time) : is("id", Key::id);
  if (key.size() == 3)
    return key[0] == 'c'   ? is("cat", Key::category)
           : key[0] == 'p' ? is("pid", Key::process)
           : key[0] == 't' ? is("tid", Key::thread)
                           : is("dur", Key::duration);
  if (key.size() == 4) return key[0] == 'n' ? is("name", Key::name) : is("args", Key::arguments);
  return Key::other;
}

bool parse_integer(std::string_view text, std::int64_t& value) {
  double real = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return true;
  const auto [end2, error2] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error2 != std::errc() || end2 != text.data() + text.size() || !(std::abs(real) < 9e18)) return false;
  value = static_cast<std::int64_t>(real);
  return true;
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t utf8_length(const unsigned char* p, std::size_t left) {
  const unsigned char c = *p;
  const auto follows = [&](std::size_t n) {
    if (left <= n) return false;
    for (std::size_t i = 1; i <= n; ++i)
      if ((p[i] & 0xC0) != 0x80) return false;
    return true;
  };
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF && follows(1)) return 2;
  if (c >= 0xE0 && c <= 0xEF && follows(2) && !(c == 0xE0 && p[1] < 0xA0) && !(c == 0xED && p[1] > 0x9F)) return 3;
  if (c >= 0xF0 && c <= 0xF4 && follows(3) && !(c == 0xF0 && p[1] < 0x90) && !(c == 0xF4 && p[1] > 0x8F)) return 4;
  return 0;
}

/// What of an event's arguments is kept with it. False: they are damaged.
bool read_arguments(json::value arguments, Record& r) {
  json::object inner;
  if (arguments.get_object().get(inner) != simdjson::SUCCESS) return false;
  for (auto argument : inner) {
    json::field f;
    if (std::move(argument).get(f) != simdjson::SUCCESS) return false;
    const char* k = f.key().raw();
    if (k[0] != 'c' && k[0] != 'd' && k[0] != 's') continue;
    const std::string_view name = key_of(k);
    if (name == "correlation" || (name == "correlation_id" && !r.has_category)) {
      std::int64_t number = -1;
      if (parse_integer(scalar(f.value()), number) && number >= 0) r.correlation = number;
    } else if (name == "device") {
      r.device = scalar(f.value());
    } else if (name == "stream") {
      r.stream = scalar(f.value());
    }
  }
  return true;
}

}  // namespace

bool mend(std::string& out) {
  bool texts = false;
  for (std::size_t i = 0; i < out.size();) {
    const std::size_t length = utf8_length(reinterpret_cast<const unsigned char*>(out.data()) + i, out.size() - i);
    const bool control = length <= 1 && static_cast<unsigned char>(out[i]) < 0x20;
    texts = texts || length == 0 || (control && !is_blank(out[i]));
    if (length == 0) out[i] = '?';
    if (control) out[i] = ' ';
    i += std::max<std::size_t>(length, 1);
  }
  // A comma after the last member is a common slip of writers; inside a text it is a letter like any other.
  std::size_t comma = std::string::npos;
  bool in_text = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char c = out[i];
    if (in_text && c == '\\')
      ++i;
    else if (c == '"') {
      in_text = !in_text;
      comma = std::string::npos;
    } else if (in_text || is_blank(c))
      continue;
    else if (c == ',')
      comma = i;
    else {
      if (comma != std::string::npos && (c == '}' || c == ']')) out[comma] = ' ';
      comma = std::string::npos;
    }
  }
  return texts;
}

/// A parser of events, with a buffer of its own for texts whose escapes are resolved: the library's is missing where
/// there was no memory for it, and nothing says so.
class EventReader::EventParser {
 public:
  /// False when the text is no JSON. What was read of the text before is gone.
  bool begin(simdjson::padded_string_view text, json::document& document) {
    longest_ = text.size() + simdjson::SIMDJSON_PADDING;
    to_ = nullptr;
    const auto error = parser_.iterate(text).get(document);
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    return error == simdjson::SUCCESS;
  }
  /// A text with its escapes resolved.
  std::string_view plain_text(json::value value) {
    const std::string_view raw = scalar(value);
    if (raw.find('\\') == std::string_view::npos) return raw;
    if (!to_) {
      if (texts_.size() < longest_) texts_.resize(longest_);
      to_ = texts_.data();
    }
    json::raw_json_string written;
    std::string_view text;
    if (value.get_raw_json_string().get(written) != simdjson::SUCCESS) return raw;
    return parser_.unescape(written, to_).get(text) == simdjson::SUCCESS ? text : raw;
  }

 private:
  json::parser parser_;
  std::vector<std::uint8_t> texts_;
  std::uint8_t* to_ = nullptr;
  std::size_t longest_ = 0;
};

struct EventReader::Parsers {
  PlainEvents plain;
  EventParser event, args;
};

EventReader::EventReader(Builder& builder) : parsers_(std::make_unique<Parsers>()), builder_(builder) {}
EventReader::~EventReader() = default;

bool EventReader::read(const Source& source, std::size_t begin, std::size_t end) {
  static_assert(Source::padding >= simdjson::SIMDJSON_PADDING);
  const char* json = source.at(begin);
  const std::size_t bytes = end - begin;
  Record record;
  if (!parse(json, bytes, source.end() - begin + Source::padding, begin, record)) {
    copy_ = source.view(begin, end);
    const bool texts = mend(copy_);
    copy_.append(simdjson::SIMDJSON_PADDING, ' ');
    json = copy_.data();
    record = {};
    if (!parse(json, bytes, copy_.size(), begin, record)) return false;
    ++(texts ? mended_ : mended_commas_);
  }
  builder_.add(record);
  if (record.args_bytes > 0 && (record.phase == 'M' || record.phase == 'C' || record.name == "[memory]"))
    side_records(record, json + (record.args_offset - begin), record.args_bytes);
  return true;
}

std::size_t EventReader::read_plain(const Source& source, std::size_t begin, std::size_t max_bytes) {
  const char* const json = source.at(begin);
  Record record;
  const char* const after = parsers_->plain.read(json, source.at(source.end()), begin, record);
  if (!after || static_cast<std::size_t>(after - json) > max_bytes) return 0;
  builder_.add(record);
  if (record.args_bytes > 0 && (record.phase == 'M' || record.phase == 'C' || record.name == "[memory]"))
    side_records(record, json + (record.args_offset - begin), record.args_bytes);
  return static_cast<std::size_t>(after - json);
}

bool EventReader::parse(const char* json, std::size_t bytes, std::size_t readable, std::size_t base, Record& r) {
  json::document document;
  json::object object;
  if (!parsers_->event.begin(simdjson::padded_string_view(json, bytes, readable), document)) return false;
  if (document.get_object().get(object) != simdjson::SUCCESS) return false;
  const char* args = nullptr;
  const char* args_end = nullptr;
  for (auto item : object) {
    json::field field;
    if (std::move(item).get(field) != simdjson::SUCCESS) return false;
    const char* raw_key = field.key().raw();
    if (args && !args_end) args_end = raw_key - 1;
    const Key key = kind_of(key_of(raw_key));
    json::value value = field.value();
    if (key == Key::phase) {
      const std::string_view ph = scalar(value);
      r.phase = ph.size() == 1 && ph[0] > 0 ? ph[0] : '\0';
    } else if (key == Key::category) {
      r.category = parsers_->event.plain_text(value);
      r.has_category = true;
    } else if (key == Key::name) {
      r.name = parsers_->event.plain_text(value);
    } else if (key == Key::process) {
      r.pid = scalar(value);
      if (!is_clean(r.pid)) return false;
    } else if (key == Key::thread) {
      r.tid = scalar(value);
      if (!is_clean(r.tid)) return false;
    } else if (key == Key::time) {
      r.has_time = parse_us(scalar(value), r.time_ns);
    } else if (key == Key::duration) {
      r.bad_duration = !parse_us(scalar(value), r.duration_ns);
    } else if (key == Key::id) {
      r.id = scalar(value);
    } else if (key == Key::arguments) {
      const std::string_view token = value.raw_json_token();
      if (token.empty() || token[0] != '{') continue;
      args = token.data();
      if (args_matter(r) && !read_arguments(value, r)) return false;
    }
  }
  if (args) {
    if (!args_end) args_end = json + bytes - 1;
    while (args_end > args && *args_end != '}') --args_end;
    if (args_end == json + bytes - 1 && args_end > args) {  // the event's own brace
      --args_end;
      while (args_end > args && *args_end != '}') --args_end;
    }
    const auto length = static_cast<std::size_t>(args_end - args) + 1;
    r.args_offset = base + static_cast<std::size_t>(args - json);
    r.args_bytes = length > 0xFFFFFFFF ? 0 : static_cast<std::uint32_t>(length);
  }
  return true;
}

/// What counters, metadata and [memory] records say in their arguments. These are few, so a second look is cheap.
void EventReader::side_records(const Record& r, const char* args, std::size_t bytes) {
  args_copy_.assign(args, bytes);
  args_copy_.append(simdjson::SIMDJSON_PADDING, ' ');
  json::document document;
  json::object object;
  if (!parsers_->args.begin(simdjson::padded_string_view(args_copy_.data(), bytes, args_copy_.size()), document))
    return;
  if (document.get_object().get(object) != simdjson::SUCCESS) return;
  MemoryChange memory;
  memory.time_ns = r.time_ns;
  bool is_memory = false;
  for (auto item : object) {
    json::field field;
    if (std::move(item).get(field) != simdjson::SUCCESS) return;
    const std::string_view key = key_of(field.key().raw());
    std::string_view value = scalar(field.value());
    if (r.phase == 'M') {
      if (key == "name") value = parsers_->args.plain_text(field.value());
      if (r.name == "process_name" && key == "name") builder_.name_process(r.pid, value);
      if (r.name == "thread_name" && key == "name") builder_.name_thread(r.pid, r.tid, value);
      std::int64_t index = 0;
      if (key == "sort_index" && parse_integer(value, index)) {
        if (r.name == "process_sort_index") builder_.sort_process(r.pid, index);
        if (r.name == "thread_sort_index") builder_.sort_thread(r.pid, r.tid, index);
      }
    } else if (r.phase == 'C') {
      double number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc() && end == value.data() + value.size() && std::isfinite(number) && r.has_time)
        builder_.add_counter(r, key, number);
    } else if (std::int64_t number = 0; parse_integer(value, number)) {
      if (key == "Bytes") {
        memory.bytes = number;
        is_memory = true;
      }
      if (key == "Device Type") memory.device_type = static_cast<int>(std::clamp<std::int64_t>(number, -1, 1000));
      if (key == "Device Id") memory.device_id = static_cast<int>(std::clamp<std::int64_t>(number, -1, 1000));
      if (key == "Total Allocated") memory.allocated_bytes = number;
      if (key == "Total Reserved") memory.reserved_bytes = number;
    }
  }
  if (is_memory && r.has_time) builder_.add_memory(memory);
}

}  // namespace models::trace
