#include "models/measure/timings_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "models/base/printable.h"
#include "models/base/trimmed.h"

namespace models::measure {
namespace {

using TimingsRead = Result<Timings>;

std::string timing_line(std::size_t line) { return "Line " + std::to_string(line) + " of the times "; }

std::vector<std::string_view> timing_cells(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  while (true) {
    const auto end = line.find(separator);
    std::string_view cell = trimmed(line.substr(0, end));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
    cells.push_back(cell);
    if (end == std::string_view::npos || cells.size() > 64) return cells;
    line.remove_prefix(end + 1);
  }
}

/// Seconds in the unit that a column's name says; 0: it is no column of times.
double unit_of_column(std::string_view name) {
  if (name == "time_s" || name == "seconds") return 1;
  if (name == "time_ms" || name == "ms") return 1e-3;
  if (name == "time_us" || name == "us") return 1e-6;
  if (name == "time_ns" || name == "ns") return 1e-9;
  return 0;
}

class TimingReader {
 public:
  TimingsRead read(std::string_view text) {
    if (text.size() > max_timings_bytes)
      return TimingsRead::fail("The times take more than 1 MiB: give one line per run, and at most 20,000 of them.");
    std::size_t number = 0;
    while (!text.empty()) {
      const auto end = text.find('\n');
      const std::string_view line = trimmed(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number;
      if (line.empty() || line.starts_with('#')) continue;
      std::string fault = unit_ > 0 ? take_run(line, number) : take_names(line, number);
      if (!fault.empty()) return TimingsRead::fail(std::move(fault));
    }
    if (unit_ == 0) return TimingsRead::fail("The times are empty: a first line \"version,time_s\" is needed.");
    if (known_ < 2)
      return TimingsRead::fail("The times are of one version: two are needed, told apart in the column \"version\".");
    return TimingsRead::ok(std::move(out_));
  }

 private:
  std::string take_names(std::string_view line, std::size_t number) {
    separator_ = line.find('\t') != std::string_view::npos  ? '\t'
                 : line.find(';') != std::string_view::npos ? ';'
                                                            : ',';
    const auto cells = timing_cells(line, separator_);
    bool named = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!named && (cells[i] == "version" || cells[i] == "name")) {
        named = true;
        version_column_ = i;
      }
      if (unit_ == 0 && unit_of_column(cells[i]) > 0) {
        unit_ = unit_of_column(cells[i]);
        time_column_ = i;
      }
    }
    if (named && unit_ > 0) return {};
    return timing_line(number) + "names no column \"version\" and \"time_s\": begin with \"version,time_s\".";
  }

  std::string take_run(std::string_view line, std::size_t number) {
    const auto cells = timing_cells(line, separator_);
    if (cells.size() <= std::max(version_column_, time_column_))
      return timing_line(number) + "has too few cells: give a version and a time.";
    if (out_.runs.size() >= max_timed_runs)
      return timing_line(number) + "is beyond the " + std::to_string(max_timed_runs) + " runs that are read.";
    const std::string_view name = cells[version_column_], time = cells[time_column_];
    std::size_t which = 0;
    const std::string shown = printable(name, 64);
    if (shown.empty()) return timing_line(number) + "has no version.";
    while (which < known_ && out_.names[which] != shown) ++which;
    if (which == 2)
      return timing_line(number) + "has a third version, \"" + shown + "\": two are compared, leave out the others.";
    if (which == known_) out_.names[known_++] = shown;
    double value = 0;
    const auto [end, fault] = std::from_chars(time.data(), time.data() + time.size(), value);
    const double seconds = value * unit_;
    if (fault != std::errc() || end != time.data() + time.size() || !(seconds >= 1e-12 && seconds <= 1e9))
      return timing_line(number) + "has the time \"" + printable(time, 40) +
             "\": a number from a picosecond to thirty years is needed.";
    out_.runs.push_back({which == 1, seconds});
    return {};
  }

  Timings out_;
  std::size_t known_ = 0, version_column_ = 0, time_column_ = 0;
  double unit_ = 0;  ///< seconds; 0: the first line has not come yet
  char separator_ = ',';
};

}  // namespace

Result<Timings> read_timings(std::string_view text) { return TimingReader().read(text); }

}  // namespace models::measure
