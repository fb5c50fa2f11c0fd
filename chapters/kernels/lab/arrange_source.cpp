#include <cmath>

#include "chapters/kernels/lab/arrange_parts.h"
#include "models/base/line_diff.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Ladder;
using widgets::format_text;

/// Lines "12 error text" or "12 note text" of a run's diagnostics.
std::vector<Note> notes_of(std::string_view lines) {
  std::vector<Note> out;
  for (std::string_view line : models::split_lines(lines)) {
    Note note;
    std::size_t i = 0;
    while (i < line.size() && i < 6 && line[i] >= '0' && line[i] <= '9') note.line = note.line * 10 + (line[i++] - '0');
    while (i < line.size() && line[i] == ' ') ++i;
    note.error = line.substr(i, 6) == "error ";
    const auto space = line.find(' ', i);
    note.text = space == std::string_view::npos ? std::string(line.substr(i)) : std::string(line.substr(space + 1));
    out.push_back(std::move(note));
  }
  return out;
}

/// What the compiler reports of a kernel; empty when it was not compiled for a GPU.
std::string report_of(const RunRow& r) {
  if (r.arch.empty()) return {};
  std::string out = r.arch + ": " + format_text(static_cast<double>(r.registers), "", 6) + " registers per thread";
  const double spilled = static_cast<double>(r.spill_store_bytes) + static_cast<double>(r.spill_load_bytes);
  out += spilled > 0 ? ", " + format_text(spilled, "B") + " spilled" : ", nothing spilled";
  if (r.shared_bytes > 0)
    out += ", " +
           std::string(widgets::format(static_cast<double>(r.shared_bytes), "B", 3, widgets::Prefix::binary).view()) +
           " shared";
  if (r.block_threads > 0)
    out += ", " + format_text(static_cast<double>(r.block_threads), "", 6) + " threads per block";
  return out;
}

/// Why the next rung is faster.
std::string next_text_of(const Outputs& out, const Run& run) {
  const auto& rungs = run.ladder->rungs;
  const std::size_t next = run.selected + 1;
  if (next >= run.rungs.size()) return "This is the last rung. " + std::string(rungs[run.selected].change);
  std::string text = "Next, " + std::string(rungs[next].title) + ": " + std::string(rungs[next].change);
  if (text.back() != '.') text += ".";
  const RatedRung& before = run.rungs[run.selected];
  const RatedRung& after = run.rungs[next];
  if (shown(after) && shown(before))
    text += " Measured: " + format_text(before.run->time_s / after.run->time_s, "") + " times as fast.";
  else if (after.predicted > 0 && std::abs(out.rung.next_gain - 1) < 0.015)
    text += " The model allows the same rate.";
  else if (after.predicted > 0)
    text += " The model allows " + format_text(out.rung.next_gain, "") +
            (out.rung.next_gain < 1 ? " of the rate." : " times the rate.");
  return text;
}

}  // namespace

SourcePicture arrange_source(const Inputs& in, const Outputs& out, const Run& run) {
  const Ladder& ladder = *run.ladder;
  const ::kernels::Rung& rung = run.rung();
  SourcePicture source;
  const std::string_view before = run.selected == 0 ? rung.source : ladder.rungs[run.selected - 1].source;
  const auto diff = models::diff_lines(before, rung.source);
  const auto lines = models::split_lines(rung.source);
  for (std::size_t i = 0; i < lines.size(); ++i) source.lines.push_back({lines[i], diff.changed[i]});
  source.next_text = next_text_of(out, run);
  if (const auto& latest = run.rungs[run.selected].run) {
    source.failure = latest->failure;
    source.report_text = report_of(*latest);
    source.notes = notes_of(latest->diagnostics);
  }
  const RunRow* edited = run_of(in, ladder, rung.id, out.size, true);
  if (!edited) return source;
  source.edited_result = true;
  source.edited_text = timed(edited)
                           ? "Yours: " + rate_text(ladder, edited->flops, edited->bytes, edited->time_s) + "; "
                           : edited->failure + " ";
  source.edited_text += report_of(*edited);
  source.notes = notes_of(edited->diagnostics);
  return source;
}

}  // namespace chapters::kernels::lab
