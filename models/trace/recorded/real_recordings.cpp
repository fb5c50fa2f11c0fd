#include "models/trace/recorded/real_recordings.h"

#include <utility>

namespace models::trace {

const std::array<RealRecording, real_recording_count>& real_recordings() {
  static constexpr std::array<RealRecording, real_recording_count> all{{
      {"real_1", "ResNet training, one RTX 2080 Ti", "facebookresearch/param, et_replay (MIT): 1.75 s of 16.2 s",
       "resnet", 1, Cause::slow_loader, 0},
      {"real_2", "Normalization layers, one MI300X", "AMD-AGI/TraceLens, perf_model/normalization (MIT): all of it",
       "normalization", 1, Cause::slow_first_launch, 0},
      {"real_3", "DLRM training, eight V100", "facebookresearch/param, dlrm_kineto (MIT): all of its one step",
       "dlrm_rank", 8, Cause::late_rank, 7},
      {"real_4", "TimeSformer inference, one H100", "AMD-AGI/TraceLens, h100 (MIT): all of its one step", "timesformer",
       1},
      {"real_5", "FLUX image generation, one MI300X", "AMD-AGI/TraceLens, inference (MIT): from 58 ms on, of 250 ms",
       "flux", 1},
  }};
  return all;
}

Result<std::vector<Trace>> open_real_recording(const RealRecording& recording) {
  std::vector<Trace> out;
  for (int rank = 0; rank < recording.ranks; ++rank) {
    const std::string name(recording.name);
    const std::string file = recording.ranks > 1 ? name + std::to_string(rank) : name;
    auto read = read_trace(std::string(embedded_recording(file)), file + ".json.gz");
    if (!read) return Result<std::vector<Trace>>::fail(read.error);
    out.push_back(std::move(*read));
  }
  return Result<std::vector<Trace>>::ok(std::move(out));
}

const std::array<std::shared_ptr<const RecordedCase>, real_recording_count>& real_cases() {
  static const auto cases = [] {
    std::array<std::shared_ptr<const RecordedCase>, real_recording_count> out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      auto ranks = open_real_recording(real_recordings()[i]);
      if (!ranks) continue;
      if (auto made = RecordedCase::of(std::move(*ranks), max_real_suspects))
        out[i] = std::make_shared<const RecordedCase>(std::move(*made));
    }
    return out;
  }();
  return cases;
}

}  // namespace models::trace
