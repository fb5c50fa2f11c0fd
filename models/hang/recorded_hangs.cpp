#include "models/hang/recorded_hangs.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace models::hang {
namespace {

constexpr std::int64_t recorded_epoch_ns = 1'795'312'000'000'000'000;

/// Words and numbers between blanks and line feeds. The texts are our own, and have what is asked for.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next() {
    constexpr std::string_view blanks = " \n";
    text_.remove_prefix(std::min(text_.find_first_not_of(blanks), text_.size()));
    const std::string_view word = text_.substr(0, text_.find_first_of(blanks));
    text_.remove_prefix(word.size());
    return word;
  }
  std::int64_t number() { return number_of(next()); }
  static std::int64_t number_of(std::string_view word) {
    std::int64_t out = 0;
    std::from_chars(word.data(), word.data() + word.size(), out);
    return out;
  }

 private:
  std::string_view text_;
};

/// "262144", "4,8" and "-": one tensor by its dimensions, or none.
void read_tensor(Words& in, Sizes& sizes, std::vector<std::string>& dtypes) {
  std::string_view size = in.next();
  const std::string_view type = in.next();
  if (size == "-") return;
  sizes.emplace_back();
  while (!size.empty()) {
    const std::size_t comma = std::min(size.find(','), size.size());
    sizes.back().push_back(Words::number_of(size.substr(0, comma)));
    size.remove_prefix(std::min(comma + 1, size.size()));
  }
  dtypes.emplace_back(type);
}

FlightCall read_call(Words& in) {
  FlightCall call;
  call.library = in.next();
  call.operation = in.next();
  call.peers = in.next();
  if (call.peers == "-") call.peers.clear();
  read_tensor(in, call.input_sizes, call.input_dtypes);
  read_tensor(in, call.output_sizes, call.output_dtypes);
  return call;
}

void read_rank(Words& in, std::int64_t timeout_ms, FlightDump& dump) {
  dump.rank = in.number();
  in.next();
  dump.listed_ranks.resize(static_cast<std::size_t>(in.number()));
  for (std::int64_t& rank : dump.listed_ranks) rank = in.number();
  while (in.next() == "status") {
    FlightStatus s;
    s.group = in.next();
    s.enqueued = in.number();
    s.started = in.number();
    s.completed = in.number();
    dump.status.push_back(std::move(s));
  }
  const std::int64_t entries = in.number();
  for (std::int64_t i = 0; i < entries; ++i) {
    FlightEntry e;
    e.record = in.number();
    e.group = static_cast<std::int32_t>(in.number());
    e.call = static_cast<std::int32_t>(in.number());
    e.sequence = in.number();
    e.p2p_sequence = in.number();
    e.p2p = in.number() != 0;
    e.retired = in.number() != 0;
    e.created_ns = in.number() + recorded_epoch_ns;
    e.timeout_ms = timeout_ms;
    dump.entries.push_back(e);
  }
}

}  // namespace

std::vector<FlightDump> recorded_dumps(std::string_view id) {
  std::vector<FlightDump> out;
  const auto& all = recorded_hangs();
  const auto at = std::find_if(all.begin(), all.end(), [&](const RecordedHang& r) { return r.id == id; });
  if (at == all.end()) return out;
  Words in(at->text);
  FlightDump tables;
  std::int64_t timeout_ms = 0;
  bool named = false;
  for (std::string_view word; !(word = in.next()).empty();) {
    if (word == "timeout") {
      timeout_ms = in.number();
    } else if (word == "named") {
      named = in.number() != 0;
    } else if (word == "group") {
      FlightGroup group;
      group.name = in.next();
      group.description = in.next();
      tables.groups.push_back(std::move(group));
    } else if (word == "call") {
      tables.calls.push_back(read_call(in));
    } else if (word == "rank") {
      FlightDump dump = tables;
      read_rank(in, timeout_ms, dump);
      if (named && !dump.groups.empty()) dump.groups[0].ranks = dump.listed_ranks;
      out.push_back(std::move(dump));
    }
  }
  return out;
}

}  // namespace models::hang
