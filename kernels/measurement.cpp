#include <algorithm>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <utility>

#include "kernels/kernel.h"

namespace kernels {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream in(line);
  in.exceptions(std::ios::badbit);
  for (std::string cell; std::getline(in, cell, ',');) {
    const auto first = cell.find_first_not_of(" \t\r\"");
    const auto last = cell.find_last_not_of(" \t\r\"");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// Far enough from the ends of a double that flops / bytes and flops / time_s are finite and above 0.
bool parse_positive(const std::string& s, double& out) {
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), out);
  return ec == std::errc() && end == s.data() + s.size() && out >= 1e-30 && out <= 1e30;
}

}  // namespace

models::Result<std::vector<Measurement>> parse_measurements(const std::string& csv) {
  using Read = models::Result<std::vector<Measurement>>;
  static constexpr const char* needed[] = {"name", "flops", "bytes", "time_s"};
  std::stringstream in(csv);
  in.exceptions(
      std::ios::badbit);  // a stream keeps std::bad_alloc to itself, and the rest would be left out in silence
  std::string line;
  if (!std::getline(in, line))
    return Read::fail("The measurement file is empty: its first line must be name,flops,bytes,time_s.");
  const auto header = split(line);
  std::size_t column[4];
  for (int i = 0; i < 4; ++i) {
    const auto at = std::find(header.begin(), header.end(), needed[i]);
    if (at == header.end())
      return Read::fail(std::string("The measurement file's first line lacks the column ") + needed[i] +
                        ": it must name name,flops,bytes,time_s.");
    column[i] = static_cast<std::size_t>(at - header.begin());
  }
  std::vector<Measurement> rows;
  for (std::int64_t number = 2; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto cells = split(line);
    Measurement m;
    double* const slots[] = {nullptr, &m.flops, &m.bytes, &m.time_s};
    for (int i = 0; i < 4; ++i) {
      const std::string cell = column[i] < cells.size() ? cells[column[i]] : "";
      if (i == 0)
        m.name = cell;
      else if (!parse_positive(cell, *slots[i]))
        return Read::fail("Line " + std::to_string(number) + " of the measurement file has \"" + cell.substr(0, 40) +
                          "\" for " + needed[i] + ": a number from 1e-30 to 1e30 is expected.");
    }
    rows.push_back(std::move(m));
    if (rows.size() > 10000)
      return Read::fail("The measurement file has more than 10,000 rows: keep the ones to be drawn.");
  }
  return Read::ok(std::move(rows));
}

}  // namespace kernels
