#include "models/serving/arrivals/benchmark_log.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "models/base/json_nesting.h"
#include "models/base/json_text.h"
#include "models/serving/arrivals/serving_requests_file.h"

namespace models {
namespace {

/// What stands beside a label or a key of one run, as it was written.
struct RawRun {
  std::size_t line = 0;
  std::map<std::string, std::string, std::less<>> values;  ///< by label or key, in small letters
};

std::string in_small(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view without_space(std::string_view text) {
  const auto first = text.find_first_not_of(" \t|*");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t|*") - first + 1);
}

/// A number at the beginning of a value; commas between digits do not count.
std::optional<double> number_of(std::string_view text) {
  std::string digits;
  for (const char c : without_space(text))
    if (c != ',') digits += c;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  if (end != digits.data() + digits.size() && *end != ' ' && *end != '%') return std::nullopt;
  return value;
}

std::optional<double> value_of(const RawRun& raw, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const auto found = raw.values.find(name); found != raw.values.end())
      if (const auto number = number_of(found->second)) return number;
  return std::nullopt;
}

/// Milliseconds in seconds; nothing where they are no time.
std::optional<double> seconds_of_ms(const std::optional<double>& ms) {
  return ms && *ms >= 0 && *ms < 1e12 ? std::optional(*ms / 1e3) : std::nullopt;
}

/// Percentiles of one kind of time: as tables label them, and as JSON names them.
BenchmarkLatency latency_of(const RawRun& raw, const std::string& label, const std::string& key) {
  const auto of = [&](const std::string& which, const std::string& short_key) {
    return seconds_of_ms(value_of(raw, {which + " " + label + " (ms)", short_key + "_" + key + "_ms"}));
  };
  BenchmarkLatency out;
  out.mean_s = of("mean", "mean");
  out.p50_s = of("median", "median");
  if (!out.p50_s) out.p50_s = of("p50", "p50");
  out.p90_s = of("p90", "p90");
  out.p99_s = of("p99", "p99");
  return out;
}

constexpr double max_logged_tokens = 1e7;

std::string at_line(const RawRun& raw) { return "The run that begins in line " + std::to_string(raw.line); }

/// Fills in what the log leaves out where the rest gives it; the sentence says what is missing.
std::string complete(const RawRun& raw, BenchmarkRun& run, std::optional<double> input, std::optional<double> output) {
  const auto requests = value_of(raw, {"successful requests", "completed", "number of requests"});
  const auto rate = value_of(raw, {"request throughput (req/s)", "request throughput (req/sec)", "request_throughput"});
  const auto tokens =
      value_of(raw, {"output token throughput (tok/s)", "total output throughput (tokens/sec)", "output_throughput"});
  auto duration = value_of(raw, {"benchmark duration (s)", "duration"});
  if (!duration) duration = seconds_of_ms(value_of(raw, {"total latency (ms)"}));
  double count = requests.value_or(rate && duration ? std::round(*rate * *duration) : 0);
  if (!duration && rate && *rate > 0) duration = count / *rate;
  if (!(count >= 1 && count <= 1e9)) return " does not say how many requests were answered.";
  if (!(duration && *duration > 0 && *duration <= 1e9)) return " does not say how long it took.";
  run.requests = static_cast<std::int64_t>(count);
  run.duration_s = *duration;
  if (!output && tokens) output = *tokens * *duration;
  if (!output && tokens == std::nullopt) return " says nothing of output tokens.";
  run.output_tokens = *output / count;
  if (!(run.output_tokens >= 1 && run.output_tokens <= max_logged_tokens))
    return " has less than one output token a request, or more than ten million.";
  const auto all = value_of(raw, {"total token throughput (tok/s)", "total token throughput (tokens/sec)",
                                  "total_token_throughput", "total_throughput"});
  if (!input && all) input = *all * *duration - *output;
  if (!input || !(*input >= 0)) return " says nothing of input tokens.";
  run.prompt_tokens = std::max(1.0, *input / count);
  if (!(run.prompt_tokens <= max_logged_tokens)) return " has more than ten million input tokens a request.";
  run.requests_per_s = count / *duration;
  run.output_tokens_per_s = *output / *duration;
  if (tokens && std::abs(run.output_tokens_per_s - *tokens) > 0.02 * std::max(*tokens, 0.5))
    return " prints another rate of output tokens than its tokens and its duration give.";
  return {};
}

/// A run from what was written; the sentence says why there is none.
std::string read_run(const RawRun& raw, BenchmarkRun& run) {
  run.line = raw.line;
  auto input = value_of(raw, {"total input tokens", "total_input_tokens", "total_input"});
  auto output = value_of(raw, {"total generated tokens", "total_output_tokens", "total_output"});
  const auto count = value_of(raw, {"number of requests"});
  if (const auto mean = value_of(raw, {"average input length (tokens)"}); !input && mean && count)
    input = *mean * *count;
  if (const auto mean = value_of(raw, {"average output length (tokens)"}); !output && mean && count)
    output = *mean * *count;
  if (std::string why = complete(raw, run, input, output); !why.empty()) return at_line(raw) + why;
  const double failed = value_of(raw, {"failed requests", "failed"}).value_or(0);
  run.failed = failed > 0 && failed <= 1e9 ? static_cast<std::int64_t>(failed) : 0;
  if (const auto named = raw.values.find("backend"); named != raw.values.end()) run.engine = named->second;
  if (raw.values.contains("total output throughput (tokens/sec)")) run.engine = "TensorRT-LLM";
  run.offered_rate_per_s = value_of(raw, {"traffic request rate", "request rate configured (rps)", "request_rate"});
  if (run.offered_rate_per_s && !(*run.offered_rate_per_s > 0)) run.offered_rate_per_s.reset();
  if (const auto most = value_of(raw, {"max request concurrency", "maximum request concurrency", "max_concurrency"});
      most && *most >= 1 && *most <= 1e9)
    run.most_at_once = static_cast<std::int64_t>(*most);
  run.ttft = latency_of(raw, "ttft", "ttft");
  run.tpot = latency_of(raw, "tpot", "tpot");
  run.itl = latency_of(raw, "itl", "itl");
  run.latency = latency_of(raw, "e2e latency", "e2e_latency");
  if (!run.latency.mean_s) run.latency = latency_of(raw, "e2el", "e2el");
  if (!run.latency.mean_s) run.latency.mean_s = seconds_of_ms(value_of(raw, {"average request latency (ms)"}));
  if (!run.ttft.mean_s) run.ttft.mean_s = seconds_of_ms(value_of(raw, {"average time-to-first-token [ttft] (ms)"}));
  if (!run.tpot.mean_s) run.tpot.mean_s = seconds_of_ms(value_of(raw, {"average time-per-output-token [tpot] (ms)"}));
  for (const BenchmarkLatency* each : {&run.ttft, &run.tpot, &run.itl, &run.latency})
    if (each->p50_s && each->p99_s && *each->p50_s > *each->p99_s)
      return at_line(raw) + " has a median beyond its 99th percentile.";
  return {};
}

/// Whether a line of a printed log begins a run.
bool begins_run(std::string_view line, bool in_overview) {
  return line.find("Serving Benchmark Result") != std::string_view::npos ||
         line.find("= REQUEST DETAILS") != std::string_view::npos ||
         (!in_overview && line.find("= PERFORMANCE OVERVIEW") != std::string_view::npos);
}

/// The runs of printed tables: "label: value" from a heading on, until the next one.
std::vector<RawRun> printed_runs(std::string_view text) {
  std::vector<RawRun> out;
  bool details = false;  // of trtllm-bench: the overview that follows is of the same run
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = serving::take_line(text);
    if (begins_run(line, details)) {
      out.push_back({.line = number, .values = {}});
      details = line.find("= REQUEST DETAILS") != std::string_view::npos;
      continue;
    }
    if (line.find("= PERFORMANCE OVERVIEW") != std::string_view::npos) details = false;
    const auto colon = line.find(':');
    if (out.empty() || colon == std::string_view::npos) continue;
    const std::string label = in_small(without_space(line.substr(0, colon)));
    out.back().values.emplace(label, std::string(without_space(line.substr(colon + 1))));
  }
  return out;
}

/// The runs of JSON: one object over any number of lines, or one a line. False where the text is neither.
bool json_runs(std::string_view text, std::vector<RawRun>& out, std::string& fault) {
  const auto add = [&](const nlohmann::json& object, std::size_t line) {
    RawRun raw{.line = line, .values = {}};
    for (const auto& [key, value] : object.items()) {
      if (value.is_number())
        raw.values.emplace(in_small(key), value.dump());
      else if (value.is_string())
        raw.values.emplace(in_small(key), value.get<std::string>());
    }
    out.push_back(std::move(raw));
  };
  if (json_nesting(text) <= 16)
    if (const nlohmann::json whole = parse_json(text); whole.is_object()) {
      add(whole, 1);
      return true;
    }
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = serving::take_line(text);
    if (without_space(line).empty()) continue;
    const nlohmann::json object = json_nesting(line) <= 16 ? parse_json(line) : nlohmann::json();
    if (object.is_object())
      add(object, number);
    else if (fault.empty())
      fault = "Line " + std::to_string(number) + " is no JSON object.";
  }
  return !out.empty();
}

}  // namespace

