#include "models/parallel/topology/topology_parse.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "models/parallel/topology/topology_words.h"

namespace models::parallel {
namespace {

using Table = Result<TopologyTable>;
using Label = TopologyLabel;

/// A word of the table as its entry, or nothing where it is no label.
std::optional<TopologyEntry> entry_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Label>, 8> labels{{{"X", Label::self},
                                                                      {"PIX", Label::pix},
                                                                      {"PXB", Label::pxb},
                                                                      {"PHB", Label::phb},
                                                                      {"NODE", Label::node},
                                                                      {"SYS", Label::sys},
                                                                      {"SOC", Label::sys},  // before driver 390
                                                                      {"XGMI", Label::xgmi}}};
  for (const auto& [text, label] : labels)
    if (word == text) return TopologyEntry{label, 0};
  if (!word.starts_with("NV") || word.size() < 3) return std::nullopt;
  const std::optional<std::int32_t> links = topology_number(word.substr(2));
  if (!links || *links < 1 || *links > 64) return std::nullopt;
  return TopologyEntry{Label::nvlink, *links};
}

/// "GPU0"; adapters are "NIC0" and, of older programs, "mlx5_0", "ibp12s0" and the like.
bool is_gpu(std::string_view word) { return word.starts_with("GPU") && topology_number(word.substr(3)).has_value(); }
bool is_adapter(std::string_view word) { return word.starts_with("NIC") || word.find('_') != std::string_view::npos; }
bool is_affinity_title(std::string_view word) {
  return word == "CPU" || word == "Affinity" || word == "NUMA" || word == "GPU" || word == "ID";
}

/// The words of the table's title line, as devices; where the line is wrapped, of the lines that it is wrapped over.
std::size_t read_titles(const TopologyWords& words, std::size_t at, TopologyTable& table) {
  while (at < words.size()) {
    const std::string_view word = words[at].text;
    const bool known = std::any_of(table.devices.begin(), table.devices.end(),
                                   [&](const TopologyDevice& d) { return d.name == word; });
    if (known || entry_of(word) || table.devices.size() > max_topology_devices) break;
    ++at;
    if (is_affinity_title(word)) continue;
    table.devices.push_back({std::string(word), is_gpu(word), {}, -1});
  }
  return at;
}

/// What stands behind a row's labels: CPU affinity, NUMA affinity, NUMA number of the GPU.
void read_affinity(std::string_view words_behind_second, TopologyDevice& device) {
  const std::string_view digits = words_behind_second.substr(0, words_behind_second.find_first_not_of("0123456789"));
  if (const auto numa = topology_number(digits)) device.numa = *numa;
}

std::string row_sentence(std::string_view device, std::string_view what) {
  return "The row of " + topology_quote(device) + " " + std::string(what);
}

/// Reads what nvidia-smi topo -m prints: titles, rows of labels with affinities, and the legend of adapters.
class NvidiaTable {
 public:
  NvidiaTable(const TopologyWords& words, std::size_t first) : words_(words), at_(read_titles(words, first, table_)) {}

  Table read() {
    const std::size_t n = devices();
    if (n > max_topology_devices)
      return Table::fail("The table's title line has more than " + std::to_string(max_topology_devices) + " devices.");
    table_.entries.assign(n * n, {});
    read_.assign(n, false);
    while (at_ < words_.size() && !ended_) {
      if (words_[at_].text == "Legend:" || words_[at_].text == "Legend") break;
      if (const Status row = read_row(); !row) return Table::fail(row.error);
    }
    for (std::size_t row = 0; row < n; ++row)
      if (!read_[row]) return Table::fail(row_sentence(name_of(row), "is missing; paste the whole table."));
    read_adapters();
    return Table::ok(std::move(table_));
  }

 private:
  std::size_t devices() const { return table_.devices.size(); }
  const std::string& name_of(std::size_t device) const { return table_.devices[device].name; }
  /// The device of that name; devices() where there is none.
  std::size_t device_of(std::string_view word) const {
    return static_cast<std::size_t>(std::find_if(table_.devices.begin(), table_.devices.end(),
                                                 [&](const TopologyDevice& d) { return d.name == word; }) -
                                    table_.devices.begin());
  }

  /// A row, or a word that is none: affinities of the row before, or what stands around the table.
  Status read_row() {
    const std::size_t row = device_of(words_[at_].text);
    if (row == devices()) {
      ++at_;
      return Status::ok();
    }
    if (read_[row]) {
      ended_ = at_ + 1 >= words_.size() || !entry_of(words_[at_ + 1].text);
      return ended_ ? Status::ok()
                    : Status::fail(row_sentence(name_of(row), "stands in the table twice; paste one table alone."));
    }
    ++at_;
    for (std::size_t column = 0; column < devices(); ++column, ++at_)
      if (const Status entry = read_entry(row, column); !entry) return entry;
    read_[row] = true;
    read_behind(row);
    return Status::ok();
  }

