#include "widgets/prose/prose_veil.h"

#include <algorithm>

namespace widgets {
namespace {

const AskedOutput* asked_now = nullptr;

bool is_word_letter(char c) {
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80) != 0;
}
char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; }

/// Whole words, whatever their capital letters.
bool says(std::string_view text, std::string_view words) {
  if (words.empty()) return false;
  const auto same = [](char a, char b) { return small_letter(a) == small_letter(b); };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), words.begin(), words.end(), same);
    if (at == text.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(words.size());
    if ((at == text.begin() || !is_word_letter(*(at - 1))) && (end == text.end() || !is_word_letter(*end))) return true;
  }
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What is asked of a stretch of runs: its text from the first to the last.
struct RunsFound {
  bool live = false;
  std::uint32_t begin = 0, end = 0;
};
void read_runs(const ProseDoc& doc, std::uint32_t first, std::uint32_t last, std::string_view key, RunsFound& out) {
  for (std::uint32_t i = first; i < last; ++i) {
    const ProseRun& run = doc.runs[i];
    if (run.kind == ProseRun::Kind::value) {
      const std::string_view live = doc.values.keys[run.index];
      out.live |= live.substr(0, live.find_first_of(".:")) == key;
    }
    if (run.kind != ProseRun::Kind::text || run.end <= run.begin) continue;
    if (out.end <= out.begin) out.begin = run.begin;
    out.end = std::max(out.end, run.end);
  }
}

}  // namespace

bool answers_question(const ProseDoc& doc, const ProseBlock& block, const AskedOutput& asked) {
  if (block.kind == ProseBlock::Kind::heading || block.kind == ProseBlock::Kind::rule) return false;
  RunsFound found;
  read_runs(doc, block.first_run, block.run_end, asked.key, found);
  for (std::uint32_t i = block.first_cell; i < block.cell_end; ++i)
    read_runs(doc, doc.cells[i].first_run, doc.cells[i].run_end, asked.key, found);
  if (found.live) return true;
  const std::string_view text = doc.shown(found.begin, found.end);
  if (says(text, asked.figure)) return true;
  if (!says(text, asked.label)) return false;
  if (asked.options.empty()) return has_digit(text);
  return std::any_of(asked.options.begin(), asked.options.end(), [&](const std::string& o) { return says(text, o); });
}

VeilProse::VeilProse(const AskedOutput& asked) { asked_now = &asked; }
VeilProse::~VeilProse() { asked_now = nullptr; }
const AskedOutput* prose_asked() { return asked_now; }

}  // namespace widgets
