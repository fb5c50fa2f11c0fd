#include "models/trace/readers/json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "models/base/json_text.h"
#include "models/trace/readers/event.h"
#include "models/trace/readers/number.h"
#include "models/trace/readers/rocprof.h"
#include "models/trace/readers/scan.h"

namespace models::trace {
namespace {

constexpr std::size_t max_event_bytes = 256 << 10, max_event_bytes_in_damage = 4 << 10, kept_metadata_bytes = 4 << 10,
                      max_metadata_bytes = 1 << 20;

class Reader {
 public:
  Reader(Source& source, Trace& trace, Builder& builder)
      : source_(source),
        trace_(trace),
        builder_(builder),
        scan_(source),
        event_(builder),
        rocprof_(source, scan_, trace, builder) {}

  Status read() {
    if (scan_.peek() == '\xEF') scan_.at += 3;  // a byte-order mark
    const char first = scan_.peek();
    bool closed = false;
    if (first == '[') {
      // Chrome lets the list of whole events end without its bracket.
      closed = read_events();
      if (!closed && cut_ && !in_event_) cut_ = false;
    } else if (first == '{') {
      closed = read_object();
    } else {
      return Status::fail(
          first == 0 ? "The file is empty."
                     : "This is neither JSON nor an Nsight Systems SQLite export: a trace begins with { or [.");
    }
    scan_.keep = Scanner::nothing;
    if (closed)
      if (const char next = scan_.peek(); next == '{' || next == '[')
        trace_.losses.push_back(
            "A second recording follows the first in this file and was left out: give each a file of its own.");
    source_.all(source_.end());  // a gz says only at its end whether it is whole
    if (source_.cancelled()) return Status::ok();
    say_losses();
    return trace_.records > 0 ? Status::ok() : Status::fail(why_no_events());
  }

 private:
  std::string why_no_events() const {
    if (rows_ > 0)
      return "This is a list of " + std::to_string(rows_) +
             " values, not of trace events: open the profiler's trace, not a memory timeline.";
    if (!seen_events_ && has_key("entries") && (has_key("pg_config") || has_key("nccl_version")))
      return "This is a dump of PyTorch's flight recorder, which says which collectives a rank began and has no "
             "timeline of the device: fr_trace reads it.";
    if (!seen_events_ && has_key("nodes") && has_key("schema"))
      return "This is an execution trace of PyTorch, which lists operations and has no times: open the profiler's "
             "trace of the same run.";
    if (!seen_events_ && has_key("profiles") && has_key("shared"))
      return "This is a profile of speedscope, which samples call stacks: open a trace with spans.";
    if (!seen_events_)
      return "This JSON has no \"traceEvents\": open a trace of the PyTorch profiler, of rocprofv3 or another in the "
             "Chrome format.";
    return lost_places_ > 0 || cut_
               ? "No event of this trace is whole: it was cut or damaged while it was written or copied."
               : "This trace has no events.";
  }

  /// True: it was closed.
  bool read_object() {
    ++scan_.at;
    while (!source_.cancelled()) {
      const Scanner::Next next = scan_.next_of('}');
      if (next == Scanner::Next::end) return true;
      if (next == Scanner::Next::comma) continue;
      char c = scan_.peek();
      const std::size_t key_at = scan_.keep = scan_.at;
      if (c != '"' || scan_.skip_value(0) != Scanner::End::whole) return header_is_broken(key_at, c == 0);
      const std::string key(source_.view(key_at + 1, scan_.at - 1));
      if (!scan_.take(':')) return header_is_broken(key_at, scan_.peek() == 0);
      c = scan_.peek();
      if (key == "traceEvents" && c == '[') {
        if (!read_events()) return false;
        continue;
      }
      if (key == "rocprofiler-sdk-tool" && (c == '[' || c == '{')) {
        trace_.format = "rocprofv3 JSON";
        seen_events_ = true;
        if (rocprof_.read()) continue;
        cut_ = true;
        return false;
      }
      const std::size_t value_at = scan_.at;
      const auto end = scan_.skip_value(0);
      // A scalar that the text ends in may be whole or not; what is cut is not used.
      if (end != Scanner::End::whole || scan_.at == value_at) return header_is_broken(key_at, end == Scanner::End::cut);
      keep_metadata(key, source_.view(value_at, scan_.at));
    }
    return false;
  }