Result<BenchmarkLog> parse_benchmark_log(std::string_view text) {
  using Outcome = Result<BenchmarkLog>;
  constexpr std::size_t max_runs = 1000;
  BenchmarkLog log;
  std::vector<RawRun> raws;
  const auto start = text.find_first_not_of(" \t\r\n");
  const bool json = start != std::string_view::npos && text[start] == '{';
  std::string fault;
  if (json && json_runs(text, raws, fault) && !fault.empty()) {
    ++log.left_out;
    log.first_fault = fault;
  }
  if (!json) raws = printed_runs(text);
  if (raws.empty())
    return Outcome::fail(
        "This is no output of a serving benchmark: expected is what vllm bench serve, sglang.bench_serving or "
        "trtllm-bench print, or the JSON that they write.");
  for (const RawRun& raw : raws) {
    BenchmarkRun run;
    std::string why = log.runs.size() == max_runs ? "Runs beyond the first 1,000 are left out." : read_run(raw, run);
    if (why.empty()) {
      log.runs.push_back(std::move(run));
      continue;
    }
    ++log.left_out;
    if (log.first_fault.empty()) log.first_fault = std::move(why);
  }
  if (log.runs.empty()) return Outcome::fail(log.first_fault);
  return Outcome::ok(std::move(log));
}

}  // namespace models
