#include "models/hang/flight_dump.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "models/base/printable.h"
#include "models/hang/plain_tree.h"

namespace models::hang {
namespace {

using Kind = PlainNode::Kind;

constexpr std::size_t max_sizes = 4'000'000;  ///< numbers in all sizes of a dump

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  text = trim(text);
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// "[0, 1, 2]": what is no number is left out.
std::vector<std::int64_t> ranks_of(std::string_view text) {
  std::vector<std::int64_t> out;
  text = trim(text);
  if (text.starts_with('[')) text.remove_prefix(1);
  if (text.ends_with(']')) text.remove_suffix(1);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const auto rank = whole_number(text.substr(0, comma));
    if (rank && *rank >= 0 && *rank < 10'000'000) out.push_back(*rank);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

/// Turns a tree into a dump. What a record must have and lacks is a fault; keys that are new are passed over.
class DumpReader {
 public:
  explicit DumpReader(const PlainTree& tree) : tree_(tree) {}

  Result<FlightDump> read() {
    using Read = Result<FlightDump>;
    if (tree_.at(tree_.root).kind != Kind::dictionary) return Read::fail(no_dump("it is no object at the top"));
    const auto version = text_of(tree_.value(tree_.root, "version"));
    if (!version) return Read::fail(no_dump("it has no version"));
    auto parsed = parse_flight_version(*version);
    if (!parsed) return Read::fail(std::move(parsed.error));
    if (parsed->major != 2)
      return Read::fail("The dump has version " + printable(*version, 20) + ": versions 2.x are read here.");
    out_.version = *parsed;
    const std::int32_t entries = tree_.value(tree_.root, "entries");
    if (entries < 0 || tree_.at(entries).kind != Kind::list) return Read::fail(no_dump("it has no list of entries"));
    read_config(tree_.value(tree_.root, "pg_config"));
    read_status(tree_.value(tree_.root, "pg_status"));
    const std::vector<std::int32_t>& items = tree_.at(entries).items;
    if (items.size() > max_dump_entries)
      return Read::fail("The dump has more than 100,000 records: dump with a smaller ring.");
    out_.entries.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      read_entry(items[i]);
      if (!fault_.empty())
        return Read::fail("Record " + std::to_string(i) + " of the dump " + fault_ +
                          ": take the file as PyTorch wrote it.");
    }
    sort_entries();
    return Read::ok(std::move(out_));
  }

 private:
  /// By record, and as they stood where two have one number.
  void sort_entries() {
    const auto later = [](const FlightEntry& a, const FlightEntry& b) { return a.record > b.record; };
    if (std::adjacent_find(out_.entries.begin(), out_.entries.end(), later) == out_.entries.end()) return;
    std::vector<std::pair<std::int64_t, std::int32_t>> order;  // record and place
    for (const FlightEntry& e : out_.entries) order.emplace_back(e.record, static_cast<std::int32_t>(order.size()));
    std::sort(order.begin(), order.end());
    std::vector<FlightEntry> sorted;
    sorted.reserve(order.size());
    for (const auto& [record, at] : order) sorted.push_back(out_.entries[static_cast<std::size_t>(at)]);
    out_.entries = std::move(sorted);
  }
  static std::string no_dump(std::string_view why) {
    return "This is no dump of PyTorch's flight recorder: " + std::string(why) + ".";
  }
  std::optional<std::string_view> text_of(std::int32_t node) const {
    if (node < 0 || tree_.at(node).kind != Kind::text) return std::nullopt;
    return tree_.at(node).text;
  }
  /// A whole number, also one that is written as a text.
  std::optional<std::int64_t> number_of(std::int32_t node) const {
    if (node < 0) return std::nullopt;
    const PlainNode& n = tree_.at(node);
    if (n.kind == Kind::integer) return n.integer;
    if (n.kind == Kind::none) return 0;
    if (n.kind == Kind::text) return whole_number(n.text);
    return std::nullopt;
  }

  void read_config(std::int32_t config) {
    if (config < 0 || tree_.at(config).kind != Kind::dictionary) return;
    const std::vector<std::int32_t>& items = tree_.at(config).items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const auto key = text_of(items[i]);
      const auto listed = text_of(tree_.value(items[i + 1], "ranks"));
      if (!key || !listed) continue;
      std::vector<std::int64_t> ranks = ranks_of(*listed);
      out_.listed_ranks.insert(out_.listed_ranks.end(), ranks.begin(), ranks.end());
      // With an empty key nobody knows which group it is: gloo writes there the one that was made last.
      if (key->empty()) continue;
      if (config_.emplace(std::string(*key), static_cast<std::int32_t>(config_ranks_.size())).second)
        config_ranks_.push_back(std::move(ranks));
    }
    std::sort(out_.listed_ranks.begin(), out_.listed_ranks.end());
    out_.listed_ranks.erase(std::unique(out_.listed_ranks.begin(), out_.listed_ranks.end()), out_.listed_ranks.end());
  }

