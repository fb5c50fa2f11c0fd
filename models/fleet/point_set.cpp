#include "models/fleet/point_set.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "models/base/printable.h"
#include "models/base/trimmed.h"

namespace models::fleet {
namespace {

using PointsRead = Result<PointSet>;

std::string line_words(std::size_t line) { return "Line " + std::to_string(line) + " of the points "; }

/// The cells of a line; false where a quote is not closed or there are too many.
bool split_cells(std::string_view line, char separator, std::vector<std::string>& out) {
  out.assign(1, {});
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      if (out.size() > max_point_columns) return false;
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  for (std::string& cell : out) cell = std::string(trimmed(cell));
  return !quoted;
}

/// False: it is no number. An empty cell, "nan" and "inf" are missing.
bool read_cell(std::string_view text, bool decimal_comma, double& out) {
  out = std::numeric_limits<double>::quiet_NaN();
  std::string plain(text);
  if (plain.starts_with('+')) plain.erase(0, 1);
  if (decimal_comma && plain.find('.') == std::string::npos) std::replace(plain.begin(), plain.end(), ',', '.');
  if (plain.empty() || plain == "-" || plain == "NA" || plain == "N/A") return true;
  double value = 0;
  const auto [end, fault] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (end != plain.data() + plain.size()) return false;
  if (fault == std::errc() && std::isfinite(value)) out = value;
  return true;
}

bool names_quality(std::string_view name) {
  std::string low(name.substr(0, 16));
  for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return low == "quality" || low == "group" || low == "series" || low == "family";
}

/// Less of a column with such a name is better: "p99 latency", "cost_per_token", "ms"; not "tokens per joule of
/// energy", whose first half decides, nor "energy efficiency".
bool names_burden(std::string_view name) {
  std::string low(name);
  for (char& c : low) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (c < 'a' || c > 'z') c = ' ';
  }
  std::string first = " " + low + " ";
  if (const auto per = first.find(" per "); per != std::string::npos) first.resize(per + 1);
  if (first.find(" efficien") != std::string::npos) return false;
  constexpr std::array<std::string_view, 12> burdens{" latenc", " delay", " cost", " price", " energy ", " power ",
                                                     " perple", " ppl ",  " loss", " error", " time ",   " ms "};
  return std::any_of(burdens.begin(), burdens.end(),
                     [&](std::string_view word) { return first.find(word) != std::string::npos; });
}

/// Parts of "a | b | c".
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const auto bar = text.find('|');
    out.push_back(trimmed(text.substr(0, bar)));
    if (bar == std::string_view::npos) return out;
    text.remove_prefix(bar + 1);
  }
}

/// What a line that begins with "#" says of an axis, until its column is known.
struct AxisWords {
  std::string key, label, unit;
  bool high = true;
  int log = -1;  ///< -1: not said
};

