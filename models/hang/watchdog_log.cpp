#include "models/hang/watchdog_log.h"

#include <cctype>
#include <charconv>
#include <initializer_list>

namespace models::hang {
namespace {

constexpr std::size_t max_lines = 10'000;

/// No job numbers its calls so high; what is larger is damaged.
constexpr std::int64_t max_number = std::int64_t{1} << 53;

/// The whole number that follows one of these words, blanks, "(ms)", '=' and ':' aside; -1: there is none.
std::int64_t number_after(std::string_view line, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      std::string_view rest = line.substr(at + word.size());
      while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':' || rest.front() == '='))
        rest.remove_prefix(1);
      std::int64_t value = -1;
      const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (fault == std::errc() && end != rest.data() && value >= 0 && value <= max_number) return value;
    }
  }
  return -1;
}

std::string word_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return {};
  std::string out;
  for (const char c : line.substr(at + word.size())) {
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_') || out.size() >= 40) break;
    out += c;
  }
  return out;
}

}  // namespace

std::vector<WatchdogLine> read_watchdog_log(std::string_view text) {
  std::vector<WatchdogLine> out;
  while (!text.empty() && out.size() < max_lines) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text = newline == std::string_view::npos ? std::string_view() : text.substr(newline + 1);
    WatchdogLine w;
    w.enqueued = number_after(line, {"last enqueued work", "last enqueued NCCL work", "Last enqueued NCCL work"});
    w.completed = number_after(line, {"last completed work", "last completed NCCL work", "Last completed NCCL work"});
    w.stuck = number_after(line, {"at work sequence id", "Timeout at NCCL work", "SeqNum="});
    w.timed_out_rank = number_after(line, {"due to a collective timeout from  rank", "collective timeout from rank"});
    if (w.enqueued < 0 && w.completed < 0 && w.stuck < 0 && w.timed_out_rank < 0) continue;
    // The call behind the last that ended is the one that does not.
    if (w.completed >= 0) w.stuck = w.completed + 1;
    if (w.enqueued >= w.stuck && w.stuck >= 0) w.queued_behind = w.enqueued - w.stuck;
    w.rank = number_after(line, {"[Rank ", " Rank ", "[rank"});
    w.timeout_ms = number_after(line, {"Timeout(ms)"});
    w.ran_ms = number_after(line, {"ran for"});
    w.elements_in = number_after(line, {"NumelIn"});
    w.elements_out = number_after(line, {"NumelOut"});
    w.operation = word_after(line, "OpType=");
    out.push_back(std::move(w));
  }
  return out;
}

}  // namespace models::hang
