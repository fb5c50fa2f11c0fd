#include <algorithm>
#include <map>

#include "models/hang/flight_match.h"
#include "models/hang/hang_parts.h"

namespace models::hang {
namespace {

/// The rank of the job that has this rank in the group; -1: none has.
std::int64_t job_rank(const JobGroup& group, std::int64_t rank) {
  return rank >= 0 && rank < static_cast<std::int64_t>(group.members.size()) ? group.members[index_of(rank)] : -1;
}

/// Does the rank make here another message of its group than it always made at this place of its round?
bool leaves_own_order(const FlightJob& job, const Messages::Side& side) {
  const FlightDump& dump = job.dumps[index_of(side.dump)];
  const FlightEntry& here = dump.entries[index_of(side.entry)];
  GroupHistory history;
  for (const FlightEntry& e : dump.entries) {
    if (e.record >= here.record) break;
    if (e.group == here.group) history.calls.push_back(e.call);
  }
  const std::int32_t expected = history.expected(history.first + static_cast<std::int64_t>(history.calls.size()));
  return expected >= 0 && expected != here.call;
}

}  // namespace

Messages find_messages(const FlightJob& job) {
  Messages out;
  std::map<CallKey, std::size_t> known;
  for (std::size_t d = 0; d < job.dumps.size(); ++d) {
    const FlightDump& dump = job.dumps[d];
    for (std::size_t i = 0; i < dump.entries.size(); ++i) {
      const FlightEntry& e = dump.entries[i];
      const FlightCall& call = job.call(e);
      const bool sends = call.operation == "send";
      if (!e.p2p || (!sends && call.operation != "recv")) continue;
      const PeerPair peers = peers_of(call);
      const std::int64_t source = job_rank(job.group(e), peers.source),
                         destination = job_rank(job.group(e), peers.destination);
      if (!peers.known || source < 0 || destination < 0) continue;  // from any source, or not in the group
      const auto [at, fresh] = known.emplace(CallKey{e.group, source, destination}, out.pairs.size());
      if (fresh) out.pairs.push_back({e.group, source, destination, {}, {}});
      auto& pair = out.pairs[at->second];
      (sends ? pair.sends : pair.receives).push_back({static_cast<std::int32_t>(d), static_cast<std::int32_t>(i)});
    }
  }
  return out;
}

std::optional<Difference> find_message_difference(const FlightJob& job) {
  std::optional<Difference> first;
  if (job.wrapped) return first;  // which message answers which is not known
  for (const Messages::Pair& pair : find_messages(job).pairs)
    for (std::size_t i = 0; i < std::min(pair.sends.size(), pair.receives.size()); ++i) {
      const Messages::Side &send = pair.sends[i], &receive = pair.receives[i];
      const FlightEntry &a = job.dumps[index_of(send.dump)].entries[index_of(send.entry)],
                        &b = job.dumps[index_of(receive.dump)].entries[index_of(receive.entry)];
      if (job.call(a).input_sizes == job.call(b).output_sizes) continue;
      const std::int64_t record = std::min(a.record, b.record);
      if (first && first->record <= record) break;
      Difference out;
      out.group = pair.group;
      out.record = record;
      out.fault = HangFault::p2p_order;
      const bool sender = leaves_own_order(job, send), receiver = leaves_own_order(job, receive);
      out.decidable = sender != receiver;
      if (sender && !receiver) out.culprits = {pair.source};
      if (receiver && !sender) out.culprits = {pair.destination};
      out.found_call = receiver && !sender ? b.call : a.call;
      out.expected_call = receiver && !sender ? a.call : b.call;
      first = std::move(out);
      break;
    }
  return first;
}

}  // namespace models::hang
