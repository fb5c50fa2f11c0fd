#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "models/serving/arrivals/serving_requests_file.h"

namespace models {
namespace {

constexpr std::size_t column_count = 3;
constexpr std::array<std::string_view, column_count> column_names = {"time", "prompt", "output"};
constexpr std::string_view expected = "each line is time,prompt,output in seconds and tokens.";

struct Layout {
  char separator = ',';
  std::array<std::size_t, column_count> at = {0, 1, 2};  ///< where time, prompt and output stand
  bool named = false;
  std::optional<std::int64_t> epoch_s;  ///< what dates count from: doubles since 1970 would lose microseconds
};

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view blank = " \t\r\"";
  const auto first = s.find_first_not_of(blank);
  return first == std::string_view::npos ? std::string_view() : s.substr(first, s.find_last_not_of(blank) - first + 1);
}

/// The cell at `index`; nothing when the line is shorter.
std::optional<std::string_view> cell_at(std::string_view line, std::size_t index, char separator) {
  for (; index > 0; --index) {
    const auto end = line.find(separator);
    if (end == std::string_view::npos) return {};
    line.remove_prefix(end + 1);
  }
  return trimmed(line.substr(0, line.find(separator)));
}

std::size_t cells_of(std::string_view line, char separator) {
  return 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), separator));
}

/// Which of time, prompt and output a column's name means; column_count when none.
std::size_t meaning_of(std::string_view name) {
  std::string low(name.substr(0, 64));
  for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto has = [&](std::string_view part) { return low.find(part) != std::string::npos; };
  if (has("output") || has("generated") || has("response") || has("completion") || has("decode")) return 2;
  if (has("prompt") || has("context") || has("input") || has("request") || has("prefill")) return 1;
  return has("time") || has("arriv") ? 0 : column_count;
}

/// The names that leave no doubt.
constexpr std::array<std::string_view, column_count> exact_names = {"arrival_s", "input_tokens", "output_tokens"};

/// Reads the line of names; the error names what is missing.
std::string take_names(std::string_view line, std::size_t number, Layout& layout) {
  constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  layout.at.fill(nowhere);
  for (std::size_t i = 0; i < cells_of(line, layout.separator); ++i) {
    const std::string_view name = *cell_at(line, i, layout.separator);
    const std::size_t meaning = meaning_of(name);
    if (meaning < column_count && (layout.at[meaning] == nowhere || name == exact_names[meaning]))
      layout.at[meaning] = i;
  }
  layout.named = true;
  for (std::size_t i = 0; i < column_count; ++i)
    if (layout.at[i] == nowhere)
      return "Line " + std::to_string(number) + " of the arrivals names no column for the " +
             std::string(column_names[i]) + (i == 0 ? "" : " tokens") +
             ": columns named time, prompt and output are needed, in any order.";
  return {};
}

bool starts_a_name(std::string_view cell) {
  return !cell.empty() && ((cell[0] >= 'a' && cell[0] <= 'z') || (cell[0] >= 'A' && cell[0] <= 'Z')) && cell != "nan" &&
         cell != "inf";
}

template <class Number>
bool read_whole(std::string_view s, Number& value) {
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), value);
  return !s.empty() && code == std::errc() && end == s.data() + s.size();
}

