#include "chapters/roofline/transformer_layer/draw.h"

#include <algorithm>
#include <cmath>

#include "widgets/base/guess.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/table/table_layout.h"

namespace chapters::roofline::transformer_layer {
namespace {

using widgets::Line, widgets::Marker, widgets::Meaning, widgets::Painter, widgets::theme, widgets::Theme, widgets::Type;

/// The rows in the table: those of the layer drawn, and what lies outside the layers.
void gather_rows(const Outputs& out, const Picture& pic, View& view) {
  const std::size_t layer = pic.layers.empty() ? 0 : drawn_layer(pic, view);
  const std::uint64_t wanted = (pic.version << 8) + layer;  // there are at most 64 kinds of layers
  if (view.rows_version == wanted) return;
  view.rows_version = wanted;
  view.rows.clear();
  for (std::size_t i = 0; i < out.operations.size(); ++i) {
    bool elsewhere = false;
    for (std::size_t k = 0; k < pic.layers.size(); ++k)
      elsewhere = elsewhere || (k != layer && i >= pic.layers[k].first && i < pic.layers[k].end);
    if (elsewhere) continue;
    const OperationRow& row = out.operations[i];
    const std::string& name = row.timed.operation.name;
    view.rows.push_back({i, row, name.substr(0, name.find(" projection")), pic.operations[i].detail});
  }
  // The costliest first, whatever the order in which they run.
  std::stable_sort(view.rows.begin(), view.rows.end(),
                   [](const ShownOperation& a, const ShownOperation& b) { return a.row.all_s > b.row.all_s; });
}

/// A few words over a picture; returns the height that they take.
float story(std::string_view words, float width, ImU32 ink) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height =
      widgets::wrapped_text(Painter::window(), at, words, width, ink, {.max_lines = 2}) + theme().px(4);
  ImGui::SetCursorScreenPos({at.x, at.y + height});
  return height;
}

/// The same step with and without fusion, by kind of work.
void draw_variants(const Picture& pic, View& view, ImVec2 size) {
  constexpr std::string_view blocks[block_count] = {"projections", "attention kernels", "feed-forward kernels",
                                                    "norms and adds", "embedding, output"};
  constexpr widgets::Tint tints[block_count] = {widgets::Tint::series(0), widgets::Tint::series(3),
                                                widgets::Tint::series(2), widgets::Tint::series(1), widgets::Tint()};
  widgets::BarSegment times[3][block_count];
  widgets::StackedBar variants[3];
  const std::size_t n = std::min<std::size_t>(pic.variants.size(), 3);
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t b = 0; b < block_count; ++b)
      times[v][b] = {.label = blocks[b], .value = pic.variants[v].time_s[b], .tint = tints[b]};
    variants[v] = {.label = pic.variants[v].label, .segments = times[v]};
  }
  const float above = story(pic.convention, size.x, theme().muted);
  widgets::draw_stacked_bars("time of the step", {variants, n}, view.time_bars,
                             {.unit = "s", .size = {size.x, size.y - above}, .bar_px = 24});
}

/// Where the parameters are, and for experts how many of them a token uses.
void draw_parameters(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  constexpr std::string_view parts[4] = {"embedding, output", "attention matrices", "feed-forward matrices", "norms"};
  constexpr widgets::Tint part_tints[4] = {widgets::Tint(), widgets::Tint::series(3), widgets::Tint::series(2),
                                           widgets::Tint::series(1)};
  widgets::BarSegment stored[4], active[4];
  for (std::size_t i = 0; i < 4; ++i) {
    stored[i] = {.label = parts[i], .value = static_cast<double>(pic.stored[i]), .tint = part_tints[i]};
    active[i] = {.label = parts[i], .value = static_cast<double>(pic.active[i]), .tint = part_tints[i]};
  }
  const bool sparse = out.parameters.active != out.parameters.total;
  const widgets::StackedBar counts[2] = {{.label = sparse ? "stored" : "parameters", .segments = stored},
                                         {.label = "a token uses", .segments = active}};
  widgets::draw_stacked_bars("parameters", {counts, sparse ? 2u : 1u}, view.parameter_bars,
                             {.unit = "parameters", .size = size, .bar_px = 24});
}

