#include "chapters/interview/scenarios/moves.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "widgets/base/parts.h"

namespace chapters::interview::scenarios {
namespace {

constexpr std::string_view move_letters = "scekdtx";  // in the order of MoveKind
static_assert(move_letters.size() == static_cast<std::size_t>(MoveKind::give_up) + 1);
constexpr double longest_s = 1e5;

bool read_row(std::string_view& text, std::size_t& row) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), row);
  if (read.ec != std::errc() || row >= 64) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

/// "s0c3@12.5", "k2@5", "x@60".
std::optional<Move> move_of(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t letter = move_letters.find(text[0]);
  if (letter == std::string_view::npos) return {};
  Move move{.kind = static_cast<MoveKind>(letter)};
  text.remove_prefix(1);
  if (move.kind != MoveKind::give_up && !read_row(text, move.from)) return {};
  if (move.is_thread()) {
    constexpr std::string_view next = "cef";
    if (text.empty() || text[0] != next[letter]) return {};
    text.remove_prefix(1);
    if (!read_row(text, move.to)) return {};
  }
  if (text.empty() || text[0] != '@') return {};
  text.remove_prefix(1);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), move.at_s);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  if (!(move.at_s >= 0 && move.at_s <= longest_s)) return {};
  return move;
}

}  // namespace

std::string text_of(const Move& move) {
  const auto letter = static_cast<std::size_t>(move.kind);
  std::string out(1, move_letters[letter]);
  if (move.kind != MoveKind::give_up) out += std::to_string(move.from);
  if (move.is_thread()) out += std::string(1, "cef"[letter]) + std::to_string(move.to);
  return out + "@" + widgets::exact(std::round(move.at_s * 10) / 10);
}

std::vector<Move> moves_for(std::string_view text, std::string_view key) {
  std::vector<Move> out;
  if (key.empty() || !text.starts_with(key) || text.substr(key.size()).substr(0, 1) != ":") return out;
  text.remove_prefix(key.size() + 1);
  double last = 0;
  while (!text.empty() && out.size() < max_moves) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (auto move = move_of(text.substr(0, end))) {
      last = move->at_s = std::max(last, move->at_s);  // the clock never goes back
      out.push_back(*move);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string with_move(std::string_view text, std::string_view key, const Move& move) {
  const std::vector<Move> before = moves_for(text, key);
  if (before.size() >= max_moves) return std::string(text);
  std::string out = std::string(key) + ":";
  for (const Move& m : before) out += " " + text_of(m);
  return out + " " + text_of(move);
}

}  // namespace chapters::interview::scenarios
