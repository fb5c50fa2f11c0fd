#include <charconv>

#include "models/trace/measure/metrics.h"

namespace models::trace {
namespace {

class ChromeWriter {
 public:
  explicit ChromeWriter(const Trace& trace) : trace_(trace) {}

  Result<std::string> write() {
    if (trace_.text) {
      auto text = trace_.text->all();
      if (!text) return Result<std::string>::fail(trace_.origin + ": " + text.error);
      text_ = std::move(*text);
    }
    out_ = "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"baseTimeNanoseconds\": ";
    number(trace_.base_ns);
    if (trace_.rank >= 0) {
      out_ += ", \"distributedInfo\": {\"rank\": ";
      number(trace_.rank);
      if (trace_.world_size >= 0) {
        out_ += ", \"world_size\": ";
        number(trace_.world_size);
      }
      if (!trace_.backend.empty()) {
        out_ += ", \"backend\": ";
        text(trace_.backend);
      }
      out_ += "}";
    }
    out_ += ", \"deviceProperties\": [";
    for (std::size_t i = 0; i < trace_.device_names.size(); ++i) {
      out_ += i > 0 ? ", {\"id\": " : "{\"id\": ";
      number(static_cast<std::int64_t>(i));
      out_ += ", \"name\": ";
      text(trace_.device_names[i]);
      out_ += "}";
    }
    out_ += "], \"traceEvents\": [";
    for (const Track& t : trace_.tracks) {
      name("process_name", t, t.process_name);
      name("thread_name", t, t.name);
      sort_index("process_sort_index", t, t.process_sort_index);
      sort_index("thread_sort_index", t, t.sort_index);
    }
    for (const Event& e : trace_.events) event(e);
    for (const Counter& c : trace_.counters)
      if (c.unit.empty())
        for (const Sample& s : c.samples) sample(c, s);
    out_ += "\n]}\n";
    return Result<std::string>::ok(std::move(out_));
  }

 private:
  void number(std::int64_t value) {
    char digits[24];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }

  /// Microseconds with three decimals: the integer nanoseconds exactly.
  void microseconds(std::int64_t ns) {
    if (ns < 0) {
      out_ += '-';
      ns = -ns;
    }
    number(ns / 1000);
    const std::int64_t rest = ns % 1000;
    out_ += {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
             static_cast<char>('0' + rest % 10)};
  }

  void text(std::string_view s) {
    static constexpr char hex[] = "0123456789abcdef";
    out_ += '"';
    for (const char c : s) {
      const auto u = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (u < 0x20) {
        out_ += "\\u00";
        out_ += hex[u >> 4];
        out_ += hex[u & 15];
      } else
        out_ += c;
    }
    out_ += '"';
  }

  /// Identifiers are kept as they stand in the file, where a text may hold escapes already.
  void identifier(std::string_view key, std::string_view raw) {
    std::int64_t value = 0;
    out_ += ", \"";
    out_ += key;
    out_ += "\": ";
    const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
    if (error == std::errc() && end == raw.data() + raw.size()) {
      out_ += raw;
      return;
    }
    out_ += '"';
    out_ += raw;
    out_ += '"';
  }

  void begin() {
    out_ += first_ ? "\n  {\"ph\": \"" : ",\n  {\"ph\": \"";
    first_ = false;
  }

  /// What a track or its process is called, or where it stands: up to the value of `key`.
  void begin_metadata(const char* what, const Track& t, const char* key) {
    begin();
    out_ += "M\", \"name\": \"";
    out_ += what;
    out_ += '"';
    identifier("pid", t.pid);
    identifier("tid", t.tid);
    out_ += ", \"args\": {\"";
    out_ += key;
    out_ += "\": ";
  }

  void name(const char* what, const Track& t, const std::string& value) {
    if (value.empty()) return;
    begin_metadata(what, t, "name");
    text(value);
    out_ += "}}";
  }

  void sort_index(const char* what, const Track& t, std::int64_t index) {
    if (index == 0) return;
    begin_metadata(what, t, "sort_index");
    number(index);
    out_ += "}}";
  }

  void event(const Event& e) {
    const Track& t = trace_.tracks[e.track];
    const bool async = t.kind == TrackKind::async;
    begin();
    out_ += e.kind == EventKind::instant ? "i" : async ? "b" : "X";
    out_ += '"';
    if (!trace_.category(e).empty()) {  // a recorder that gives none means something by it
      out_ += ", \"cat\": ";
      text(trace_.category(e));
    }
    out_ += ", \"name\": ";
    text(trace_.name(e));
    identifier("pid", t.pid);
    identifier("tid", t.tid);
    out_ += ", \"ts\": ";
    microseconds(e.start_ns);
    if (e.kind == EventKind::span) {
      out_ += ", \"dur\": ";
      microseconds(e.duration_ns);
    }
    if (e.kind == EventKind::async) {
      out_ += ", \"id\": ";
      number(++async_);
    }
    arguments(e, t);
    out_ += "}";
    if (e.kind != EventKind::async) return;
    begin();
    out_ += "e\", \"cat\": ";
    text(trace_.category(e));
    out_ += ", \"name\": ";
    text(trace_.name(e));
    identifier("pid", t.pid);
    identifier("tid", t.tid);
    out_ += ", \"id\": ";
    number(async_);
    out_ += ", \"ts\": ";
    microseconds(e.end_ns());
    out_ += "}";
  }

  void arguments(const Event& e, const Track& t) {
    // Literals that are no JSON, such as inf, must not be handed on: rebuild from the parts.
    const auto all = models::trace::arguments(
        e.args_bytes > 0 ? std::string_view(text_).substr(e.args_offset, e.args_bytes) : std::string_view());
    const bool own = t.kind == TrackKind::stream || e.link != none;
    if (all.empty() && !own) return;
    out_ += ", \"args\": {";
    bool any = false;
    const auto key = [&](std::string_view k) {
      if (any) out_ += ", ";
      any = true;
      text(k);
      out_ += ": ";
    };
    bool has_device = false, has_stream = false, has_correlation = false;
    for (const auto& [k, value] : all) {
      has_device = has_device || k == "device";
      has_stream = has_stream || k == "stream";
      has_correlation = has_correlation || k == "correlation";
      key(k);
      if (value.is_json)
        out_ += value.text;
      else
        text(value.text);
    }
    // What the recording says elsewhere than in the arguments, as Nsight's tables and rocprofv3's records do.
    if (t.kind == TrackKind::stream && !has_device) {
      key("device");
      number(t.device);
    }
    if (t.kind == TrackKind::stream && !has_stream) {
      key("stream");
      number(t.stream);
    }
    if (e.link != none && !has_correlation) {
      // The launching call's own number, above those that recorders give.
      constexpr std::int64_t above = 1'000'000'000'000;
      const bool call = e.cls == EventClass::runtime;
      key("correlation");
      number(above + (call ? &e - trace_.events.data() : static_cast<std::ptrdiff_t>(e.link)));
    }
    out_ += "}";
  }

  void sample(const Counter& c, const Sample& s) {
    begin();
    out_ += "C\", \"name\": ";
    text(c.name);
    identifier("pid", c.pid.empty() ? "0" : c.pid);
    out_ += ", \"ts\": ";
    microseconds(s.time_ns);
    out_ += ", \"args\": {\"value\": ";
    char digits[40];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, s.value).ptr);
    out_ += "}}";
  }

  const Trace& trace_;
  std::string text_, out_;
  bool first_ = true;
  std::int64_t async_ = 0;
};

}  // namespace

Result<std::string> to_chrome_json(const Trace& trace) { return ChromeWriter(trace).write(); }

}  // namespace models::trace
