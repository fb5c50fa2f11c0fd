#include <algorithm>
#include <cmath>

#include "chapters/training/dashboard/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::dashboard {
namespace {

using widgets::format_text;

constexpr std::string_view minus = "\xE2\x88\x92";

/// A change in the unit of its column: "−57.5", "+8.9", "0.0".
std::string change_text(const widgets::UnitScale& scale, double value, int decimals) {
  if (!std::isfinite(value)) return "\xE2\x80\x94";
  const double power = std::pow(10.0, decimals), rounded = std::round(std::abs(value / scale.factor) * power) / power;
  std::string digits = std::to_string(static_cast<long long>(rounded));
  const auto part = static_cast<long long>(std::llround((rounded - std::floor(rounded)) * power));
  std::string fraction = std::to_string(part);
  if (decimals > 0)
    digits += "." +
              std::string(static_cast<std::size_t>(decimals) -
                              std::min<std::size_t>(fraction.size(), static_cast<std::size_t>(decimals)),
                          '0') +
              fraction;
  if (rounded == 0) return digits;
  return (value < 0 ? std::string(minus) : std::string("+")) + digits;
}

int decimals_for(double largest) { return largest >= 1000 ? 0 : largest >= 10 ? 1 : 2; }

/// Who waits for so much longer that a switch takes nothing; empty where nobody does.
std::string_view taken_back_by(const SwitchRow& row, double step_s) {
  constexpr std::array<std::string_view, part_count> who{
      "", "", "", "", "", "", "the all-reduce", "the loader", "the host", "the host"};
  for (std::size_t i = 0; i < part_count; ++i)
    if (part_look(i).wait && row.after[i] - row.before[i] > slight * step_s) return who[i];
  return "";
}

/// What stands after a row's bites.
std::string note_of(const SwitchRow& row, double step_s) {
  if (!row.possible) return "not here";
  if (std::abs(row.change_s) > slight * step_s) return row.on ? "saved" : "";
  if (const std::string_view who = taken_back_by(row, step_s); !who.empty())
    return std::string(who) + " is waited for instead";
  if (std::abs(row.memory_bytes) > 1e8) return "memory alone";
  return row.on ? "saved nothing" : "nothing yet";
}

std::string info_of(const SwitchRow& row) {
  if (!row.possible) return row.why_not;
  std::string out = "Changes the step by " + format_text(row.change_s, "s") + ", and by " +
                    (std::isfinite(row.first_s) ? format_text(row.first_s, "s") : std::string("nothing known")) +
                    " if it is the first. Peak memory: " + format_text(row.memory_bytes, "B") + ".";
  if (row.claimed > 0) out += " The study says " + format_text(row.claimed, "") + "\xC3\x97 as fast.";
  return out;
}

void fill_rows(const Outputs& out, Picture& p) {
  const double most_s = std::max(out.found.step_s(), out.now.step_s());
  const widgets::UnitScale time = widgets::unit_scale(most_s < 10 ? std::min(most_s, 0.5) : most_s, "s"),
                           memory = widgets::unit_scale(1e9, "B");
  const int decimals = decimals_for(most_s / time.factor);
  static constexpr std::array<std::string_view, 3> names{"ms", "s", "\xC2\xB5s"};
  const std::string_view unit = time.unit.view();
  const bool ms = unit == names[0];
  p.titles = {ms                 ? "change, ms"
              : unit == names[1] ? "change, s"
                                 : "change",
              "if first", "GB", "\xC3\x97 here", "study"};
  for (std::size_t i = 0; i < out.switches.size(); ++i) {
    const SwitchRow& row = out.switches[i];
    RowWords& words = p.rows[i];
    words.figures = {change_text(time, row.change_s, decimals), change_text(time, row.first_s, decimals),
                     change_text(memory, row.memory_bytes, 1),
                     row.possible ? format_text(row.speedup, "") : "\xE2\x80\x94",
                     row.claimed > 0 ? format_text(row.claimed, "") : "\xE2\x80\x94"};
    if (std::isfinite(row.memory_bytes))
      words.other_peak_bytes = out.peak_bytes + (row.on ? -row.memory_bytes : row.memory_bytes);
    words.note = note_of(row, most_s);
    words.info = info_of(row);
    if (row.possible && std::abs(row.memory_bytes) > 1e6)
      words.memory = (row.memory_bytes < 0 ? std::string(minus) : std::string("+")) +
                     format_text(std::abs(row.memory_bytes), "B") + (row.on ? " by " : " with ") + row.name;
    if (!row.on && row.name == out.next) p.lit = static_cast<std::ptrdiff_t>(i);
  }
}

using widgets::figure;

bool paced_by_loader(const PressedStep& step) { return step.bottleneck() == Part::loader && step.floor_s() > 0; }

/// What the step as found is.
std::string found_verdict(const Outputs& out) {
  const std::string step = "As found a step takes " + figure(out.now.step_s(), "s");
  if (paced_by_loader(out.now)) return step + ", as long as the loader needs for a batch.";
  return step + "; " + figure(out.bottleneck_share, "%") + " of it is " + out.bottleneck + ", its largest part.";
}

/// What the last switch did, and what it would have done alone.
std::string last_verdict(const Inputs& in, const Outputs& out) {
  const double step_s = out.now.step_s();
  const std::string step = figure(step_s, "s"), last = out.last == "torch.compile" ? "Using torch.compile" : out.last;
  const SwitchRow& row =
      *std::find_if(out.switches.begin(), out.switches.end(), [&](const SwitchRow& r) { return r.name == out.last; });
  if (std::abs(out.last_s) <= slight * step_s) {
    const std::string_view who = taken_back_by(row, step_s);
    if (who.empty()) return last + " saved no time: the step stays at " + step + ".";
    return last + " saved no time, because " + std::string(who) + " is waited for instead: the step stays at " + step +
           ".";
  }
  const bool saved = out.last_s < 0;
  const std::string did = last + (saved ? " saved " : " cost ") + figure(std::abs(out.last_s), "s");
  if (!(std::abs(out.last_s - out.last_first_s) > 0.02 * out.found.step_s()))
    return did + ": the step takes " + step + ".";
  if (std::abs(out.last_first_s) <= slight * out.found.step_s()) {
    const bool loading =
        paced_by_loader(out.found) && in.on[0] && in.order == Order::listed && out.last != switch_name(0);
    return did + ", but only because " + (loading ? "loading was fixed first" : "others came first") +
           "; alone it saves nothing.";
  }
  return did + "; pressed first it " + (out.last_first_s < 0 ? "saves " : "costs ") +
         figure(std::abs(out.last_first_s), "s") + ".";
}

std::string next_of(const Outputs& out) {
  const std::string step = figure(out.now.step_s(), "s");
  if (!out.fits) {
    const std::string over = "The step does not fit, by " + figure(-out.free_bytes, "B");
    if (out.next == "none") return over + ", and no single switch frees memory.";
    return over + ": " + out.next + " would free " + figure(std::abs(out.next_bytes), "B") +
           (out.next_bytes <= out.free_bytes ? "." : ", not enough alone.");
  }
  if (out.next == "none")
    return out.now.bottleneck() == Part::loader ? "The loader sets the pace: no other switch shortens the step."
                                                : "No other switch shortens the step.";
  return "Next best: " + out.next + ", which would save " + figure(-out.next_s, "s") + " of the " + step + ".";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  std::string verdict = out.last == "none" ? found_verdict(out) : last_verdict(in, out);
  if (!out.fits && out.last == "none") verdict.front() = 'a';  // within the sentence; names of switches keep theirs
  if (!out.fits) return next_of(out) + "\nWith enough memory: " + verdict;
  return verdict + "\n" + next_of(out);
}

}  // namespace

