#include "models/trace/writers/extract.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/trace/cases/detect.h"
#include "models/trace/text/bytes.h"

namespace models::trace {
namespace {

/// A word of a path without its folders; other words, a slash inside of which is part of the name, as they are.
std::string_view without_folders(std::string_view word) {
  const std::size_t first = word.find_first_of("/\\");
  if (first == std::string_view::npos) return word;
  const char before = first > 0 ? word[first - 1] : '/';
  const bool path = first == 0 || before == '.' || before == '~' || before == ':' || before == '(' || before == '"' ||
                    before == '=' || before == '\'' || before == '[';
  return path ? word.substr(word.find_last_of("/\\") + 1) : word;
}

std::string without_paths(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t blank = name.find(' ');
    out += without_folders(name.substr(0, blank));
    if (blank == std::string_view::npos) break;
    out += ' ';
    name.remove_prefix(blank + 1);
  }
  return out;
}

/// A text between quotation marks; what would need an escape is a question mark.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + '"';
}

bool is_step(const Trace& trace, const Event& e) {
  return trace.tracks[e.track].kind != TrackKind::device_annotation && !on_device(e.cls) &&
         trace.name(e).starts_with("ProfilerStep#");
}

/// Whether both have the same cause, idle time and explained part of it.
bool same_diagnosis(const Trace& whole, const Trace& part) {
  const Trace* const of[] = {&whole, &part};
  const JobDiagnosis a = diagnose_job({&of[0], 1}), b = diagnose_job({&of[1], 1});
  return a.cause == b.cause && a.idle_ns == b.idle_ns && a.explained_ns == b.explained_ns;
}

class Extractor {
 public:
  Extractor(const Trace& trace, const ExtractWindow& window) : trace_(trace), window_(window) {}

  Result<Trace> extract() {
    if (trace_.text) {
      auto text = trace_.text->all();
      if (!text) return Result<Trace>::fail(trace_.origin + ": " + text.error);
      text_ = std::move(*text);
    }
    find_threads();
    choose();
    if (!any_work_)
      return Result<Trace>::fail(trace_.origin + ": No work of a device lies there, so nothing is left to diagnose.");
    head();
    for (std::uint32_t t = 0; t < trace_.tracks.size(); ++t) add_track(t);
    link();
    out_.text = text_of(std::move(args_));
    return Result<Trace>::ok(std::move(out_));
  }

 private:
  static std::shared_ptr<const Text> text_of(std::string args) {
    const std::uint64_t size = args.size();
    const auto text = std::make_shared<Text>(in_memory(std::move(args)));
    text->set_size(size);
    return text;
  }

  /// Threads that launch work or call the runtime of a device, be it to wait or for work that was not recorded.
  void find_threads() {
    speaks_.assign(trace_.tracks.size(), false);
    for (const Event& e : trace_.events) {
      if (on_device(e.cls) && e.link != none) speaks_[trace_.events[e.link].track] = true;
      if (e.cls == EventClass::runtime && e.kind == EventKind::span) speaks_[e.track] = true;
    }
  }