/// What the learner said, at the right of the first line: no length in the picture is in the unit of every question.
void show_guess(ImVec2 right) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  const Line words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), false);
  const float width = widgets::text_size(words.view(), Type::small).x;
  widgets::paint_guess_words(Painter::window(), {right.x - width - theme().px(4), right.y}, words.view());
}

/// The step fused and not, and under it the parameters.
void draw_kinds(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = theme().px(12), above = std::floor(0.6f * (size.y - gap));
  draw_variants(pic, view, {size.x, above});
  ImGui::SetCursorScreenPos({at.x, at.y + above + gap});
  draw_parameters(out, pic, view, {size.x, size.y - above - gap});
}

}  // namespace

Meaning meaning_of(models::Regime regime) {
  return regime == models::Regime::compute  ? Meaning::compute_bound
         : regime == models::Regime::launch ? Meaning::launch_bound
                                            : Meaning::memory_bound;
}

Marker shape_of(models::Regime regime) {
  return regime == models::Regime::compute  ? Marker::square
         : regime == models::Regime::launch ? Marker::triangle
                                            : Marker::circle;
}

std::string_view name_of(models::Regime regime) {
  return regime == models::Regime::compute  ? "compute-bound"
         : regime == models::Regime::launch ? "launch-bound"
                                            : "memory-bound";
}

void select(View& view, std::size_t row) {
  const auto r = static_cast<std::int64_t>(row);
  view.selected = view.selected == r ? -1 : r;
}

bool is_selected(const View& view, std::size_t row) { return view.selected == static_cast<std::int64_t>(row); }

void show_tip(const OperationRow& row, const OperationPicture& picture) {
  Line value;
  value.add(widgets::format(row.timed.placement.time_s, "s"))
      .add(", ")
      .add(widgets::format(100 * row.timed.share, "%"))
      .add(" of the step, ")
      .add(name_of(row.timed.placement.regime));
  widgets::tip(row.timed.operation.name, value.view(), picture.detail);
}

std::size_t drawn_layer(const Picture& picture, const View& view) {
  if (view.layer >= 0 && view.layer < static_cast<std::int64_t>(picture.layers.size()))
    return static_cast<std::size_t>(view.layer);
  return picture.longest_layer;
}

void describe(Fields& f, View& view) {
  f.integer("selected", view.selected, "Selected operation", "Its place among all operations from 0, -1 for none.",
            {.range = {-1, 1023}});
  f.integer("layer", view.layer, "Kind of layer", "Which kind of layer is drawn, -1 for the one that takes longest.",
            {.range = {-1, 63}});
}

void describe(Fields& f, ShownOperation& shown) {
  f.text("short_name", shown.short_name, "Operation");
  describe(f, shown.row);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  stage.panel(
      "layer",
      {.title = "The layer", .least = {520, 290}, .ideal = {0, 460}, .answers = true, .marks = "operations, blocks"},
      [&](ImVec2 size) {
        if (out.operations.empty()) return ImGui::Dummy(size);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        float above = widgets::veiled() ? 0 : story(pic.subject, size.x, theme().text);
        show_guess({at.x + size.x, at.y});
        // Published steps are of training.
        if (in.phase == models::Phase::train)
          above += published_line("measured in training: ", pic.published, {size.x, size.y - above}, theme().px(140));
        draw_flow(out, pic, view, in.launch_s > 0, size.x, size.y - above);
      });
  stage.panel("operations", {.title = "Operations, the costliest first", .least = {470, 220}, .scrolls = true},
              [&](ImVec2 size) {
                if (out.operations.empty()) return ImGui::Dummy(size);
                gather_rows(out, pic, view);
                const float above =
                    story(in.launch_s > 0 ? "bars: what memory, arithmetic and launching need; full is the wall"
                                          : "bars: what memory and arithmetic need; full is the wall",
                          size.x, theme().muted);
                draw_operations(out, pic, view, size.x, size.y - above);
              });
  stage.panel("variants", {.title = "Time and parameters by kind", .least = {400, 330}, .ideal = {0, 420}},
              [&](ImVec2 size) {
                if (out.operations.empty()) return ImGui::Dummy(size);
                draw_kinds(out, pic, view, size);
              });
  published_panel(stage, "Training: best possible against reached", pic.published);
}

}  // namespace chapters::roofline::transformer_layer
