#pragma once
#include <array>
#include <cstdint>
#include <optional>
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

/// A language model on a device under every quantization recipe, and the recipe that a decision tree chooses.
namespace chapters::compression::deploy {

struct Inputs {
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t chips = 1, batch = 8, context = 4096, prompt = 2048;
  std::string recipe = "w4a16", kv = "bf16";
  double may_lose = 2, roof_share = 0.7;
  bool operator==(const Inputs&) const = default;
};

/// Against BF16 weights and a 16-bit cache on the same device, as if they fitted.
struct Speed {
  double prefill_tokens_per_s = 0, prefill_speedup = 1;
  double decode_tokens_per_s = 0, decode_speedup = 1;
};

/// A recipe with the chosen cache, or a cache with the chosen recipe.
struct RecipeRow {
  std::string recipe, loss, source;
  bool possible = true;                 ///< false: the chip cannot multiply the format, and `source` says so
  models::DeploymentEstimate estimate;  ///< of an impossible recipe only the weights' bytes
  Speed speed;
};

struct Outputs {
  std::string reason;
  models::DeploymentEstimate estimate;  ///< of the chosen recipe and cache
  Speed speed;
  double total_bytes = 0, memory_bound = 0;  ///< memory_bound in percent
  double bits_per_parameter = 16, smaller = 1;
  models::Recipe recipe;  ///< the chosen one
  std::string loss_source;
  models::Decision decision;  ///< the way through the tree
  std::string recommended, because;
  std::optional<models::DeploymentEstimate>
      recommended_estimate;  ///< none where the chip cannot run what the tree says
  std::vector<RecipeRow> recipes, caches;
};

/// A node of the decision tree on this walk.
struct TreeStop {
  bool reached = false;
  bool yes = false;  ///< the answer of a question that was asked
  std::string note;
};

struct Picture {
  std::uint64_t version = 0;
  std::string verdict, story, tree_story;
  std::vector<TreeStop> tree;  ///< in the order of models::decision_nodes()
};

struct View {
  widgets::StackedBarView memory, decode;
  widgets::TableView recipes, caches;
  widgets::FlowGraphView tree;
  // These are made anew each frame in the same place, since they point into the Outputs and Picture of the moment.
  std::vector<widgets::StackedBar> bars;
  std::vector<std::array<widgets::BarSegment, 3>> segments;
  std::vector<widgets::FlowNode> nodes;
  std::vector<widgets::FlowEdge> edges;
};

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

/// What is published about a recipe's loss: "baseline", "none found" or its range in percent.
std::string published_loss(const models::Recipe& recipe);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, RecipeRow& row);

}  // namespace chapters::compression::deploy
