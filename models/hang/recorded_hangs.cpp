#include "models/hang/recorded_hangs.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace models::hang {
namespace {

constexpr std::int64_t recorded_epoch_ns = 1'795'312'000'000'000'000;

/// "262144", "4,8" and "-": one tensor by its dimensions, or none.
void read_tensor(std::istringstream& in, Sizes& sizes, std::vector<std::string>& dtypes) {
  std::string size, type;
  in >> size >> type;
  if (size == "-") return;
  std::istringstream each(size);
  sizes.emplace_back();
  for (std::string dim; std::getline(each, dim, ',');) sizes.back().push_back(std::stoll(dim));
  dtypes = {type};
}

FlightCall read_call(std::istringstream& in) {
  FlightCall call;
  in >> call.library >> call.operation >> call.peers;
  if (call.peers == "-") call.peers.clear();
  read_tensor(in, call.input_sizes, call.input_dtypes);
  read_tensor(in, call.output_sizes, call.output_dtypes);
  return call;
}

void read_rank(std::istringstream& in, std::int64_t timeout_ms, FlightDump& dump) {
  std::string word;
  std::size_t n = 0;
  in >> dump.rank >> word >> n;
  dump.listed_ranks.resize(n);
  for (std::int64_t& rank : dump.listed_ranks) in >> rank;
  while (in >> word && word == "status") {
    FlightStatus s;
    in >> s.group >> s.enqueued >> s.started >> s.completed;
    dump.status.push_back(std::move(s));
  }
  in >> n;
  for (std::size_t i = 0; i < n; ++i) {
    FlightEntry e;
    int p2p = 0, retired = 0;
    in >> e.record >> e.group >> e.call >> e.sequence >> e.p2p_sequence >> p2p >> retired >> e.created_ns;
    e.p2p = p2p != 0;
    e.retired = retired != 0;
    e.created_ns += recorded_epoch_ns;
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
  std::istringstream in{std::string(at->text)};
  FlightDump tables;
  std::int64_t timeout_ms = 0;
  bool named = false;
  for (std::string word; in >> word;) {
    if (word == "timeout") {
      in >> timeout_ms;
    } else if (word == "named") {
      in >> named;
    } else if (word == "group") {
      FlightGroup group;
      in >> group.name >> group.description;
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
