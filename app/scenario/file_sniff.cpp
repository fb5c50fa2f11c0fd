#include "app/scenario/file_sniff.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "models/gpu/counters/kernel_report_file.h"
#include "models/parallel/collectives/collective_log.h"
#include "models/parallel/topology/topology_parse.h"
#include "models/trace/text/bytes.h"

namespace app {
namespace {

using chapters::FileKind;
using std::string_view_literals::operator""sv;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string in_small_letters(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find_first_of("\r\n")); }

/// The keys of the outermost object, as far as the text goes. Keys with escapes are left as they stand.
std::vector<std::string_view> top_keys(std::string_view text) {
  constexpr std::size_t max_keys = 200;
  std::vector<std::string_view> keys;
  int depth = 0;
  bool is_key = false;
  for (std::size_t i = 0; i < text.size() && keys.size() < max_keys; ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t begin = ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      if (i >= text.size()) break;
      if (depth == 1 && is_key) keys.push_back(text.substr(begin, i - begin));
      is_key = false;
    } else if (c == '{' || c == '[') {
      is_key = ++depth == 1;
    } else if (c == '}' || c == ']') {
      if (--depth <= 0) break;
    } else if (c == ',') {
      is_key = depth == 1;
    }
  }
  return keys;
}

FileKind kind_of_object(std::string_view text) {
  const std::vector<std::string_view> keys = top_keys(text);
  const auto is = [&](std::string_view key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  if (is("lab") && is("inputs")) return FileKind::scenario;
  if (is("steps")) return FileKind::lesson;
  if (is("networks") || (is("id") && is("bytes_per_s_per_direction"))) return FileKind::chips;
  if (is("chips") || (is("peak_flops_per_s") && is("memory_bandwidth_bytes_per_s"))) return FileKind::chips;
  if (is("traceEvents") || is("rocprofiler-sdk-tool"))
    return has(text, "\"[memory]\"") ? FileKind::memory_recording : FileKind::recording;
  if (is("segments") || is("device_traces")) return FileKind::memory_snapshot;
  if (is("entries") && (is("pg_config") || is("nccl_version") || is("comm_lib_version") || is("pg_status")))
    return FileKind::flight_recorder;
  if (is("model_type") || is("architectures") || is("hidden_size") || is("n_embd") || is("num_hidden_layers"))
    return FileKind::model_config;
  if (is("request_throughput") || is("output_throughput") || is("mean_ttft_ms")) return FileKind::benchmark_log;
  if (is("timestamp") && (is("input_length") || is("output_length"))) return FileKind::arrivals;
  if (is("arrival_s") && is("input_tokens")) return FileKind::arrivals;
  if (is("requests") && is("block_size")) return FileKind::arrivals;  // a session
  if (is("report") && (is("kernel") || is("chip") || is("tool"))) return FileKind::kernel_report;
  if (is("inputs") && has(text, "\"report\"")) return FileKind::kernel_report;
  return FileKind::unknown;
}

FileKind kind_of_list(std::string_view text) {
  const std::string_view inside = without_blanks(text.substr(1));
  if (inside.starts_with('[')) return FileKind::memory_timeline;
  if (!inside.starts_with('{')) return FileKind::unknown;
  const auto keys = top_keys(inside);
  const auto is = [&](std::string_view key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  if (!is("ph") && (is("report") || is("inputs")) && has(text, "\"report\"")) return FileKind::kernel_report;
  if (!is("ph")) return FileKind::unknown;
  return has(text, "\"[memory]\"") ? FileKind::memory_recording : FileKind::recording;
}

/// A table whose first line names its columns.
FileKind kind_of_columns(std::string_view text) {
  const std::string line = in_small_letters(first_line(text));
  if (line.find_first_of(",;\t") == std::string::npos) return FileKind::unknown;
  if (has(line, "flops") && has(line, "bytes") && has(line, "time_s")) return FileKind::kernel_measurements;
  const bool time = has(line, "time") || has(line, "arriv");
  const bool output = has(line, "output") || has(line, "generated") || has(line, "response") || has(line, "completion");
  const bool prompt = has(line, "prompt") || has(line, "context") || has(line, "input") || has(line, "request");
  if (time && output && prompt) return FileKind::arrivals;
  // Or three columns of numbers without names.
  const bool numbers = line.find_first_not_of("0123456789.,; \te+-") == std::string::npos;
  return numbers &&
                 std::count_if(line.begin(), line.end(), [](char c) { return c == ',' || c == ';' || c == '\t'; }) == 2
             ? FileKind::arrivals
             : FileKind::unknown;
}

/// "a0 512", with "; " or a line between events.
bool lists_events(std::string_view text) {
  const std::string_view event = text.substr(0, text.find_first_of(";\r\n"));
  if (event.empty()) return false;
  if (event.starts_with("set ")) return has(event, "=");
  const auto blank = std::min(event.find(' '), event.size());
  const std::string_view id = event.substr(1, blank - 1);
  const bool number = !id.empty() && id.find_first_not_of("0123456789") == std::string_view::npos;
  const std::string_view rest = event.substr(std::min(blank + 1, event.size()));
  const bool numbers = rest.find_first_not_of("0123456789 ") == std::string_view::npos;
  return event.front() == 'a' && number && numbers && !rest.empty();
}

bool is_text(std::string_view bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b';
  });
}

