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

/// Frame times of a car's stack, one by one, and how far it drives without a fresh result.
namespace chapters::driving::jitter {

struct Inputs {
  double base_s = 27e-3;
  double spread = 2;  ///< %
  double rate_hz = 30;
  std::int64_t frames = 100000, seed = 1;
  double speed_m_per_s = 31.29;
  models::JitterPolicy policy = models::JitterPolicy::wait;
  double watchdog = 95, small_share = 50;  ///< %
  std::int64_t recover_frames = 30;
  std::vector<models::JitterSource> sources = models::example_sources();
  bool operator==(const Inputs&) const = default;
};

/// What one source costs.
struct EffectRow {
  std::string name;
  models::JitterHits hits;
  double share = 0;  ///< % of all frames
  double mean_s = 0, p99_saved_s = 0;
};

struct Outputs {
  std::string reason;
  models::JitterSummary summary;
  models::JitterTotals totals;
  double deadline_s = 0;  ///< also the time from frame to frame
  double slack_p99_s = 0;
  double tail_ratio = 1;
  bool tail_held = false;
  std::int64_t misses = 0;
  double miss_rate = 0, small_rate = 0;  ///< %
  double misses_per_hour = 0;
  double frame_m = 0, extra_p99_m = 0, blind_worst_m = 0, blind_per_hour_m = 0, blind_worst_s = 0, blind_from_s = 0;
  std::string biggest;
  std::vector<EffectRow> effects;

  /// Every frame, up to a million of them, which copies of the Outputs share.
  std::shared_ptr<const models::JitterRun> run;
};

struct Picture {
  std::uint64_t version = 0;
  std::string verdict, story;
  models::JitterEnvelope envelope;
  double length_s = 1;           ///< of the run
  double min_tail_share = 1e-3;  ///< smallest share on the plot of the tail, %
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
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& fields, EffectRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::driving::jitter
