#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/tensor_decode.h"
#include "widgets/base/parts.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// One step of decode on more and more chips: reading shrinks, talking and waiting stay.
namespace chapters::inference::tensor_parallel {

struct Inputs {
  std::string model = "llama-3-70b", chip = "b200_sxm";
  models::Format format = models::Format::fp4;
  std::int64_t tensor_parallel = 4, batch = 128, context = 1536;
  double kv_bits = 8, link_reached = 80, call_s = 6.6e-6;
  bool whole_head = false;
  bool operator==(const Inputs&) const = default;
};

/// The step on a number of chips.
struct SlabRow {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  models::inference::DecodeSlab slab;
  double expected_s = none;  ///< what an engine was seen to take
  double time_s = 0;         ///< the expected time where there is one, else the step's
  double rest_s = 0;         ///< what of the expected time is neither reading at full bandwidth nor talk
  double divided_s = none;   ///< one chip's time over the chips
  double tokens_per_s = 0, tokens_per_s_per_chip = 0;
  double chip_s_per_token = 0;  ///< the price
  bool yours = false;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  SlabRow now;
  double best_tensor_parallel = none, best_s = none;  ///< least time of a token, of those that fit
  double cheapest_tensor_parallel = none;             ///< least chip time a token
  double price_ratio = none;                          ///< yours over the cheapest
  double next_s = none, next_gain_s = none;           ///< twice as many chips: its time, and what it wins
  double not_reading_percent = 0;
  double pipeline_s = none;
  double read_s = 0, communication_time_s = 0;  ///< in a step
  double collectives = 0;                       ///< in a step
  std::string engine;
  double start_s = none, slower_s = none, requests_s = none;  ///< parts of the rest
  std::vector<SlabRow> slabs;
};

struct Run {
  std::vector<double> batches;
  std::vector<std::vector<double>> times;  ///< by slab, then by batch
};

struct Slab {
  std::string name, total, price, why;  ///< why: what stands over one that does not fit
  double weights = 0, cache = 0, talk = 0, rest = 0, time = 0, divided = 0;
  std::int64_t chips = 1;
  bool yours = false, fits = true;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer, difference;  ///< difference: at the arrow to the next slab
  std::vector<Slab> slabs;
  bool expected = false;  ///< the slabs are what an engine was seen to take
  bool rest = false;      ///< one of them has a part that is neither reading nor talk
  std::vector<widgets::Curve> against_batch;
  PublishedMarks published;
};

struct View {
  widgets::PlotView against_batch;
  DescribedTable<SlabRow> slabs;
  std::vector<widgets::PlacedLegend> legend;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, const Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The step as a slab for each number of chips.
void draw_slabs(Inputs& inputs, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, SlabRow& row);

}  // namespace chapters::inference::tensor_parallel