const PartLook& part_look(std::size_t part) {
  using widgets::Meaning;
  using widgets::Tint;
  static constexpr std::array<PartLook, part_count> looks{{
      {Meaning::compute_bound, false},
      {Tint::series(3), false},
      {Tint::series(1), false},
      {Tint::series(0), false},
      {Tint::series(4), false},
      {Meaning::optimizer, false},
      {Meaning::communication, true},
      {Meaning::data_loading, true},
      {Meaning::launch_bound, true},
      {Meaning::idle, true},
  }};
  return looks[part];
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || out.switches.size() < step_switch_count) return p;
  p.answer = answer_of(in, out);
  fill_rows(out, p);
  p.found_total = format_text(out.found.step_s(), "s");
  p.now_total = format_text(out.now.step_s(), "s");
  const double gone = out.found_peak_bytes - out.peak_bytes;
  if (std::abs(gone) > 1e6)
    p.since_found = std::string(gone >= 0 ? minus : "+") + format_text(std::abs(gone), "B") + " since found";
  std::size_t count = 0;
  for (const SwitchRow& row : out.switches) count += row.on ? 1 : 0;
  p.now_note = std::to_string(count) + " of " + std::to_string(step_switch_count) + " on";
  p.floor_note = format_text(out.floor_s, "s") + (out.now.step.setup.loader.workers > 0
                                                      ? " per batch: no step is shorter"
                                                      : " per batch, by the training process itself");
  widgets::Curve floor{.label = "the loader alone", .tint = widgets::Tint::series(0)};
  widgets::Curve found{.label = "no other switch", .tint = widgets::Tint::series(1)};
  widgets::Curve now{.label = "with those that are on", .tint = widgets::Tint::series(2)};
  for (const WorkersPoint& point : run.by_workers) {
    const auto workers = static_cast<double>(point.workers);
    floor.add(workers, point.floor_s);
    found.add(workers, point.found_s);
    now.add(workers, point.now_s);
  }
  p.by_workers = {std::move(floor), std::move(found), std::move(now)};
  p.trace_link = step_trace_link(in, out);
  return p;
}

}  // namespace chapters::training::dashboard
