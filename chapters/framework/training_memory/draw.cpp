#include <algorithm>
#include <cmath>

#include "chapters/described/training_memory.h"
#include "chapters/framework/training_memory/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::framework::training_memory {
namespace {

using models::memory::memory_owner_count, models::memory::MemoryOwner, widgets::Type;

void draw_changes(const Outputs& out, const Picture&, View& view, ImVec2 size) {
  view.segments.clear();
  view.bars.clear();
  view.segments.resize(out.changes.size() + 1);
  const auto fill = [&](std::size_t row, const models::memory::HeldBytes& held) {
    for (std::size_t k = 0; k < memory_owner_count; ++k) {
      const OwnerLook& look = owner_look(static_cast<MemoryOwner>(k));
      view.segments[row][k] = {
          .label = look.name, .value = held.bytes[k], .tint = look.tint, .info = look.info, .hatched = look.pale};
    }
  };
  fill(0, out.memory.held);
  view.bars.push_back({.label = "as it is", .segments = view.segments[0]});
  for (std::size_t i = 0; i < out.changes.size(); ++i) {
    if (out.changes[i].change == Change::plain) continue;  // several changes at once, which may be far larger
    fill(i + 1, out.changes[i].held);
    view.bars.push_back(
        {.label = out.changes[i].name,
         .segments = std::span(view.segments[i + 1]).first(out.changes[i].possible ? memory_owner_count : 0)});
  }
  widgets::draw_stacked_bars("changes", view.bars, view.changes,
                             {.unit = "B",
                              .size = {size.x - widgets::theme().px(28), size.y},
                              .bar_px = 18,
                              .limit = out.chip_bytes,
                              .limit_label = "nameplate"});
}

void draw_saved(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{
      {{.key = "operation", .title = "operation"},
       {.key = "keeps", .title = "keeps", .priority = 1},
       {.key = "bytes", .title = "bytes", .bar = true},
       {.key = "per_sbh", .title = "per token and unit"},
       {.key = "dropped_bytes", .title = "dropped", .priority = 2}}};
  const float line = widgets::theme().type(Type::small) + widgets::theme().px(6);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const widgets::Painter p = widgets::Painter::window();
  widgets::fit_text(p, at, picture.layer_words, size.x, widgets::theme().muted, Type::small);
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  view.saved.draw("saved", out.saved, columns, {size.x, size.y - line});
}

/// Owners stacked over the sequence, and the chip's memory as a line.
void draw_sequence(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.sequences.size() < 2) return;
  std::array<std::string_view, memory_owner_count> names{};
  std::array<ImU32, memory_owner_count> colours{};
  std::size_t shown = 0;
  view.stacked.clear();
  for (std::size_t k = 0; k < memory_owner_count; ++k) {
    const std::vector<double>& values = picture.by_sequence[k];
    if (std::none_of(values.begin(), values.end(), [](double v) { return v > 0; })) continue;
    const OwnerLook& look = owner_look(static_cast<MemoryOwner>(k));
    names[shown] = look.name;
    colours[shown++] = widgets::vessel_colour(look.tint, look.pale, widgets::theme());
    view.stacked.insert(view.stacked.end(), values.begin(), values.end());
  }
  widgets::Plot plot("sequence", view.sequence,
                     {.x = {.lo = 0, .hi = picture.sequences.back(), .label = "sequence", .unit = "tokens"},
                      .y = {.lo = 0, .label = "held at the peak", .unit = "B"},
                      .size = size});
  plot.stacked(std::span(names).first(shown), picture.sequences, view.stacked,
               {.colours = std::span(colours).first(shown)});
  plot.horizontal_mark(out.chip_bytes, "", {.colour = widgets::theme().text});
  plot.tag_y(out.chip_bytes);
  const std::int64_t least = sequence_step(in), step = least * std::max<std::int64_t>(1, 128 / least);
  double sequence = static_cast<double>(in.sequence);
  if (plot.drag_x("drag sequence", sequence, {.lo = 128, .hi = picture.sequences.back()}))
    in.sequence = std::max<std::int64_t>(1, static_cast<std::int64_t>(sequence) / step) * step;
}

}  // namespace

