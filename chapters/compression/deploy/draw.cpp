#include <algorithm>

#include "chapters/compression/deploy/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::deploy {
namespace {

using widgets::Meaning;
using widgets::Tint;

void number(widgets::TableCell& cell, double value, std::string_view unit, int digits = 3) {
  widgets::put_number(cell, value, unit, digits);
}

void draw_recipes(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 8> columns{
      {{.title = "recipe", .number = false},
       {.title = "weights", .value_unit = "B"},
       {.title = "chips needed", .priority = 1},
       {.title = "largest batch", .priority = 4},
       {.title = "prefill tok/s", .priority = 3},
       {.title = "decode tok/s", .bar = true, .priority = 1},
       {.title = "\xC3\x97 BF16", .priority = 2},
       {.title = "published loss", .number = false, .priority = 2}}};
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
    else if (column == 3 && !(r.estimate.largest_batch > 0))
      cell.text = "none";
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
  const auto result = widgets::draw_table("recipes", columns, source, view.recipes, size);
  if (result.selection_changed && view.recipes.selected >= 0)
    in.recipe = picture.recipe_ids[static_cast<std::size_t>(view.recipes.selected)];
}

void draw_caches(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 5> columns{{{.title = "cache", .number = false},
                                                                {.title = "takes", .value_unit = "B"},
                                                                {.title = "largest batch"},
                                                                {.title = "decode tok/s"},
                                                                {.title = "\xC3\x97 BF16"}}};
  widgets::TableSource source{.context = &out, .rows = out.caches.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const RecipeRow& r = static_cast<const Outputs*>(context)->caches[row];
    if (column == 0)
      cell.text = r.recipe;
    else if (column == 1)
      number(cell, r.estimate.cache_bytes, "B");
    else if (column == 2 && !(r.estimate.largest_batch > 0))
      cell.text = "none";
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
  const auto result = widgets::draw_table("caches", columns, source, view.caches, size);
  if (result.selection_changed && view.caches.selected >= 0)
    in.kv = picture.cache_ids[static_cast<std::size_t>(view.caches.selected)];
}

void draw_memory(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  view.segments.clear();
  view.bars.clear();
  for (const RecipeRow& r : out.recipes)
    view.segments.push_back({{{.label = "weights", .value = r.estimate.weights_bytes, .tint = Tint::series(0)},
                              {.label = "cache",
                               .value = r.possible ? r.estimate.cache_bytes : out.estimate.cache_bytes,
                               .tint = Meaning::kv_cache},
                              {}}});
  for (std::size_t i = 0; i < out.recipes.size(); ++i)
    view.bars.push_back({.label = picture.memory_names[i], .segments = std::span(view.segments[i]).first(2)});
  widgets::draw_stacked_bars(
      "memory", view.bars, view.memory,
      {
          .unit = "B",
          .size = {size.x - widgets::theme().px(28), size.y},  // its unit stands right of the axis
          .totals = false,
          .limit = out.estimate.memory_bytes,
          .limit_label = "may be taken",
      });
}

/// A recipe that the chip cannot multiply has no bar and no total, but the reason in their place.
void draw_decode(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  view.segments.clear();
  view.bars.clear();
  for (const RecipeRow& r : out.recipes)
    view.segments.push_back({{{.label = "matrices", .value = r.estimate.decode_weights_s, .tint = Tint::series(0)},
                              {.label = "attention", .value = r.estimate.decode_cache_s, .tint = Meaning::kv_cache},
                              {.label = "rest", .value = r.estimate.decode_other_s, .tint = Meaning::idle}}});
  for (std::size_t i = 0; i < out.recipes.size(); ++i)
    view.bars.push_back({.label = out.recipes[i].recipe,
                         .segments = std::span(view.segments[i]).first(out.recipes[i].possible ? 3 : 0)});
  widgets::draw_stacked_bars("decode step", view.bars, view.decode, {.unit = "s", .size = size});
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  for (std::size_t i = 0; i < picture.why_not.size() && i < view.decode.layout.bars.size(); ++i) {
    const widgets::Rect bar = view.decode.layout.bars[i].rect;
    widgets::fit_text(p, {bar.min.x + t.px(6), (bar.min.y + bar.max.y - t.type(widgets::Type::small)) / 2},
                      picture.why_not[i], view.decode.layout.plot.max.x - bar.min.x - t.px(8), t.muted,
                      widgets::Type::small);
  }
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("tree", {.title = "Decision tree", .least = {760, 400}, .answers = true}, [&](ImVec2 size) {
    const float above = published_line("best measured: ", picture.published, size, widgets::theme().px(380));
    draw_tree(picture, {size.x, size.y - above});
  });
  stage.panel("memory", {.title = "Memory", .least = {380, 260}, .ideal = {0, 320}},
              [&](ImVec2 size) { draw_memory(out, picture, view, size); });
  stage.panel("step", {.title = "One decode step", .least = {380, 260}, .ideal = {0, 320}},
              [&](ImVec2 size) { draw_decode(out, picture, view, size); });
  published_panel(stage, "Decode: best possible against reached", picture.published);
  stage.panel("recipes", {.title = "Every recipe", .least = {640, 200}, .ideal = {0, 220}, .scrolls = true},
              [&](ImVec2 size) { draw_recipes(in, out, picture, view, size); });
  stage.panel("caches", {.title = "Every cache", .least = {420, 150}, .ideal = {0, 170}, .scrolls = true},
              [&](ImVec2 size) { draw_caches(in, out, picture, view, size); });
}

}  // namespace chapters::compression::deploy
