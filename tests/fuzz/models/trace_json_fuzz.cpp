// A recording, JSON or gz: what is accepted can be measured, its events lie in their tracks by start, its export opens
// again, and its extract to the same diagnosis.
#include "models/trace/cases/detect.h"
#include "models/trace/measure/metrics.h"
#include "models/trace/measure/pipeline_what_if.h"
#include "models/trace/replay/recorded_job.h"
#include "models/trace/writers/extract.h"
#include "tests/fuzz/fuzz.h"

using namespace models::trace;

namespace {

JobDiagnosis diagnosis_of(const Trace& trace) {
  const Trace* const one = &trace;
  return diagnose_job({&one, 1});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = read_trace(std::string(fuzz::text_of(data, size)), "trace.json");
  if (!fuzz::accepted(read)) return 0;
  for (const auto& loss : read->losses) fuzz::require_sentence(loss);
  for (const Track& t : read->tracks)
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
      const Event& e = read->events.at(i);
      fuzz::require(e.duration_ns >= 0 && e.name < read->strings.size() && e.category < read->categories.size() &&
                        e.depth < t.depths,
                    "an event that points outside");
      fuzz::require(e.link == none || e.link < read->events.size(), "a link to nowhere");
      fuzz::require(i == t.first || read->events[i - 1].start_ns <= e.start_ns, "events out of order");
      (void)arguments(*read, e);
    }
  const Metrics m = measure(*read);
  for (const auto& d : m.devices)
    fuzz::require(d.busy_ns >= 0 && d.busy_ns + d.idle_ns == d.span_ns && d.exposed_comm_ns >= 0 &&
                      d.idle.total_ns() == d.idle_ns,
                  "times that do not add up");
  for (const auto& d : m.devices) {
    std::int64_t sum = 0;
    for (const auto& h : d.host_wait.what) sum += h.ns;
    fuzz::require(sum == d.host_wait.total_ns && d.host_wait.after_sync_ns <= sum && sum <= d.idle.host_wait_ns,
                  "waits for the host that do not add up");
  }
  std::vector<RecordedRank> ranks;
  for (const auto& d : m.devices) ranks.push_back({&*read, d.device, m.steps});
  if (const auto job = recorded_job(ranks); fuzz::accepted(job)) {
    fuzz::require(job->fit.explained >= 0 && job->fit.explained <= 1, "a replay that explains more than all");
    (void)won_by_diagnosis(*job, *read, m);
  }
  (void)shape(*read);
  if (holds_pipeline(*read)) {
    const auto job = pipeline_job_of(*read);
    if (fuzz::accepted(job)) fuzz::accepted(pipeline_what_if(*job, usual_times(*job)));
  }
  if (const auto extract = diagnosis_extract(*read); fuzz::accepted(extract)) {
    const JobDiagnosis whole = diagnosis_of(*read), part = diagnosis_of(*extract);
    fuzz::require(whole.cause == part.cause && whole.idle_ns == part.idle_ns && whole.explained_ns == part.explained_ns,
                  "an extract with another diagnosis");
    const auto written = to_chrome_json(*extract);
    fuzz::require(static_cast<bool>(written), "an extract that cannot be written", written.error);
    fuzz::require(static_cast<bool>(read_trace(*written, "extract.json")), "an extract that does not open");
  }
  const auto json = to_chrome_json(*read);
  fuzz::require(static_cast<bool>(json), "an export that fails", json.error);
  if (read->events.empty()) return 0;
  const auto again = read_trace(*json, "export.json");
  fuzz::require(static_cast<bool>(again), "an export that does not open", again.error);
  fuzz::require(again->events.size() == read->events.size(), "an export with other events");
  return 0;
}