FileKind kind_of_text(std::string_view text) {
  const std::string_view start = without_blanks(text);
  if (start.starts_with('{')) return kind_of_object(start);
  if (start.starts_with('[')) {
    if (const FileKind list = kind_of_list(start); list != FileKind::unknown) return list;
  }
  if (has(text, "Serving Benchmark Result") || has(text, "Request throughput (req/s)")) return FileKind::benchmark_log;
  if (has(text, "GPU0") && models::parallel::parse_topology_table(text)) return FileKind::topology_table;
  if ((has(text, "busbw") && has(text, "algbw")) ||
      models::parallel::parse_collective_log(text.substr(0, models::parallel::max_collective_log_bytes)))
    return FileKind::collective_log;
  if (has(text, "GPU0") && (has(text, "NV1") || has(text, "PIX") || has(text, "SYS") || has(text, "XGMI")))
    return FileKind::topology_table;  // and its lab says what is wrong with it
  if (lists_events(start)) return FileKind::allocator_events;
  if (const FileKind columns = kind_of_columns(start); columns != FileKind::unknown) return columns;
  return models::gpu::looks_like_kernel_report(text) ? FileKind::kernel_report : FileKind::unknown;
}

struct Signature {
  std::string_view bytes, name;
};
constexpr std::array<Signature, 12> signatures{{{"\x89PNG", "a picture (PNG)"},
                                                {"\xFF\xD8\xFF", "a picture (JPEG)"},
                                                {"GIF8", "a picture (GIF)"},
                                                {"%PDF", "a PDF"},
                                                {"\x7F"
                                                 "ELF",
                                                 "a program or a library"},
                                                {"PK\x03\x04", "a zip archive"},
                                                {"\x28\xB5\x2F\xFD", "a file packed with Zstandard"},
                                                {"\xFD\x37zXZ", "a file packed with xz"},
                                                {"BZh", "a file packed with bzip2"},
                                                {"GGUF", "weights in GGUF"},
                                                {"\x93NUMPY", "an array of NumPy"},
                                                {"PAR1", "a table in Parquet"}}};

SniffedFile named(FileKind kind, bool is_text = false) { return {kind, kind, is_text, std::string(kind_words(kind))}; }
SniffedFile unnamed(std::string looks_like, bool is_text = false) {
  return {FileKind::unknown, FileKind::unknown, is_text, std::move(looks_like)};
}

