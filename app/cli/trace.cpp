#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "app/cli/cli.h"
#include "app/cli/table.h"
#include "app/cli/trace_write.h"
#include "app/platform/file.h"
#include "app/platform/file_bytes.h"
#include "app/platform/json.h"
#include "app/platform/quoted_text.h"
#include "chapters/profiling/trace_viewer/diagnosis_text.h"
#include "chapters/profiling/trace_viewer/ranks_text.h"
#include "chapters/profiling/trace_viewer/rows.h"
#include "models/trace/measure/metrics.h"
#include "models/trace/measure/spans.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

namespace viewer = chapters::profiling::trace_viewer;
using models::trace::DeviceMetrics;
using models::trace::Metrics;
using models::trace::Trace;
using viewer::diagnosis_sentence;

Json idle_json(const models::trace::Idle& i) {
  return {{"host_wait_ns", i.host_wait_ns},
          {"kernel_wait_ns", i.kernel_wait_ns},
          {"other_ns", i.other_ns},
          {"gaps", i.gaps},
          {"host_wait_gaps", i.late.gaps},
          {"before_call_ns", i.late.before_ns},
          {"inside_call_ns", i.late.inside_ns},
          {"after_call_ns", i.late.after_ns}};
}

Json device_json(const Trace& t, const DeviceMetrics& d) {
  Json j = {{"device", d.device},   {"events", d.events},   {"busy_ns", d.busy_ns},
            {"idle_ns", d.idle_ns}, {"span_ns", d.span_ns}, {"comp_ns", d.comp_ns},
            {"comm_ns", d.comm_ns}, {"mem_ns", d.mem_ns},   {"exposed_comm_ns", d.exposed_comm_ns}};
  j["overlap_pct_of_comm"] = d.overlap_pct_of_comm < 0 ? Json(nullptr) : Json(d.overlap_pct_of_comm);
  j["idle"] = idle_json(d.idle);
  for (const auto& s : d.streams)
    j["streams"].push_back({{"stream", s.stream},
                            {"events", s.events},
                            {"busy_ns", s.busy_ns},
                            {"idle", idle_json(s.idle)},
                            {"queue_max", s.queue_max}});
  for (std::size_t i = 0; i < d.kernels.size() && i < 10; ++i)
    j["top_kernels"].push_back(
        {{"name", t.strings[d.kernels[i].name]}, {"total_ns", d.kernels[i].total_ns}, {"count", d.kernels[i].count}});
  const auto& w = d.host_wait;
  j["host_wait"] = {{"gaps", w.gaps},
                    {"until_call_ns", w.total_ns},
                    {"after_sync_gaps", w.after_sync},
                    {"after_sync_ns", w.after_sync_ns},
                    {"in", Json::array()}};
  for (std::size_t i = 0; i < w.what.size() && i < 10; ++i)
    j["host_wait"]["in"].push_back(
        {{"name", w.what[i].name == models::trace::none ? Json(nullptr) : Json(t.strings[w.what[i].name])},
         {"ns", w.what[i].ns},
         {"pieces", w.what[i].pieces}});
  j["launch"] = {{"linked", d.launch.linked},
                 {"unlinked", d.launch.unlinked},
                 {"median_delay_ns", d.launch.median_delay_ns},
                 {"max_delay_ns", d.launch.max_delay_ns}};
  return j;
}

/// How much of the recording a replay explains, and what it would win without each finding that can be taken out.
Json replay_json(const viewer::Recording& r) {
  if (r.replayed.won_ns.empty()) return nullptr;
  const models::trace::ReplayFit& fit = r.replayed.fit;
  Json won = Json::array();
  for (std::size_t i = 0; i < r.replayed.won_ns.size(); ++i)
    if (r.replayed.says(i))
      won.push_back({{"finding", diagnosis_sentence(r.trace, r.metrics, r.metrics.diagnosis[i])},
                     {"won_ns", r.replayed.won_ns[i]}});
  return {{"explained", fit.explained},
          {"recorded_ns", fit.recorded_ns},
          {"replayed_ns", fit.replayed_ns},
          {"work", fit.work},
          {"launched", fit.launched},
          {"collectives_without_other_ranks", fit.alone},
          {"won", won}};
}

