#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/platform/file.h"
#include "app/platform/file_bytes.h"
#include "app/platform/json.h"
#include "chapters/profiling/trace_viewer/diagnosis_text.h"
#include "models/trace/metrics.h"

namespace app::cli {
namespace {

using chapters::profiling::trace_viewer::diagnosis_sentence;
using models::trace::DeviceMetrics;
using models::trace::Metrics;
using models::trace::Trace;

Json idle_json(const models::trace::Idle& i) {
  return {{"host_wait_ns", i.host_wait_ns},
          {"kernel_wait_ns", i.kernel_wait_ns},
          {"other_ns", i.other_ns},
          {"gaps", i.gaps}};
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

Json trace_json(const Trace& t, const Metrics& m) {
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
  j["losses"] = t.losses;
  return j;
}

void print(std::ostream& out, const Trace& t, const Metrics& m) {
  out << t.origin << ": " << t.format << ", events " << t.records;
  if (t.rank >= 0) out << ", rank " << t.rank;
  if (t.world_size >= 0) out << " of " << t.world_size;
  out << "\n";
  for (const auto& d : m.devices) {
    out << "  device " << d.device << "\n";
    const auto line = [&](const char* key, std::int64_t value) { out << "    " << key << " " << value << "\n"; };
    line("busy_ns", d.busy_ns);
    line("idle_ns", d.idle_ns);
    line("span_ns", d.span_ns);
    line("comp_ns", d.comp_ns);
    line("comm_ns", d.comm_ns);
    line("mem_ns", d.mem_ns);
    line("exposed_comm_ns", d.exposed_comm_ns);
    out << "    overlap_pct_of_comm ";
    if (d.overlap_pct_of_comm < 0)
      out << "none\n";
    else
      out << d.overlap_pct_of_comm << "\n";
    line("idle_host_wait_ns", d.idle.host_wait_ns);
    line("idle_kernel_wait_ns", d.idle.kernel_wait_ns);
    line("idle_other_ns", d.idle.other_ns);
  }
  for (const auto& d : m.diagnosis) out << "  " << diagnosis_sentence(t, m, d) << "\n";
  for (const auto& loss : t.losses) out << "  lost: " << loss << "\n";
}

}  // namespace

/// Reads each file by itself; one that cannot be read is a sentence and exit status 2, after the others were printed.
int trace(const Arguments& a, const Streams& s) {
  if (a.words.empty())
    return complain(
        s, "Name a trace: ridgeline trace FILE... reads Chrome JSON, plain or .gz, and Nsight Systems SQLite.");
  if (a.has("-o") && a.words.size() != 1) return complain(s, "-o writes one trace: name one file.");
  Json all = Json::array();
  int status = 0;
  for (const auto& path : a.words) {
    const auto file = read_file_bytes(path);
    if (!file) {
      status = complain(s, file.error);
      continue;
    }
    const auto read = models::trace::read_trace(models::trace::Bytes{(*file)->size_bytes, (*file)->read_at}, path);
    if (!read) {
      status = complain(s, read.error);
      continue;
    }
    const Metrics metrics = models::trace::measure(*read);
    if (a.has("--json"))
      all.push_back(trace_json(*read, metrics));
    else
      print(s.out, *read, metrics);
    if (a.has("-o")) {
      const auto json = models::trace::to_chrome_json(*read);
      const auto written = json ? write_file(a.value("-o"), *json) : models::Status::fail(json.error);
      if (!written) return complain(s, written.error);
    }
  }
  if (a.has("--json") && !all.empty()) s.out << to_text(all, 2) << "\n";
  return status;
}

}  // namespace app::cli