/// Days since 1970-01-01 of the proleptic Gregorian calendar (Hinnant, chrono-compatible low-level date algorithms).
std::int64_t days_from_civil(std::int64_t y, std::int64_t m, std::int64_t d) {
  y -= m <= 2;
  const std::int64_t era = y / 400, year = y - era * 400, day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

/// "2023-11-16 18:15:46.6805900", with T for the blank, an offset or Z at the end if any left out of account: seconds
/// since `epoch_s`, which the first date sets to its whole minute.
std::optional<double> date_s(std::string_view s, std::optional<std::int64_t>& epoch_s) {
  if (s.size() < 19 || s[4] != '-' || s[7] != '-' || (s[10] != ' ' && s[10] != 'T') || s[13] != ':' || s[16] != ':')
    return {};
  std::int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  if (const auto zone = s.find_first_of("Z+-", 19); zone != std::string_view::npos) s = s.substr(0, zone);
  const bool read = read_whole(s.substr(0, 4), year) && read_whole(s.substr(5, 2), month) &&
                    read_whole(s.substr(8, 2), day) && read_whole(s.substr(11, 2), hour) &&
                    read_whole(s.substr(14, 2), minute) && read_whole(s.substr(17), second);
  const bool sound = year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour >= 0 && hour <= 23 &&
                     minute >= 0 && minute <= 59 && second >= 0 && second < 61;
  if (!read || !sound) return {};
  const std::int64_t whole_s = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60;
  if (!epoch_s) epoch_s = whole_s;
  return static_cast<double>(whole_s - *epoch_s) + second;
}

struct Cells {
  double value[column_count] = {};
  std::string error;
};

Cells read_line(std::string_view line, std::size_t number, Layout& layout) {
  Cells cells;
  const auto fail = [&](std::string what) {
    cells.error = "Line " + std::to_string(number) + " of the arrivals " + what + ": " + std::string(expected);
  };
  for (std::size_t i = 0; i < column_count; ++i) {
    const auto cell = cell_at(line, layout.at[i], layout.separator);
    if (!cell) {
      const std::size_t most = *std::max_element(layout.at.begin(), layout.at.end()) + 1;
      fail("has " + std::to_string(cells_of(line, layout.separator)) + " of " +
           (most == column_count ? std::string("three") : std::to_string(most)) + " values");
      return cells;
    }
    double& value = cells.value[i];
    bool good = read_whole(*cell, value);
    bool dated = false;
    if (i == 0 && !good)
      if (const auto date = date_s(*cell, layout.epoch_s)) {
        value = *date;
        good = dated = true;
      }
    const double low = dated ? -1e10 : i == 0 || layout.named ? 0 : 1, high = i == 0 ? 1e10 : 1e6;
    if (!good || !(value >= low && value <= high) || (i > 0 && value != std::floor(value))) {
      std::string shown(cell->substr(0, 32));
      for (char& c : shown)
        if (c < ' ' || c > '~') c = '?';
      fail("has the " + std::string(column_names[i]) + " \"" + shown + "\", not a " +
           (i == 0 ? "number from 0 to 1e10 or a date" : "whole number from 1 to 1e6"));
      return cells;
    }
  }
  return cells;
}

}  // namespace

Result<RecordedRequests> parse_requests(std::string_view csv, std::size_t most, const RequestReading& reading) {
  using Outcome = Result<RecordedRequests>;
  RecordedRequests out;
  Layout layout;
  bool first = true;
  if (csv.starts_with("\xEF\xBB\xBF")) csv.remove_prefix(3);
  if (trimmed(csv.substr(0, 64)).starts_with('{')) return serving::parse_json_lines(csv, most, reading);
  for (std::size_t number = 1; !csv.empty(); ++number) {
    const std::string_view line = serving::take_line(csv);
    if (trimmed(line).empty()) continue;
    if (std::exchange(first, false)) {
      if (line.find(',') == std::string_view::npos)
        layout.separator = line.find('\t') != std::string_view::npos  ? '\t'
                           : line.find(';') != std::string_view::npos ? ';'
                                                                      : ',';
      if (starts_a_name(trimmed(line))) {
        if (std::string error = take_names(line, number, layout); !error.empty())
          return Outcome::fail(std::move(error));
        continue;
      }
    }
    const Cells cells = read_line(line, number, layout);
    if (!cells.error.empty()) {
      if (!serving::leave_out(cells.error, reading, out)) return Outcome::fail(cells.error);
      continue;
    }
    if (out.requests.size() == most) return Outcome::fail(serving::too_many(most, number));
    serving::take_row(cells.value, reading, out);
  }
  if (out.requests.empty())
    return Outcome::fail(out.bad_rows > 0 ? out.first_fault : "The arrivals hold no request: " + std::string(expected));
  serving::count_from_first(out.requests, reading);
  out.dated = layout.epoch_s.has_value();
  return Outcome::ok(std::move(out));
}

}  // namespace models
