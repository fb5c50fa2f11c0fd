#include "chapters/profiling/trace_viewer/cards.h"

#include <algorithm>
#include <cmath>

#include "chapters/profiling/trace_viewer/diagnosis_text.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::Diagnosis, models::trace::DiagnosisKind, widgets::format_text, widgets::Meaning, widgets::Tint;

std::string time_of(std::int64_t ns) { return format_text(seconds(ns), "s"); }

std::string share_of(std::int64_t part, std::int64_t whole, std::string_view of) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
  return format_text(share, "%", 3) + " of " + std::string(of);
}

/// The colour that the culprit has in the tracks.
Tint tint_of(DiagnosisKind kind) {
  switch (kind) {
    case DiagnosisKind::idle:
      return Meaning::idle;
    case DiagnosisKind::sync_drains_queue:
    case DiagnosisKind::launches_set_pace:
    case DiagnosisKind::launch_slow:
    case DiagnosisKind::starts_late:
      return Meaning::launch_bound;
    case DiagnosisKind::data_loader_late:
      return Meaning::data_loading;
    case DiagnosisKind::exposed_communication:
      return Meaning::communication;
    case DiagnosisKind::copies:
      return Tint::series(0);
    case DiagnosisKind::one_kernel_leads:
      return Meaning::forward;
    default:
      return {};
  }
}

void write_figures(const Diagnosis& d, Card& card) {
  const auto time = [&](std::int64_t ns, std::int64_t whole, std::string_view of) {
    card.figure = time_of(ns);
    card.share = share_of(ns, whole, of);
  };
  const auto count = [&](std::string_view of) {
    card.figure = format_text(static_cast<double>(d.part), "", 15);
    card.share = "of " + format_text(static_cast<double>(d.whole), "", 15) + " " + std::string(of);
  };
  switch (d.kind) {
    case DiagnosisKind::no_device:
      card.share = "no row was recognised as a device";
      break;
    case DiagnosisKind::idle:
    case DiagnosisKind::starts_late:
    case DiagnosisKind::launched_in_time:
    case DiagnosisKind::exposed_communication:
      time(d.part, d.whole, time_of(d.whole));
      break;
    case DiagnosisKind::sync_drains_queue:
    case DiagnosisKind::data_loader_late:
    case DiagnosisKind::host_busy:
    case DiagnosisKind::host_blocked:
    case DiagnosisKind::host_unrecorded:
      time(d.part, d.whole, "host waits");
      break;
    case DiagnosisKind::host_slow:
      card.figure = time_of(d.whole);
      card.share = "of host waits, no one call";
      break;
    case DiagnosisKind::copies:
      time(d.part, d.whole, "the busy time");
      break;
    case DiagnosisKind::launch_slow:
    case DiagnosisKind::started_late:
    case DiagnosisKind::launches_set_pace:
      time(d.part, d.whole, "late launches");
      break;
    case DiagnosisKind::queue_full:
      card.figure = format_text(static_cast<double>(d.part), "", 15);
      card.share = "launches ahead of the device";
      break;
    case DiagnosisKind::one_kernel_leads:
      time(d.part, d.whole, "kernel time");
      break;
    case DiagnosisKind::launches_none:
      card.share = "why the device waits cannot be seen";
      break;
    case DiagnosisKind::launches_missing:
      count("tasks have no launch in the file");
      break;
    case DiagnosisKind::kernels_missing:
      count("launches have no work in the file");
      break;
    case DiagnosisKind::durations_doubtful:
      count("tasks overlap on one stream");
      break;
  }
}

/// "rank `1`, device `0`".
std::string marked_name(const std::string& label) {
  std::string out;
  bool digits = false;
  for (const char c : label + " ") {
    const bool digit = c >= '0' && c <= '9';
    if (digit != digits) out += '`';
    digits = digit;
    out += c;
  }
  out.pop_back();
  return out;
}

/// The call that stands out among what the host did while the device waited for it; empty: none does.
std::string_view blamed_call(const Outputs& out, const Run& run) {
  const auto& m = run.main().recording->metrics;
  for (const Diagnosis& d : m.diagnosis)
    if (d.calls_that_stand_out > 0 && d.device < m.devices.size() && m.devices[d.device].device == run.main().device &&
        !out.host_rows.empty())
      return out.host_rows.front().name;
  return {};
}