class PointReader {
 public:
  PointsRead read(std::string_view text) {
    if (text.size() > max_points_bytes)
      return PointsRead::fail("The points take more than 2 MiB: leave out rows that nobody would choose.");
    if (text.find('\0') != std::string_view::npos)
      return PointsRead::fail("The points are no text: give CSV, a name and one column per axis.");
    std::size_t number = 0;
    while (!text.empty()) {
      const auto end = text.find('\n');
      const std::string_view line = trimmed(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number;
      if (line.empty()) continue;
      if (line.starts_with('#')) {
        take_note(trimmed(line.substr(1)));
        continue;
      }
      std::string fault = columns_.empty() ? take_names(line, number) : take_row(line, number);
      if (!fault.empty()) return PointsRead::fail(std::move(fault));
    }
    return finish();
  }

 private:
  void take_note(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = trimmed(text.substr(0, colon)), value = trimmed(text.substr(colon + 1));
    const auto take = [&](std::string& slot) { slot = printable(value, 200); };
    if (key == "title") take(set_.title);
    if (key == "source") take(set_.source);
    if (key == "date") take(set_.date);
    if (key == "note") take(set_.note);
    const auto parts = parts_of(value);
    if (key == "start" && parts.size() == 2) {
      set_.start = printable(parts[0], max_point_name);
      set_.against = printable(parts[1], max_point_name);
    }
    if (key != "axis" || parts.size() < 4 || words_.size() >= max_point_columns) return;
    AxisWords axis{printable(parts[0]), printable(parts[1]), printable(parts[2], 16), parts[3] != "low"};
    if (parts.size() > 4) axis.log = parts[4] == "log" ? 1 : 0;
    words_.push_back(std::move(axis));
  }

  std::string take_names(std::string_view line, std::size_t number) {
    if (line.front() == '{' || line.front() == '[')
      return line_words(number) + "begins as JSON does: CSV is needed, a name and one column per axis.";
    separator_ = line.find('\t') != std::string_view::npos  ? '\t'
                 : line.find(';') != std::string_view::npos ? ';'
                                                            : ',';
    if (!split_cells(line, separator_, columns_))
      return line_words(number) + "has a quote that is not closed, or more than " + std::to_string(max_point_columns) +
             " columns.";
    for (std::size_t c = 1; c < columns_.size(); ++c) {
      const std::string name = printable(columns_[c]);
      if (quality_column_ == 0 && names_quality(name)) {
        quality_column_ = c;
        continue;
      }
      if (name.empty()) return line_words(number) + "leaves column " + std::to_string(c + 1) + " without a name.";
      if (set_.axis(name))
        return line_words(number) + "names two columns \"" + name + "\": give each a name of its own.";
      PointAxis axis;
      axis.key = axis.label = name;
      axis.guessed = names_burden(name);
      axis.high = !axis.guessed;
      const auto more = std::find_if(words_.begin(), words_.end(), [&](const AxisWords& w) { return w.key == name; });
      if (more != words_.end()) {
        axis.label = more->label;
        axis.unit = more->unit;
        axis.high = more->high;
        axis.guessed = false;
      }
      set_.axes.push_back(std::move(axis));
    }
    if (set_.axes.size() < 2)
      return line_words(number) + "names " + std::to_string(columns_.size()) +
             (columns_.size() == 1 ? " column" : " columns") + ": a name and at least two axes are needed.";
    return {};
  }

  std::string take_row(std::string_view line, std::size_t number) {
    if (!split_cells(line, separator_, cells_) || cells_.size() != columns_.size())
      return line_words(number) + "has " + std::to_string(cells_.size()) + (cells_.size() == 1 ? " cell" : " cells") +
             " where the first has " + std::to_string(columns_.size()) + ": give each row all of them, empty ones too.";
    if (cells_[0].empty()) return line_words(number) + "has no name in its first column.";
    if (set_.size() >= max_points)
      return line_words(number) + "is beyond the " + std::to_string(max_points) + " points that are read.";
    const std::string quality = quality_column_ > 0 ? printable(cells_[quality_column_], max_point_name) : "";
    const auto [at, fresh] = qualities_.emplace(quality, static_cast<std::uint16_t>(qualities_.size()));
    if (fresh && set_.qualities.size() >= max_point_qualities)
      return line_words(number) + "is beyond the " + std::to_string(max_point_qualities) +
             " qualities that are read: the column \"" + printable(columns_[quality_column_]) + "\" has one a front.";
    if (fresh) set_.qualities.push_back(quality);
    set_.quality_of.push_back(at->second);
    set_.names.push_back(printable(cells_[0], max_point_name));
    std::size_t axis = 0;
    for (std::size_t c = 1; c < columns_.size(); ++c) {
      if (c == quality_column_) continue;
      PointAxis& to = set_.axes[axis++];
      double value = 0;
      if (!read_cell(cells_[c], separator_ == ';', value) && to.bad_line == 0) to.bad_line = number;
      to.values.push_back(value);
    }
    return {};
  }

  PointsRead finish() {
    if (set_.names.empty())
      return PointsRead::fail("The points have no row: after the line of names each line is a point.");
    std::size_t numeric = 0;
    for (PointAxis& axis : set_.axes) {
      numeric += axis.bad_line == 0;
      double least = HUGE_VAL, most = -HUGE_VAL;
      for (const double v : axis.values)
        if (!std::isnan(v)) {
          least = std::min(least, v);
          most = std::max(most, v);
        }
      axis.log = least > 0 && most / least >= 4 && std::isfinite(most / least);
      for (const AxisWords& more : words_)
        if (more.key == axis.key && more.log >= 0) axis.log = more.log == 1 && least > 0;
    }
    if (numeric < 2) {
      std::string fault = "The points have fewer than two columns of numbers";
      for (const PointAxis& axis : set_.axes)
        if (axis.bad_line > 0) {
          fault += ": line " + std::to_string(axis.bad_line) + " has none under \"" + axis.key + "\"";
          break;
        }
      return PointsRead::fail(fault + ".");
    }
    return PointsRead::ok(std::move(set_));
  }

  PointSet set_;
  std::vector<AxisWords> words_;
  std::vector<std::string> columns_, cells_;
  std::unordered_map<std::string, std::uint16_t> qualities_;
  std::size_t quality_column_ = 0;  ///< 0: there is none
  char separator_ = ',';
};

}  // namespace

const PointAxis* PointSet::axis(std::string_view key) const {
  for (const PointAxis& one : axes)
    if (one.key == key) return &one;
  return nullptr;
}

Result<PointSet> read_point_set(std::string_view text) { return PointReader().read(text); }

}  // namespace models::fleet
