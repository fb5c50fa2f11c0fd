#include <cmath>

#include "chapters/interview/cheat_sheet/lab.h"
#include "widgets/number/number.h"

/// The page as Markdown: two sheets with a rule between them.
namespace chapters::interview::cheat_sheet {
namespace {

/// A cell of a table: what would end it is escaped.
std::string in_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

class Table {
 public:
  explicit Table(std::string& to) : to_(to) {}
  Table& row(std::initializer_list<std::string_view> cells) {
    for (const std::string_view cell : cells) add(cell);
    end();
    return *this;
  }
  void add(std::string_view cell) {
    to_ += "| " + in_cell(cell) + " ";
    ++columns_;
  }
  void end() {
    to_ += "|\n";
    if (!headed_) {
      for (std::size_t i = 0; i < columns_; ++i) to_ += i == 0 ? "| --- " : "| ---: ";
      to_ += "|\n";
    }
    headed_ = true;
    columns_ = 0;
  }

 private:
  std::string& to_;
  std::size_t columns_ = 0;
  bool headed_ = false;
};

/// The same with every column to the left: words.
class WordTable {
 public:
  WordTable(std::string& to, std::initializer_list<std::string_view> heads) : to_(to) {
    row(heads);
    for (std::size_t i = 0; i < heads.size(); ++i) to_ += "| --- ";
    to_ += "|\n";
  }
  void row(std::initializer_list<std::string_view> cells) {
    for (const std::string_view cell : cells) to_ += "| " + in_cell(cell) + " ";
    to_ += "|\n";
  }

 private:
  std::string& to_;
};

void write_matrix(const Outputs& out, std::string& page) {
  page += "## What moves what\n\n";
  Table table(page);
  table.add("Technique, with over without");
  for (const ColumnWords& c : column_words()) table.add(c.head);
  table.end();
  for (const TechniqueRow& r : out.techniques) {
    table.add(r.technique);
    for (const double f : r.factor) table.add(factor_text(f));
    table.end();
  }
  page += "\n";
  for (const ColumnWords& c : column_words()) page += std::string(c.head) + ": " + std::string(c.full) + " ";
  page += "\n\n";
}

void write_ladder(const Inputs& in, const Outputs& out, std::string& page) {
  page += "## Bandwidth and latency\n\n";
  WordTable table(page, {"Level", "Bandwidth", widgets::format_text(in.bytes, "B") + " takes", "First byte",
                         "Where the figures are from"});
  for (const LevelRow& r : out.levels) {
    std::string source = r.bandwidth_source;
    if (r.latency_source != source) source += (source.empty() ? "" : "; latency ") + r.latency_source;
    // A note to those who keep the figures, which says nothing on paper.
    if (const auto note = source.find(" (not re-read)"); note != std::string::npos) source.erase(note, 14);
    table.row({r.level, std::isnan(r.bytes_per_s) ? "" : widgets::format_text(r.bytes_per_s, "B/s"),
               std::isnan(r.time_s) ? "" : widgets::format_text(r.time_s, "s"),
               std::isnan(r.latency_s) ? "" : widgets::format_text(r.latency_s, "s"), source});
  }
  page += "\n";
}

std::string_view chain_goal(std::string_view chain) {
  for (const ChainWords& words : chain_words())
    if (words.name == chain) return words.goal;
  return {};
}

void write_chains(const Outputs& out, std::string& page) {
  page +=
      "## What to do first\n\nAt each place the step that gains most there. A gain is a ratio of what is left, so that "
      "a later one can be "
      "larger: what it removes has become a larger share. Chains begin with nothing, while the factors above are "
      "held against an engine that has FlashAttention, fused kernels and a graph.\n\n";
  std::string chain;
  for (const ChainRow& r : out.chains) {
    if (r.chain != chain) {
      page += (chain.empty() ? "- **" : "\n- **") + r.chain + "** (" + std::string(chain_goal(r.chain)) + "): ";
      chain = r.chain;
    } else {
      page += ", then ";
    }
    page +=
        r.step + " " + (std::isinf(r.gain) ? "(nothing is left)" : widgets::format_text(r.gain, widgets::times_unit));
    if (r.reaches && std::isfinite(r.gain)) page += " (now it fits)";
  }
  page += "\n\n";
}

void write_sums(const Run& run, const Outputs& out, std::string& page) {
  page += "## The sums\n\n";
  WordTable table(page, {"What", "How", "Comes to"});
  for (const SumLine& line : sum_lines(run.in, out, run))
    table.row({line.name, line.text(), line.unit.empty() ? line.value : line.value + " " + line.unit});
  page += "\n";
}

void write_words(const Outputs& out, std::string& page) {
  page += "## When, and when not\n\n";
  WordTable table(page, {"Technique", "When", "Not when", "Measure", "Result"});
  for (std::size_t i = 0; i < out.techniques.size(); ++i) {
    const TechniqueWords& w = technique_words()[i];
    table.row({w.name, w.when, w.when_not, w.measure, w.quality});
  }
  page += "\n";
}

}  // namespace

models::Result<std::string> document_of(const Outputs& out, const Run& run) {
  const Inputs& in = run.in;
  const auto count = [](double n) { return widgets::format_text(n, ""); };
  std::string page = "# Cheat sheet: " + run.model_name + " on " + count(static_cast<double>(in.tensor_parallel)) +
                     " \xC3\x97 " + run.chip_name + "\n\n";
  page += "Batch " + count(static_cast<double>(in.batch)) + ", prompts of " + count(in.prompt_tokens) +
          " tokens, answers of " + count(in.output_tokens) + "; training on " + count(static_cast<double>(in.gpus)) +
          " GPUs over " + run.network_name + ", rows of " + count(static_cast<double>(in.sequence)) +
          " tokens. In the sums a request's cache holds " + count(static_cast<double>(in.context)) + " tokens.\n\n";
  if (!out.holds(in))
    page += "**Does not fit**: memory holds " + count(out.sums.fits) + " of the batch. It is priced all the same.\n\n";
  write_matrix(out, page);
  write_ladder(in, out, page);
  write_chains(out, page);
  page += "---\n\n";
  write_sums(run, out, page);
  write_words(out, page);
  return models::Result<std::string>::ok(std::move(page));
}

}  // namespace chapters::interview::cheat_sheet