SniffedFile pickle_of(std::string_view head) {
  SniffedFile out = named(FileKind::pickle);
  if (has(head, "device_traces") || has(head, "segments")) out.holds = FileKind::memory_snapshot;
  if (has(head, "pg_config") || has(head, "nccl_version")) out.holds = FileKind::flight_recorder;
  if (out.holds == FileKind::flight_recorder)
    out.looks_like = std::string(kind_words(out.holds)) + " as a pickle";  // plain values, which are read and never run
  else if (out.holds != FileKind::pickle)
    out.looks_like = std::string(kind_words(out.holds)) + " as a pickle, which may run code when it is read";
  return out;
}

bool is_pickle(std::string_view head) {
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) return true;
  return head.starts_with("(dp0\n") || head.starts_with("(lp0\n");
}

/// Eight bytes of a length and an object.
bool is_safetensors(std::string_view head) {
  return head.size() > 9 && head[8] == '{' && head.substr(4, 4) == "\0\0\0\0"sv;
}

}  // namespace

std::string_view kind_words(FileKind kind) {
  switch (kind) {
    case FileKind::unknown:
      break;
    case FileKind::recording:
      return "a profiler's recording";
    case FileKind::memory_recording:
      return "a profiler's recording with memory events";
    case FileKind::memory_snapshot:
      return "a memory snapshot of PyTorch";
    case FileKind::memory_timeline:
      return "a memory timeline of the PyTorch profiler";
    case FileKind::allocator_events:
      return "a list of allocator events";
    case FileKind::pickle:
      return "a pickle of Python, which may run code when it is read";
    case FileKind::flight_recorder:
      return "a dump of PyTorch's flight recorder";
    case FileKind::collective_log:
      return "a log of nccl-tests or rccl-tests";
    case FileKind::topology_table:
      return "a topology table of nvidia-smi or rocm-smi";
    case FileKind::arrivals:
      return "arrivals of requests";
    case FileKind::kernel_measurements:
      return "measurements of kernels (CSV)";
    case FileKind::benchmark_log:
      return "the output of a serving benchmark";
    case FileKind::model_config:
      return "a model's config.json";
    case FileKind::safetensors:
      return "a safetensors file";
    case FileKind::kernel_report:
      return "a report of kernels";
    case FileKind::scenario:
      return "a scenario of Ridgeline";
    case FileKind::lesson:
      return "a lesson of Ridgeline";
    case FileKind::chips:
      return "a list of chips or networks";
  }
  return "a file that nothing here knows";
}

SniffedFile sniff_text(std::string_view head, bool whole) {
  if (is_safetensors(head)) return named(FileKind::safetensors);
  if (head.starts_with("SQLite format 3")) return named(FileKind::recording);
  if (head.starts_with("NVR\0"sv)) return named(FileKind::kernel_report);
  if (is_pickle(head)) return pickle_of(head);
  for (const Signature& s : signatures)
    if (head.starts_with(s.bytes)) return unnamed(std::string(s.name));
  if (!is_text(head)) return unnamed("no text, and nothing that is known by its first bytes");
  // A line that is cut says nothing.
  if (const auto end = head.find_last_of('\n'); !whole && end != std::string_view::npos) head = head.substr(0, end);
  if (const FileKind kind = kind_of_text(head); kind != FileKind::unknown) return named(kind, true);
  const char first = without_blanks(head).empty() ? ' ' : without_blanks(head).front();
  return unnamed(first == '{' || first == '[' ? "JSON that nothing here knows" : "a text that nothing here knows",
                 true);
}

SniffedFile sniff_file(const chapters::FileBytes& file) {
  const std::uint64_t most = std::min<std::uint64_t>(file.size_bytes, sniffed_bytes);
  std::string head;
  if (!file.read_part(0, most, head)) return unnamed("a file that cannot be read");
  if (!head.starts_with("\x1f\x8b")) return sniff_text(head, most == file.size_bytes);
  const models::trace::Bytes bytes{file.size_bytes, file.read_at};
  models::trace::Inflater inflater(bytes);
  std::string text(sniffed_bytes, '\0');
  text.resize(inflater.read(text.data(), text.size()));
  if (text.empty()) return unnamed("a gz that is damaged");
  return sniff_text(text, text.size() < sniffed_bytes);
}

}  // namespace app
