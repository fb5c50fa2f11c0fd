#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/aside.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/training/step_simulation.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/table/table.h"
#include "widgets/timeline/span_names.h"
#include "widgets/timeline/timeline.h"

/// A training step as a profiler would record it, as found and with its changes, on one axis.
namespace chapters::profiling::step_trace {

/// What a change can set, as found and as changed.
struct Switches {
  std::int64_t workers = 0, prefetch = 2;
  models::BatchCopy copy = models::BatchCopy::pageable;
  std::int64_t sync_every = 1;
  models::OptimizerCode optimizer = models::OptimizerCode::looped;
  bool amp = false, compile = false, overlap = true;
  std::int64_t buckets = 8;
  bool operator==(const Switches&) const = default;
};

struct Inputs {
  Switches found;
  Switches now{
      .workers = 2,
      .copy = models::BatchCopy::copy_stream,
      .sync_every = 100,
      .optimizer = models::OptimizerCode::fused,
  };
  std::int64_t samples = 200;
  double sample_bytes = 200e3, request_latency_s = 100e-6, storage_bytes_per_s = 2e9, decode_s = 1.5e-3,
         decode_spread = 0;
  std::int64_t cores = 16, seed = 1;
  double batch_bytes = 150e6, pageable_bytes_per_s = 10e9, pinned_bytes_per_s = 25e9;
  double forward_s = 0.17, backward_s = 0.2125;
  std::int64_t layers = 24, kernels_per_layer = 20;
  double launch_s = 8e-6, launch_latency_s = 4e-6, log_s = 13.5e-3;
  double matmul_share = 0.7, amp_matmul = 2, amp_other = 1.5, compile_keeps = 0.5;
  std::int64_t compiled_kernels = 8;
  double parameters = 800e6, optimizer_bytes_per_s = 753e9;
  std::int64_t ranks = 8;
  bool bf16_gradients = false;
  double bus_bytes_per_s = 50e9, hop_latency_s = 1e-6;
  double state_bytes = 12.8e9, activation_bytes = 24e9;
  bool operator==(const Inputs&) const = default;
};

/// Forward, backward, optimizer, then the causes of idle time.
inline constexpr std::size_t part_count = 3 + models::step_cause_count;
inline constexpr std::array<std::string_view, part_count> part_names{"forward",
                                                                     "backward",
                                                                     "optimizer",
                                                                     "waiting for data",
                                                                     "waiting for a copy",
                                                                     "waiting for launches",
                                                                     "waiting after a sync",
                                                                     "waiting for all-reduce"};

/// One change: what it takes after those above it, and alone.
struct FixRow {
  std::string name, then;
  double in_order_s = 0, alone_s = 0, step_s = 0, then_share = 0;
};

/// What a steady step consists of. Shares in %.
struct StepFigures {
  models::StepMeans mean;
  double busy = 0, idle_s = 0, useful = 0;  ///< what the compute stream does; useful: forward and backward
  std::array<double, part_count> share{};
  std::string largest;  ///< the part that takes most
  std::int64_t lead = 0;
};

struct Outputs {
  std::string reason;
  StepFigures found, now;
  double speedup = 1, optimizer_gain = 1, longest_step_s = 0;
  double load_s = 0, workers_needed = 0, hidden_communication = 0, ceiling_per_s = 0;
  double gradient_bytes = 0, peak_bytes = 0, data_cut = 0;
  std::vector<FixRow> fixes;
};

/// What a step as found would win without the spans of one name on its main thread.
struct SpanRow {
  std::string name;
  double count = 0, length_s = 0, longest_s = 0, won_s = 0;  ///< a step's, but for the longest
};
struct SpanTable {
  std::vector<SpanRow> rows;
  std::string words;  ///< how much of the recording the replay explains, or why there is none
};

/// A step in seconds by part, and which part is the largest.
struct StepParts {
  std::array<double, part_count> s{};
  std::size_t largest = 0;
};

struct Run {
  models::StepRun found, now;  ///< the last steps, as many as are shown; without blocks where nobody will look
  models::StepSetup setup;     ///< as changed
  models::StepSetup as_found;
  double range_s = 1;  ///< both are shown over the longer of the two steps
  StepParts found_parts, parts;
  std::vector<StepParts> fix_parts;  ///< in the order of Outputs::fixes
};

struct Lane {
  std::string label, sublabel;
  std::vector<widgets::TimelineSpan> spans;
  int spare = 0;  ///< lanes with more go first where there is little room; 0 stays
  std::vector<widgets::TimelinePoint> memory;
};
struct Bar {
  std::string label;
  std::vector<widgets::BarSegment> segments;
};

/// The table of changes as it is written.
struct Order {
  struct Row {
    std::string name, in_order, alone, step, then;
    double in_order_s = 0;
    std::size_t largest = 0;  ///< the part that is the largest with this change and those above
    bool differs = false;     ///< alone it is worth another amount than in its place
  };
  std::vector<Row> rows;
  double largest_s = 0;  ///< the largest in_order_s, without its sign
  std::string says;      ///< a sentence, its figures between backticks; empty for fewer than two changes
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Lane> before, after;
  Order order;
  std::vector<widgets::SpanName> names;
  std::string uneven_words;  ///< where steps come in rounds: what the mean is, and over what
  double range_s = 1;
  std::vector<Bar> bars;
  std::shared_ptr<const Run> run;
};

struct View {
  widgets::TimelineView timeline;
  widgets::StackedBarView bars;
  DescribedTable<FixRow> fixes;
  std::vector<widgets::TimelineLane> lanes;
  std::vector<widgets::TimelineCounter> counters;
  widgets::StackedBarView slab;
  widgets::TableView span_table;
  Aside<std::uint64_t, SpanTable> spans;  ///< by the picture's version
  Requests requests;
  std::vector<widgets::StackedBar> drawn;
};

using Computed = chapters::Computed<Outputs, Run>;
Computed compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
/// Records the step as found, and replays the recording without each name of its main thread.
SpanTable host_spans_of(const Run& run);
void draw_spans(const Picture& picture, View& view, ImVec2 size);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// The changed steps as a Chrome trace of eight steps.
models::Result<std::string> document_of(const Outputs& out, const Run& run);

void describe(Fields& f, FixRow& row);

/// The colour of a part of the step, in the order of part_names.
widgets::Tint tint_of_part(std::size_t part);
/// The trace, and what its marks mean, in `size` px; rows that do not fit go by their lane's `spare`.
void draw_steps(const Picture& picture, View& view, ImVec2 size);
/// Design pixels that draw_steps needs for those lanes that answer: without memory, pinning and copies.
float steps_least_height(const Picture& picture);
/// The step's time by cause, a bar as found and one after each change, the largest part of each outlined.
/// `named`: the changes' names stand elsewhere.
void draw_slab(const Picture& picture, View& view, ImVec2 size, bool named);
void draw_order_table(const Picture& picture, widgets::Rect area);

}  // namespace chapters::profiling::step_trace
