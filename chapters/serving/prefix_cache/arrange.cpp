#include <algorithm>
#include <cmath>
#include <map>

#include "chapters/serving/prefix_cache/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::prefix_cache {
namespace {

using models::PrefixEviction, models::PrefixPass, models::PrefixTree;
using widgets::Curve, widgets::format_text, widgets::Tint;

constexpr std::size_t max_columns = 160, max_points = 240;

std::string counted_text(std::int64_t n) { return format_text(static_cast<double>(n), "", 9); }

/// How many neighbours share a column.
std::size_t per_column(std::size_t requests) {
  return requests <= max_dragged ? 1 : (requests + max_columns - 1) / max_columns;
}

std::vector<Column> columns_of(const Run& run) {
  std::vector<Column> out;
  const PrefixPass& pass = *run.pass;
  const std::size_t n = pass.order.size(), per = per_column(n);
  for (std::size_t first = 0; first < n; first += per) {
    Column column{.first = static_cast<std::int64_t>(first)};
    const std::size_t end = std::min(n, first + per);
    column.requests = static_cast<std::int64_t>(end - first);
    const auto share = 1 / static_cast<double>(end - first);
    for (std::size_t place = first; place < end; ++place) {
      const double hit = static_cast<double>(run.hits[place]), seen = pass.seen[place],
                   blocks = run.laid->tree.blocks[index_of(pass.order[place])];
      column.hit += share * hit;
      column.recomputed += share * (seen - hit);
      column.computed += share * (blocks - seen);
    }
    out.push_back(column);
  }
  return out;
}

/// The tree as boxes over the requests in their places along it.
std::vector<TreeBox> boxes_of(const Run& run) {
  const PrefixTree& tree = run.laid->tree;
  std::vector<TreeBox> out(tree.nodes.size());
  const auto none = static_cast<std::int32_t>(run.pass->order.size());
  for (std::size_t v = 0; v < out.size(); ++v)
    out[v] = {static_cast<std::int32_t>(v),
              none,
              -1,
              static_cast<double>(tree.nodes[v].top),
              static_cast<double>(tree.nodes[v].blocks),
              none};
  std::vector<std::int32_t> path;
  for (std::size_t place = 0; place < run.pass->order.size(); ++place) {
    const std::int32_t request = run.pass->order[place], along = run.laid->tree_place[index_of(request)];
    tree.path(index_of(request), path);
    for (const std::int32_t v : path) {
      TreeBox& box = out[index_of(v)];
      box.from = std::min(box.from, along);
      box.to = std::max(box.to, along);
      box.first_place = std::min(box.first_place, static_cast<std::int32_t>(place));
    }
  }
  return out;
}

double low_end(std::int32_t row) { return std::exp2(row / rows_per_octave); }
std::int32_t row_of(double distance) {
  return static_cast<std::int32_t>(std::floor(rows_per_octave * std::log2(std::max(1.0, distance)) + 1e-9));
}

/// Everything that comes back, by when and after how many other blocks; by the clock after how many milliseconds.
std::vector<ReturnCell> cells_of(const Run& run, PrefixEviction eviction, std::size_t per) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> sums;
  for (std::size_t place = 0; place < run.pass->order.size(); ++place)
    for (const models::PrefixRun& r : run.pass->runs_of(place)) {
      const auto column = static_cast<std::int32_t>(place / per);
      const auto blocks = static_cast<double>(r.blocks);
      if (eviction == PrefixEviction::ttl || eviction == PrefixEviction::lru_root_first) {
        sums[{column, row_of(static_cast<double>(eviction == PrefixEviction::ttl ? r.idle_ms : r.whole))}] += blocks;
        continue;
      }
      const double from = static_cast<double>(r.newer) + 1, to = from + blocks;
      for (std::int32_t row = row_of(from); low_end(row) < to; ++row)
        if (const double part = std::min(to, low_end(row + 1)) - std::max(from, low_end(row)); part > 0)
          sums[{column, row}] += part;
    }
  std::vector<ReturnCell> out;
  for (const auto& [key, blocks] : sums) out.push_back({key.first, key.second, blocks});
  return out;
}

