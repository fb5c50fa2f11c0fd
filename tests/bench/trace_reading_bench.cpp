#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/file_bytes.h"
#include "models/trace/trace.h"
#include "tests/bench/training_trace.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/paths.h"

// What reading a recording costs beside the least that can be done with its JSON: a walk of simdjson over the keys of
// every event, which looks at no value, and one that reads what a reader must: phase, time, duration, name, category,
// process, thread and correlation, of which it keeps nothing. All run in turn on the same file, so that their ratios
// stay the same on a busy machine.

namespace {

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Bytes of all keys of all events.
std::size_t walk(const simdjson::padded_string& text) {
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(text);
  std::size_t sum = 0;
  for (auto event : document["traceEvents"].get_array())
    for (auto field : event.get_object()) sum += field.unescaped_key().value().size();
  return sum;
}

/// The same with the values of every event that a reader cannot do without, each looked at once and forgotten.
std::size_t walk_values(const simdjson::padded_string& text) {
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(text);
  std::size_t sum = 0;
  const auto add_token = [&](simdjson::ondemand::value value) { sum += value.raw_json_token().size(); };
  for (auto event : document["traceEvents"].get_array())
    for (auto field : event.get_object()) {
      const std::string_view key = field.unescaped_key().value();
      simdjson::ondemand::value value = field.value();
      if (key == "ts" || key == "dur") {
        double us = 0;
        if (value.get_double().get(us) == simdjson::SUCCESS) sum += us > 0;
      } else if (key == "name" || key == "cat" || key == "ph") {
        std::string_view written;
        if (value.get_string().get(written) == simdjson::SUCCESS) sum += written.size();
      } else if (key == "pid" || key == "tid" || key == "id") {
        add_token(value);
      } else if (key == "args") {
        simdjson::ondemand::object arguments;
        if (value.get_object().get(arguments) != simdjson::SUCCESS) continue;
        for (auto argument : arguments) {
          const std::string_view name = argument.unescaped_key().value();
          if (name == "correlation" || name == "device" || name == "stream") add_token(argument.value());
        }
      }
    }
  return sum;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// All from a file, as a reader has to. read_over_walk_in_memory leaves the loading of the file out of the walk alone,
/// read_over_value_walk compares with the walk that reads values, from the file too.
void read_beside_walk(benchmark::State& state, std::string text) {
  const auto path = std::filesystem::temp_directory_path() / "ridgeline-bench-reading.json";
  const std::size_t bytes = text.size();
  std::ofstream(path, std::ios::binary) << text;
  text = {};
  std::vector<double> ratios, walk_ratios, value_ratios, walks, value_walks, reads;
  std::size_t events = 0;
  for (auto _ : state) {
    const double start = cpu_s();
    const simdjson::padded_string loaded = simdjson::padded_string::load(path.string());
    const double in_memory = cpu_s();
    benchmark::DoNotOptimize(walk(loaded));
    const double walked = cpu_s();
    benchmark::DoNotOptimize(walk_values(loaded));
    const double values_walked = cpu_s();
    const auto file = app::read_file_bytes(path.string());
    if (!file) throw std::runtime_error(file.error);
    const auto trace = models::trace::read_trace(models::trace::Bytes{(*file)->size_bytes, (*file)->read_at}, "bench");
    const double read = cpu_s();
    if (!trace) throw std::runtime_error(trace.error);
    events = trace->events.size();
    walks.push_back(walked - start);
    value_walks.push_back(values_walked - walked + in_memory - start);
    reads.push_back(read - values_walked);
    ratios.push_back(reads.back() / walks.back());
    walk_ratios.push_back(reads.back() / (walked - in_memory));
    value_ratios.push_back(reads.back() / value_walks.back());
  }
  std::filesystem::remove(path);
  state.counters["events"] = static_cast<double>(events);
  state.counters["text_bytes"] = static_cast<double>(bytes);
  state.counters["walk_cpu_s"] = median(walks);
  state.counters["value_walk_cpu_s"] = median(value_walks);
  state.counters["read_cpu_s"] = median(reads);
  state.counters["read_over_walk"] = median(ratios);
  state.counters["read_over_walk_in_memory"] = median(walk_ratios);
  state.counters["read_over_value_walk"] = median(value_ratios);
}

/// Adds `by` to every whole number that stands behind `key`.
void shift(std::string_view text, std::string_view key, std::int64_t by, std::string& out) {
  std::size_t at = 0;
  for (std::size_t found = text.find(key); found != std::string_view::npos; found = text.find(key, at)) {
    found += key.size();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + found, text.data() + text.size(), value);
    out.append(text, at, found - at);
    at = error == std::errc() ? static_cast<std::size_t>(end - text.data()) : found;
    if (error == std::errc()) out += std::to_string(value + by);
  }
  out.append(text, at);
}

/// Where the list that begins at `begin` ends.
std::size_t end_of_list(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      in_text = !in_text;
    else if (c == '\\')
      ++i;
    else if (!in_text && (c == '[' || c == '{'))
      ++depth;
    else if (!in_text && (c == ']' || c == '}') && --depth == 0)
      return i;
  }
  return text.size();
}

/// A recording whose events follow each other so many times, each time later and with other correlations.
std::string repeated(const std::string& text, int times) {
  const std::size_t begin = text.find('[', text.find("\"traceEvents\"")) + 1;
  const std::size_t end = end_of_list(text, begin - 1);
  const std::string_view events = std::string_view(text).substr(begin, end - begin);
  std::string out = "{\"traceEvents\": [", part;
  for (int i = 0; i < times; ++i) {
    part.clear();
    shift(events, "\"ts\": ", 1'000'000 * i, part);
    if (i > 0) out += ',';
    shift(part, "\"correlation\": ", 10'000'000 * i, out);
  }
  return out + "]}";
}

void trace_read_beside_walk(benchmark::State& state) { read_beside_walk(state, bench::training_trace(state.range(0))); }
BENCHMARK(trace_read_beside_walk)->Arg(999'999)->Iterations(7)->Unit(benchmark::kMillisecond);

/// A public recording of data-parallel training on two A100, 40,573 events, 26 times; where its folder is there.
void trace_read_beside_walk_real(benchmark::State& state) {
  const auto folder = support::public_folder("RIDGELINE_TRACES", "shared/data/traces");
  const std::string text = support::gunzipped_file(folder / "ddp_a100_rank0of2_nccl_ns.json.gz");
  if (text.empty()) {
    state.SkipWithError("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
    return;
  }
  read_beside_walk(state, repeated(text, 26));
}
BENCHMARK(trace_read_beside_walk_real)->Iterations(7)->Unit(benchmark::kMillisecond);

}  // namespace
