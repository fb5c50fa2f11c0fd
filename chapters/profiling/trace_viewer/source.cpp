#include "chapters/profiling/trace_viewer/source.h"

#include "chapters/described/recording_file.h"
#include "chapters/mechanism/read_once.h"

namespace chapters::profiling::trace_viewer {
namespace {

using ReadRecording = models::Result<RecordingPtr>;

ReadRecording recorded(models::Result<models::trace::Trace> read) {
  if (!read) return ReadRecording::fail(read.error);
  auto out = std::make_shared<Recording>();
  out->trace = std::move(*read);
  out->metrics = models::trace::measure(out->trace);
  out->replayed = replayed(out->trace, out->metrics);
  return ReadRecording::ok(std::move(out));
}

std::vector<RecordingPtr> make_sample(models::SampleFault fault) {
  std::vector<RecordingPtr> out;
  for (std::string& text : models::sample_traces({.fault = fault}))
    if (auto one = recorded(models::trace::read_trace(std::move(text), "sample"))) out.push_back(std::move(*one));
  return out;
}

}  // namespace

ReadRecording read_recording(const FileInput& file, Progress& progress) {
  return read_once<Recording>(file, progress,
                              [&](const FileBytes&) { return recorded(read_trace_file(file, progress, 0.9)); });
}

const std::vector<RecordingPtr>& sample_recordings(models::SampleFault fault) {
  // Constant data, made when first asked for.
  using models::SampleFault;
  switch (fault) {
    case SampleFault::none: {
      static const auto made = make_sample(SampleFault::none);
      return made;
    }
    case SampleFault::hidden_sync: {
      static const auto made = make_sample(SampleFault::hidden_sync);
      return made;
    }
    case SampleFault::data_starved: {
      static const auto made = make_sample(SampleFault::data_starved);
      return made;
    }
    case SampleFault::launch_bound: {
      static const auto made = make_sample(SampleFault::launch_bound);
      return made;
    }
    case SampleFault::exposed_communication: {
      static const auto made = make_sample(SampleFault::exposed_communication);
      return made;
    }
    case SampleFault::straggler:
      break;
  }
  static const auto made = make_sample(SampleFault::straggler);
  return made;
}

}  // namespace chapters::profiling::trace_viewer