/// The culprit's costliest collective as it stands in the recording shown first; nowhere where that took no part.
Place place_of_costliest(const Run& run) {
  const models::trace::Collective* costliest = nullptr;
  for (const auto& c : run.waits.collectives)
    if (static_cast<int>(c.last) == run.waits.culprit && (!costliest || c.cost_ns > costliest->cost_ns)) costliest = &c;
  const std::uint32_t event = costliest ? costliest->events[run.chosen] : models::trace::none;
  if (event == models::trace::none) return {};
  const auto& e = run.main().recording->trace.events[event];
  return {run.lanes->seconds(0, e.start_ns), run.lanes->seconds(0, e.end_ns()), run.lanes->span_of(0, event)};
}

/// The largest part of the idle time, in words: ", nearly all of it waiting for the host"; empty where none reaches 1
/// %.
std::string largest_idle_part(const Outputs& out) {
  const auto known = [](double share_or_nan) { return std::isfinite(share_or_nan) ? share_or_nan : 0; };
  const double before = known(out.causes.before_share), inside = known(out.causes.inside_share),
               after = known(out.causes.after_share), between = known(out.causes.kernel_share),
               other = known(out.causes.other_share);
  const double largest = std::max({before, inside, after, between, other}), idle = out.times.idle_share;
  if (largest < 1) return {};
  const std::string part = largest >= 0.9 * idle   ? ", nearly all of it "
                           : largest >= 0.5 * idle ? ", most of it "
                                                   : ", the largest part of it ";
  if (largest == inside) return part + "inside a launching call";
  if (largest == after) return part + "after the launching call had returned";
  if (largest == between) return part + "in short gaps between kernels";
  if (largest == other) return part + "although the next work was launched";
  return part + "waiting for the host";
}

/// What passed before the first task of the chosen device, where that is worth a finding; null otherwise.
const models::trace::Head* late_head(const Run& run) {
  const models::trace::DeviceMetrics* d = run.main().metrics();
  for (const Diagnosis& f : run.main().recording->metrics.diagnosis)
    if (d && f.kind == DiagnosisKind::starts_late && &run.main().recording->metrics.devices[f.device] == d)
      return &d->head;
  return nullptr;
}

/// "In step `2` rank `0`": the time that is looked at, and whose it is. `second`: after another sentence, without the
/// number of the step.
std::string scope_of(const Inputs& in, const Outputs& out, const Run& run, bool second) {
  std::string s = "In this recording ";
  if (in.step > 0 && out.steps > 0 && second)
    s = "In the step shown ";
  else if (in.step > 0 && out.steps > 0)
    s = "In step `" + std::to_string(std::min(in.step, out.steps)) + "` ";
  else if (out.steps > 1)
    s = "Over all steps ";
  return s + (run.rows.size() > 1 ? marked_name(run.main().label()) : "the device");
}

/// The largest loss of the time looked at.
std::string loss_verdict(const Inputs& in, const Outputs& out, const Run& run, bool second) {
  const double exposed = std::isfinite(out.communication.exposed_share) ? out.communication.exposed_share : 0;
  const std::string of = " of `" + format_text(out.times.span_s, "s", 3) + "`", scope = scope_of(in, out, run, second);
  if (std::max(exposed, out.times.idle_share) < 1)
    return scope + " is busy `" + format_text(out.times.busy_share, "%", 3) + "`" + of + ".";
  if (exposed >= out.times.idle_share)
    return scope + " only communicates for `" + format_text(exposed, "%", 3) + "`" + of +
           " and computes nothing meanwhile.";
  const std::string idle = scope + " is idle for `" + format_text(out.times.idle_share, "%", 3) + "`" + of;
  if (out.times.idle_share >= hardly_used_percent) return idle + ": hardly anything ran, so this is no steady step.";
  return idle + (out.launches == 0 ? "; no launching call was recorded to say why." : largest_idle_part(out) + ".");
}