  Status read_entry(std::size_t row, std::size_t column) {
    if (at_ >= words_.size())
      return Status::fail(row_sentence(name_of(row), "ends after " + std::to_string(column) + " of " +
                                                         std::to_string(devices()) +
                                                         " labels; paste the whole table."));
    const auto entry = entry_of(words_[at_].text);
    if (!entry)
      return Status::fail(row_sentence(
          name_of(row), "has " + topology_quote(words_[at_].text) + " for " + topology_quote(name_of(column)) +
                            ", which is no label of nvidia-smi: X, NV#, PIX, PXB, PHB, NODE or SYS."));
    if ((entry->label == Label::self) != (row == column) || entry->label == Label::xgmi)
      return Status::fail(
          row_sentence(name_of(row), "does not have its X under its own name; a column is missing or too many."));
    table_.entries[row * devices() + column] = *entry;
    return Status::ok();
  }

  /// What stands behind a row's labels, on its last line.
  void read_behind(std::size_t row) {
    std::size_t behind = 0;
    while (at_ < words_.size() && words_[at_].line == words_[at_ - 1].line &&
           device_of(words_[at_].text) == devices()) {
      if (++behind == 1 && words_[at_].text[0] >= '0' && words_[at_].text[0] <= '9')
        table_.devices[row].cpus = words_[at_].text;
      if (behind == 2) read_affinity(words_[at_].text, table_.devices[row]);
      ++at_;
    }
  }

  /// The legend of adapters: "NIC0: mlx5_0".
  void read_adapters() {
    for (; at_ + 1 < words_.size(); ++at_) {
      std::string_view word = words_[at_].text;
      if (!word.ends_with(':')) continue;
      word.remove_suffix(1);
      const std::size_t device = device_of(word);
      if (device < devices() && !table_.devices[device].chip)
        table_.devices[device].adapter = words_[at_ + 1].text.substr(0, 40);
    }
  }

  const TopologyWords& words_;
  TopologyTable table_;
  std::size_t at_;          ///< the next word
  std::vector<bool> read_;  ///< rows that were read
  bool ended_ = false;      ///< a device's name stands again without labels behind it: the table is over
};

Table parse_nvidia(const TopologyWords& words, std::size_t first) { return NvidiaTable(words, first).read(); }

Table checked(Table table) {
  if (!table) return table;
  const std::size_t n = table->devices.size();
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      const TopologyEntry &there = table->at(a, b), &back = table->at(b, a);
      if (there.label != back.label || there.count != back.count)
        return Table::fail("The table says one thing of " + topology_quote(table->devices[a].name) + " and " +
                           topology_quote(table->devices[b].name) + " and another of " +
                           topology_quote(table->devices[b].name) + " and " + topology_quote(table->devices[a].name) +
                           "; paste it unchanged.");
    }
  const auto chips =
      std::count_if(table->devices.begin(), table->devices.end(), [](const TopologyDevice& d) { return d.chip; });
  if (chips == 0) return Table::fail("The table names no GPU.");
  return table;
}

}  // namespace

std::string_view topology_label_text(TopologyLabel label) {
  constexpr std::array<std::string_view, topology_label_count> texts{"X",   "NV",   "XGMI", "PIX", "PXB",
                                                                     "PHB", "NODE", "SYS",  "PCIE"};
  return texts[static_cast<std::size_t>(label)];
}

Result<TopologyTable> parse_topology_table(std::string_view text) {
  if (text.size() > max_topology_text_bytes)
    return Table::fail("The text is longer than 256 KiB; paste the table alone.");
  const std::string plain = topology_plain_text(text);
  const TopologyWords words = topology_words(plain);
  if (words.empty())
    return Table::fail("There is no text yet; paste what nvidia-smi topo -m or rocm-smi --showtopo prints.");
  if (const std::size_t amd = find_rocm_table(words); amd < words.size()) return checked(parse_rocm(words));
  // The title line begins with a GPU and names further devices or affinities alone. Where other lines look like one,
  // the first that a whole table follows counts, else what was wrong with the longest.
  constexpr int max_tries = 16;
  std::string error;
  std::size_t longest = 0;
  int tries = 0;
  for (std::size_t at = 0; at < words.size() && tries < max_tries; ++at) {
    const bool begins = at == 0 || words[at - 1].line != words[at].line;
    if (!begins || !is_gpu(words[at].text)) continue;
    const bool alone = at + 1 == words.size() || words[at + 1].line != words[at].line;
    if (!alone && !is_gpu(words[at + 1].text) && !is_affinity_title(words[at + 1].text) &&
        !is_adapter(words[at + 1].text))
      continue;
    ++tries;
    Table table = checked(parse_nvidia(words, at));
    if (table) return table;
    std::size_t devices = 0;
    while (at + devices < words.size() && words[at + devices].line == words[at].line) ++devices;
    if (devices > longest) error = table.error;
    longest = std::max(longest, devices);
  }
  if (!error.empty()) return Table::fail(error);
  return Table::fail(
      "There is no line of device names such as GPU0 GPU1; paste what nvidia-smi topo -m or rocm-smi --showtopo "
      "prints.");
}

}  // namespace models::parallel
