#include <algorithm>

#include "models/gpu/counters/kernel_report_parts.h"

/// What `ncu` prints to a terminal: a heading of each kernel, tables of figures by section, and rules in sentences.
namespace models::gpu {
namespace {

std::string_view next_line(std::string_view text, std::size_t& at) {
  const auto end = std::min(text.find('\n', at), text.size());
  const std::string_view line = text.substr(at, end - at);
  at = std::min(end + 1, text.size());
  return line;
}

/// "name(args) (196, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0".
bool heads_kernel(std::string_view line) {
  return line.find(", Context ") != std::string_view::npos && line.find(", Stream ") != std::string_view::npos;
}

KernelReport start_kernel(std::string_view line) {
  KernelReport out;
  out.tool = "ncu";
  std::size_t name_end = line.find(", Context ");
  if (const auto cross = line.find(")x("); cross != std::string_view::npos) {
    const auto open = line.rfind('(', cross), close = line.find(')', cross + 1);
    if (open != std::string_view::npos && close != std::string_view::npos) {
      out[Figure::grid_blocks] = product_of_triple(line.substr(open, cross + 1 - open));
      out[Figure::block_threads] = product_of_triple(line.substr(cross + 2, close + 1 - cross - 2));
      name_end = open;
    }
  } else if (const auto date = line.find("), 20"); date != std::string_view::npos) {
    name_end = date + 1;
  }
  out.kernel = trimmed_blanks(line.substr(0, std::min<std::size_t>(name_end, 400)));
  if (const auto cc = line.rfind("CC "); cc != std::string_view::npos)
    out[Figure::compute_capability] = capability_number(line.substr(cc + 3));
  return out;
}

bool starts_rule(std::string_view line) {
  for (const std::string_view mark : {"OPT ", "INF ", "WRN ", "ERR "})
    if (line.starts_with(mark)) return true;
  return false;
}

bool ends_rule(std::string_view line) {
  return line.empty() || line.starts_with("Section: ") || line.starts_with("-----") || heads_kernel(line);
}

double estimate_in(std::string_view rule) {
  for (const std::string_view mark : {"Est. Speedup: ", "Est. Local Speedup: ", "Estimated Speedup: "})
    if (const auto at = rule.find(mark); at != std::string_view::npos) {
      const std::string_view rest = rule.substr(at + mark.size());
      return report_number(rest.substr(0, std::min(rest.find('%'), rest.size())));
    }
  return std::nan("");
}

struct Cells {
  std::string_view unit, value;
  bool ok = false;
};
/// "msecond         3.84" or "256".
Cells cells_of(std::string_view rest) {
  rest = trimmed_blanks(rest);
  const auto blank = rest.find_first_of(" \t");
  if (blank == std::string_view::npos) return {{}, rest, !rest.empty()};
  const std::string_view value = trimmed_blanks(rest.substr(blank));
  // A grid of old reports is "(64, 1, 1)" and has blanks.
  if (rest.starts_with('(')) return {{}, rest, true};
  return {rest.substr(0, blank), value, value.find_first_of(" \t") == std::string_view::npos};
}

/// Every label of the details page, the longest first.
const std::vector<std::string_view>& details_labels() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> out;
    for (const FigureNames& names : report_figures())
      for (std::string_view left = names.details; !left.empty();) {
        const auto bar = std::min(left.find('|'), left.size());
        out.push_back(left.substr(0, bar));
        left.remove_prefix(std::min(bar + 1, left.size()));
      }
    std::sort(out.begin(), out.end(), [](auto a, auto b) { return a.size() > b.size(); });
    return out;
  }();
  return all;
}

bool put_line(KernelReport& report, std::string_view line) {
  const auto blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return false;
  if (const std::string_view first = line.substr(0, blank); first.find("__") != std::string_view::npos) {
    const Cells cells = cells_of(line.substr(blank));
    return cells.ok && put_raw_metric(report, first, cells.unit, cells.value);
  }
  for (const std::string_view label : details_labels()) {
    if (!line.starts_with(label) || line.size() <= label.size() ||
        (line[label.size()] != ' ' && line[label.size()] != '\t'))
      continue;
    const Cells cells = cells_of(line.substr(label.size()));
    return cells.ok && put_details_figure(report, label, cells.unit, cells.value);
  }
  return false;
}

}  // namespace

Result<KernelReports> read_nsight_text(std::string_view text) {
  constexpr std::size_t longest_rule = 4000;
  KernelReports out{.format = "Nsight Compute, text"};
  KernelReport current;
  std::string rule;
  const auto end_rule = [&] {
    if (!rule.empty()) put_rule_text(current, rule, estimate_in(rule));
    rule.clear();
  };
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = trimmed_blanks(next_line(text, at));
    if (!rule.empty() && ends_rule(line)) end_rule();
    if (heads_kernel(line)) {
      if (any) keep_report(out, std::move(current));
      current = start_kernel(line);
      any = true;
    } else if (starts_rule(line)) {
      end_rule();
      rule = line.substr(4);
    } else if (!rule.empty()) {
      if (rule.size() < longest_rule) rule.append(" ").append(line);
    } else if (put_line(current, line)) {
      any = true;
    }
  }
  end_rule();
  if (any) keep_report(out, std::move(current));
  if (out.kernels.empty())
    return Result<KernelReports>::fail(
        "No kernel with a figure is in this text: print the details page, `ncu --import FILE --page details`.");
  for (KernelReport& r : out.kernels) r.tool = "ncu";
  return Result<KernelReports>::ok(std::move(out));
}

}  // namespace models::gpu
