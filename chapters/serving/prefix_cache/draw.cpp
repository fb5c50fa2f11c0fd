#include <algorithm>
#include <cmath>

#include "chapters/serving/prefix_cache/draw_parts.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::serving::prefix_cache {
namespace {

using models::PrefixEviction;
using widgets::AxisKind, widgets::Plot;

/// What the learner said that is found, where that was asked.
void paint_guess(Plot& plot) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "hit_percent") return;
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "%").view(), false);
  plot.horizontal_mark(guess->value, words.view());
}

/// Found against the size of the cache; its tag is dragged.
void draw_sizes(Inputs& in, const Outputs& out, const Picture& picture, widgets::PlotView& view, ImVec2 size,
                bool all) {
  Plot plot(all ? "every size" : "cache size", view,
            {.x = {.kind = picture.each ? AxisKind::linear : AxisKind::log10,
                   .lo = picture.each ? 0.0 : 10.0,
                   .hi = picture.most_capacity,
                   .label = in.eviction == PrefixEviction::none ? "blocks, if it had an end" : "blocks in the cache"},
             .y = {.lo = 0, .hi = 100, .label = "found", .unit = "%"},
             .size = size,
             .legend = all,
             .ghost = false});
  if (picture.found.empty()) return;
  plot.curve(picture.lost);
  for (std::size_t i = 0; i < (all ? picture.found.size() : 2); ++i) plot.curve(picture.found[i]);
  if (all) plot.horizontal_mark(out.ideal_percent, "endless", {.output = "ideal_percent"});
  paint_guess(plot);
  if (!keeps_by_size(in.eviction)) return;
  const double lo = picture.each ? 0.0 : 10.0;
  double x = std::clamp(static_cast<double>(in.capacity_blocks), lo, picture.most_capacity);
  plot.tag_x(x, {});
  if (plot.drag_x("drag cache size", x, {.label = "", .lo = std::max(1.0, lo), .hi = picture.most_capacity}))
    in.capacity_blocks = std::max<std::int64_t>(1, std::llround(x));
}

/// Found against how long blocks stay.
void draw_expiry(Inputs& in, const Outputs& out, const Picture& picture, widgets::PlotView& view, ImVec2 size,
                 bool all) {
  Plot plot(all ? "every expiry" : "expiry", view,
            {.x = {.kind = AxisKind::log10, .lo = 0.1, .hi = 3600, .label = "blocks stay for", .unit = "s"},
             .y = {.lo = 0, .hi = 100, .label = "found", .unit = "%"},
             .size = size,
             .legend = all,
             .ghost = false});
  if (picture.found_ttl.empty()) return;
  plot.curves(picture.found_ttl);
  if (all) plot.horizontal_mark(out.ideal_percent, "endless", {.output = "ideal_percent"});
  paint_guess(plot);
  if (in.eviction != PrefixEviction::ttl) return;
  double x = std::clamp(in.ttl_s, 0.1, 3600.0);
  plot.tag_x(x, {});
  if (plot.drag_x("drag expiry", x, {.label = "", .lo = 0.1, .hi = 3600}))
    in.ttl_s = std::max(0.1, std::round(x * 10) / 10);
}

void draw_every_size(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool two = size.x > t.px(640);
  const float gap = t.px(18), left = two ? std::floor(0.6f * (size.x - gap)) : size.x;
  draw_sizes(in, out, picture, view.sizes, {left, size.y}, true);
  if (!two) return;
  ImGui::SetCursorScreenPos({at.x + left + gap, at.y});
  draw_expiry(in, out, picture, view.expiry, {size.x - left - gap, size.y}, true);
}

}  // namespace

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.columns.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float strip = size.y > t.px(330) ? std::clamp(0.27f * size.y, t.px(112), t.px(170)) : 0,
              gap = strip > 0 ? t.px(10) : 0;
  const ImVec2 room{size.x, size.y - strip - gap};
  if (picture.each)
    draw_requests(in, picture, view, room);
  else
    draw_returns(in, picture, room);
  if (strip <= 0) return;
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - strip});
  if (in.eviction == PrefixEviction::ttl)
    draw_expiry(in, out, picture, view.strip, {size.x, strip}, false);
  else
    draw_sizes(in, out, picture, view.strip, {size.x, strip}, false);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "order",
      {.title = "Order and tree", .least = {520, 300}, .ideal = {0, 560}, .answers = true, .marks = "requests, tree"},
      [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  stage.panel("sizes", {.title = "Every size, every expiry", .least = {420, 220}},
              [&](ImVec2 size) { draw_every_size(in, out, picture, view, size); });
  published_panel(stage, "Recorded elsewhere", picture.published);
}

}  // namespace chapters::serving::prefix_cache
