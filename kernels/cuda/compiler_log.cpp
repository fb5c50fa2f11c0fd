#include "kernels/cuda/compiler_log.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace kernels::cuda {
namespace {

/// Calls `line` with each line of `text`, without its end.
template <class F>
void each_line(std::string_view text, F line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = text.substr(0, end);
    if (!one.empty() && one.back() == '\r') one.remove_suffix(1);
    line(one);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The whole number that ends just before `what`: "12" in "12 bytes spill stores". 0 when it is not there or too large
/// to be one.
std::int64_t number_before(std::string_view line, std::string_view what) {
  const std::size_t end = line.find(what);
  if (end == std::string_view::npos) return 0;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(line.data() + start, line.data() + end, value);
  return error == std::errc() && stop == line.data() + end ? value : 0;
}

/// "name(12): error: text" and "name(12): warning #177-D: text"; false for any other line.
bool read_message(std::string_view line, Diagnostic& message) {
  for (const std::string_view kind : {"): error", "): warning", "): catastrophic error"}) {
    const std::size_t close = line.find(kind);
    if (close == std::string_view::npos) continue;
    const std::size_t open = line.rfind('(', close);
    const std::size_t colon = line.find(": ", close + kind.size());
    const std::size_t text = colon == std::string_view::npos ? line.size() : colon + 2;
    if (open == std::string_view::npos) continue;
    const auto [stop, error] = std::from_chars(line.data() + open + 1, line.data() + close, message.line);
    if (error != std::errc() || stop != line.data() + close) continue;
    message.text = line.substr(text);
    message.error = kind != "): warning";
    return true;
  }
  if (line.starts_with("ptxas error") || line.starts_with("nvrtc: error")) {
    const std::size_t colon = line.find(": ", line.starts_with("ptxas") ? 0 : 7);
    message = {0, std::string(colon == std::string_view::npos ? line : line.substr(colon + 2)), true};
    return true;
  }
  return false;
}

}  // namespace

std::vector<Diagnostic> parse_diagnostics(std::string_view log) {
  std::vector<Diagnostic> found;
  each_line(log, [&](std::string_view line) {
    Diagnostic message;
    if (found.size() < 200 && read_message(line, message)) found.push_back(std::move(message));
  });
  return found;
}

KernelReport parse_report(std::string_view log, std::string_view entry) {
  KernelReport report;
  bool ours = false;
  each_line(log, [&](std::string_view line) {
    constexpr std::string_view start = "Compiling entry function '", middle = "' for '";
    if (const std::size_t at = line.find(start); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + start.size());
      const std::size_t end = rest.find(middle);
      ours = end != std::string_view::npos && rest.substr(0, end) == entry;
      if (ours) {
        const std::string_view arch = rest.substr(end + middle.size());
        report.arch = arch.substr(0, arch.find('\''));
      }
    }
    if (!ours) return;
    if (line.find("bytes spill stores") != std::string_view::npos) {
      report.spill_store_bytes = number_before(line, " bytes spill stores");
      report.spill_load_bytes = number_before(line, " bytes spill loads");
    }
    if (line.find("registers") != std::string_view::npos) {
      report.registers_per_thread =
          static_cast<int>(std::min<std::int64_t>(number_before(line, " registers"), 1 << 20));
      report.shared_bytes = number_before(line, " bytes smem");
    }
  });
  return report;
}

}  // namespace kernels::cuda
