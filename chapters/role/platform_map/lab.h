#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "chapters/role/platform_map/river.h"
#include "models/platform/release.h"
#include "widgets/base/tint.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// The hours and the money of a release, from its data to its monitoring, and the part that takes most of them.
namespace chapters::role::platform_map {

inline constexpr std::size_t parts = models::platform::part_count;

/// What holds a release up: a part, in the order of models::platform::Part, or data and training where these overlap
/// and halving one of them alone saves less than half of what halving both does.
enum class Holder : std::uint8_t {
  data,
  training,
  profiling,
  compression,
  engine,
  serving,
  monitoring,
  data_and_training
};
inline constexpr std::size_t holder_count = 8;
std::string_view holder_name(Holder holder);
Holder holder_of(const models::platform::Release& release);
/// Hours, in s, that the release would save were what holds it up twice as fast.
double holder_saves_s(const models::platform::Release& release);

/// Defaults: Llama 3 8B sees 30 million camera clips on 64 H100 and is then served for a month.
struct Inputs {
  std::string model = "llama-3-8b", chip = "h100_sxm", format = "bf16", recipe = "fp8", kv = "bf16";
  models::platform::ReleaseSetup setup;  ///< its chip, product, recipe and cache are found by name
  bool operator==(const Inputs&) const = default;
};

/// The release on another number of GPUs.
struct GpuRow {
  std::int64_t gpus = 1;
  models::platform::Release release;
  std::string bottleneck, refused;  ///< refused: why there is none
};

/// Neighbouring numbers of GPUs at which the same holds the release up, or none is found.
struct StretchRow {
  std::int64_t from_gpus = 1, to_gpus = 1;
  std::string bottleneck;
  Holder holder{};
  bool refused = false;
};

/// The release with one technique more.
struct TechniqueRow {
  std::string part, name, lab;
  double saves_s = 0, saves_usd = 0;  ///< NaN where it cannot be added
  bool added = false;
  std::string then;  ///< the bottleneck then, or why it cannot be added
};

struct Outputs {
  std::string reason;
  models::platform::Release release;
  std::array<double, parts> time_share{}, usd_share{};  ///< %
  Holder bottleneck{};
  models::platform::Part dearest{};
  std::string training_waits;
  double bottleneck_share = 0, bottleneck_saves_s = 0, compute_share = 0, training_kernels_share = 0;
  double run_gpu_s = 0, run_usd = 0, busy = 0;  ///< what the training run takes with its waits; busy in %
  double twice_gain = 0;                        ///< %, of the hours, with twice the GPUs; NaN where that cannot be
  double leaves_at = 0;                         ///< GPUs; NaN: training stays the bottleneck
  double next_at = 0;                           ///< GPUs above yours; NaN: the bottleneck stays
  std::string next_bottleneck;
  std::vector<StretchRow> stretches;
  std::vector<GpuRow> by_gpus;
  std::vector<TechniqueRow> techniques;
};

struct Run {
  std::optional<models::StepSetup> step;  ///< the step that the run simulates, for the labs that explain it
  std::vector<GpuRow> looked;             ///< every release that was looked at, with more and more GPUs
};
using Computed = chapters::Computed<Outputs, Run>;

/// A stretch of the axis of GPUs with one bottleneck; in GPUs.
struct Stretch {
  double from = 1, to = 2;
  std::string name, brief;
  widgets::Tint tint;
  bool refused = false;
  bool both = false;  ///< data and training together
};

/// What one card says.
struct Box {
  std::string_view name, brief;
  std::string hours, money, cause, link, hint;
  widgets::Tint tint;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::array<Box, parts> boxes;
  std::vector<RiverRow> river;        ///< what was found, with more and more GPUs
  std::vector<Holder> river_holders;  ///< what holds each of them up
  double top_hours = 1;               ///< where the axis of hours ends
  std::string total_hours, total_money, gpus_tag, double_hours, first_hours;
  std::array<bool, parts> bottleneck{};  ///< the parts that hold the release up
  std::vector<Stretch> stretches;
  double axis_hi = 2, least_gpus = 1;     ///< the fewest that a release was found for
  std::array<widgets::Curve, 5> hours;    ///< over GPUs: the other parts, training's network, its kernels, data, all
  std::vector<widgets::BarSegment> step;  ///< the training run by cause, s
  std::vector<std::string> technique_links, technique_labs;  ///< by row: where it leads, and that lab's title
  PublishedMarks published;
};

struct View {
  Requests requests;
  widgets::PlotView plot;
  widgets::StackedBarView bars;
  DescribedTable<TechniqueRow> techniques;
};

Computed compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// The cards, the river of hours, its money and the axis of GPUs in `size` px from the cursor.
void draw_platform(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

/// The setup with chip, product, recipe and cache found by name; fails in a sentence where one is not there.
models::Result<models::platform::ReleaseSetup> setup_of(const Inputs& in);
/// The lab of a part with the present scenario, as a link; values outside of what that lab takes are brought to its
/// nearest end. Empty where the program has no such lab.
std::string link_of(const Inputs& in, const Outputs& out, const Run& run, models::platform::Part part);
/// The same for another lab than the part's own: one that explains a technique.
std::string link_to_lab(const Inputs& in, const Outputs& out, const Run& run, models::platform::Part part,
                        std::string_view lab);
/// The id of the lab that a part opens.
std::string_view lab_of(const Outputs& out, models::platform::Part part);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, GpuRow& row);
void describe(Fields& f, StretchRow& row);
void describe(Fields& f, TechniqueRow& row);

}  // namespace chapters::role::platform_map
