#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/serving/prefix/prefix_cache.h"
#include "widgets/controls/playback.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"

/// A cache of the prompts' prefixes: what requests find in it, and how much of that their order decides.
namespace chapters::serving::prefix_cache {

enum class Source : std::uint8_t { documents, chat, mooncake, agents, file };
enum class Order : std::uint8_t { as_came, along_tree, own };

/// Most requests of which each is a column that can be dragged.
inline constexpr std::size_t max_dragged = 64;

/// Defaults: 35 questions to seven documents, mixed, and a cache of less than half of the blocks they need.
struct Inputs {
  models::PrefixEviction eviction = models::PrefixEviction::lru;
  std::int64_t capacity_blocks = 150;
  double ttl_s = 300;
  Order order = Order::as_came;
  std::vector<double> places;
  Source source = Source::documents;
  std::int64_t groups = 7, each = 5, systems = 2, seed = 1;
  FileInput trace;
  std::int64_t families = 0;
  bool at_once = false;
  std::int64_t block_tokens = 512;
  models::PrefixRule rule = models::PrefixRule::every_block;
  std::string model = "llama-3-70b", chip = "h100_sxm";
  bool operator==(const Inputs&) const = default;
};

struct Outputs {
  models::PrefixCacheFigures figures;
  models::PrefixTreeFigures tree;
  double hit_percent = 0, ideal_percent = 0;
  std::int64_t computed_blocks = 0, recomputed_blocks = 0;
  /// The same cache and requests in another order, and with the other order of eviction.
  double as_came_percent = 0, along_percent = 0, leaf_first_percent = 0, root_first_percent = 0;
  std::int64_t capacity_for_all = 0;
  double session_hit_mean = std::nan(""), session_hit_median = std::nan("");
  std::int64_t cached_blocks = 0, block_tokens = 0;
  double kv_bytes_per_token = 0, cached_bytes = 0, tree_bytes = 0, unshared_bytes = 0;
  double whole_flops = 0, prefill_flops = 0, saved_flops = 0, saved_percent = 0, saved_s = 0;
  std::int64_t rows_left_out = 0, without_ids = 0;
  std::string losses;
  std::string reason;
};

/// Requests that were read or made, before a rule counts their blocks.
struct Workload {
  models::PromptTrace trace;
  std::int64_t rows_left_out = 0, without_ids = 0;
  std::string first_fault;
  std::string refused;  ///< not empty: there are no requests, and why
};

/// What a workload and everything else but the cache make: a tree, and passes in two orders.
struct Laid {
  std::shared_ptr<const Workload> workload;
  models::PrefixTree tree;
  models::PrefixTreeFigures counts;
  models::PrefixPass as_came, along;
  // By number of blocks, for the two passes.
  std::vector<std::int64_t> as_came_leaf, as_came_root, along_leaf, along_root;
  /// By place along the tree, the number of the request; by request its place in it.
  std::vector<std::int32_t> tree_place;
};

struct WorkloadKey {
  Source source{};
  models::PromptMix mix;
  std::int64_t block_tokens = 0;
  std::shared_ptr<const FileBytes> file;
  bool operator==(const WorkloadKey&) const = default;
};
struct LaidKey {
  WorkloadKey workload;
  std::int64_t families = 0;
  bool at_once = false;
  models::PrefixRule rule{};
  bool operator==(const LaidKey&) const = default;
};
/// Kept with the lab, so that a drag of the cache's size asks the passes alone.
struct Kept {
  Memo<WorkloadKey, Workload, 4> workloads;
  Memo<LaidKey, Laid, 6> laid;
};

struct Run {
  std::shared_ptr<const Laid> laid;
  std::shared_ptr<const models::PrefixPass> pass;  ///< in the order that is set
  std::vector<std::int64_t> leaf, root;            ///< blocks found by size of the cache, in the order that is set
  std::vector<std::int64_t> ttl_ms, ttl_hits;      ///< blocks found by how long they stay
  std::vector<std::int64_t> hits;                  ///< by place: blocks found
  /// By place and node, where requests are few: blocks in the cache after the request at that place.
  std::vector<std::vector<std::int32_t>> contents;
};

/// A request, or as many neighbours as share a column.
struct Column {
  std::int64_t first = 0, requests = 1;          ///< places
  double hit = 0, computed = 0, recomputed = 0;  ///< blocks of a request, on average; computed for the first time
  double blocks() const { return hit + computed + recomputed; }
};

/// A node of the tree in the picture: it spans the columns of the requests that go through it.
struct TreeBox {
  std::int32_t node = 0, from = 0, to = 0;  ///< places along the tree, the last one included
  double top = 0, blocks = 0;
  std::int32_t first_place = 0;  ///< place in the order of the request that computes it first
};

/// Blocks that come back after so many others, by time: a cell of the picture of many requests.
struct ReturnCell {
  std::int32_t column = 0, row = 0;
  double blocks = 0;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::vector<Column> columns;
  bool each = false;  ///< a column is one request
  double most_blocks = 1, most_depth = 1;
  std::vector<std::int32_t> thread;  ///< by place: the place along the tree
  std::vector<TreeBox> boxes;
  std::vector<ReturnCell> cells;
  double most_cell = 1;
  std::int32_t rows = 1;  ///< rows of cells: row r holds distances from 2^(r / rows_per_octave) on
  std::string order_name, computed, recomputed, tree_words, column_words, given_words;
  // Found against what is kept.
  std::vector<widgets::Curve> found, found_ttl;
  widgets::Curve lost;  ///< between the order that is set and along the tree
  double most_capacity = 1;
  PublishedMarks published;
};

struct View {
  double after = 1e9;  ///< requests that have come, in the tree under the columns
  widgets::Playback playback{.time_s = 1e9};
  std::int64_t dragged = -1;  ///< place of the column in the hand
  widgets::PlotView strip, sizes, expiry;
};

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Kept& kept);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// Which requests are asked for, and they themselves; their `refused` says why there are none.
WorkloadKey workload_key(const Inputs& in);
std::shared_ptr<const Workload> workload_of(const WorkloadKey& key, Kept& kept);

/// Requests in their order with the tree under them, or, where they are many, the distance of all that comes back.
void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// Both kinds of the hero in `size` px from the cursor.
void draw_requests(Inputs& in, const Picture& picture, View& view, ImVec2 size);
void draw_returns(Inputs& in, const Picture& picture, ImVec2 size);

inline std::size_t index_of(std::int32_t i) { return static_cast<std::size_t>(i); }
inline double percent_of(std::int64_t part, std::int64_t all) {
  return all > 0 ? 100 * static_cast<double>(part) / static_cast<double>(all) : 0;
}
/// Rows of the picture of returns in each octave of distance.
inline constexpr double rows_per_octave = 3;

bool keeps_by_size(models::PrefixEviction eviction);
/// "as they came", "along the tree": in what order the requests come.
std::string_view order_words(const Inputs& in);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::serving::prefix_cache