namespace {

/// The recipes as rows of bytes.
void fill_byte_rows(const Picture& picture, View& view) {
  view.runs.clear();
  view.rows.clear();
  for (const RecipeStrip& r : picture.recipes) {
    std::array<widgets::ByteRun, 4> runs;
    constexpr MemoryOwner owners[] = {MemoryOwner::weights, MemoryOwner::gradients, MemoryOwner::master,
                                      MemoryOwner::optimizer};
    for (std::size_t k = 0; k < 4; ++k) {
      const OwnerLook& look = owner_look(owners[k]);
      runs[k] = {.label = look.name, .bytes = r.bytes[k], .tint = look.tint, .pale = look.pale};
    }
    view.runs.push_back(runs);
  }
  for (std::size_t i = 0; i < picture.recipes.size(); ++i) {
    const RecipeStrip& r = picture.recipes[i];
    view.rows.push_back({.label = r.name,
                         .note = r.note,
                         .runs = view.runs[i],
                         .figure = r.figure,
                         .chosen = r.is_a || r.is_b,
                         .letter = r.is_a   ? 'A'
                                   : r.is_b ? 'B'
                                            : '\0'});
  }
}

/// The chip as an empty vessel: its rim is given, what stands in it is the question.
void draw_empty_vessel(const Outputs& out, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const widgets::GivenMarks given;
  const float line = t.type(Type::small), wide = std::min(0.5f * size.x, t.px(240));
  const ImVec2 low{at.x + t.px(90), at.y + size.y - t.px(12)}, high{low.x + wide, at.y + line + t.px(40)};
  const ImVec2 outline[] = {{low.x, high.y}, low, {high.x, low.y}, high};
  p.polyline(outline, t.text, t.px(2));
  widgets::Line rim;
  rim.add("nameplate ").add(widgets::format(out.chip_bytes, "B"));
  p.text({low.x, high.y - line - t.px(8)}, rim.view(), t.text, Type::small, widgets::Font::bold);
}

}  // namespace

void draw_vessel(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto fill = [](std::vector<widgets::VesselLayer>& layers, const models::memory::HeldBytes& held) {
    layers.clear();
    for (std::size_t k = 0; k < memory_owner_count; ++k) {
      const OwnerLook& look = owner_look(static_cast<MemoryOwner>(k));
      layers.push_back(
          {.label = look.name, .value = held.bytes[k], .tint = look.tint, .pale = look.pale, .info = look.info});
    }
  };
  fill(view.layers_a, out.memory.held);
  const bool second = picture.shown_change < out.changes.size();
  if (second) fill(view.layers_b, out.changes[picture.shown_change].held);
  const std::array<widgets::Vessel, 2> vessels{
      {{.label = picture.a_label, .note = picture.a_note, .layers = view.layers_a, .rim = out.chip_bytes},
       {.label = picture.b_label, .note = picture.b_note, .layers = view.layers_b, .rim = out.chip_bytes}}};
  const std::array<widgets::VesselBracket, 2> brackets{
      {{.from = std::min(out.chip_bytes, out.total_bytes),
        .to = std::max(out.chip_bytes, out.total_bytes),
        .bold = picture.over_bold,
        .words = picture.over_words},
       {.from = 0, .to = out.memory.held[MemoryOwner::weights], .bold = picture.share_bold, .words = "is the model"}}};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool wide = size.x >= t.px(640);
  const float left = wide ? std::round(size.x * 0.58f) : size.x;
  if (widgets::veiled()) return draw_empty_vessel(out, at, {left, size.y});
  widgets::draw_vessels(
      "vessel", std::span(vessels).first(second ? 2 : 1), view.vessels,
      {.unit = "B", .size = {left, size.y}, .brackets = brackets, .axis = true, .levels = "states_bytes total_bytes"});
  widgets::drew("vessels");
  if (!wide) return;
  fill_byte_rows(picture, view);
  const float x = at.x + left + t.px(16), width = size.x - left - t.px(16);
  const widgets::Painter p = widgets::Painter::window();
  p.text({x, at.y}, "One parameter, byte by byte", t.text, Type::body, widgets::Font::bold);
  const float head = t.type(Type::body) + t.px(10);
  const float words = widgets::wrapped_text(p, {}, picture.limit_words, width, t.muted, {.paint = false}) + t.px(10);
  ImGui::SetCursorScreenPos({x, at.y + head});
  const auto clicked = widgets::draw_byte_strip(
      "bytes", view.rows, view.bytes,
      {.size = {width, size.y - head - words}, .limit = picture.limit, .figure_title = "total"});
  if (clicked >= 0) {
    in.recipe = picture.recipes[static_cast<std::size_t>(clicked)].recipe;
    in.optimizer = picture.recipes[static_cast<std::size_t>(clicked)].optimizer;
  }
  const float bottom = view.bytes.layout.rows.empty() ? at.y + head : view.bytes.layout.rows.back().max.y;
  const float words_y = std::min(bottom + t.px(8), at.y + size.y - words);
  widgets::wrapped_text(p, {x, words_y}, picture.limit_words, width, t.muted);
  const float rest = at.y + size.y - words_y - words;
  if (rest < t.px(150)) return;
  ImGui::SetCursorScreenPos({x, at.y + size.y - std::min(rest, t.px(170))});
  draw_layer_parts(in, out, view, {width, std::min(rest, t.px(170))});
}

