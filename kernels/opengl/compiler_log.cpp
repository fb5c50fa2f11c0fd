#include "kernels/opengl/compiler_log.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace kernels::opengl {
namespace {

/// Takes a whole number from the front; false, and nothing taken, where there is none.
bool take_number(std::string_view& rest, int& value) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return true;
}

bool take_text(std::string_view& rest, std::string_view start) {
  if (!rest.starts_with(start)) return false;
  rest.remove_prefix(start.size());
  return true;
}

bool says_error(std::string_view text) {
  return text.find("error") != std::string_view::npos || text.find("ERROR") != std::string_view::npos;
}

/// What follows "error: " or "error C1008: ", or the whole.
std::string message_of(std::string_view text) {
  for (const std::string_view kind : {"error", "warning"}) {
    if (!text.starts_with(kind)) continue;
    const std::size_t colon = text.find(": ");
    if (colon != std::string_view::npos) return std::string(text.substr(colon + 2));
  }
  return std::string(text);
}

/// Takes the place that a line begins with: "0:12(5): ", "0:12: " or "0(12) : "; its line, or -1.
int take_place(std::string_view& rest) {
  int text = 0, line = -1, column = 0;
  std::string_view at = rest;
  if (!take_number(at, text)) return -1;
  if (take_text(at, "(")) {
    if (!take_number(at, line) || !take_text(at, ")")) return -1;
  } else {
    if (!take_text(at, ":") || !take_number(at, line)) return -1;
    if (take_text(at, "(") && (!take_number(at, column) || !take_text(at, ")"))) return -1;
  }
  take_text(at, " ");
  if (!take_text(at, ":")) return -1;
  take_text(at, " ");
  rest = at;
  return line >= 0 ? line : -1;
}

}  // namespace

std::vector<Diagnostic> parse_diagnostics(std::string_view log) {
  std::vector<Diagnostic> found;
  while (!log.empty() && found.size() < 200) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\0')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::string_view rest = line;
    const bool shouted = take_text(rest, "ERROR: "), warned = !shouted && take_text(rest, "WARNING: ");
    const int place = take_place(rest);
    if (place >= 0)
      found.push_back({place, message_of(rest), shouted || (!warned && rest.starts_with("error"))});
    else if (shouted || says_error(line))
      found.push_back({0, message_of(rest), true});
  }
  return found;
}

}  // namespace kernels::opengl