/// What explains the loss, or what stands next to it; empty where nothing does.
std::string loss_reason(const Inputs& in, const Outputs& out, const Run& run) {
  if (std::isfinite(out.beside.speedup))
    return "A step takes `" + format_text(out.step_time_s, "s", 3) + "`; in the run shown with it, `" +
           format_text(out.beside.step_time_s, "s", 3) + "`.";
  const bool whole = in.step == 0 || out.steps == 0;
  std::string s;
  constexpr std::size_t most = 30;
  const std::string_view call = whole ? blamed_call(out, run) : std::string_view();
  if (!call.empty() && out.times.idle_share < hardly_used_percent)
    s = std::string("Meanwhile the host was ") + (out.host_rows.front().share > 50 ? "mostly" : "most of all") +
        " in " + said_name(call, most) + ".";
  if (const models::trace::Head* head = whole ? late_head(run) : nullptr)
    s += (s.empty() ? "" : " ") + std::string("The first task came after `") + format_text(seconds(head->ns), "s", 3) +
         (head->of_step ? "` of the step." : "` of the recording.");
  return s;
}

/// Without a device: what the busiest thread did, and where the time of all threads went.
std::string host_answer(const Outputs& out) {
  std::string s = out.events == 0
                      ? "No span could be read."
                      : "No row was recognised as a device in `" +
                            format_text(static_cast<double>(out.events), "", 15) +
                            (out.events == 1 ? "` event" : "` events") + ": its rows are shown as they are.";
  if (out.span_rows.empty() || !(out.span_rows.front().share > 0)) return s;
  constexpr std::size_t most = 40;
  const SpanRow& first = out.span_rows.front();
  return s + "\nThe largest part of the threads' time, `" + format_text(first.share, "%", 3) + "`, is in " +
         said_name(first.name, most) + " itself.";
}

}  // namespace

std::string said_name(std::string_view name, std::size_t most) {
  // What follows a # tells objects apart, not calls: "enumerate(DataLoader)#_MultiProcessingDataLoaderIter".
  for (std::size_t i = 1; i < name.size(); ++i)
    if (name[i] == '#' && name[i - 1] != '#' && name[i - 1] != ' ') {
      name = name.substr(0, i);
      break;
    }
  std::string out(name.substr(0, most));
  if (name.size() > most) {
    std::size_t end = most - 1;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // never inside a character
    out = std::string(name.substr(0, end)) + "…";
  }
  for (char& c : out)
    if (c == '`' || static_cast<unsigned char>(c) < 0x20) c = '\'';
  return out;
}

std::vector<Card> cards_of(const Outputs& out, const Run& run) {
  const Row& main = run.main();
  const auto& diagnosis = main.recording->metrics.diagnosis;
  std::vector<Card> cards;
  for (const Finding& f : out.findings) {
    Card& card = cards.emplace_back();
    card.title = f.title;
    card.sentence = f.finding;
    if (f.diagnosis < 0) {
      card.figure = format_text(f.covers_s, "s", 3);
      const bool waits = run.waits.stands_out;
      card.share = waits ? "of waiting, " + format_text(out.late.share, "%", 3) + " of all"
                         : "a step, " + format_text(out.slowest.excess, "%", 3) + " over the other ranks";
      card.tint = waits ? Meaning::communication : Meaning::forward;
      if (waits) card.place = place_of_costliest(run);
      continue;
    }
    const Diagnosis& d = diagnosis[static_cast<std::size_t>(f.diagnosis)];
    write_figures(d, card);
    card.tint = tint_of(d.kind);
    card.hatched = d.kind == DiagnosisKind::idle;
    card.place = {run.lanes->seconds(0, d.start_ns), run.lanes->seconds(0, d.end_ns),
                  d.event == models::trace::none ? widgets::TimelineSelection{} : run.lanes->span_of(0, d.event)};
  }
  return cards;
}

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  if (run.main().device < 0) return host_answer(out);
  if (!(out.times.span_s > 0)) return "The device's work in this recording takes no time.";
  const std::string loss = loss_verdict(in, out, run, run.waits.stands_out);
  if (!run.waits.stands_out) {
    const std::string reason = loss_reason(in, out, run);
    return reason.empty() ? loss : loss + "\n" + reason;
  }
  std::string rank = marked_name(run.rows[static_cast<std::size_t>(run.waits.culprit)].label());
  rank[0] = 'R';
  const std::string costs = std::isfinite(out.late.each_step_s)
                                ? "each other rank `" + format_text(out.late.each_step_s, "s", 3) + "` per step."
                                : "the others `" + format_text(out.late.cost_s, "s", 3) + "` in all.";
  return rank + " arrives last in `" + format_text(out.late.times_last, "") + "` of `" +
         format_text(out.late.collectives, "") + "` collectives and costs " + costs + "\n" + loss;
}

}  // namespace chapters::profiling::trace_viewer