  bool inside(const Event& e) const {
    std::int64_t at = 0;
    if (__builtin_sub_overflow(e.start_ns, trace_.first_ns, &at)) return false;  // a clock that jumped
    return at >= window_.from_ns && at < window_.to_ns;
  }
  void choose() {
    kept_.assign(trace_.events.size(), false);
    for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
      const Event& e = trace_.events[i];
      if (e.kind != EventKind::span) continue;
      const TrackKind kind = trace_.tracks[e.track].kind;
      if (kind == TrackKind::stream)
        kept_[i] = on_device(e.cls) && inside(e.link == none ? e : trace_.events[e.link]);
      else
        kept_[i] = inside(e) && (is_step(trace_, e) || (kind == TrackKind::thread && speaks_[e.track]));
      any_work_ |= kept_[i] && kind == TrackKind::stream;
    }
  }

  void head() {
    out_.origin = trace_.origin;
    out_.format = "Chrome JSON";
    out_.device_names = trace_.device_names;
    out_.rank = trace_.rank;
    out_.world_size = trace_.world_size;
    out_.backend = trace_.backend;
    bool any = false;
    for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
      if (!kept_[i]) continue;
      const Event& e = trace_.events[i];
      first_ns_ = any ? std::min(first_ns_, e.start_ns) : e.start_ns;
      out_.last_ns = any ? std::max(out_.last_ns, e.end_ns()) : e.end_ns();
      any = true;
    }
    // Ranks of one clock stay on it: what their times lose their bases gain.
    std::int64_t length_ns = 0;
    if (__builtin_add_overflow(trace_.base_ns, first_ns_, &out_.base_ns) ||
        __builtin_sub_overflow(out_.last_ns, first_ns_, &length_ns)) {  // a clock that jumped
      out_.base_ns = trace_.base_ns;
      out_.first_ns = std::exchange(first_ns_, 0);
    } else {
      out_.last_ns = length_ns;
    }
  }

  void add_track(std::uint32_t t) {
    const Track& from = trace_.tracks[t];
    Track track;
    track.kind = from.kind;
    track.device = from.device;
    track.stream = from.stream;
    track.first = static_cast<std::uint32_t>(out_.events.size());
    const auto number = static_cast<std::uint32_t>(out_.tracks.size());
    moved_.resize(trace_.events.size(), none);
    for (std::uint32_t i = from.first; i < from.first + from.count; ++i) {
      if (!kept_[i]) continue;
      Event e = trace_.events[i];
      moved_[i] = static_cast<std::uint32_t>(out_.events.size());
      e.start_ns -= first_ns_;
      e.track = number;
      e.name = string_of(e);
      e.category = category_of(e.category);
      add_arguments(e);
      track.depths = std::max(track.depths, static_cast<std::uint16_t>(e.depth + 1));
      out_.events.push_back(e);
      ++out_.category_counts[e.category];
    }
    track.count = static_cast<std::uint32_t>(out_.events.size()) - track.first;
    if (track.count == 0) return;
    if (from.kind == TrackKind::stream) {
      track.pid = std::to_string(from.device);
      track.tid = std::to_string(from.stream);
    } else {
      const auto process = processes_.try_emplace(from.pid, processes_.size() + 1).first;
      track.pid = std::to_string(1000 + process->second);
      track.tid = std::to_string(++threads_);
      track.name = "thread " + track.tid;
    }
    out_.tracks.push_back(std::move(track));
  }

  std::uint32_t string_of(const Event& e) {
    const auto [at, is_new] = strings_.try_emplace(e.name, static_cast<std::uint32_t>(out_.strings.size()));
    if (is_new) {
      const std::string& name = trace_.strings[e.name];
      out_.strings.push_back(on_device(e.cls) ? name : without_paths(name));
    }
    return at->second;
  }
  std::uint16_t category_of(std::uint16_t category) {
    const auto [at, is_new] = categories_.try_emplace(category, static_cast<std::uint16_t>(out_.categories.size()));
    if (is_new) {
      out_.categories.push_back(trace_.categories[category]);
      out_.category_counts.push_back(0);
    }
    return at->second;
  }

  /// Collectives are matched over ranks by these.
  void add_arguments(Event& e) {
    static constexpr std::array<std::string_view, 8> of_collectives{
        "Collective name", "Process Group Name", "Process Group Ranks", "Seq",
        "In msg nelems",   "Out msg nelems",     "Group size",          "dtype"};
    const std::size_t offset = args_.size();
    if (e.cls == EventClass::communication && e.args_bytes > 0)
      for (const auto& [key, value] : arguments(std::string_view(text_).substr(e.args_offset, e.args_bytes))) {
        if (std::find(of_collectives.begin(), of_collectives.end(), key) == of_collectives.end()) continue;
        args_ += args_.size() == offset ? "{\"" : ",\"";
        args_ += key + "\":" + (value.is_json ? value.text : quoted(value.text));
      }
    if (args_.size() > offset) args_ += '}';
    e.args_bytes = (args_.size() - offset) & 0xFFFFFF;
    e.args_offset = e.args_bytes == 0 ? 0 : offset & 0xFFFFFFFFFF;
  }

  void link() {
    for (Event& e : out_.events) {
      e.correlated = e.link != none && moved_[e.link] != none;
      e.link = e.correlated ? moved_[e.link] : none;
    }
  }

  const Trace& trace_;
  ExtractWindow window_;
  Trace out_;
  std::string text_, args_;
  std::vector<bool> speaks_, kept_;
  std::vector<std::uint32_t> moved_;
  bool any_work_ = false;
  std::int64_t first_ns_ = 0;
  std::size_t threads_ = 0;
  std::unordered_map<std::string, std::size_t> processes_;
  std::unordered_map<std::uint32_t, std::uint32_t> strings_;
  std::unordered_map<std::uint16_t, std::uint16_t> categories_;
};

}  // namespace

Result<Trace> diagnosis_extract(const Trace& trace, const ExtractWindow& window) {
  auto part = Extractor(trace, window).extract();
  const ExtractWindow all;
  if (part && window.from_ns <= all.from_ns && window.to_ns == all.to_ns && !same_diagnosis(trace, *part))
    return Result<Trace>::fail(trace.origin +
                               ": An extract of it would be diagnosed otherwise, as where recordings of two "
                               "formats are mixed; extract each of them alone.");
  return part;
}

}  // namespace models::trace
