// A recording, JSON or gz: what is accepted can be measured, its events lie in their tracks by start, and its export
// opens again to the same busy time.
#include "models/trace/measure/metrics.h"
#include "models/trace/replay/recorded_job.h"
#include "tests/fuzz/fuzz.h"

using namespace models::trace;

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
  const auto json = to_chrome_json(*read);
  fuzz::require(static_cast<bool>(json), "an export that fails", json.error);
  if (read->events.empty()) return 0;
  const auto again = read_trace(*json, "export.json");
  fuzz::require(static_cast<bool>(again), "an export that does not open", again.error);
  fuzz::require(again->events.size() == read->events.size(), "an export with other events");
  return 0;
}