Json trace_json(const viewer::Recording& r) {
  const Trace& t = r.trace;
  const Metrics& m = r.metrics;
  Json j = {{"file", t.origin}, {"format", t.format}, {"events", t.records}};
  j["rank"] = t.rank < 0 ? Json(nullptr) : Json(t.rank);
  j["world_size"] = t.world_size < 0 ? Json(nullptr) : Json(t.world_size);
  j["devices"] = Json::object();
  for (const auto& d : m.devices) j["devices"][std::to_string(d.device)] = device_json(t, d);
  j["steps"] = Json::array();
  for (const auto& s : m.step_devices)
    j["steps"].push_back({{"step", m.steps[s.step].name},
                          {"device", s.device},
                          {"busy_ns", s.busy_ns},
                          {"idle_ns", s.idle_ns},
                          {"comp_ns", s.comp_ns},
                          {"comm_ns", s.comm_ns},
                          {"mem_ns", s.mem_ns},
                          {"exposed_comm_ns", s.exposed_comm_ns}});
  j["diagnosis"] = Json::array();
  for (const auto& d : m.diagnosis) j["diagnosis"].push_back(diagnosis_sentence(t, m, d));
  j["replay"] = replay_json(r);
  j["losses"] = t.losses;
  return j;
}

std::string time_of(std::int64_t ns) { return widgets::format_text(static_cast<double>(ns) * 1e-9, "s"); }

std::string share_of(std::int64_t part, std::int64_t whole) {
  return widgets::format_text(100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1)),
                              "%");
}

std::string counted(std::int64_t n, const char* one, const char* many) {
  return widgets::format_text(static_cast<double>(n), "", 15) + " " + (n == 1 ? one : many);
}

/// "1.0 ms not launched yet, 493 ms launched late and not begun": the causes of idle time that take any.
std::string idle_parts(const models::trace::Idle& idle) {
  std::string out;
  const auto add = [&](std::int64_t ns, const char* what) {
    if (ns > 0) out += (out.empty() ? "" : ", ") + time_of(ns) + what;
  };
  add(idle.late.before_ns, " not launched yet");
  add(idle.late.inside_ns, " in launching calls");
  add(idle.late.after_ns, " launched late and not begun");
  add(idle.kernel_wait_ns, " between kernels");
  add(idle.other_ns, " for other causes");
  return out;
}

void print_device(std::ostream& out, const DeviceMetrics& d) {
  out << "  GPU " << d.device << ": busy for " << time_of(d.busy_ns) << " of " << time_of(d.span_ns) << ", "
      << share_of(d.busy_ns, d.span_ns);
  if (d.head.ns > 0 && d.head.ns >= d.head.whole_ns / 10)
    out << ", from its first task on; " << time_of(d.head.ns) << " of the "
        << (d.head.of_step ? "first step" : "recording") << " pass before that";
  out << "\n";
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](const char* what, std::int64_t ns, const std::string& more = {}) {
    rows.push_back({std::string("  ") + what, time_of(ns), more});
  };
  row("computation", d.comp_ns);
  if (d.comm_ns > 0)
    row("communication", d.comm_ns,
        share_of(d.comp_and_comm_ns, d.comm_ns) + " of it behind computation, " + time_of(d.exposed_comm_ns) +
            " exposed");
  if (d.mem_ns > 0) row("copies and sets", d.mem_ns);
  row("idle", d.idle_ns,
      d.launch.linked == 0    ? "no launching call was recorded that would say why"
      : d.idle.total_ns() > 0 ? idle_parts(d.idle)
                              : "");
  if (d.launch.linked > 0)
    row("launch delay", d.launch.median_delay_ns, "median; the longest is " + time_of(d.launch.max_delay_ns));
  print_table(out, rows);
}

/// Where the time of the threads went, where no device was recorded.
void print_spans(std::ostream& out, const Trace& t) {
  constexpr std::size_t most = 10;
  const auto spans = models::trace::host_spans(t);
  if (spans.names.empty()) return;
  std::vector<std::vector<std::string>> rows{{"  top spans", "self time", "share", "times", ""}};
  for (std::size_t i = 0; i < std::min(most, spans.names.size()); ++i) {
    const auto& n = spans.names[i];
    rows.push_back({"  " + t.strings[n.name].substr(0, 60), time_of(n.self_ns), share_of(n.self_ns, spans.self_ns),
                    std::to_string(n.count), ""});
  }
  print_table(out, rows);
}

void print(std::ostream& out, const viewer::Recording& r) {
  const Trace& t = r.trace;
  const Metrics& m = r.metrics;
  out << t.origin << ": " << t.format << ", " << counted(t.records, "event", "events");
  if (t.rank >= 0) out << ", rank " << t.rank;
  if (t.rank >= 0 && t.world_size >= 0) out << " of " << t.world_size;
  if (!m.steps.empty()) out << ", " << counted(static_cast<std::int64_t>(m.steps.size()), "step", "steps");
  out << "\n";
  for (const auto& d : m.devices) print_device(out, d);
  for (const viewer::ToldDiagnosis& told : viewer::tell_diagnosis(t, m))
    out << "  - " << told.title << ". " << told.sentence << (r.replayed.says(told.diagnosis) ? " " : "")
        << viewer::replay_sentence(r.replayed, told.diagnosis) << "\n";
  if (m.devices.empty()) print_spans(out, t);
  for (const auto& loss : t.losses) out << "  - Lost: " << loss << "\n";
}

