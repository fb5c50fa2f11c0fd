#include "models/gpu/counters/kernel_report_parts.h"

#include <algorithm>
#include <charconv>

#include "models/gpu/occupancy.h"

namespace models::gpu {
namespace {

constexpr std::size_t max_cells = 8192;

struct UnitRow {
  std::string_view unit;
  ReportUnit is;
};
constexpr UnitRow unit_rows[] = {
    {"%", {Measure::percent, 1}},
    {"pct", {Measure::percent, 1}},
    {"pct of peak", {Measure::percent, 1}},
    {"percent", {Measure::percent, 1}},
    {"s", {Measure::seconds, 1}},
    {"second", {Measure::seconds, 1}},
    {"ms", {Measure::seconds, 1e-3}},
    {"msecond", {Measure::seconds, 1e-3}},
    {"us", {Measure::seconds, 1e-6}},
    {"usecond", {Measure::seconds, 1e-6}},
    {"ns", {Measure::seconds, 1e-9}},
    {"nsecond", {Measure::seconds, 1e-9}},
    {"hz", {Measure::hertz, 1}},
    {"khz", {Measure::hertz, 1e3}},
    {"mhz", {Measure::hertz, 1e6}},
    {"ghz", {Measure::hertz, 1e9}},
    {"cycle/second", {Measure::hertz, 1}},
    {"cycle/msecond", {Measure::hertz, 1e3}},
    {"cycle/usecond", {Measure::hertz, 1e6}},
    {"cycle/nsecond", {Measure::hertz, 1e9}},
    {"cycle/s", {Measure::hertz, 1}},
    {"cycle/us", {Measure::hertz, 1e6}},
    {"cycle/ns", {Measure::hertz, 1e9}},
};

std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// "Kbyte" is 1,000 bytes, "Gbyte/second" 1e9 bytes a second.
ReportUnit byte_unit(std::string_view unit) {
  double scale = 1;
  std::string_view rest = unit;
  constexpr std::string_view prefixes = "kmgt";
  if (const auto at = prefixes.find(rest.empty() ? ' ' : rest.front()); at != std::string_view::npos) {
    for (std::size_t i = 0; i <= at; ++i) scale *= 1000;
    rest.remove_prefix(1);
  }
  for (const std::string_view word : {"bytes", "byte", "b"}) {
    if (!rest.starts_with(word)) continue;
    rest.remove_prefix(word.size());
    if (rest.empty() || rest == "/block") return {Measure::bytes, scale};
    if (rest == "/second" || rest == "/s") return {Measure::bytes_per_s, scale};
    return {};
  }
  return {};
}

bool among(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const auto bar = std::min(names.find('|'), names.size());
    if (names.substr(0, bar) == name) return true;
    names.remove_prefix(std::min(bar + 1, names.size()));
  }
  return false;
}

/// Percent has no unit in some releases; a plain figure may have any.
bool fits(Measure wanted, Measure given) {
  return wanted == given || wanted == Measure::plain || (wanted == Measure::percent && given == Measure::plain);
}

bool put_figure(KernelReport& report, const FigureNames& names, ReportUnit unit, std::string_view text) {
  double value = report_number(text);
  if (names.figure == Figure::grid_blocks || names.figure == Figure::block_threads)
    if (const double product = product_of_triple(text); !std::isnan(product)) value = product;
  if (std::isnan(value)) return false;
  report[names.figure] = value * (names.measure == Measure::plain ? 1 : unit.scale);
  return true;
}

/// The number behind `before` in a sentence; NaN: there is none.
double number_behind(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return std::nan("");
  std::string_view rest = trimmed_blanks(text.substr(at + before.size()));
  const auto end = std::min(rest.find_first_not_of("0123456789.,"), rest.size());
  rest = rest.substr(0, end);
  while (!rest.empty() && (rest.back() == '.' || rest.back() == ',')) rest.remove_suffix(1);
  return report_number(rest);
}

bool text_says(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct StallPhrase {
  std::string_view says;
  StallReason reason;
};
/// Parts of the tool's sentences, the more special ones first.
constexpr StallPhrase stall_phrases[] = {
    {"scoreboard dependency on a L1TEX", StallReason::long_scoreboard},
    {"scoreboard dependency on an L1TEX", StallReason::long_scoreboard},
    {"scoreboard dependency on a MIO", StallReason::short_scoreboard},
    {"scoreboard dependency on an MIO", StallReason::short_scoreboard},
    {"MIO (memory input/output)", StallReason::mio_throttle},
    {"MIO instruction queue", StallReason::mio_throttle},
    {"local and global (LG)", StallReason::lg_throttle},
    {"L1 instruction queue for texture", StallReason::tex_throttle},
    {"sibling warps at a CTA barrier", StallReason::barrier},
    {"at a barrier", StallReason::barrier},
    {"memory barrier", StallReason::membar},
    {"fixed latency execution dependency", StallReason::wait},
    {"execution pipe to be available", StallReason::math_pipe_throttle},
    {"math execution pipeline", StallReason::math_pipe_throttle},
    {"branch target to be computed", StallReason::branch_resolving},
    {"instruction cache", StallReason::no_instruction},
    {"instruction to be fetched", StallReason::no_instruction},
    {"immediate constant cache", StallReason::imc_miss},
    {"dispatch stall", StallReason::dispatch_stall},
    {"memory stores to complete", StallReason::drain},
    {"micro scheduler to select", StallReason::not_selected},
};

void put_stall_text(KernelReport& report, std::string_view text, double estimate) {
  const double cycles = number_behind(text, "of this kernel spends ");
  if (std::isnan(cycles)) return;
  for (const StallPhrase& phrase : stall_phrases) {
    if (!text_says(text, phrase.says)) continue;
    double share = number_behind(text, "represents about ");
    const double all = number_behind(text, "total average of ");
    if (std::isnan(share) && all > 0) share = 100 * cycles / all;
    report.rules.push_back({"stall:" + std::string(stall_key(phrase.reason)), estimate, share});
    for (Stall& s : report.stalls)
      if (s.reason == phrase.reason) {
        s.share_pct = share;
        return;
      }
    report.stalls.push_back({phrase.reason, cycles, share});
    return;
  }
}

SolVerdict verdict_in(std::string_view text) {
  if (text_says(text, "grid is too small to fill")) return SolVerdict::small_grid;
  if (text_says(text, "low compute throughput and memory bandwidth")) return SolVerdict::latency;
  if (text_says(text, "Memory is more heavily utilized than Compute")) return SolVerdict::memory_heavier;
  if (text_says(text, "Compute is more heavily utilized than Memory")) return SolVerdict::compute_heavier;
  if (text_says(text, "well-balanced")) return SolVerdict::balanced;
  if (text_says(text, "is utilizing greater than 80.0% of the available")) return SolVerdict::near_roof;
  if (text_says(text, "more than 80.0% of the available")) return SolVerdict::near_roof;
  return SolVerdict::undecided;
}

std::string access_kind(std::string_view text) {
  const bool store = text_says(text, "store");
  return std::string(text_says(text, "shared")  ? "shared"
                     : text_says(text, "local") ? "local"
                                                : "global") +
         (store ? "_store" : "_load");
}

}  // namespace

std::string_view trimmed_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

double report_number(std::string_view text) {
  text = trimmed_blanks(text);
  if (text.empty() || text.size() > 40) return std::nan("");
  char digits[48];
  std::size_t n = 0;
  for (const char c : text)
    if (c != ',') digits[n++] = c;
  double value = 0;
  const auto [end, error] = std::from_chars(digits, digits + n, value);
  if (error != std::errc() || end != digits + n || !(std::abs(value) <= 1e18)) return std::nan("");
  return value;
}

ReportUnit report_unit(std::string_view text) {
  text = trimmed_blanks(text);
  if (text.empty() || text.size() > 24) return {};
  const std::string unit = small_letters(text);
  for (const UnitRow& row : unit_rows)
    if (row.unit == unit) return row.is;
  return byte_unit(unit);
}

bool put_details_figure(KernelReport& report, std::string_view label, std::string_view unit, std::string_view value) {
  const ReportUnit measured = report_unit(unit);
  for (const FigureNames& names : report_figures())
    if (among(names.details, label) && fits(names.measure, measured.measure))
      return put_figure(report, names, measured, value);
  return false;
}

bool put_raw_metric(KernelReport& report, std::string_view metric, std::string_view unit, std::string_view value) {
  constexpr std::string_view stalled = "smsp__average_warps_issue_stalled_", per_issue = "_per_issue_active.ratio";
  if (metric.starts_with(stalled) && metric.ends_with(per_issue)) {
    const auto reason =
        stall_reason_of(metric.substr(stalled.size(), metric.size() - stalled.size() - per_issue.size()));
    const double cycles = report_number(value);
    if (!reason || !(cycles >= 0)) return false;
    for (Stall& s : report.stalls)
      if (s.reason == *reason) {
        s.cycles = cycles;
        return true;
      }
    report.stalls.push_back({*reason, cycles, std::nan("")});
    return true;
  }
  const double number = report_number(value);
  if (metric == "device__attribute_compute_capability_major" && number >= 0 && number < 100) {
    const double minor = report.has(Figure::compute_capability) ? report[Figure::compute_capability] : 0;
    report[Figure::compute_capability] = 10 * std::floor(number) + minor;
    return true;
  }
  if (metric == "device__attribute_compute_capability_minor" && number >= 0 && number < 10) {
    const double major = report.has(Figure::compute_capability) ? report[Figure::compute_capability] : 0;
    report[Figure::compute_capability] = major + std::floor(number);
    return true;
  }
  const ReportUnit measured = report_unit(unit);
  for (const FigureNames& names : report_figures())
    if (among(names.raw, metric) && fits(names.measure, measured.measure))
      return put_figure(report, names, measured, value);
  return false;
}

void put_rule_text(KernelReport& report, std::string_view text, double estimate) {
  if (report.rules.size() >= 64) return;
  if (const SolVerdict verdict = verdict_in(text); verdict != SolVerdict::undecided) report.printed_verdict = verdict;
  put_stall_text(report, text, estimate);
  if (const double bytes = number_behind(text, "On average, only ");
      text_says(text, "of the 32 bytes") && bytes <= 32) {
    report.rules.push_back({"uncoalesced_" + access_kind(text), estimate, bytes});
    report[Figure::useful_bytes_of_32] = std::fmin(report[Figure::useful_bytes_of_32], bytes);
  }
  if (text_says(text, "has uncoalesced global accesses"))
    report.rules.push_back({"uncoalesced_source", estimate, number_behind(text, "resulting in a total of ")});
  if (text_says(text, "bank conflict") && text_says(text, "way"))
    report.rules.push_back(
        {"bank_conflicts_" + access_kind(text), estimate, number_behind(text, "causes on average a ")});
  if (text_says(text, "theoretical occupancy") && text_says(text, "limited by"))
    report.rules.push_back({text_says(text, "shared memory") ? "theoretical_occupancy:shared"
                            : text_says(text, "registers")   ? "theoretical_occupancy:registers"
                                                             : "theoretical_occupancy:warps",
                            estimate, std::nan("")});
  if (text_says(text, "is the highest-utilized pipeline")) {
    const bool tensor = text_says(text, "Tensor") || text_says(text, "TC "), fp64 = text_says(text, "FP64");
    report.rules.push_back({tensor ? "high_pipe_utilization:tensor"
                            : fp64 ? "high_pipe_utilization:fp64"
                                   : "high_pipe_utilization",
                            estimate, number_behind(text, "pipeline (")});
  }
}

double product_of_triple(std::string_view text) {
  const auto open = text.find('('), close = text.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nan("");
  std::string_view inside = text.substr(open + 1, close - open - 1);
  double product = 1;
  for (int i = 0; i < 3; ++i) {
    const auto comma = inside.find(',');
    if ((comma == std::string_view::npos) != (i == 2)) return std::nan("");
    const double factor = report_number(inside.substr(0, comma));
    if (!(factor >= 1)) return std::nan("");
    product *= factor;
    if (comma != std::string_view::npos) inside.remove_prefix(comma + 1);
  }
  return product <= 1e18 ? product : std::nan("");
}

double capability_number(std::string_view text) {
  const auto capability = read_capability(text);
  return capability ? *capability : std::nan("");
}

bool says_anything(const KernelReport& r) {
  if (!r.stalls.empty()) return true;
  return std::any_of(r.figures.begin(), r.figures.end(), [](double f) { return !std::isnan(f); });
}

std::vector<std::string> csv_line(std::string_view text, std::size_t& at) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        cells.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        cells.back() += c;
        ++at;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      if (cells.size() >= max_cells) continue;
      cells.emplace_back();
    } else if (c == '\n') {
      ++at;
      return cells;
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

void keep_report(KernelReports& into, KernelReport report) {
  if (!says_anything(report) || into.kernels.size() >= max_report_kernels) {
    ++into.left_out;
    return;
  }
  into.kernels.push_back(std::move(report));
}

}  // namespace models::gpu
