#include "chapters/serving/batching/draw_strips.h"

#include <algorithm>
#include <array>

#include "widgets/base/parts.h"

namespace chapters::serving::batching {

using models::SlotUse;
using widgets::Painter;

ImU32 use_colour(SlotUse use, bool missed) {
  const auto& t = widgets::theme();
  if (use == SlotUse::held) return t.muted;
  if (use == SlotUse::prefill) return t.series_at(2);
  return missed ? t.bad : t.series_at(0);
}

void paint_steps(const Painter& p, std::span<const models::ServingPoint> points, double highest_of_all,
                 const RaceScale& scale, float top, float height, ImU32 colour) {
  const auto& t = widgets::theme();
  p.rect({scale.left, top}, {scale.right(), top + height}, t.card);
  const float bottom = top + height, now = scale.x(scale.now_s);
  const auto bar = [&](float x0, float x1, double value) {
    if (!(value > 0) || !(x1 > x0)) return;
    const float y = bottom - (height - t.px(2)) * static_cast<float>(std::min(1.0, value / highest_of_all)),
                split = std::clamp(now, x0, x1);
    if (split > x0) p.rect({x0, y}, {split, bottom}, widgets::with_alpha(colour, 0.75f));
    if (x1 > split) p.rect({split, y}, {x1, bottom}, widgets::with_alpha(colour, 0.75f * future_alpha));
  };
  for (std::size_t i = 0; i < points.size();) {
    const float x0 = scale.x(points[i].time_s);
    double highest = points[i].value, last = highest;
    for (++i; i < points.size() && scale.x(points[i].time_s) < x0 + 1; ++i) {
      last = points[i].value;
      highest = std::max(highest, last);
    }
    const float x1 = i < points.size() ? scale.x(points[i].time_s) : scale.right(),
                peak = highest > last ? std::min(x0 + 1, x1) : x0;
    bar(x0, peak, highest);
    bar(peak, x1, last);
  }
}

void paint_occupation(const Painter& p, const PolicyPicture& r, const RaceScale& scale, float top, float height) {
  const auto& t = widgets::theme();
  p.rect({scale.left, top}, {scale.right(), top + height}, t.card);
  const float now = scale.x(scale.now_s), each = height / static_cast<float>(std::max(1, r.lanes));
  for (std::size_t i = 0; i < r.occupation.size();) {
    const float x0 = scale.x(r.occupation[i].time_s);
    const Occupation& at = r.occupation[i];
    // Of what changes within a pixel the last counts.
    std::size_t last = i;
    while (last + 1 < r.occupation.size() && scale.x(r.occupation[last + 1].time_s) < x0 + 1) ++last;
    const Occupation& shown = last > i ? r.occupation[last] : at;
    i = last + 1;
    const float x1 = i < r.occupation.size() ? scale.x(r.occupation[i].time_s) : scale.right();
    float y = top + height;
    struct Layer {
      SlotUse use;
      bool missed;
      std::size_t place;
    };
    static constexpr std::array<Layer, 5> layers{{{SlotUse::decode, true, 3},
                                                  {SlotUse::decode, false, 1},
                                                  {SlotUse::prefill, false, 0},
                                                  {SlotUse::held, false, 2},
                                                  {SlotUse::decode, false, later_place}}};
    for (const Layer& layer : layers) {
      const float h = each * static_cast<float>(shown.slots[layer.place]);
      if (!(h > 0) || !(x1 > x0)) continue;
      const bool later = layer.place == later_place;
      const float solid = layer.use == SlotUse::held ? 0.4f : later ? later_alpha : 1, split = std::clamp(now, x0, x1);
      const ImU32 colour = later ? t.muted : use_colour(layer.use, layer.missed);
      if (split > x0) p.rect({x0, y - h}, {split, y}, widgets::with_alpha(colour, solid));
      if (x1 > split) p.rect({split, y - h}, {x1, y}, widgets::with_alpha(colour, solid * future_alpha));
      y -= h;
    }
  }
}

namespace {

float queue_row(double peak, float height) {
  return std::min(widgets::theme().px(max_queue_row_px), height / static_cast<float>(std::max(1.0, peak)));
}

}  // namespace

double queue_top(const Picture& picture, const PolicyPicture& r) {
  return 3 * r.peak_waiting < picture.peak_waiting ? r.peak_waiting : picture.peak_waiting;
}

bool queue_has_bars(double peak, float height) { return queue_row(peak, height) >= widgets::theme().px(1.9f); }

void paint_queue(const Painter& p, const PolicyPicture& r, double peak, const RaceScale& scale, float top, float height,
                 std::int64_t& hot) {
  const auto& t = widgets::theme();
  const float row = queue_row(peak, height);
  if (!queue_has_bars(peak, height)) {
    paint_steps(p, r.waiting, peak, scale, top, height, t.muted);
    return;
  }
  p.rect({scale.left, top}, {scale.right(), top + height}, t.card);
  const float now = scale.x(scale.now_s), gap = row > t.px(4) ? t.px(1.5f) : 0.5f;
  for (const QueueSpan& q : r.queue) {
    const float x0 = scale.x(q.start_s), x1 = std::max(scale.x(q.end_s), x0 + 1),
                bottom = top + height - row * static_cast<float>(q.row);
    const bool missed = r.missed_by(q.request), later = r.later(q.request);
    const float alpha = scale.alpha_of(q.request) * (x0 < now ? 1 : future_alpha) * (later ? later_alpha : 1);
    const ImU32 colour = widgets::with_alpha(missed ? t.bad : later ? t.muted : t.text, alpha);
    if (x1 - x0 < t.px(3) || row < t.px(4))  // hollow where there is an inside
      p.rect({x0, bottom - row + gap}, {x1, bottom}, colour);
    else
      p.frame({x0, bottom - row + gap}, {x1, bottom}, colour, 1);
    if (!later && scale.mouse.x >= x0 && scale.mouse.x < x1 && scale.mouse.y >= bottom - row &&
        scale.mouse.y < bottom) {
      hot = q.request;
      widgets::Line name;
      name.add("request ").add_integer(scale.first + q.request + 1);
      widgets::tip(name.view(), widgets::format(q.end_s - q.start_s, "s"), "it waits in the queue");
    }
  }
}

}  // namespace chapters::serving::batching