/// Who waits for whom: a row a rank, and the collectives that cost most.
void print_waits(std::ostream& out, const std::vector<viewer::Row>& rows,
                 const std::vector<models::trace::RankStep>& steps) {
  constexpr std::size_t most = 10;
  const auto waits = viewer::job_waits(rows);
  if (!waits.collectives.empty()) {
    std::vector<std::vector<std::string>> table{{"in collectives", "waits", "costs the others", "last in", ""}};
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.push_back({rows[i].label(), time_of(waits.waited_ns[i]), time_of(waits.caused_ns[i]),
                       std::to_string(waits.times_last[i]), ""});
    print_table(out, table);
    auto costliest = waits.collectives;
    std::stable_sort(costliest.begin(), costliest.end(),
                     [](const auto& a, const auto& b) { return a.cost_ns > b.cost_ns; });
    costliest.resize(std::min(costliest.size(), most));
    table = {{"costliest collectives", "cost", "last", ""}};
    for (const auto& c : costliest)
      table.push_back({c.name.substr(0, c.name.find('(')), time_of(c.cost_ns), rows[c.last].label(), ""});
    print_table(out, table);
  }
  out << "  " << viewer::waits_sentences(rows, waits, steps) << "\n";
  if (waits.culprit >= 0)
    if (const auto won = viewer::on_time_sentence(viewer::rank_on_time(rows, waits.culprit)); !won.empty())
      out << "  " << won << "\n";
  const auto longest = models::trace::slowest_rank(steps);
  if (waits.collectives.empty() && viewer::not_one_job(rows, waits).empty() && longest.row >= 0 &&
      longest.excess >= viewer::notable_excess)
    out << "  " << viewer::slowest_sentence(rows, longest) << "\n";
}

/// The same for programs. Rows of `waited_ns` are collectives, columns are ranks; null: no part in it.
Json job_json(std::vector<viewer::RecordingPtr> recordings) {
  const auto left_out = viewer::drop_repeated(recordings);
  const auto rows = viewer::rows_of(recordings);
  const auto steps = viewer::rank_steps(rows);
  const auto w = viewer::job_waits(rows);
  Json j = {{"rows", Json::array()},
            {"one_clock", w.one_clock},
            {"end_spread_ns", w.spread_ns},
            {"total_waited_ns", w.total_ns},
            {"unmatched_kernels", w.unmatched},
            {"culprit", Json(nullptr)},
            {"collectives", Json::array()},
            {"left_out", left_out},
            {"finding", viewer::waits_sentences(rows, w, steps)}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json rank = {{"rank", rows[i].rank()}, {"device", rows[i].device}, {"file", rows[i].recording->trace.origin}};
    if (!w.collectives.empty()) {
      rank["waited_ns"] = w.waited_ns[i];
      rank["caused_ns"] = w.caused_ns[i];
      rank["caused_with_nothing_to_compute_ns"] = w.idle_caused_ns[i];
      rank["times_last"] = w.times_last[i];
    }
    j["rows"].push_back(std::move(rank));
  }
  if (w.culprit >= 0)
    j["culprit"] = {{"rank", rows[static_cast<std::size_t>(w.culprit)].rank()},
                    {"device", rows[static_cast<std::size_t>(w.culprit)].device},
                    {"share_of_waiting", w.culprit_share()},
                    {"stands_out", w.stands_out}};
  if (const auto on_time = viewer::rank_on_time(rows, w.culprit); w.culprit >= 0 && on_time.replayed)
    j["culprit"]["on_time"] = {
        {"spared_ns", on_time.spared_ns}, {"won_ns", on_time.won_ns}, {"explained", on_time.fit.explained}};
  for (const auto& c : w.collectives) {
    Json waited = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i)
      waited.push_back(c.events[i] == models::trace::none ? Json(nullptr) : Json(c.waited_ns[i]));
    j["collectives"].push_back({{"name", c.name},
                                {"last_rank", rows[c.last].rank()},
                                {"last_device", rows[c.last].device},
                                {"cost_ns", c.cost_ns},
                                {"waited_ns", waited}});
  }
  return j;
}