  void read_status(std::int32_t status) {
    if (status < 0 || tree_.at(status).kind != Kind::dictionary) return;
    const std::vector<std::int32_t>& items = tree_.at(status).items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const auto key = text_of(items[i]);
      if (!key || tree_.at(items[i + 1]).kind != Kind::dictionary) continue;
      FlightStatus s;
      s.group = printable(*key, 80);
      s.enqueued = number_of(tree_.value(items[i + 1], "last_enqueued_collective")).value_or(-1);
      s.started = number_of(tree_.value(items[i + 1], "last_started_collective")).value_or(-1);
      s.completed = number_of(tree_.value(items[i + 1], "last_completed_collective")).value_or(-1);
      out_.status.push_back(std::move(s));
    }
  }

  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }
  std::int64_t needed_number(std::int32_t entry, std::string_view key) {
    const auto number = number_of(tree_.value(entry, key));
    if (!number) fail("has no whole number " + std::string(key));
    return number.value_or(0);
  }
  bool flag(std::int32_t entry, std::string_view key) const {
    const std::int32_t node = tree_.value(entry, key);
    return node >= 0 && tree_.at(node).kind == Kind::boolean && tree_.at(node).integer != 0;
  }

  Sizes sizes_of(std::int32_t node) {
    Sizes out;
    if (node < 0 || tree_.at(node).kind != Kind::list) return out;
    for (const std::int32_t tensor : tree_.at(node).items) {
      std::vector<std::int64_t> dims;
      if (tree_.at(tensor).kind == Kind::list)
        for (const std::int32_t dim : tree_.at(tensor).items) {
          const auto size = number_of(dim);
          if (!size || *size < 0) fail("has a size that is no whole number");
          if (++sizes_ > max_sizes) fail("is one of too many sizes");
          if (!fault_.empty()) return out;
          dims.push_back(*size);
        }
      if (++sizes_ > max_sizes) fail("is one of too many sizes");
      out.push_back(std::move(dims));
    }
    return out;
  }
  std::vector<std::string> texts_of(std::int32_t node) {
    std::vector<std::string> out;
    if (node < 0 || tree_.at(node).kind != Kind::list) return out;
    for (const std::int32_t item : tree_.at(node).items) {
      if (++sizes_ > max_sizes) fail("is one of too many sizes");
      if (!fault_.empty()) return out;
      out.push_back(printable(text_of(item).value_or("?"), 40));
    }
    return out;
  }

  std::int32_t group_of(std::int32_t entry) {
    const std::int32_t node = tree_.value(entry, "process_group");
    if (node < 0 || tree_.at(node).kind != Kind::list || tree_.at(node).items.size() < 2) {
      fail("has no process_group of a name and a description");
      return -1;
    }
    FlightGroup group{printable(text_of(tree_.at(node).items[0]).value_or(""), 80),
                      printable(text_of(tree_.at(node).items[1]).value_or(""), 80),
                      {}};
    for (std::size_t i = 0; i < out_.groups.size(); ++i)
      if (out_.groups[i].name == group.name && out_.groups[i].description == group.description)
        return static_cast<std::int32_t>(i);
    if (out_.groups.size() >= 4096) {
      fail("belongs to one of more than 4,096 groups");
      return -1;
    }
    if (const auto known = config_.find(group.name); known != config_.end())
      group.ranks = config_ranks_[static_cast<std::size_t>(known->second)];
    out_.groups.push_back(std::move(group));
    return static_cast<std::int32_t>(out_.groups.size() - 1);
  }

  std::int32_t call_of(std::int32_t entry) {
    const auto name = text_of(tree_.value(entry, "profiling_name"));
    const std::size_t colon = name ? name->find(':') : std::string_view::npos;
    if (colon == std::string_view::npos) {
      fail("has no profiling_name of the form library:operation");
      return -1;
    }
    FlightCall call;
    call.library = printable(name->substr(0, colon));
    const std::string_view rest = name->substr(colon + 1);
    const std::size_t blank = rest.find(' ');
    call.operation = printable(rest.substr(0, blank));
    if (blank != std::string_view::npos) call.peers = printable(rest.substr(blank + 1));
    call.input_sizes = sizes_of(tree_.value(entry, "input_sizes"));
    call.output_sizes = sizes_of(tree_.value(entry, "output_sizes"));
    call.input_dtypes = texts_of(tree_.value(entry, "input_dtypes"));
    call.output_dtypes = texts_of(tree_.value(entry, "output_dtypes"));
    if (!fault_.empty()) return -1;
    std::string key(*name);
    const auto add = [&](const Sizes& sizes) {
      for (const auto& dims : sizes) {
        key += '|';
        for (const std::int64_t d : dims) key += std::to_string(d) + ',';
      }
      key += ';';
    };
    add(call.input_sizes);
    add(call.output_sizes);
    for (const auto& t : call.input_dtypes) key += t + ',';
    key += ';';
    for (const auto& t : call.output_dtypes) key += t + ',';
    const auto [at, fresh] = known_calls_.emplace(std::move(key), static_cast<std::int32_t>(out_.calls.size()));
    if (fresh) out_.calls.push_back(std::move(call));
    return at->second;
  }

  void read_entry(std::int32_t node) {
    if (tree_.at(node).kind != Kind::dictionary) return fail("is no object");
    FlightEntry e;
    e.record = needed_number(node, "record_id");
    e.group = group_of(node);
    e.call = call_of(node);
    e.sequence = needed_number(node, "collective_seq_id");
    e.p2p_sequence = number_of(tree_.value(node, "p2p_seq_id")).value_or(0);
    e.created_ns = number_of(tree_.value(node, "time_created_ns")).value_or(0);
    e.timeout_ms = number_of(tree_.value(node, "timeout_ms")).value_or(0);
    const std::string_view state = text_of(tree_.value(node, "state")).value_or("scheduled");
    e.state = state == "completed" ? CallState::completed
              : state == "started" ? CallState::started
                                   : CallState::scheduled;
    e.retired = flag(node, "retired");
    e.p2p = flag(node, "is_p2p");
    out_.entries.push_back(e);
  }

  const PlainTree& tree_;
  FlightDump out_;
  std::unordered_map<std::string, std::int32_t> config_, known_calls_;  ///< places in config_ranks_ and in the calls
  std::vector<std::vector<std::int64_t>> config_ranks_;
  std::size_t sizes_ = 0;
  std::string fault_;
};

}  // namespace

Result<FlightVersion> parse_flight_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto major = whole_number(text.substr(0, dot));
  const auto minor = dot == std::string_view::npos ? std::nullopt : whole_number(text.substr(dot + 1));
  if (!major || !minor || *major < 0 || *minor < 0)
    return Result<FlightVersion>::fail("The version \"" + printable(text, 20) + "\" is not two numbers as in 2.10.");
  return Result<FlightVersion>::ok({*major, *minor});
}

Result<FlightDump> read_flight_dump(std::string_view bytes) {
  using Read = Result<FlightDump>;
  auto tree = begins_as_pickle(bytes) ? read_plain_pickle(bytes) : read_plain_json(bytes);
  if (!tree) return Read::fail(std::move(tree.error));
  return DumpReader(*tree).read();
}

std::int64_t rank_of_file_name(std::string_view name) {
  name = name.substr(name.find_last_of("/\\") + 1);
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view suffix : {".json", ".pickle", ".pkl", ".txt", ".gz", ".dump"})
      if (name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
        more = true;
      }
  }
  std::size_t digits = 0;
  while (digits < name.size() && digits < 9 && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  return whole_number(name.substr(name.size() - digits)).value_or(-1);
}

}  // namespace models::hang
