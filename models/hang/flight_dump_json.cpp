#include <nlohmann/json.hpp>
#include <string>

#include "models/hang/flight_dump.h"

namespace models::hang {
namespace {

std::string_view state_word(CallState state) {
  switch (state) {
    case CallState::started:
      return "started";
    case CallState::completed:
      return "completed";
    case CallState::scheduled:
      break;
  }
  return "scheduled";
}

nlohmann::json entry_json(const FlightDump& dump, const FlightEntry& e) {
  const FlightCall& call = dump.calls[static_cast<std::size_t>(e.call)];
  const FlightGroup& group = dump.groups[static_cast<std::size_t>(e.group)];
  return {{"record_id", e.record},
          {"pg_id", e.group},
          {"process_group", {group.name, group.description}},
          {"thread_id", "1"},
          {"thread_name", "python"},
          {"collective_seq_id", e.sequence},
          {"p2p_seq_id", e.p2p_sequence},
          {"op_id", e.sequence + e.p2p_sequence},
          {"profiling_name", call.library + ":" + call.operation + (call.peers.empty() ? "" : " " + call.peers)},
          {"input_sizes", call.input_sizes},
          {"output_sizes", call.output_sizes},
          {"input_dtypes", call.input_dtypes},
          {"output_dtypes", call.output_dtypes},
          {"time_created_ns", e.created_ns},
          {"time_discovered_started_ns", 0},
          {"time_discovered_completed_ns", 0},
          {"state", state_word(e.state)},
          {"retired", e.retired},
          {"timeout_ms", e.timeout_ms},
          {"is_p2p", e.p2p}};
}

std::string rank_list(const std::vector<std::int64_t>& ranks) {
  std::string out = "[";
  for (std::size_t i = 0; i < ranks.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return out + "]";
}

}  // namespace

std::string flight_dump_json(const FlightDump& dump) {
  using nlohmann::json;
  json entries = json::array(), config = json::object(), status = json::object();
  for (const FlightEntry& e : dump.entries) entries.push_back(entry_json(dump, e));
  for (const FlightGroup& g : dump.groups)
    if (!g.ranks.empty()) config[g.name] = {{"name", g.name}, {"desc", g.description}, {"ranks", rank_list(g.ranks)}};
  if (config.empty()) config[""] = {{"name", ""}, {"desc", ""}, {"ranks", rank_list(dump.listed_ranks)}};
  for (const FlightStatus& s : dump.status)
    status[s.group] = {{"last_enqueued_collective", std::to_string(s.enqueued)},
                       {"last_started_collective", std::to_string(s.started)},
                       {"last_completed_collective", std::to_string(s.completed)}};
  const json all = {{"version", std::to_string(dump.version.major) + "." + std::to_string(dump.version.minor)},
                    {"comm_lib_version", ""},
                    {"nccl_comm_state", json::object()},
                    {"pg_config", std::move(config)},
                    {"pg_status", std::move(status)},
                    {"entries", std::move(entries)}};
  return all.dump();
}

}  // namespace models::hang
