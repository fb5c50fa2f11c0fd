#include "models/debugging/run_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "models/base/printable.h"

namespace models::debugging {
namespace {

constexpr int max_depth = 32;
constexpr std::size_t max_name = 80;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool names_step(std::string_view name) {
  std::string word = lower(name);
  for (const std::string_view prefix : {"train/", "trainer/", "_"})
    if (word.starts_with(prefix)) word.erase(0, prefix.size());
  return word == "step" || word == "global_step" || word == "iteration" || word == "iter";
}

/// A number as programs write it, "nan", "inf" and "-Infinity" too. False: it is none.
bool read_number(std::string_view text, double& out) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault == std::errc::result_out_of_range) {  // too large, or too small, for a double
    const bool small = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
    out = small ? 0 : std::numeric_limits<double>::infinity();
    return end == text.data() + text.size();
  }
  return fault == std::errc() && end == text.data() + text.size();
}

/// Rows as they come, put in the order of their steps at the end.
class LogBuilder {
 public:
  /// The place of a quantity, made where it is new; -1: there are too many.
  std::int32_t column(std::string_view name) {
    const std::string shown = printable(name, max_name);
    const auto [at, fresh] = places_.emplace(shown, static_cast<std::int32_t>(names_.size()));
    if (!fresh) return at->second;
    if (names_.size() >= max_log_columns) return -1;
    names_.push_back(shown);
    return at->second;
  }
  void add(std::int64_t step, const std::vector<std::pair<std::int32_t, double>>& values) {
    rows_.push_back({step, static_cast<std::uint32_t>(rows_.size()), static_cast<std::uint32_t>(cells_.size()),
                     static_cast<std::uint32_t>(values.size())});
    cells_.insert(cells_.end(), values.begin(), values.end());
  }
  void passed_over() { ++log_.without_step; }
  bool too_many() const {
    return cells_.size() > max_log_cells ||
           (rows_.size() + 1) * std::max<std::size_t>(1, names_.size()) > max_log_cells;
  }
  bool empty() const { return rows_.empty(); }
  bool has_quantity() const { return !cells_.empty(); }

  RunLog take() {
    std::sort(rows_.begin(), rows_.end(),
              [](const Row& a, const Row& b) { return a.step != b.step ? a.step < b.step : a.order < b.order; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) kept += i + 1 == rows_.size() || rows_[i].step != rows_[i + 1].step;
    log_.columns.resize(names_.size());
    for (std::size_t c = 0; c < names_.size(); ++c) {
      log_.columns[c].name = names_[c];
      log_.columns[c].values.assign(kept, 0);
      log_.columns[c].there.assign(kept, 0);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      // Loggers may write one step in several rows: what a later row says of a quantity counts.
      const bool again = i > 0 && rows_[i].step == rows_[i - 1].step;
      if (!again) log_.steps.push_back(rows_[i].step);
      log_.repeated += again;
      for (std::uint32_t k = 0; k < rows_[i].cells; ++k) {
        const auto& [place, value] = cells_[rows_[i].first + k];
        LogColumn& column = log_.columns[static_cast<std::size_t>(place)];
        column.values[log_.steps.size() - 1] = value;
        column.there[log_.steps.size() - 1] = 1;
      }
    }
    // A name under which no number stands is no quantity.
    std::erase_if(log_.columns, [](const LogColumn& c) {
      return std::none_of(c.there.begin(), c.there.end(), [](std::uint8_t there) { return there != 0; });
    });
    return std::move(log_);
  }

 private:
  struct Row {
    std::int64_t step = 0;
    std::uint32_t order = 0, first = 0, cells = 0;
  };
  RunLog log_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> places_;
  std::vector<Row> rows_;
  std::vector<std::pair<std::int32_t, double>> cells_;
};

/// The values of a line of CSV.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        out.back() += line[++i];
      else
        quoted = !quoted;
    } else if (c == separator && !quoted) {
      if (out.size() > max_log_columns + 1) break;
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  for (std::string& cell : out) cell = trimmed(cell);
  return out;
}

/// An object of JSON on one line: its numbers by name. Texts, lists and objects inside are passed over.
class ObjectReader {
 public:
  explicit ObjectReader(std::string_view text) : text_(text) {}

  struct Member {
    std::string name;
    double value = 0;
  };
  /// False: the line is no whole object.
  bool read(std::vector<Member>& out) {
    out.clear();
    if (!take('{')) return false;
    if (take('}')) return at_end();
    do {
      std::string name;
      bool is_number = false;
      double value = 0;
      if (!text(name) || !take(':') || !any_value(value, is_number, 0)) return false;
      if (is_number && out.size() <= max_log_columns) out.push_back({std::move(name), value});
    } while (take(','));
    return take('}') && at_end();
  }

