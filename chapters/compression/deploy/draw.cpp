#include <algorithm>
#include <limits>

#include "chapters/compression/deploy/lab.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/number/number.h"

namespace chapters::compression::deploy {
namespace {

using widgets::Meaning;
using widgets::Tint;

void number(widgets::TableCell& cell, double value, std::string_view unit, int digits = 3) {
  cell.value = value;
  cell.number = widgets::format(value, unit, digits);
}

void draw_recipes(Inputs& in, const Outputs& out, const Picture& picture, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 8> columns{{{.title = "recipe", .number = false},
                                                                {.title = "weights", .value_unit = "B"},
                                                                {.title = "chips"},
                                                                {.title = "batch"},
                                                                {.title = "prefill tok/s"},
                                                                {.title = "decode tok/s"},
                                                                {.title = "x BF16"},
                                                                {.title = "published loss", .number = false}}};
  widgets::TableSource source{.context = &out, .rows = out.recipes.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const RecipeRow& r = static_cast<const Outputs*>(context)->recipes[row];
    if (column == 0)
      cell.text = r.recipe;
    else if (column == 1)
      number(cell, r.estimate.weights_bytes, "B");
    else if (column == 7)
      cell.text = r.possible ? std::string_view(r.loss) : "no such units";
    else if (!r.possible)
      cell.text = "\xE2\x80\x93";
    else if (column == 2)
      number(cell, r.estimate.chips_needed, "");
    else if (column == 3)
      number(cell, r.estimate.largest_batch, "");
    else if (column == 4)
      number(cell, r.speed.prefill_tokens_per_s, "");
    else if (column == 5)
      number(cell, r.speed.decode_tokens_per_s, "");
    else
      number(cell, r.speed.decode_speedup, "");
  };
  source.mark = [](const void* context, std::size_t row) {
    const auto& t = widgets::theme();
    const RecipeRow& r = static_cast<const Outputs*>(context)->recipes[row];
    return widgets::RowMark{r.possible && r.estimate.fits ? widgets::Marker::circle : widgets::Marker::triangle,
                            r.possible && r.estimate.fits ? t.good : t.bad};
  };
  source.hover = [](const void* context, std::size_t row, std::size_t column) -> std::string_view {
    return column == 0 || column == 7 ? std::string_view(static_cast<const Outputs*>(context)->recipes[row].source)
                                      : std::string_view();
  };
  const auto result = widgets::draw_table("recipes", columns, source, view.recipes, {width, 0});
  if (result.selection_changed && view.recipes.selected >= 0)
    in.recipe = models::deployment_recipes()[static_cast<std::size_t>(view.recipes.selected)].id;
}

void draw_caches(Inputs& in, const Outputs& out, const Picture& picture, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 5> columns{{{.title = "cache", .number = false},
                                                                {.title = "takes", .value_unit = "B"},
                                                                {.title = "largest batch"},
                                                                {.title = "decode tok/s"},
                                                                {.title = "decode x"}}};
  widgets::TableSource source{.context = &out, .rows = out.caches.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const RecipeRow& r = static_cast<const Outputs*>(context)->caches[row];
    if (column == 0)
      cell.text = r.recipe;
    else if (column == 1)
      number(cell, r.estimate.cache_bytes, "B");
    else if (column == 2)
      number(cell, r.estimate.largest_batch, "");
    else if (column == 3)
      number(cell, r.speed.decode_tokens_per_s, "");
    else
      number(cell, r.speed.decode_speedup, "");
  };
  source.hover = [](const void* context, std::size_t row, std::size_t column) -> std::string_view {
    return column == 0 ? std::string_view(static_cast<const Outputs*>(context)->caches[row].source)
                       : std::string_view();
  };
  const auto result = widgets::draw_table("caches", columns, source, view.caches, {width, 0});
  if (result.selection_changed && view.caches.selected >= 0)
    in.kv = models::kv_recipes()[static_cast<std::size_t>(view.caches.selected)].id;
}

void draw_memory(const Outputs& out, View& view, float width, float height) {
  view.segments.clear();
  view.bars.clear();
  for (const RecipeRow& r : out.recipes)
    view.segments.push_back({{{.label = "weights", .value = r.estimate.weights_bytes, .tint = Tint::series(1)},
                              {.label = "cache",
                               .value = r.possible ? r.estimate.cache_bytes : out.estimate.cache_bytes,
                               .tint = Meaning::kv_cache},
                              {}}});
  for (std::size_t i = 0; i < out.recipes.size(); ++i)
    view.bars.push_back({.label = out.recipes[i].recipe, .segments = std::span(view.segments[i]).first(2)});
  widgets::draw_stacked_bars("memory", view.bars, view.memory,
                             {
                                 .unit = "B",
                                 .size = {width, height},
                                 .limit = out.estimate.memory_bytes,
                                 .limit_label = "may be taken",
                             });
}

/// A recipe that the chip cannot multiply has a bar without segments, and so without a total.
void draw_decode(const Outputs& out, View& view, float width, float height) {
  view.segments.clear();
  view.bars.clear();
  for (const RecipeRow& r : out.recipes)
    view.segments.push_back({{{.label = "matrices", .value = r.estimate.decode_weights_s, .tint = Tint::series(1)},
                              {.label = "attention", .value = r.estimate.decode_cache_s, .tint = Meaning::kv_cache},
                              {.label = "rest", .value = r.estimate.decode_other_s, .tint = Meaning::idle}}});
  for (std::size_t i = 0; i < out.recipes.size(); ++i)
    view.bars.push_back({.label = out.recipes[i].recipe,
                         .segments = std::span(view.segments[i]).first(out.recipes[i].possible ? 3 : 0)});
  widgets::draw_stacked_bars("decode step", view.bars, view.decode, {.unit = "s", .size = {width, height}});
}

void draw_tree(const Picture& picture, View& view, float width, float height) {
  view.nodes.clear();
  view.edges.clear();
  const auto tree = models::decision_nodes();
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const bool leaf = tree[i].yes < 0;
    const TreeStop& stop = picture.tree[i];
    view.nodes.push_back({
        .label = tree[i].text,
        .sublabel = stop.note,
        .tint = !stop.reached ? Tint{}
                : leaf        ? Tint(Meaning::compute_bound)
                              : Tint::series(0),
    });
    if (leaf) continue;
    for (const bool yes : {true, false})
      view.edges.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(yes ? tree[i].yes : tree[i].no),
                            yes ? "yes" : "no",
                            stop.reached && stop.yes == yes ? 1.0 : std::numeric_limits<double>::quiet_NaN()});
  }
  widgets::draw_flow_graph("decision tree", view.nodes, view.edges, view.tree, {.size = {width, height}});
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x;
  widgets::heading(picture.verdict, picture.story, width);
  draw_recipes(in, out, picture, view, width);
  widgets::fit_text(widgets::Painter::window(), ImGui::GetCursorScreenPos(),
                    "chips: needed for weights and cache; batch: the largest that fits; x BF16: decode against 16 "
                    "bits; loss: hover for whose",
                    width, t.muted, widgets::Type::small);
  ImGui::Dummy({width, t.px(24)});
  const auto memory = [&](float w) {
    widgets::heading("Memory", "weights and the chosen cache against what may be taken", w);
    draw_memory(out, view, w, t.px(250));
  };
  const auto decode = [&](float w) {
    widgets::heading("One decode step", "as if it fitted; empty where the chip cannot multiply the format", w);
    draw_decode(out, view, w, t.px(250));
  };
  const widgets::TwoColumns columns = widgets::two_columns(width);
  widgets::draw_columns(columns, memory, decode);
  ImGui::Dummy({width, t.px(8)});
  widgets::heading("The decision tree, walked", picture.tree_story, width);
  draw_tree(picture, view, width, t.px(330));
  ImGui::Dummy({width, t.px(8)});
  widgets::heading("The cache, with this recipe", "press a row to choose it", width);
  draw_caches(in, out, picture, view, columns.left);
}

}  // namespace chapters::compression::deploy