/// What several recordings say together: who is in the job, and who holds the others up.
void print_job(std::ostream& out, std::vector<viewer::RecordingPtr> recordings) {
  for (const auto& left_out : viewer::drop_repeated(recordings)) out << left_out << "\n";
  if (recordings.size() < 2) return;
  const auto rows = viewer::rows_of(recordings);
  const auto steps = viewer::rank_steps(rows);
  std::int64_t spans = 0;
  std::size_t named = 0;
  std::set<std::int64_t> ranks;
  for (const auto& r : recordings) {
    spans += std::count_if(r->trace.events.begin(), r->trace.events.end(),
                           [](const auto& e) { return e.kind == models::trace::EventKind::span; });
    named += r->trace.rank >= 0;
  }
  for (const auto& row : rows) ranks.insert(row.rank());
  const bool apart = !viewer::not_one_job(rows, viewer::job_waits(rows)).empty();
  out << (apart ? "Side by side, " : "One job of ") << counted(static_cast<std::int64_t>(ranks.size()), "rank", "ranks")
      << ": " << counted(static_cast<std::int64_t>(recordings.size()), "recording", "recordings") << ", "
      << counted(spans, "span", "spans") << "\n";
  if (named < recordings.size())
    out << "  Some recordings do not say their rank: those are numbered in the order given.\n";
  std::vector<std::vector<std::string>> table{
      {"a step, mean", "time", "computation", "communication", "exposed", "idle", ""}};
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    models::trace::RankStep sum;
    double n = 0;
    for (const auto& s : steps) {
      if (s.row != i) continue;
      n += 1;
      sum.step_s += s.step_s;
      sum.comp_s += s.comp_s;
      sum.comm_s += s.comm_s;
      sum.exposed_comm_s += s.exposed_comm_s;
      sum.idle_s += s.idle_s;
    }
    if (n == 0) continue;
    const auto mean = [&](double seconds) { return widgets::format_text(seconds / n, "s"); };
    table.push_back({rows[i].label(), mean(sum.step_s), mean(sum.comp_s), mean(sum.comm_s), mean(sum.exposed_comm_s),
                     mean(sum.idle_s), ""});
  }
  print_table(out, table);
  print_waits(out, rows, steps);
  out << "\n";
}

}  // namespace

/// One that cannot be read is a sentence and exit status 2, after the others were printed.
int trace(const Arguments& a, const Streams& s) {
  if (a.words.empty())
    return complain(
        s,
        "Name a trace: ridgeline trace FILE... reads Chrome JSON and rocprofv3 JSON, plain or .gz, and Nsight Systems "
        "SQLite.");
  if (a.has("-o") && a.words.size() != 1) return complain(s, "-o writes one trace: name one file.");
  if (a.has("-o"))
    if (const auto there = folder_exists(a.value("-o")); !there) return complain(s, there.error);
  if (a.has("--extract") && !a.has("-o")) return complain(s, "--extract writes a recording: say where to with -o.");
  const auto window = extract_window(a);
  if (!window) return complain(s, window.error);
  std::vector<viewer::RecordingPtr> recordings;
  int status = 0;
  for (const auto& path : a.words) {
    const auto file = read_file_bytes(path);
    if (!file) {
      status = complain(s, file.error);
      continue;
    }
    auto read = models::trace::read_trace(models::trace::Bytes{(*file)->size_bytes, (*file)->read_at}, path);
    if (!read) {
      // Its path begins the sentence, and may be long.
      status =
          complain(s, read.error.starts_with(path) ? path_text(path) + read.error.substr(path.size()) : read.error);
      continue;
    }
    const auto recording = std::make_shared<viewer::Recording>();
    recording->trace = std::move(*read);
    recording->metrics = models::trace::measure(recording->trace);
    recording->replayed = viewer::replayed(recording->trace, recording->metrics);
    recordings.push_back(recording);
  }
  for (const auto& left_out : viewer::drop_repeated(recordings, false)) s.error << left_out << "\n";
  if (a.has("-o") && !recordings.empty())
    if (const auto written = write_trace(a, recordings[0]->trace, *window); !written) return complain(s, written.error);
  if (a.has("--json")) {
    Json all = Json::array();
    for (const auto& r : recordings) all.push_back(trace_json(*r));
    if (viewer::rows_of(recordings).size() > 1) all.push_back({{"ranks", job_json(recordings)}});
    if (!all.empty()) s.out << to_text(all, 2) << "\n";
    return status;
  }
  for (const auto& r : recordings) print(s.out, *r);
  if (viewer::rows_of(recordings).size() > 1) print_job(s.out, recordings);
  return status;
}

}  // namespace app::cli