 private:
  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip();
    return at_ == text_.size();
  }
  /// Escapes stay as they are written: they are no part of the names that are asked for.
  bool text(std::string& out) {
    if (!take('"')) return false;
    const std::size_t from = at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
    if (at_ >= text_.size()) return false;
    out = text_.substr(from, at_++ - from);
    return true;
  }
  bool any_value(double& value, bool& is_number, int depth) {
    skip();
    if (at_ >= text_.size() || depth > max_depth) return false;
    std::string ignored;
    if (text_[at_] == '"') return text(ignored);
    if (text_[at_] == '{' || text_[at_] == '[') return nested(text_[at_], depth);
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']' && !is_blank(text_[at_]))
      ++at_;
    const std::string_view word = text_.substr(from, at_ - from);
    is_number = read_number(word, value);
    return is_number || word == "null" || word == "true" || word == "false";
  }
  bool nested(char open, int depth) {
    const char close = open == '{' ? '}' : ']';
    ++at_;
    if (take(close)) return true;
    do {
      std::string name;
      double value = 0;
      bool is_number = false;
      if (open == '{' && (!text(name) || !take(':'))) return false;
      if (!any_value(value, is_number, depth + 1)) return false;
    } while (take(','));
    return take(close);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class LogReader {
 public:
  explicit LogReader(std::string_view text) : text_(text) {}

  Result<RunLog> read() {
    using Read = Result<RunLog>;
    if (text_.size() > max_log_bytes) return Read::fail("The log is larger than 64 MiB: give every tenth step of it.");
    std::string_view line;
    while (next(line) && line.empty()) {
    }
    if (line.empty()) return Read::fail("The log is empty: give CSV with a step column, or JSON lines with steps.");
    if (!(line.front() == '{' ? json_lines(line) : csv(line))) return Read::fail(std::move(fault_));
    if (build_.empty()) return Read::fail("The log has no row with a step.");
    if (!build_.has_quantity())
      return Read::fail("The log has steps and no number next to them: give loss, grad_norm or others.");
    return Read::ok(build_.take());
  }

 private:
  bool next(std::string_view& line) {
    if (at_ >= text_.size()) {
      line = {};
      return false;
    }
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line = text_.substr(at_, end - at_);
    while (!line.empty() && (line.front() == ' ')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);  // a tab parts values
    at_ = end + 1;
    ++number_;
    return true;
  }
  bool fail(const std::string& what) {
    fault_ = "Line " + std::to_string(number_) + " of the log " + what;
    return false;
  }
  bool take_step(double step) {
    if (!(step >= 0 && step <= static_cast<double>(max_log_step)) || step != std::floor(step))
      return fail("has a step that is no whole number from 0 to 1,000,000,000.");
    step_ = static_cast<std::int64_t>(step);
    return true;
  }
  bool add() {
    build_.add(step_, values_);
    return !build_.too_many() || fail("is one of too many: give every tenth step, or fewer quantities.");
  }

  bool csv(std::string_view line) {
    char separator = ',';
    for (const char c : {'\t', ';', ','})
      if (line.find(c) != std::string_view::npos) separator = c;
    const std::vector<std::string> names = cells_of(line, separator);
    const auto step = std::find_if(names.begin(), names.end(), [](const std::string& n) { return names_step(n); });
    if (step == names.end())
      return fail("names no step: its first line needs a column step, global_step or iteration.");
    if (names.size() > max_log_columns) return fail("names more than 256 columns.");
    const auto step_at = static_cast<std::size_t>(step - names.begin());
    std::vector<std::int32_t> places;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool twice = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(c), names[c]) !=
                         names.begin() + static_cast<std::ptrdiff_t>(c);
      places.push_back(c == step_at || twice || names[c].empty() ? -1 : build_.column(names[c]));
    }
    while (next(line)) {
      if (line.empty()) continue;
      const std::vector<std::string> cells = cells_of(line, separator);
      if (cells.size() != names.size())
        return fail("has " + std::to_string(cells.size()) + (cells.size() == 1 ? " value" : " values") +
                    ", its first line names " + std::to_string(names.size()) + ".");
      double number = 0;
      if (!read_number(cells[step_at], number))
        return fail("has no number for its step but \"" + printable(cells[step_at], 20) + "\".");
      if (!take_step(number)) return false;
      values_.clear();
      for (std::size_t c = 0; c < cells.size(); ++c)
        if (places[c] >= 0 && read_number(cells[c], number)) values_.emplace_back(places[c], number);
      if (!add()) return false;
    }
    return true;
  }

  bool json_lines(std::string_view line) {
    std::vector<ObjectReader::Member> members;
    do {
      if (line.empty()) continue;
      if (!ObjectReader(line).read(members)) return fail("is no whole object of JSON: one object a line is read.");
      values_.clear();
      bool has_step = false;
      for (const auto& m : members) {
        if (names_step(m.name)) {
          if (!has_step && !take_step(m.value)) return false;
          has_step = true;
          continue;
        }
        const std::int32_t place = build_.column(m.name);
        if (place < 0) return fail("brings more than 256 quantities: leave some out.");
        values_.emplace_back(place, m.value);
      }
      if (!has_step)
        build_.passed_over();
      else if (!add())
        return false;
    } while (next(line));
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0, number_ = 0;
  LogBuilder build_;
  std::int64_t step_ = 0;
  std::vector<std::pair<std::int32_t, double>> values_;
  std::string fault_;
};

}  // namespace

Result<RunLog> read_run_log(std::string_view text) { return LogReader(text).read(); }

}  // namespace models::debugging
