#include "chapters/roofline/transformer_layer/draw.h"

#include <algorithm>
#include <cmath>

#include "widgets/table/table_layout.h"

namespace chapters::roofline::transformer_layer {
namespace {

using widgets::Line;
using widgets::Marker;
using widgets::Meaning;
using widgets::Painter;
using widgets::theme;
using widgets::Theme;
using widgets::Type;

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
      elsewhere =
          elsewhere || (k != layer && i >= pic.layers[k].stages.front().first && i < pic.layers[k].stages.back().end);
    if (!elsewhere) view.rows.push_back(static_cast<std::uint32_t>(i));
  }
}

void draw_totals(const Outputs& out, const Picture& pic, View& view, float width, float height) {
  const Theme& t = theme();
  constexpr std::string_view blocks[block_count] = {"projections", "attention", "feed-forward", "norms and adds",
                                                    "embedding, output"};
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
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float left = width * 0.56f - t.px(12);
  widgets::draw_stacked_bars("time of the step", {variants, n}, view.time_bars,
                             {.unit = "s", .size = {left, height}, .bar_px = 20});

  constexpr std::string_view parts[4] = {"embedding, output", "attention", "feed-forward", "norms"};
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
  ImGui::SetCursorScreenPos({at.x + width * 0.56f + t.px(12), at.y});
  widgets::draw_stacked_bars("parameters", {counts, sparse ? 2u : 1u}, view.parameter_bars,
                             {.unit = "parameters", .size = {width * 0.44f - t.px(12), height}, .bar_px = 20});
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
  f.integer("selected", view.selected,
            {
                .label = "Selected operation",
                .help = "Its place among all operations from 0, -1 for none.",
                .lo = -1,
                .hi = 1023,
            });
  f.integer("layer", view.layer,
            {
                .label = "Kind of layer",
                .help = "Which kind of layer is drawn, -1 for the one that takes longest.",
                .lo = -1,
                .hi = 63,
            });
}

void draw(Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  if (!out.reason.empty() || out.operations.empty()) return;
  gather_rows(out, pic, view);
  const Theme& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float line = t.type(Type::small) + t.px(5), width = room.x;
  // The convention stands behind the subject where there is room, else under it.
  const float subject = widgets::text_size(pic.subject, Type::small).x, after = subject + t.px(18);
  const bool beside = after + widgets::text_size(pic.convention, Type::small).x <= width;
  p.text_fit(at, pic.subject, width, t.text, Type::small);
  p.text_fit(beside ? ImVec2{at.x + after, at.y} : ImVec2{at.x, at.y + line}, pic.convention,
             width - (beside ? after : 0.0f), t.muted, Type::small);
  float head = line * (beside ? 1.0f : 2.0f);
  if (!pic.capacity.empty()) {
    p.text_fit({at.x, at.y + head}, pic.capacity, width, t.warning, Type::small);
    head += line;
  }
  head += t.px(4);
  const float flow_least = t.px(128), totals_least = t.px(122), gap = t.px(10);
  // As many whole rows as there is room for above the totals; where there is hardly any, the totals are scrolled to.
  widgets::TableLayout rows;
  widgets::arrange_columns({}, rows, 0, false);
  const float above = room.y - head - flow_least - gap - t.px(2), beneath = above - totals_least - gap;
  const bool scrolled = beneath < t.px(190);
  const float left = scrolled ? std::max(above, t.px(190)) : beneath;
  const float fit =
      std::min(std::floor((left - rows.header_height) / rows.row_height), static_cast<float>(view.rows.size()));
  const float table = rows.header_height + fit * rows.row_height + 1;
  const float spare =
      static_cast<std::size_t>(fit) == view.rows.size() && !scrolled ? left - table : 0.0f;  // of a large canvas
  const float flow = flow_least + std::min(spare * 0.6f, t.px(110)),
              totals = totals_least + std::min(spare * 0.4f, t.px(60));
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  draw_flow(out, pic, view, in.launch_s > 0, width, flow);
  ImGui::SetCursorScreenPos({at.x, at.y + head + flow + gap});
  draw_operations(out, pic, view, width, table);
  ImGui::SetCursorScreenPos({at.x, at.y + head + flow + (scrolled ? left : table) + (scrolled ? 3.5f : 2.0f) * gap});
  draw_totals(out, pic, view, width, totals);
}

}  // namespace chapters::roofline::transformer_layer