  /// Looks for the events behind a key whose value, or which itself, does not end as one. False: the text ends there.
  bool header_is_broken(std::size_t key_at, bool cut) {
    if (seen_events_) {
      trace_.losses.push_back("What follows the events could not be read: the file was cut or damaged there.");
      return false;
    }
    if (const auto found = scan_.find(key_at, "\"traceEvents\""); found != Scanner::nothing) {
      scan_.at = found + 13;
      scan_.keep = Scanner::nothing;
      if (scan_.take(':') && scan_.peek() == '[') {
        trace_.losses.push_back(
            "What stands before the events could not be read: device names, ranks and times since 1970 may be "
            "missing.");
        read_events();
        return false;
      }
    }
    cut_ = cut_ || cut;
    return false;
  }

  /// False: the text ended, or nothing after this can be trusted.
  bool read_events() {
    seen_events_ = true;
    ++scan_.at;
    std::size_t reported = 0;
    bool expected = false;
    while (!source_.cancelled()) {
      if (scan_.at - reported > (1 << 20)) {
        reported = scan_.at;
        source_.report(scan_.at);
        if (!expected) {
          builder_.expect(1.1 * static_cast<double>(source_.expected_bytes()) / static_cast<double>(scan_.at));
          expected = true;
        }
      }
      const Scanner::Next next = scan_.next_of(']');
      if (next == Scanner::Next::end) return true;
      if (next == Scanner::Next::comma) continue;
      const std::size_t begin = scan_.keep = scan_.at;
      const char c = scan_.peek();
      if (c == 0) {
        cut_ = true;
        in_event_ = false;
        return false;
      }
      const std::size_t most = in_damage_ > 64 ? max_event_bytes_in_damage : max_event_bytes;
      if (c == '{')
        if (const std::size_t bytes = event_.read_plain(source_, begin, most); bytes > 0) {
          scan_.at = begin + bytes;
          in_damage_ = 0;
          continue;
        }
      in_event_ = true;
      const auto end = scan_.skip_value(most);
      if (c != '{') {
        if (end != Scanner::End::whole) {
          cut_ = true;
          return false;
        }
        if (scan_.at == begin) ++scan_.at;
        ++rows_;
      } else if (end == Scanner::End::whole && event_.read(source_, begin, scan_.at)) {
        in_damage_ = 0;
      } else if (!recover(begin, end)) {
        return false;
      }
    }
    return false;
  }

  /// An event that does not end as one: whole up to the next beginning (a line end in a text), or lost. False: nothing
  /// follows.
  bool recover(std::size_t begin, Scanner::End how) {
    ++in_damage_;
    const std::size_t next = scan_.next_event(begin + 1);
    if (next == Scanner::nothing) {
      scan_.at = begin;
      if (scan_.skip_value(0) == Scanner::End::whole) {
        if (!event_.read(source_, begin, scan_.at)) lose(begin, scan_.at);
        return true;
      }
      if (how == Scanner::End::cut)
        cut_ = true;
      else
        lose(begin, source_.end());
      scan_.at = source_.end();
      return false;
    }
    std::size_t end = next;
    while (end > begin && *source_.at(end - 1) != '}') --end;
    if (!event_.read(source_, begin, end)) lose(begin, next);
    scan_.at = next;
    return true;
  }

  void lose(std::size_t begin, std::size_t end) {
    if (lost_places_++ == 0) first_lost_ = begin;
    lost_bytes_ += end - begin;
  }

