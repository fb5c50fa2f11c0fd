#include <string>
#include <string_view>

#include "models/hang/flight_dump.h"

/// Written by hand: a dump is a few dozen keys, and a general writer costs more to compile than all else here.
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

/// JSON into a text, keys and values as they come.
class DumpWriter {
 public:
  explicit DumpWriter(std::string& out) : out_(out) {}

  void open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  void key(std::string_view name) {
    text(name);
    out_ += ':';
    first_ = true;
  }
  void number(std::int64_t value) {
    comma();
    out_ += std::to_string(value);
  }
  void boolean(bool value) {
    comma();
    out_ += value ? "true" : "false";
  }
  void text(std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    constexpr std::string_view letters = "btn\0fr";  // of the control characters from 8 on
    comma();
    out_ += '"';
    for (const char c : value) {
      const auto code = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (code >= 8 && code <= 13 && code != 11) {
        out_ += '\\';
        out_ += letters[code - 8u];
      } else if (code < 32) {
        out_ += "\\u00";
        out_ += hex[code >> 4];
        out_ += hex[code & 15];
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  void sizes(std::string_view name, const Sizes& all) {
    key(name);
    open('[');
    for (const auto& dims : all) {
      open('[');
      for (const std::int64_t d : dims) number(d);
      close(']');
    }
    close(']');
  }
  void texts(std::string_view name, const std::vector<std::string>& all) {
    key(name);
    open('[');
    for (const std::string& t : all) text(t);
    close(']');
  }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;
};

void write_entry(DumpWriter& w, const FlightDump& dump, const FlightEntry& e) {
  const FlightCall& call = dump.calls[static_cast<std::size_t>(e.call)];
  const FlightGroup& group = dump.groups[static_cast<std::size_t>(e.group)];
  const auto number = [&w](std::string_view key, std::int64_t value) {
    w.key(key);
    w.number(value);
  };
  const auto text = [&w](std::string_view key, std::string_view value) {
    w.key(key);
    w.text(value);
  };
  w.open('{');
  number("collective_seq_id", e.sequence);
  w.texts("input_dtypes", call.input_dtypes);
  w.sizes("input_sizes", call.input_sizes);
  w.key("is_p2p");
  w.boolean(e.p2p);
  number("op_id", e.sequence + e.p2p_sequence);
  w.texts("output_dtypes", call.output_dtypes);
  w.sizes("output_sizes", call.output_sizes);
  number("p2p_seq_id", e.p2p_sequence);
  number("pg_id", e.group);
  w.texts("process_group", {group.name, group.description});
  text("profiling_name", call.library + ":" + call.operation + (call.peers.empty() ? "" : " " + call.peers));
  number("record_id", e.record);
  w.key("retired");
  w.boolean(e.retired);
  text("state", state_word(e.state));
  text("thread_id", "1");
  text("thread_name", "python");
  number("time_created_ns", e.created_ns);
  number("time_discovered_completed_ns", 0);
  number("time_discovered_started_ns", 0);
  number("timeout_ms", e.timeout_ms);
  w.close('}');
}

std::string rank_list(const std::vector<std::int64_t>& ranks) {
  std::string out = "[";
  for (std::size_t i = 0; i < ranks.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return out + "]";
}

void write_group(DumpWriter& w, std::string_view name, std::string_view description,
                 const std::vector<std::int64_t>& ranks) {
  w.key(name);
  w.open('{');
  w.key("desc");
  w.text(description);
  w.key("name");
  w.text(name);
  w.key("ranks");
  w.text(rank_list(ranks));
  w.close('}');
}

/// Places by name, in its order; of those of one name the last.
std::vector<std::int32_t> by_name(const std::vector<std::string_view>& names) {
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t at = 0;
    while (at < order.size() && names[static_cast<std::size_t>(order[at])] < names[i]) ++at;
    const auto place = order.begin() + static_cast<std::ptrdiff_t>(at);
    if (at < order.size() && names[static_cast<std::size_t>(*place)] == names[i])
      *place = static_cast<std::int32_t>(i);
    else
      order.insert(place, static_cast<std::int32_t>(i));
  }
  return order;
}

}  // namespace

std::string flight_dump_json(const FlightDump& dump) {
  std::string out;
  DumpWriter w(out);
  w.open('{');
  w.key("comm_lib_version");
  w.text("");
  w.key("entries");
  w.open('[');
  for (const FlightEntry& e : dump.entries) write_entry(w, dump, e);
  w.close(']');
  w.key("nccl_comm_state");
  w.open('{');
  w.close('}');
  w.key("pg_config");
  w.open('{');
  std::vector<const FlightGroup*> listed;
  std::vector<std::string_view> names;
  for (const FlightGroup& g : dump.groups) {
    if (g.ranks.empty()) continue;
    listed.push_back(&g);
    names.push_back(g.name);
  }
  for (const std::int32_t i : by_name(names)) {
    const FlightGroup& g = *listed[static_cast<std::size_t>(i)];
    write_group(w, g.name, g.description, g.ranks);
  }
  if (listed.empty()) write_group(w, "", "", dump.listed_ranks);
  w.close('}');
  w.key("pg_status");
  w.open('{');
  names.clear();
  for (const FlightStatus& s : dump.status) names.push_back(s.group);
  for (const std::int32_t i : by_name(names)) {
    const FlightStatus& s = dump.status[static_cast<std::size_t>(i)];
    w.key(s.group);
    w.open('{');
    w.key("last_completed_collective");
    w.text(std::to_string(s.completed));
    w.key("last_enqueued_collective");
    w.text(std::to_string(s.enqueued));
    w.key("last_started_collective");
    w.text(std::to_string(s.started));
    w.close('}');
  }
  w.close('}');
  w.key("version");
  w.text(std::to_string(dump.version.major) + "." + std::to_string(dump.version.minor));
  w.close('}');
  return out;
}

}  // namespace models::hang
