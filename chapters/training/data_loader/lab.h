#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/training/step_simulation.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/plot.h"
#include "widgets/timeline/timeline.h"

/// Batches on their way from storage through decoders and a queue to a GPU: who waits for whom.
namespace chapters::training::data_loader {

enum class Storage : std::uint8_t { nvme, nfs, object_store, own };
inline constexpr std::size_t storage_count = 4;

struct Inputs {
  Storage storage = Storage::nfs;
  double request_latency_s = 1e-3, storage_bytes_per_s = 5e8;
  double sample_bytes = 500e3, samples_per_request = 1;
  std::int64_t workers = 12, prefetch = 2;
  std::int64_t samples = 256;
  double decode_s = 6e-3, decode_spread = 0;
  std::int64_t cores = 16;
  bool pinned = true, reads_loss = true;
  double batch_bytes = 154e6, host_copy_bytes_per_s = 10e9;
  double gpu_s = 0.15;
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

/// Where the way to the GPU is narrowest, in its order.
enum class Bound : std::uint8_t { storage, workers, cores, pinning, gpu };
inline constexpr std::array<std::string_view, 5> bound_names{"the storage", "the workers", "the cores",
                                                             "the pinning thread", "the GPU"};

struct Outputs {
  std::string reason;
  double samples_per_s = 0, step_s = 0, starved = 0, starved_s = 0;
  double twice_gain = 0, twice_per_s = 0, gain_over_none = 1;
  std::array<double, 5> ceilings{};  ///< samples a second, by Bound; NaN: nothing bounds it there
  double ceiling_per_s = 0;
  std::string bound;
  std::array<double, 4> worker_share{};  ///< %, by LoaderStage
  double mean_queue = 0, queue_room = 0, storage_use = 0, core_use = 0, one_reader_bytes_per_s = 0, workers_needed = 0;
  double asked_bytes_per_s = 0;
};

/// Samples a second of the same loader with another number of workers.
struct WorkersPoint {
  std::int64_t workers = 1;
  double simulated = 0;  ///< NaN where it cannot be simulated
  double allowed = 0;    ///< what the narrowest part lets through
};

struct Run {
  models::StepRun steps;  ///< the steps that count
  Bound narrowest{};
  std::array<double, 3> process_s{};  ///< without workers: asking, reading and decoding in a step
  std::vector<WorkersPoint> by_workers;
};

/// A part of the way to the GPU, as a channel of the river.
struct Station {
  std::string name, rate, note;  ///< rate: what it lets through, in words; note: of what that is made
  bool given_note = false;       ///< the note says inputs alone, so that a question gives it
  double per_s = 0;              ///< samples per second that it lets through; NaN: it bounds nothing
  double twice_per_s = 0;        ///< the same with twice the workers
};

/// How many batches or workers are somewhere.
struct Level {
  std::string_view name;
  std::vector<models::LoaderLevel> levels;  ///< since the origin of the picture
  double room = 1;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Station> stations;  ///< from the storage to the GPU
  std::size_t neck = 0;           ///< the station that holds all others up; as many as there are: none does
  std::string ghost_words;        ///< whose channel is dashed: "with 24 workers"; empty: there is no such channel
  double flow = 0, widest = 1;    ///< samples per second that arrive, and of the widest channel that is drawn
  std::string neck_words, dry_words, fed_words;
  std::array<Level, 3> levels;  ///< at the storage, at a core, in the queue
  std::array<std::vector<widgets::TimelinePoint>, 3> curves;
  std::vector<widgets::TimelineSpan> process;  ///< without workers: what the training process does
  std::vector<widgets::TimelineSpan> gpu;
  double range_s = 1;
  double opening_s = 0;               ///< where the cursor stands at first: in the first wait of the GPU, if it waits
  widgets::Curve allowed, simulated;  ///< samples per second over the workers
  std::array<double, 3> marks{};      ///< storage, cores, GPU: samples per second
  std::vector<widgets::BarSegment> worker_time;
};

struct View {
  View() { timeline.cursor_s = -1; }  // nobody moved it: it stands where the lab opens

  widgets::TimelineView timeline;
  widgets::PlotView plot;
  widgets::StackedBarView bars;
  std::vector<widgets::TimelineLane> lanes;
  std::array<widgets::TimelineCounter, 3> counters;
};

/// What the loader is made of, and a GPU that takes a batch every gpu_s.
models::StepSetup setup_of(const Inputs& in, std::int64_t workers);

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::training::data_loader
