#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/realtime/jitter.h"
#include "models/realtime/jitter_summary.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Between jitter.cpp (described), jitter_compute.cpp and jitter_draw.cpp.
namespace chapters::driving::jitter {

/// A row of the table of sources: a type of this chapter, so that its description is found here.
struct SourceRow : models::JitterSource {
  bool operator==(const SourceRow&) const = default;
};
std::vector<SourceRow> example_rows();

struct Inputs {
  double base_s = 27e-3;
  double spread = 2;  ///< %
  double rate_hz = 30;
  std::int64_t frames = 100000, seed = 1;
  double speed_m_per_s = 31.29;
  models::JitterPolicy policy = models::JitterPolicy::wait;
  double watchdog = 95, small_share = 50;  ///< %
  std::int64_t recover_frames = 30;
  std::vector<SourceRow> sources = example_rows();
  bool operator==(const Inputs&) const = default;
};

struct EffectRow {
  std::string name;
  std::int64_t hits = 0;
  double share = 0, mean_s = 0, largest_s = 0, p99_without_s = 0, p99_saved_s = 0;
};

struct Outputs {
  std::string reason;
  double mean_s = 0, p50_s = 0, p99_s = 0, p999_s = 0, worst_s = 0, deadline_s = 0, slack_p99_s = 0;
  double tail_ratio = 1;
  bool tail_held = false;
  std::int64_t misses = 0, late = 0, reused = 0, skipped = 0, small = 0, longest_run = 0;
  double miss_rate = 0, misses_per_hour = 0, small_rate = 0;
  double frame_m = 0, extra_p99_m = 0, blind_worst_m = 0, blind_per_hour_m = 0, blind_worst_s = 0, blind_from_s = 0;
  double p99_study_s = 0;
  std::string biggest;
  std::vector<EffectRow> effects;

  // For the picture alone; shared, so that taking the outputs of a worker copies no million frames.
  std::shared_ptr<const models::JitterRun> run;
  std::shared_ptr<const models::JitterSummary> summary;
  std::shared_ptr<const models::JitterEnvelope> envelope;
  double period_s = 1, length_s = 1;
  std::string verdict, story;
  std::uint64_t version = 0;
};

constexpr std::size_t window_frames = 240;

struct View {
  double time_s = 0;  ///< the cursor, since the run began
  widgets::PlotView histogram, tail, whole, window;
  widgets::TableView effects;
  // Room for what the window shows, so that a frame allocates nothing: x, y of answered frames and of each kind of
  // miss.
  std::array<std::array<double, window_frames>, 8> room{};
};

Outputs compute(const Inputs& inputs, Progress& progress);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, SourceRow& row);
void describe(Fields& fields, EffectRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::driving::jitter
