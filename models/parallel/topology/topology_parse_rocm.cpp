#include <algorithm>
#include <array>

#include "models/parallel/topology/topology_words.h"

// rocm-smi prints up to three tables over the same GPUs, "Weight between two GPUs", "Hops between two GPUs" and "Link
// Type between two GPUs", and then "GPU[0] : (Topology) Numa Node: 0" for each.
namespace models::parallel {
namespace {

using Table = Result<TopologyTable>;

constexpr std::array<std::string_view, 3> table_titles{"Weight", "Hops", "Type"};

bool titled(const TopologyWords& words, std::size_t at, std::string_view title) {
  constexpr std::array<std::string_view, 3> rest{"between", "two", "GPUs"};
  if (words[at].text != title || at + rest.size() >= words.size()) return false;
  for (std::size_t i = 0; i < rest.size(); ++i)
    if (words[at + 1 + i].text != rest[i]) return false;
  return true;
}

bool rocm_gpu(std::string_view word) { return word.starts_with("GPU") && topology_number(word.substr(3)).has_value(); }

/// The cells of a table, row by row, as words; `devices` are its GPUs.
Result<std::vector<std::string_view>> cells_of(const TopologyWords& words, std::size_t at,
                                               std::vector<std::string>& devices) {
  using Cells = Result<std::vector<std::string_view>>;
  while (at < words.size() && !rocm_gpu(words[at].text)) ++at;
  devices.clear();
  while (at < words.size() && rocm_gpu(words[at].text)) {
    if (std::find(devices.begin(), devices.end(), words[at].text) != devices.end()) break;
    if (devices.size() == max_topology_devices)
      return Cells::fail("A table of rocm-smi names more than " + std::to_string(max_topology_devices) + " GPUs.");
    devices.emplace_back(words[at].text);
    ++at;
  }
  if (devices.empty()) return Cells::fail("A table of rocm-smi names no GPU; paste the whole text.");
  std::vector<std::string_view> cells;
  for (const std::string& device : devices) {
    if (at >= words.size() || words[at].text != device)
      return Cells::fail("The row of " + topology_quote(device) +
                         " is missing in a table of rocm-smi; paste the whole text.");
    ++at;
    for (std::size_t column = 0; column < devices.size(); ++column, ++at) {
      if (at >= words.size() || rocm_gpu(words[at].text) || words[at].text.starts_with("=="))
        return Cells::fail("The row of " + topology_quote(device) + " has " + std::to_string(column) + " of " +
                           std::to_string(devices.size()) + " cells; paste the whole text.");
      cells.push_back(words[at].text);
    }
  }
  return Cells::ok(std::move(cells));
}

/// "GPU[3] : (Topology) Numa Node: 1", with or without spaces in the brackets.
void read_numa(const TopologyWords& words, TopologyTable& table) {
  for (std::size_t at = 0; at + 3 < words.size(); ++at) {
    if (words[at].text != "Numa" || words[at + 1].text != "Node:") continue;
    const auto numa = topology_number(words[at + 2].text);
    std::size_t first = at;
    while (first > 0 && words[first - 1].line == words[at].line) --first;
    std::string digits;
    for (std::size_t i = first; i < at && words[i].text != ":"; ++i)
      for (const char c : words[i].text)
        if (c >= '0' && c <= '9') digits += c;
    const auto gpu = topology_number(digits);
    if (!numa || !gpu) continue;
    for (TopologyDevice& d : table.devices)
      if (d.name == "GPU" + std::to_string(*gpu)) d.numa = *numa;
  }
}

}  // namespace

std::size_t find_rocm_table(const TopologyWords& words) {
  for (std::size_t at = 0; at < words.size(); ++at)
    for (const std::string_view title : table_titles)
      if (titled(words, at, title)) return at;
  return words.size();
}

Result<TopologyTable> parse_rocm(const TopologyWords& words) {
  std::array<std::vector<std::string>, table_titles.size()> devices;
  std::array<std::vector<std::string_view>, table_titles.size()> cells;
  for (std::size_t at = 0; at < words.size(); ++at)
    for (std::size_t t = 0; t < table_titles.size(); ++t) {
      if (!titled(words, at, table_titles[t])) continue;
      if (!cells[t].empty())
        return Table::fail("The text has the table of " + std::string(table_titles[t]) +
                           " twice; paste that of one machine.");
      auto read = cells_of(words, at + 4, devices[t]);
      if (!read) return Table::fail(read.error);
      cells[t] = std::move(*read);
    }
  const std::size_t kinds = 2;
  if (cells[kinds].empty())
    return Table::fail("The text has no table of link types; paste what rocm-smi --showtopo prints.");
  TopologyTable table;
  table.amd = true;
  for (const std::string& name : devices[kinds]) table.devices.push_back({name, true, {}, -1});
  const std::size_t n = table.devices.size();
  table.entries.assign(n * n, {});
  for (std::size_t t = 0; t < kinds; ++t)
    if (!cells[t].empty() && devices[t] != devices[kinds])
      return Table::fail("The tables of rocm-smi name different GPUs; paste those of one machine.");
  for (std::size_t i = 0; i < n * n; ++i) {
    TopologyEntry& entry = table.entries[i];
    const std::string_view kind = cells[kinds][i];
    const bool self = i / n == i % n;
    if (self != (kind == "0" || kind == "X"))
      return Table::fail("The table of link types does not have 0 where a GPU meets itself; a column is missing.");
    if (self) {
      entry.label = TopologyLabel::self;
      continue;
    }
    if (kind != "XGMI" && kind != "PCIE")
      return Table::fail("The table of link types has " + topology_quote(kind) + ", which is neither XGMI nor PCIE.");
    entry.label = kind == "XGMI" ? TopologyLabel::xgmi : TopologyLabel::unknown;
    entry.count = 1;
    if (cells[1].empty()) continue;
    const auto hops = topology_number(cells[1][i]);
    if (!hops || *hops < 1 || *hops > 64)
      return Table::fail("The table of hops has " + topology_quote(cells[1][i]) +
                         " where a number from 1 to 64 belongs.");
    entry.count = *hops;
  }
  read_numa(words, table);
  return Table::ok(std::move(table));
}

}  // namespace models::parallel