void draw_layer_parts(const Inputs& in, const Outputs& out, View& view, ImVec2 size) {
  constexpr std::string_view names[] = {"attention", "feed-forward", "norms", "scores"};
  const bool kept = in.recompute == models::Recompute::none;
  std::array<widgets::StackedBar, 2> bars;
  const std::size_t count = std::min(bars.size(), out.layer_parts.size());
  // Scores that nobody keeps have no name in the legend either.
  const bool scores = kept && std::any_of(out.layer_parts.begin(), out.layer_parts.end(),
                                          [](const LayerParts& parts) { return parts.scores > 0; });
  for (std::size_t i = 0; i < count; ++i) {
    const LayerParts& parts = out.layer_parts[i];
    const double values[] = {parts.attention, parts.feed_forward, parts.norms, kept ? parts.scores : 0};
    for (std::size_t k = 0; k < 4; ++k)
      view.parts[i][k] = {.label = names[k],
                          .value = values[k],
                          .tint = widgets::Tint::ramp(k == 0 ? 0 : 2 * k + 6, 13),
                          .info = "bytes per token and hidden unit"};
    bars[i] = {.label = parts.name, .segments = std::span(view.parts[i]).first(scores ? 4 : 3)};
  }
  widgets::draw_stacked_bars("layer", std::span(bars).first(count), view.layer,
                             {.axis_label = "bytes per token and hidden unit", .size = size, .bar_px = 22});
}

namespace {

/// What a layer keeps, and under it how that grows with the sequence.
void draw_activations(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (size.y < t.px(340)) return draw_saved(out, picture, view, size);
  const float upper = std::floor(size.y * 0.46f), gap = t.px(12);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_saved(out, picture, view, {size.x, upper});
  ImGui::SetCursorScreenPos({at.x, at.y + upper + gap});
  draw_sequence(in, out, picture, view, {size.x, size.y - upper - gap});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("vessel", {.title = "Vessel", .least = {720, 380}, .answers = true, .marks = "vessels"},
              [&](ImVec2 size) { draw_vessel(in, out, picture, view, size); });
  stage.panel("changes", {.title = "One change each", .least = {560, 340}, .ideal = {0, 380}},
              [&](ImVec2 size) { draw_changes(out, picture, view, size); });
  stage.panel("saved", {.title = "Activations", .least = {560, 280}, .ideal = {0, 560}, .scrolls = true},
              [&](ImVec2 size) { draw_activations(in, out, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::framework::training_memory
