#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/speculative.h"
#include "widgets/base/parts.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A draft guesses, the target checks: rounds on one clock, the speed-up over the draft's length, and when it ends.
namespace chapters::inference::speculative {

struct Inputs {
  double acceptance = 0.75, draft_cost_ratio = 0.02;
  std::int64_t draft_length = 7, seed = 1;
  std::vector<std::string> against = {"t5-base", "t5-large"};
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t tensor_parallel = 4, batch = 1, context = 1024;
  bool price_check = true;
  bool operator==(const Inputs&) const = default;
};

/// A draft and what its rounds come to.
struct DraftRow {
  std::string name, source;
  double acceptance = 0, length = 0, cost = 0;
  double expected_tokens = 0, speedup = 0;
  double best_length = 0, best_speedup = 0;
  double measured_speedup = std::numeric_limits<double>::quiet_NaN();
  bool yours = false;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  double expected_tokens = 0, speedup = 1, operations = 1;
  double best_draft_length = 0, best_speedup = 1;
  double simulated_tokens = 0, simulated_speedup = 1;
  double thrown_percent = 0;  ///< drafted tokens that were not kept
  double round_passes = 1;    ///< a round's cost in plain passes
  double verify_cost = 1;     ///< the checking pass over a plain one
  double off_batch = none;    ///< requests from which on your draft makes it slower
  double chi_z = 0;           ///< how far the written words are from the target's, in standard deviations
  double fits_batch = 0;      ///< requests of this context that fit beside the weights in BF16
  std::string fastest;        ///< among all drafts shown
  double fastest_speedup = 1, likeliest_speedup = 1;
  std::vector<DraftRow> drafts;  ///< yours first
};

struct Run {
  std::vector<models::inference::SpeculativeRun> runs;  ///< by draft, the rounds that are shown
  std::vector<double> lengths;
  std::vector<std::vector<double>> speedups;   ///< by draft, then by length
  std::vector<std::vector<double>> simulated;  ///< the same of runs, at every second length
  std::vector<double> batches, batch_speedups;
  std::vector<double> target_share, written_share;  ///< by word
};

/// A lane of the clock.
struct SpecLane {
  std::string name, detail, tokens, rounds;
  widgets::Tint tint{};
  double length = 0, cost = 0;
  std::vector<models::inference::SpeculativeRound> shown;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<SpecLane> lanes;
  double passes = 20;  ///< the clock's length
  std::vector<widgets::Curve> by_length, by_batch;
  std::vector<double> words;
  std::vector<double> target_share, written_share;
  std::string words_say;
  PublishedMarks published;
};

struct View {
  widgets::PlotView by_length, by_batch, words;
  std::vector<widgets::PlacedLegend> legend;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, const Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// Every draft's rounds under one clock, a column a round.
void draw_clock(Inputs& inputs, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, DraftRow& row);

}  // namespace chapters::inference::speculative
