#include <algorithm>

#include "chapters/distributed/shared/panel_parts.h"
#include "chapters/distributed/tensor_parallel/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::tensor_parallel {
namespace {

using widgets::Meaning;

void name_ranks(const Picture& picture, View& view) {
  view.rank_names.clear();
  for (const std::string& name : picture.rank_names) view.rank_names.push_back(name);
}

void draw_against(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  name_ranks(picture, view);
  widgets::Plot plot("against ranks", view.against,
                     {.x = {.kind = widgets::AxisKind::category, .label = "ranks", .categories = view.rank_names},
                      .y = {.lo = 0, .label = "time per layer", .unit = "s"},
                      .size = size});
  if (picture.rank_places.empty()) return;
  const std::string_view labels[] = {"matmuls", "norms, attention, activations", "exposed collectives"};
  const ImU32 colours[] = {t.of(Meaning::forward), t.muted, t.of(Meaning::communication)};
  plot.stacked(labels, picture.rank_places, picture.layers,
               {.bars = true, .colours = colours, .info = "of one layer, forward and backward"});
  if (picture.node_place < static_cast<double>(picture.rank_places.size()) - 1)
    plot.vertical_mark(picture.node_place, "more than a node");
  if (picture.yours >= 0) {
    const auto n = picture.rank_places.size(), at = static_cast<std::size_t>(picture.yours);
    const double x = static_cast<double>(at),
                 y = picture.layers[at] + picture.layers[n + at] + picture.layers[2 * n + at];
    plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 5, .output = "layer_s"});
  }
}

void draw_activation(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  name_ranks(picture, view);
  widgets::Plot plot("activations", view.activation,
                     {.x = {.kind = widgets::AxisKind::category, .label = "ranks", .categories = view.rank_names},
                      .y = {.lo = 0, .label = "activations of a layer on a rank", .unit = "B"},
                      .size = size});
  // Hues of their own: the plot next to it has those of matmuls and of what else a layer does.
  plot.bars("tensor parallel", picture.rank_places, picture.activation,
            {.colour = t.ramp_at(0, 3), .width = 0.36f, .offset = -0.5f, .info = "norms and residuals whole"});
  plot.bars("and sequence parallel", picture.rank_places, picture.activation_split,
            {.colour = t.ramp_at(2, 3), .width = 0.36f, .offset = 0.5f, .info = "all of it divided by the ranks"});
}

struct RingNaming {
  const Picture* picture = nullptr;
  float px_per_ns = 0, letter_px = 1;
};
/// A block's number, where its bar has room for it.
std::string_view ring_name(const void* context, std::uint32_t id) {
  const RingNaming& n = *static_cast<const RingNaming*>(context);
  if (id >= n.picture->ring_names.size()) return {};
  const RingName& name = n.picture->ring_names[id];
  const float room = static_cast<float>(name.duration_ns) * n.px_per_ns - widgets::theme().px(4);
  return static_cast<float>(name.text.size()) * n.letter_px <= room ? std::string_view(name.text) : std::string_view();
}
std::string_view ring_tint(const void*, widgets::Tint tint) {
  if (tint == widgets::Tint(Meaning::forward)) return "matmuls; the number says whose rows";
  if (tint == widgets::Tint(Meaning::communication)) return "rows on the link";
  return {};
}

void draw_ring(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const float words = 1.5f * t.type(widgets::Type::small);
  widgets::fit_text(widgets::Painter::window(), ImGui::GetCursorScreenPos(), picture.ring_words, size.x, t.muted,
                    widgets::Type::small);
  ImGui::Dummy({size.x, words});
  view.lanes.clear();
  for (std::size_t i = 0; i < picture.ring.size(); ++i)
    view.lanes.push_back({.label = picture.ring[i].label,
                          .sublabel = i < 2 ? "in one piece" : "block by block",
                          .spans = picture.ring[i].spans});
  const RingNaming naming{&picture, (view.ring.x_pixel(1) - view.ring.x_pixel(0)) * 1e-9f,
                          widgets::text_size("0", widgets::Type::small, widgets::Font::mono).x};
  widgets::TimelineData data;
  data.context = &naming;
  data.name = ring_name;
  data.tint_name = ring_tint;
  data.revision = picture.version;
  const float height = size.y - words - ImGui::GetStyle().ItemSpacing.y;
  const bool legend = height > t.px(210);
  // Without ruler, legend and the 8 design pixels around the rows of each lane.
  const float each = (height / t.scale - 34 - (legend ? 48.0f : 0.0f)) / 4;
  if (each < 30)
    for (widgets::TimelineLane& lane : view.lanes) lane.sublabel = {};
  data.lanes = view.lanes;
  widgets::draw_timeline("ring", data, view.ring,
                         {.height = height,
                          .row_px = std::clamp(each - 9, 10.0f, 34.0f),
                          .label_px = 110,
                          .ruler = true,
                          .legend = legend});
}

void draw_operations(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "operation"},
                                                           {.key = "part"},
                                                           {.key = "whole", .priority = 2},
                                                           {.key = "shape", .priority = 1},
                                                           {.key = "forward_s", .bar = true},
                                                           {.key = "backward_s"}}};
  view.operations.draw("operations", out.operations, columns, size);
}

void draw_collectives(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 7> columns{{{.key = "block"},
                                                           {.key = "pass"},
                                                           {.key = "collective"},
                                                           {.key = "where", .priority = 1},
                                                           {.key = "sent_bytes", .bar = true},
                                                           {.key = "time_s"},
                                                           {.key = "exposed_s"}}};
  view.collectives.draw("collectives", out.collectives, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("cut", {.title = "The cut", .least = {620, 400}, .answers = true, .marks = "matrices, bytes sent"},
              [&](ImVec2 size) { draw_cut(in, picture, view, size); });
  const bool activations = !picture.activation.empty();
  stage.panel("against", {.title = "Against ranks", .least = {activations ? 640.0f : 340.0f, 170}}, [&](ImVec2 all) {
    if (!activations)
      draw_against(picture, view, all);
    else
      draw_parts(
          all, 300, [&](ImVec2 size) { draw_against(picture, view, size); },
          [&](ImVec2 size) { draw_activation(picture, view, size); });
  });
  const auto tables = [&](ImVec2 all) {
    draw_parts(
        all, 460, [&](ImVec2 size) { draw_operations(out, view, size); },
        [&](ImVec2 size) { draw_collectives(out, view, size); });
  };
  const bool ring = !picture.ring_names.empty();
  stage.panel("ring",
              {.title = ring ? "In time" : "Operations", .least = {520, ring ? 420.0f : 190.0f}, .scrolls = true},
              [&](ImVec2 all) {
                if (!ring)
                  tables(all);
                else
                  draw_parts(
                      all, all.x, [&](ImVec2 size) { draw_ring(picture, view, size); }, tables);
              });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::distributed::tensor_parallel
