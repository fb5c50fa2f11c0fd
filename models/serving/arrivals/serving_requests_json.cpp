#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/base/json_nesting.h"
#include "models/base/json_text.h"
#include "models/serving/arrivals/serving_requests_file.h"

namespace models::serving {
namespace {

constexpr std::string_view expected_object =
    "each line is an object with timestamp in milliseconds, input_length and output_length.";

/// A number that one of two names may give; `scale` is of the second.
struct NumberOf {
  std::string_view first, second;
  double scale, high;
};
constexpr std::array<NumberOf, 3> numbers{{{"arrival_s", "timestamp", 1e-3, 1e10},
                                           {"input_tokens", "input_length", 1, 1e6},
                                           {"output_tokens", "output_length", 1, 1e6}}};

std::string in_line(std::size_t line, std::string_view what) {
  return "Line " + std::to_string(line) + " of the arrivals " + std::string(what) + ": " + std::string(expected_object);
}

/// Reads time, prompt and output; the error says which is missing or what is wrong with it.
std::string read_object(const nlohmann::json& object, std::size_t line, double (&out)[3]) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const NumberOf& wanted = numbers[i];
    const bool first = object.contains(wanted.first);
    const std::string name(first ? wanted.first : wanted.second);
    const auto found = object.find(name);
    if (found == object.end()) return in_line(line, "has no " + name);
    const double value = found->is_number() ? found->get<double>() * (first ? 1 : wanted.scale) : -1;
    if (!(value >= 0 && value <= wanted.high) || (i > 0 && value != std::floor(value)))
      return in_line(line, "has " + (i == 0 ? "a " + name + " that is not a number from 0 on"
                                            : "an " + name + " that is not a whole number from 0 to 1e6"));
    out[i] = value;
  }
  return {};
}

}  // namespace

std::string_view take_line(std::string_view& text) {
  const auto end = text.find_first_of("\n\r");
  const std::string_view line = text.substr(0, end);
  const bool both = end != std::string_view::npos && text.substr(end, 2) == "\r\n";
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + (both ? 2 : 1));
  return line;
}

void count_from_first(std::vector<ServingRequest>& requests, const RequestReading& reading) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const auto& a, const auto& b) { return a.arrival_s < b.arrival_s; });
  if (reading.keep_clock) return;
  const double first_s = requests.front().arrival_s;
  for (ServingRequest& r : requests) r.arrival_s -= first_s;
}

void take_row(const double (&row)[3], const RequestReading& reading, RecordedRequests& out) {
  const bool failed = row[2] == 0;
  if (failed) ++out.failed;
  if (failed && !reading.keep_failed) return;
  const double prompt = failed ? row[1] : std::max(1.0, row[1]);
  out.requests.push_back({row[0], 0, static_cast<std::int32_t>(prompt), static_cast<std::int32_t>(row[2])});
}

bool leave_out(const std::string& fault, const RequestReading& reading, RecordedRequests& out) {
  if (out.bad_rows++ == 0) out.first_fault = fault;
  return reading.skip_bad_rows;
}

std::string too_many(std::size_t most, std::size_t line) {
  return "The arrivals hold more than " + std::to_string(most) + " requests: cut the file after line " +
         std::to_string(line - 1) + ".";
}

Result<RecordedRequests> parse_json_lines(std::string_view text, std::size_t most, const RequestReading& reading) {
  using Outcome = Result<RecordedRequests>;
  RecordedRequests out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    double values[3] = {};
    std::string fault;
    if (json_nesting(line) > 16) {
      fault = in_line(number, "nests more than 16 brackets");
    } else if (const nlohmann::json object = parse_json(line); !object.is_object()) {
      fault = in_line(number, "is no JSON object");
    } else {
      fault = read_object(object, number, values);
    }
    if (!fault.empty()) {
      if (!leave_out(fault, reading, out)) return Outcome::fail(std::move(fault));
      continue;
    }
    if (out.requests.size() == most) return Outcome::fail(too_many(most, number));
    take_row(values, reading, out);
  }
  if (out.requests.empty())
    return Outcome::fail(out.bad_rows > 0 ? out.first_fault
                                          : "The arrivals hold no request: " + std::string(expected_object));
  count_from_first(out.requests, reading);
  return Outcome::ok(std::move(out));
}

}  // namespace models::serving
