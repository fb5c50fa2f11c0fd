#include "tests/support/lab/answer_rules.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>

#include "app/shell/controls/field_text.h"
#include "tests/support/lab/lab_walk.h"
#include "widgets/number/number.h"

namespace support {
namespace {

/// Tables with more rows than this are data, not figures.
constexpr std::size_t max_rows = 256;

using Readings = std::set<std::string, std::less<>>;

void add_readings(const Field& f, Readings& out) {
  if (f.is_number()) {
    for (const int digits : {2, 3, 4}) {
      const auto parts = widgets::format_parts(f.number(), f.spec.unit, digits, app::prefix_of(f));
      out.emplace(parts.number.view());
      out.emplace(widgets::format_text(f.number(), f.spec.unit, digits, app::prefix_of(f)));
    }
    char exact[32];  // of a number whose every digit is the point: 1.00390625
    std::snprintf(exact, sizeof exact, "%.17g", f.number());
    out.emplace(exact);
    return;
  }
  widgets::NumberText scratch;
  out.emplace(app::field_text(f, scratch));
}

void add_readings(const Fields& fields, Readings& out) {
  for (const Field& f : fields) {
    if (f.kind != Kind::table) {
      add_readings(f, out);
      continue;
    }
    if (f.table_size() > max_rows) continue;
    out.emplace(widgets::format_text(static_cast<double>(f.table_size()), ""));
    Fields cells;
    for (std::size_t row = 0; row < f.table_size(); ++row) {
      f.table_row(row, cells);
      for (const Field& cell : cells)
        if (cell.kind != Kind::table) add_readings(cell, out);
    }
  }
}

/// The figure without what sentences put around a number: "×", "$", "-" for a fall.
std::string bare(std::string_view figure) {
  constexpr std::string_view times = "×";
  if (figure.ends_with(times)) figure.remove_suffix(times.size());
  if (figure.starts_with("$")) figure.remove_prefix(1);
  while (figure.ends_with(' ')) figure.remove_suffix(1);
  // A count with what is counted: "14 layers".
  const std::size_t space = figure.rfind(' ');
  if (space != std::string_view::npos && figure.size() - space > 4 &&
      std::all_of(figure.begin() + static_cast<std::ptrdiff_t>(space) + 1, figure.end(),
                  [](char c) { return c >= 'a' && c <= 'z'; }))
    figure = figure.substr(0, space);
  return std::string(figure);
}

bool reads(const Readings& readings, std::string_view figure) {
  const std::string number = bare(figure);
  const bool digits = std::any_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || readings.contains(figure) || readings.contains(number)) return true;
  return !number.empty() && readings.contains("-" + number);  // "falls by 3 ms"
}

/// The words of a sentence in lower case, without signs around them.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '`') continue;
    const auto u = static_cast<unsigned char>(c);
    if (u >= 128 || std::isalnum(u) || c == '.' || c == ',' || c == '-' || c == '/' || c == '%')
      words.back() += static_cast<char>(u < 128 ? std::tolower(u) : u);
    else if (!words.back().empty())
      words.emplace_back();
  }
  for (std::string& word : words)
    while (!word.empty() && (word.back() == '.' || word.back() == ',')) word.pop_back();
  std::erase(words, "");
  return words;
}

/// Words of a private dialect, and what they are in plain English.
constexpr std::string_view dialect[][2] = {
    {"beside", "next to"},    {"behind", "after"}, {"product", "matmul"},  {"products", "matmuls"},
    {"again", "recomputed"},  {"flop", "FLOPs"},   {"lasso", "the boxes"}, {"us", "µs"},
    {"vessel", "the memory"}, {"air", "padding"}};

void add_word_faults(std::string_view line, std::vector<std::string>& out) {
  const auto words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const auto& [word, plain] : dialect)
      if (words[i] == word) out.push_back("\"" + words[i] + "\" is not plain: " + std::string(plain));
    if (words[i] != "1" || i + 1 == words.size()) continue;
    static const std::set<std::string, std::less<>> after_one{"ms",  "ns", "s",  "is",   "was",
                                                              "has", "as", "us", "less", "looks"};
    const std::string& next = words[i + 1];
    if (next.size() > 1 && next.ends_with('s') && !after_one.contains(next) && !next.ends_with("ss") &&
        !next.ends_with("µs") && !next.ends_with("/s"))
      out.push_back("\"1 " + next + "\" is no English");
  }
}

void add_line_faults(std::string_view line, std::string_view name, std::size_t most_letters, std::size_t most_figures,
                     std::vector<std::string>& out) {
  if (const std::size_t n = letters_of(line); n > most_letters)
    out.push_back("the " + std::string(name) + " has " + std::to_string(n) + " letters");
  if (const std::size_t n = figures_of(line).size(); n > most_figures)
    out.push_back("the " + std::string(name) + " has " + std::to_string(n) + " figures");
  if (!line.ends_with('.')) out.push_back("the " + std::string(name) + " ends without a full stop");
  if (!line.empty() && line.front() >= 'a' && line.front() <= 'z')
    out.push_back("the " + std::string(name) + " begins with a small letter");
  if (line.find("  ") != std::string_view::npos) out.push_back("two spaces stand together");
  add_word_faults(line, out);
}

}  // namespace

std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return c != '`' && (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> figures_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t from = text.find('`'); from != std::string_view::npos; from = text.find('`', from + 1)) {
    const std::size_t end = text.find('`', from + 1);
    if (end == std::string_view::npos) break;
    out.emplace_back(text.substr(from + 1, end - from - 1));
    from = end;
  }
  return out;
}

std::vector<std::string> answer_form_faults(std::string_view answer) {
  std::vector<std::string> out;
  const std::size_t cut = answer.find('\n');
  add_line_faults(answer.substr(0, cut), "verdict", max_verdict_letters, max_verdict_figures, out);
  if (cut == std::string_view::npos) return out;
  const std::string_view why = answer.substr(cut + 1);
  if (why.find('\n') != std::string_view::npos) out.emplace_back("the answer has more than two lines");
  add_line_faults(why, "second line", max_why_letters, max_why_figures, out);
  return out;
}

std::vector<std::string> figures_of_nothing(chapters::Lab& lab) {
  Readings readings;
  add_readings(lab.inputs(), readings);
  add_readings(lab.outputs(), readings);
  std::vector<std::string> out;
  for (const std::string& figure : figures_of(lab.answer()))
    if (!reads(readings, figure)) out.push_back(figure);
  return out;
}

}  // namespace support
