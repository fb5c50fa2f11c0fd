#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chapters/compression/shared/quant_choices.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/compression/deployment.h"
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
  models::DeploymentEstimate estimate;  ///< an impossible recipe has only the weights' bytes
  Speed speed;
};

struct Outputs {
  std::string reason;
  models::DeploymentEstimate estimate;  ///< what the chosen recipe and cache take
  Speed speed;
  double total_bytes = 0, memory_bound = 0;  ///< memory_bound in percent
  double bits_per_parameter = 16, smaller = 1;
  models::Recipe recipe;  ///< the chosen one
  std::string loss_source;
  std::string recommended, because;
  // Of what the tree says; NaN, and not fitting, where the chip cannot run it.
  bool recommended_fits = false;
  double recommended_bytes = 0, recommended_chips = 0;
  double recommended_speedup = 1;  ///< a decode step's over BF16
  std::vector<RecipeRow> recipes, caches;
};

struct Run {
  std::span<const models::DecisionNode> tree;  ///< the chip's
  models::Decision decision;                   ///< the way through the tree
  /// By node of the tree: what its recipe takes; none at questions, and where the chip cannot run it.
  std::vector<std::optional<models::DeploymentEstimate>> leaves;
};

/// A box of the drawn tree. Questions stand left of their answers, yes above no; recipes stand in the last column, each
/// as often as it is reached.
struct TreeBox {
  std::string_view text;
  std::string_view brief;  ///< where the text has no room; empty: it is brief
  std::string note;        ///< the figure that decided, or what the recipe takes on these chips
  std::size_t column = 0;
  double row = 0;
  std::ptrdiff_t parent = -1;                       ///< in the same list; -1: the first question
  bool leaf = false, reached = false, yes = false;  ///< yes: it is the parent's yes
  bool yours = false;                               ///< the recipe and cache that were set
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<TreeBox> tree;  ///< parents before their children
  std::size_t columns = 1, rows = 1;
  std::string yours, yours_takes;         ///< the recipe and cache that were set; empty: they are what the tree says
  std::vector<std::string> why_not;       ///< by recipe: the reason in a few words; empty where it runs
  std::vector<std::string> memory_names;  ///< by recipe: its name and what it takes
  std::vector<std::string_view> recipe_ids, cache_ids;  ///< by row of the tables
  PublishedMarks published;
};

struct View {
  widgets::StackedBarView memory, decode;
  widgets::TableView recipes, caches;
  // These are made anew each frame in the same place, since they point into the Outputs of the moment.
  std::vector<widgets::StackedBar> bars;
  std::vector<std::array<widgets::BarSegment, 3>> segments;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, const Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The decision tree in `size` px from the cursor.
void draw_tree(const Picture& picture, ImVec2 size);

/// The figures that decided a question, in a few words: "147 of 72 GB".
std::string because_words(const models::DecisionStep& step);
/// What is published about a recipe's loss: "baseline", "none found" or its range in percent.
std::string published_loss(const models::Recipe& recipe);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::compression::deploy
