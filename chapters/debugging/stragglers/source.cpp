#include "chapters/debugging/stragglers/lab.h"
#include "chapters/described/recording_file.h"
#include "chapters/mechanism/read_once.h"
#include "models/trace/measure/metrics.h"

namespace chapters::debugging::stragglers {
namespace {

/// A file as it was read, kept with its bytes.
struct Recording {
  models::trace::Trace trace;
  std::vector<int> devices;                  ///< that have a task
  std::shared_ptr<const Pipeline> pipeline;  ///< null: it holds none
  std::string pipeline_error;
};
using RecordingPtr = std::shared_ptr<const Recording>;
using ReadRecording = models::Result<RecordingPtr>;

ReadRecording read_fresh(const FileInput& file, Progress& progress) {
  auto read = read_trace_file(file, progress, 0.7);
  if (!read) return ReadRecording::fail(read.error);
  auto out = std::make_shared<Recording>();
  out->trace = std::move(*read);
  if (models::trace::holds_pipeline(out->trace)) {
    auto job = models::trace::pipeline_job_of(out->trace);
    if (!job) return ReadRecording::fail(job.error);
    const auto usual = models::trace::usual_times(*job);
    const auto made = analysed(std::move(*job), usual);
    if (made)
      out->pipeline = *made;
    else
      out->pipeline_error = made.error;
  }
  for (const auto& d : models::trace::measure(out->trace).devices) out->devices.push_back(d.device);
  return ReadRecording::ok(std::move(out));
}

ReadRecording read_one(const FileInput& file, Progress& progress) {
  return read_once<Recording>(file, progress, [&](const FileBytes&) { return read_fresh(file, progress); });
}

void add_loss(Outputs& out, const std::string& sentence) {
  if (!out.losses.empty()) out.losses += ' ';
  out.losses += sentence;
}

}  // namespace

bool has_recordings(const Inputs& in) {
  for (const RecordingRow& row : in.recordings)
    if (!row.file.path.empty()) return true;
  return false;
}

models::Result<std::shared_ptr<const Pipeline>> analysed(models::trace::PipelineJob job,
                                                         const models::trace::UsualTimes& usual) {
  using Made = models::Result<std::shared_ptr<const Pipeline>>;
  auto what_if = models::trace::pipeline_what_if(job, usual);
  if (!what_if) return Made::fail(what_if.error);
  return Made::ok(std::make_shared<Pipeline>(Pipeline{std::move(job), std::move(*what_if)}));
}

void read_recordings(const Inputs& in, Progress& progress, Run& run, Outputs& out) {
  std::vector<RecordingPtr> kept;
  std::vector<models::trace::RankWork> ranks;
  std::shared_ptr<const Pipeline> pipeline;
  std::string first_error;
  for (const RecordingRow& row : in.recordings) {
    if (row.file.path.empty()) continue;
    const auto one = read_one(row.file, progress);
    if (!one) {
      if (first_error.empty()) first_error = one.error;
      add_loss(out, one.error);
      continue;
    }
    if ((*one)->pipeline) {
      if (!pipeline) pipeline = (*one)->pipeline;
    } else if (!(*one)->pipeline_error.empty()) {
      add_loss(out, (*one)->pipeline_error);
    } else {
      for (const int device : (*one)->devices) ranks.push_back({&(*one)->trace, device});
    }
    kept.push_back(*one);
  }
  if (ranks.size() >= 2) {
    const models::trace::JobWaits waits = models::trace::waits_of(ranks);
    if (waits.collectives.empty()) {
      out.reason = "The recordings share no collective that ends together on two ranks: give ranks of one job.";
      return;
    }
    if (!waits.one_clock)
      add_loss(out, "The clocks of the ranks disagree, so each collective's end was laid on that of the first rank.");
    if (pipeline) add_loss(out, "A pipeline's timeline among the files is left out: open it alone.");
    run.calls = models::trace::rank_calls_of(ranks, waits);
    run.shown = Shown::ranks;
    return;
  }
  if (pipeline) {
    run.pipeline = std::move(pipeline);
    run.shown = Shown::pipeline;
    return;
  }
  out.reason = !first_error.empty() ? first_error
                                    : "One rank alone tells nobody's waiting: give the recordings of two ranks or more "
                                      "of one job, or a pipeline's timeline.";
}

}  // namespace chapters::debugging::stragglers