  void say_losses() {
    if (cut_)
      trace_.losses.push_back("The file ends in the middle: " + std::to_string(trace_.records) +
                              (trace_.records == 1 ? " whole event was kept." : " whole events were kept."));
    rocprof_.say_losses();
    if (samples_) trace_.losses.push_back("The samples of call stacks next to the events are not shown.");
    if (const auto loss = source_.loss(); !loss.empty())
      trace_.losses.push_back(loss + " What came before it was kept.");
    if (lost_places_ > 0)
      trace_.losses.push_back(std::to_string(lost_places_) + (lost_places_ == 1 ? " event is" : " events are") +
                              " not valid JSON and " + (lost_places_ == 1 ? "was" : "were") + " left out (" +
                              std::to_string(lost_bytes_) + " bytes, the first at byte " + std::to_string(first_lost_) +
                              ").");
    if (rows_ > 0 && trace_.records > 0)
      trace_.losses.push_back(std::to_string(rows_) +
                              (rows_ == 1 ? " entry among the events is no object and was left out."
                                          : " entries among the events are no objects and were left out."));
    if (event_.mended() > 0)
      trace_.losses.push_back(
          std::to_string(event_.mended()) + (event_.mended() == 1 ? " event has" : " events have") +
          " control characters or bytes that are not UTF-8 in a text: shown as blanks and question marks.");
    if (const auto n = event_.mended_commas(); n > 0)
      trace_.losses.push_back(std::to_string(n) + (n == 1 ? " event has" : " events have") +
                              " a mistake in the JSON that could be mended: nothing of it is lost.");
  }

  bool has_key(std::string_view key) const {
    return std::find(header_keys_.begin(), header_keys_.end(), key) != header_keys_.end();
  }

  void keep_metadata(const std::string& key, std::string_view value) {
    if (header_keys_.size() < 64) header_keys_.push_back(key);
    if (value.size() <= kept_metadata_bytes && trace_.metadata.size() < 256) trace_.metadata.emplace_back(key, value);
    if (key == "samples" || key == "stackFrames") samples_ = samples_ || value.size() > 2;
    if (key == "baseTimeNanoseconds") {
      std::int64_t base = 0;
      if (value.size() > 1 && value[0] == '"') value = value.substr(1, value.size() - 2);
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), base);
      if (error == std::errc() && base >= -max_time_ns && base <= max_time_ns) trace_.base_ns = base;
    }
    if (value.size() > max_metadata_bytes || (key != "distributedInfo" && key != "deviceProperties")) return;
    const auto json = parse_shallow_json(value, 8);
    const auto number = [&](const char* name, int& to) {
      if (json.is_object() && json.contains(name) && json[name].is_number_integer())
        to = static_cast<int>(std::clamp<std::int64_t>(json[name].get<std::int64_t>(), -1, 1 << 30));
    };
    if (key == "distributedInfo") {
      number("rank", trace_.rank);
      number("world_size", trace_.world_size);
      if (json.is_object() && json.contains("backend") && json["backend"].is_string())
        trace_.backend = json["backend"].get<std::string>();
    } else if (json.is_array()) {
      for (const auto& device : json)
        if (device.is_object() && device.contains("name") && device["name"].is_string() &&
            trace_.device_names.size() < 4096)
          trace_.device_names.push_back(device["name"].get<std::string>());
    }
  }

  Source& source_;
  Trace& trace_;
  Builder& builder_;
  Scanner scan_;
  EventReader event_;
  RocprofReader rocprof_;
  std::vector<std::string> header_keys_;  ///< those beside the events, the first 64
  bool seen_events_ = false, cut_ = false, in_event_ = false, samples_ = false;
  std::int64_t rows_ = 0, lost_places_ = 0, in_damage_ = 0;
  std::size_t lost_bytes_ = 0, first_lost_ = 0;
};

}  // namespace

Status read_json(Source& source, Trace& trace, Builder& builder) {
  Reader reader(source, trace, builder);
  return reader.read();
}

}  // namespace models::trace
