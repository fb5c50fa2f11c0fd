#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/compression/shared/weights_source.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "models/compression/deployment.h"
#include "widgets/charts/flow_graph.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Between deploy.cpp (described), deploy_compute.cpp and deploy_draw.cpp.
namespace chapters::compression::deploy {

struct Inputs {
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t chips = 1, batch = 8, context = 4096, prompt = 2048;
  std::string recipe = "w4a16", kv = "bf16";
  double may_lose = 2, roof_share = 0.7;
  bool operator==(const Inputs&) const = default;
};

struct RecipeRow {
  std::string recipe, loss, source;
  bool possible = true, fits = false;
  double weights_bytes = 0, cache_bytes = 0, largest_batch = 0, chips_needed = 0, prefill_tokens_per_s = 0,
         prefill_speedup = 1, decode_s = 0, decode_tokens_per_s = 0, decode_speedup = 1;
};

struct Outputs {
  std::string reason;
  double weights_bytes = 0, cache_bytes = 0, total_bytes = 0, memory_bytes = 0, largest_batch = 0, chips_needed = 1;
  bool fits = false;
  double prefill_s = 0, prefill_tokens_per_s = 0, prefill_speedup = 1, decode_s = 0, decode_tokens_per_s = 0,
         decode_speedup = 1, memory_bound = 0;
  double bits_per_parameter = 16, smaller = 1, loss_low = 0, loss_high = 0;
  std::string recommended, because, loss_source;
  std::vector<RecipeRow> recipes, caches;

  // For the picture; the numbers of a recipe or cache in the order of the tables above, times 0 where it cannot run.
  struct Times {
    double weights_s = 0, cache_s = 0, other_s = 0;
  };
  std::vector<Times> times;
  std::array<bool, 16> asked{}, answer{};  ///< nodes of the tree
  std::int64_t leaf = 0;
  std::array<std::string, 16> node_notes;
  std::string verdict, story, tree_story;
  std::uint64_t version = 0;
};

struct View {
  widgets::StackedBarView memory, decode;
  widgets::TableView recipes, caches;
  widgets::FlowGraphView tree;
  // Made anew each frame in the same place, since they point into the Outputs of the moment.
  std::vector<widgets::StackedBar> bars;
  std::vector<std::array<widgets::BarSegment, 3>> segments;
  std::vector<widgets::FlowNode> nodes;
  std::vector<widgets::FlowEdge> edges;
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, RecipeRow& row);

}  // namespace chapters::compression::deploy