/// Sizes of the cache at which curves have a point: each of a small tree, else a few in each octave.
std::vector<std::int64_t> sizes_of(std::int64_t most, bool each) {
  std::vector<std::int64_t> out;
  if (each && most <= 1500) {
    for (std::int64_t c = 0; c <= most; ++c) out.push_back(c);
    return out;
  }
  const double from = each ? 1 : 10,
               ratio = std::pow(std::max(2.0, static_cast<double>(most) / from), 1.0 / max_points);
  for (double c = from; c < static_cast<double>(most); c *= ratio)
    if (const std::int64_t size = std::llround(c); out.empty() || out.back() < size) out.push_back(size);
  out.push_back(most);
  return out;
}

Curve curve_of(std::string label, Tint tint, const std::vector<std::int64_t>& sizes,
               const std::vector<std::int64_t>& found, std::int64_t all) {
  Curve out{.label = std::move(label), .info = "blocks found / blocks of all prompts", .tint = tint};
  for (const std::int64_t c : sizes) {
    const auto i = std::min(static_cast<std::size_t>(c), found.size() - 1);
    out.add(static_cast<double>(c), percent_of(found[i], all));
  }
  return out;
}

/// Found by size of the cache: as it is set first, then in the other order, then with the other order of eviction.
void add_curves(const Inputs& in, const Outputs& out, const Run& run, Picture& picture) {
  const Laid& laid = *run.laid;
  const bool root = in.eviction == PrefixEviction::lru_root_first;
  const std::int64_t all = out.figures.total_blocks, most = std::max<std::int64_t>(20, out.tree.nodes);
  picture.most_capacity = static_cast<double>(most);
  const auto sizes = sizes_of(most, picture.each);
  picture.found.push_back(
      curve_of(std::string(order_words(in)), Tint::strong(), sizes, root ? run.root : run.leaf, all));
  const bool along = in.order == Order::along_tree;
  const auto& other =
      along ? (root ? laid.as_came_root : laid.as_came_leaf) : (root ? laid.along_root : laid.along_leaf);
  picture.found.push_back(curve_of(along ? "as they came" : "along the tree", Tint::series(1), sizes, other, all));
  picture.found.push_back(curve_of(root ? "last block first" : "first block first", Tint::series(4), sizes,
                                   root ? run.leaf : run.root, all));
  picture.found.back().dashed = true;
  picture.lost = {.kind = Curve::Kind::area,
                  .label = "what the order costs",
                  .tint = Tint::bad(),
                  .alpha = 0.2f,
                  .width = 0,
                  .legend = false,
                  .x = picture.found[0].x,
                  .y = picture.found[1].y,
                  .lower = picture.found[0].y};
  Curve clock{
      .label = std::string(order_words(in)), .info = "blocks found / blocks of all prompts", .tint = Tint::strong()};
  for (std::size_t i = 0; i < run.ttl_ms.size(); ++i)
    clock.add(static_cast<double>(run.ttl_ms[i]) / 1000, percent_of(run.ttl_hits[i], all));
  picture.found_ttl.push_back(std::move(clock));
}

void add_words(const Inputs& in, const Outputs& out, Picture& picture) {
  picture.order_name = order_words(in);
  picture.order_name.front() = static_cast<char>(picture.order_name.front() - 'a' + 'A');
  picture.computed = counted_text(out.computed_blocks);
  picture.recomputed = counted_text(out.recomputed_blocks);
  picture.tree_words = counted_text(out.tree.nodes);
  picture.given_words = counted_text(out.figures.total_blocks);
  if (!picture.each && !picture.columns.empty())
    picture.column_words = "a column is " + counted_text(picture.columns.front().requests) + " of " +
                           counted_text(out.figures.requests) + " requests";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!run.pass || run.pass->order.empty()) return picture;
  picture.answer = answer_of(in, out);
  picture.columns = columns_of(run);
  picture.each = run.pass->order.size() <= max_dragged;
  for (const Column& c : picture.columns) picture.most_blocks = std::max(picture.most_blocks, c.blocks());
  picture.most_depth = static_cast<double>(std::max<std::int64_t>(1, out.tree.max_depth));
  if (picture.each) {
    for (const std::int32_t request : run.pass->order)
      picture.thread.push_back(run.laid->tree_place[index_of(request)]);
    picture.boxes = boxes_of(run);
  } else {
    picture.cells = cells_of(run, in.eviction, per_column(run.pass->order.size()));
    for (const ReturnCell& cell : picture.cells) {
      picture.most_cell = std::max(picture.most_cell, cell.blocks);
      picture.rows = std::max(picture.rows, cell.row + 1);
    }
  }
  add_curves(in, out, run, picture);
  add_words(in, out, picture);
  return picture;
}

}  // namespace chapters::serving::prefix_cache
