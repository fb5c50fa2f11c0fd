#include <algorithm>

#include "chapters/compression/deploy/lab.h"
#include "widgets/number/number.h"
#include "widgets/table/row_table.h"

namespace chapters::compression::deploy {
namespace {

using widgets::Meaning;
using widgets::Tint;

/// Where a row's loss comes from; `context`: the rows.
std::string_view source_of(const void* context, std::size_t row) {
  return (*static_cast<const std::vector<RecipeRow>*>(context))[row].source;
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
  widgets::TableSource source = widgets::table_of(out.recipes, [](const RecipeRow& r, const widgets::RowCells& cells) {
    using Figure = widgets::CellFigure;
    constexpr std::string_view none = "\xE2\x80\x93";
    const Figure weights{r.estimate.weights_bytes, "B"};
    if (!r.possible) return cells(r.recipe, weights, none, none, none, none, none, "no such units");
    const auto write = [&](const auto& largest_batch) {
      cells(r.recipe, weights, Figure{r.estimate.chips_needed}, largest_batch, Figure{r.speed.prefill_tokens_per_s},
            Figure{r.speed.decode_tokens_per_s}, Figure{r.speed.decode_speedup}, r.loss);
    };
    if (r.estimate.largest_batch > 0)
      write(Figure{r.estimate.largest_batch});
    else
      write("none");
  });
  source.mark = [](const void* context, std::size_t row) {
    const auto& t = widgets::theme();
    const RecipeRow& r = (*static_cast<const std::vector<RecipeRow>*>(context))[row];
    return widgets::RowMark{r.possible && r.estimate.fits ? widgets::Marker::circle : widgets::Marker::triangle,
                            r.possible && r.estimate.fits ? t.good : t.bad};
  };
  source.hover = [](const void* context, std::size_t row, std::size_t column) -> std::string_view {
    return column == 0 || column == 7 ? source_of(context, row) : std::string_view();
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
  widgets::TableSource source = widgets::table_of(out.caches, [](const RecipeRow& r, const widgets::RowCells& cells) {
    using Figure = widgets::CellFigure;
    const auto write = [&](const auto& largest_batch) {
      cells(r.recipe, Figure{r.estimate.cache_bytes, "B"}, largest_batch, Figure{r.speed.decode_tokens_per_s},
            Figure{r.speed.decode_speedup});
    };
    if (r.estimate.largest_batch > 0)
      write(Figure{r.estimate.largest_batch});
    else
      write("none");
  });
  source.hover = [](const void* context, std::size_t row, std::size_t column) -> std::string_view {
    return column == 0 ? source_of(context, row) : std::string_view();
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
    view.segments.push_back(
        {{{.label = "reading weights", .value = r.estimate.decode_weights_s, .tint = Tint::series(0)},
          {.label = "reading the cache", .value = r.estimate.decode_cache_s, .tint = Meaning::kv_cache},
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

/// What the recipes take and how long a step of them is, next to each other where there is room.
void draw_bars(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const widgets::Painter p = widgets::Painter::window();
  const float gap = t.px(24), head = t.type(widgets::Type::small) + t.px(8);
  const bool wide = size.x >= t.px(640);
  const ImVec2 each =
      wide ? ImVec2{std::floor((size.x - gap) / 2), size.y} : ImVec2{size.x, std::floor((size.y - gap) / 2)};
  const ImVec2 second = wide ? ImVec2{at.x + size.x - each.x, at.y} : ImVec2{at.x, at.y + size.y - each.y};
  const auto title = [&](ImVec2 from, std::string_view words) {
    widgets::fit_text(p, from, words, each.x, t.text, widgets::Type::small, widgets::Font::bold);
    ImGui::SetCursorScreenPos({from.x, from.y + head});
  };
  title(at, "memory of weights and cache");
  draw_memory(out, picture, view, {each.x, each.y - head});
  title(second, "time of one decode step");
  draw_decode(out, picture, view, {each.x, each.y - head});
}

/// Every recipe with the chosen cache, and under it every cache with the chosen recipe.
void draw_tables(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = widgets::theme().px(14), above = std::floor(0.58f * (size.y - gap));
  draw_recipes(in, out, picture, view, {size.x, above});
  ImGui::SetCursorScreenPos({at.x, at.y + above + gap});
  draw_caches(in, out, picture, view, {size.x, size.y - above - gap});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("tree", {.title = "Decision tree", .least = {760, 400}, .answers = true, .marks = "decision tree"},
              [&](ImVec2 size) {
                const float above =
                    published_line("best measured: ", picture.published, size, widgets::theme().px(380));
                draw_tree(picture, {size.x, size.y - above});
              });
  stage.panel("bars", {.title = "Memory and one step", .least = {640, 260}, .ideal = {0, 320}},
              [&](ImVec2 size) { draw_bars(out, picture, view, size); });
  published_panel(stage, "Decode: best possible against reached", picture.published);
  stage.panel("recipes",
              {.title = "Every recipe, every cache", .least = {640, 360}, .ideal = {0, 400}, .scrolls = true},
              [&](ImVec2 size) { draw_tables(in, out, picture, view, size); });
}

}  // namespace chapters::compression::deploy
