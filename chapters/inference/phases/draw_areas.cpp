#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/phases/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/plot/axis.h"

namespace chapters::inference::phases {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

/// Where a lane stands.
struct Row {
  const AreaLane* lane = nullptr;
  float axis = 0, up = 0, down = 0;  ///< y of the time axis; px of its roofs above and below it
};

struct Frame {
  float left = 0, right = 0, top = 0, bottom = 0;
  double longest_s = 1;
  float x(double seconds) const { return left + static_cast<float>(seconds / longest_s) * (right - left); }
};

/// A box above the axis or below it; its height is its share of the roof, a hairline at least.
void box(const Painter& p, const Frame& f, const Row& row, double from_s, double to_s, double share, bool above,
         ImU32 fill, double under = 0) {
  const float full = above ? row.up : row.down;
  const float lift = full * static_cast<float>(under);
  const float height = std::max(1.0f, full * static_cast<float>(std::min(share, 1.0)));
  const float x0 = f.x(from_s), x1 = std::max(f.x(to_s), x0 + 1);
  if (above)
    p.rect({x0, row.axis - lift - height}, {x1, row.axis - lift}, fill);
  else
    p.rect({x0, row.axis + lift}, {x1, row.axis + lift + height}, fill);
}

void words_in(const Painter& p, const Rect& r, std::string_view words, ImU32 ink) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  if (words.empty() || r.height() < small + t.px(2) || widgets::text_size(words, Type::small).x > r.width() - t.px(6))
    return;
  p.text({(r.min.x + r.max.x) / 2, (r.min.y + r.max.y - small) / 2}, words, ink, Type::small, Font::sans,
         Align::center);
}

/// Lines between the steps, where they are far enough apart to be told.
void paint_ticks(const Painter& p, const Frame& f, const Row& row, std::int64_t steps, float depth) {
  const Theme& t = widgets::theme();
  const double first = row.lane->prefill_s + row.lane->attention_s, step_s = row.lane->step_s;
  if (f.x(first + step_s) - f.x(first) < t.px(2.5f)) return;
  for (std::int64_t i = 1; i < steps; ++i) {
    const float x = f.x(first + static_cast<double>(i) * step_s);
    p.line({x, row.axis}, {x, row.axis + depth}, t.panel, t.px(0.7f));
  }
}

/// The two phases of a lane as areas. `first`: words stand in them.
void paint_row(const Painter& p, const Frame& f, const Row& row, std::int64_t answer, const Picture& picture,
               bool first) {
  const Theme& t = widgets::theme();
  const AreaLane& lane = *row.lane;
  const ImU32 arithmetic = t.of(widgets::Meaning::compute_bound), bytes = t.of(widgets::Meaning::memory_bound),
              cache = t.of(widgets::Meaning::kv_cache);
  const double first_s = lane.prefill_s + lane.attention_s, end_s = lane.request_s;
  box(p, f, row, 0, lane.prefill_s, lane.prefill_flops, true, arithmetic);
  if (lane.attention_s > 0) {
    box(p, f, row, lane.prefill_s, first_s, 1, true, widgets::with_alpha(arithmetic, 0.6f));
    widgets::hatch(p, {{f.x(lane.prefill_s), row.axis - row.up}, {f.x(first_s), row.axis}},
                   widgets::with_alpha(t.background, 0.5f), t.px(5));
  }
  box(p, f, row, 0, lane.prefill_s, lane.prefill_bytes, false, bytes);
  box(p, f, row, first_s, end_s, lane.step_weights, false, bytes);
  box(p, f, row, first_s, end_s, lane.step_caches, false, cache, lane.step_weights);
  box(p, f, row, first_s, end_s, lane.step_flops, true, arithmetic);
  const float depth = row.down * static_cast<float>(std::min(1.0, lane.step_weights + lane.step_caches));
  paint_ticks(p, f, row, answer, depth);
  if (!first) return;
  const float high = row.up * static_cast<float>(std::min(1.0, lane.prefill_flops));
  words_in(p, {{f.x(0), row.axis - high}, {f.x(lane.prefill_s), row.axis}}, "prefill", widgets::text_on(arithmetic, t));
  const Rect steps{{f.x(first_s), row.axis}, {f.x(end_s), row.axis + depth}};
  const float wide = widgets::text_size(picture.decode_words, Type::small).x, small = t.type(Type::small);
  if (wide + t.px(14) < steps.width() && small + t.px(6) < steps.height()) {
    const float cx = (steps.min.x + steps.max.x) / 2, cy = (steps.min.y + steps.max.y) / 2;
    p.rect({cx - wide / 2 - t.px(5), cy - small / 2 - t.px(2)}, {cx + wide / 2 + t.px(5), cy + small / 2 + t.px(3)},
           bytes, t.px(3));
    words_in(p, steps, picture.decode_words, widgets::text_on(bytes, t));
  }
  const Rect idle{{f.x(first_s) + t.px(6), row.axis - row.up}, {f.x(end_s), row.axis}};
  if (lane.step_flops > 0.1) return;
  if (widgets::text_size(picture.used_words, Type::small).x < idle.width() - t.px(8) && idle.height() > 2 * small)
    p.text({idle.min.x + t.px(4), (idle.min.y + idle.max.y - small) / 2}, picture.used_words, t.muted, Type::small);
}

void paint_roofs(const Painter& p, const Frame& f, const Row& row) {
  const Theme& t = widgets::theme();
  const float up = row.axis - row.up, down = row.axis + row.down;
  p.line({f.left, up}, {f.right, up}, t.of(widgets::Meaning::compute_bound), t.px(1.5f));
  p.line({f.left, down}, {f.right, down}, t.of(widgets::Meaning::memory_bound), t.px(1.5f));
  p.line({f.left, row.axis}, {f.right, row.axis}, t.muted, t.px(1));
}

/// Where the request ends, and what a faster chip wins of the first lane.
void paint_end(const Painter& p, const Frame& f, const Row& row, double first_end_s, std::string_view words) {
  const Theme& t = widgets::theme();
  const float up = row.axis - row.up, down = row.axis + row.down, x = f.x(row.lane->request_s);
  if (row.lane->request_s < first_end_s) {
    const Rect won{{x, up}, {f.x(first_end_s), down}};
    p.rect(won.min, won.max, widgets::with_alpha(t.accent, 0.22f));
  }
  p.line({x, up - t.px(3)}, {x, down + t.px(3)}, t.text, t.px(2));
  if (words.empty()) return;
  const float wide = widgets::text_size(words, Type::body, Font::bold).x;
  const float end = std::max(x, f.x(first_end_s));
  const bool between = end - x > wide + t.px(10), before = x - f.left > wide + t.px(10);
  const float from = between ? x + t.px(6) : before ? x - t.px(6) - wide : end + t.px(6);
  const float y = row.axis - (row.axis - up) / 2 - t.type(Type::body) / 2;
  if (from + wide > f.right + t.px(10)) return;
  p.rect({from - t.px(4), y - t.px(2)}, {from + wide + t.px(4), y + t.type(Type::body) + t.px(3)}, t.panel, t.px(3));
  p.text({from, y}, words, t.text, Type::body, Font::bold);
}

void paint_clock(const Painter& p, const Frame& f) {
  const Theme& t = widgets::theme();
  const widgets::UnitScale unit = widgets::unit_scale(f.longest_s, "s");
  const double raw = f.longest_s / unit.factor / static_cast<double>(std::max(2.0f, (f.right - f.left) / t.px(110)));
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10) * power;
  for (double v = 0; v <= f.longest_s / unit.factor * 1.0001; v += step) {
    const float x = f.x(v * unit.factor);
    p.line({x, f.bottom}, {x, f.bottom + t.px(4)}, t.muted, t.px(1));
    widgets::Line words;
    words.add(widgets::format(v, "", 4));
    p.text({x, f.bottom + t.px(5)}, words.view(), t.muted, Type::small, Font::mono, Align::center);
  }
  p.text({f.left - t.px(8), f.bottom + t.px(5)}, unit.unit, t.muted, Type::small, Font::sans, Align::right);
}

/// The ceiling and the floor of the first lane are dragged: the boxes keep their area.
void take_drags(Inputs& in, const Frame& f, const Row& row) {
  const Theme& t = widgets::theme();
  const auto handle = [&](const char* id, float y, float scale_px, bool above, double& scale, const char* says) {
    const float x = f.x(row.lane->request_s);
    ImGui::SetCursorScreenPos({std::max(f.left, x - t.px(30)), y - t.px(6)});
    widgets::press_area(id, {std::min(t.px(44), f.right - x + t.px(30)), t.px(12)});
    const Painter p = Painter::window();
    const bool hot = ImGui::IsItemHovered() || ImGui::IsItemActive();
    p.rect({x - t.px(12), y - t.px(4)}, {x + t.px(12), y + t.px(4)}, t.accent, t.px(4));
    p.frame({x - t.px(12), y - t.px(4)}, {x + t.px(12), y + t.px(4)}, hot ? t.text : t.background, t.px(1.5f), t.px(4));
    if (hot) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
      widgets::tip(says, {}, "Drag it: the boxes keep their area.");
    }
    if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(ImGuiMouseButton_Left)) return;
    const float way = above ? -ImGui::GetIO().MouseDelta.y : ImGui::GetIO().MouseDelta.y;
    scale = std::clamp(scale * std::exp2(static_cast<double>(way / std::max(1.0f, scale_px))), 0.125, 8.0);
  };
  handle("drag the peak", row.axis - row.up, row.up, true, in.flops_scale, "FLOP/s of the chip");
  handle("drag the bandwidth", row.axis + row.down, row.down, false, in.bandwidth_scale, "Bandwidth of the chip");
}

void paint_names(const Painter& p, const Frame& f, const Row& row, const Picture& picture, std::size_t i) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), body = t.type(Type::body);
  const float up = row.axis - row.up, down = row.axis + row.down;
  const std::string& name = picture.lanes[i].name;
  const float y = up - body - t.px(3), wide = widgets::text_size(name, Type::body, Font::bold).x;
  widgets::fit_text(p, {f.left, y}, name, f.right - f.left, t.text, Type::body, Font::bold);
  if (!widgets::veiled())
    widgets::fit_text(p, {f.left + wide + t.px(10), y + body - small}, picture.lanes[i].detail,
                      f.right - f.left - wide - t.px(10), t.muted, Type::small);
  const char* scale_up = i == 1 ? "2\xC3\x97" : "";
  const char* scale_down = i == 2 ? "2\xC3\x97" : "";
  const std::string_view above = i == 0 ? std::string_view(picture.peak_words) : std::string_view(scale_up);
  const std::string_view below = i == 0 ? std::string_view(picture.bandwidth_words) : std::string_view(scale_down);
  widgets::fit_text(p, {f.left - t.px(7), up - small / 2}, above, t.px(90), t.of(widgets::Meaning::compute_bound),
                    Type::small, Font::mono, Align::right);
  widgets::fit_text(p, {f.left - t.px(7), down - small / 2}, below, t.px(90), t.of(widgets::Meaning::memory_bound),
                    Type::small, Font::mono, Align::right);
}

void paint_guess(const Painter& p, const Frame& f, const Row& row) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || (guess->output != "first_token_s" && guess->output != "request_s" && guess->output != "prefill_time_s"))
    return;
  widgets::drew("guess");
  const Theme& t = widgets::theme();
  const float raw = f.x(guess->value), x = std::clamp(raw, f.left, f.right);
  const float up = row.axis - row.up;
  p.dashed_line({x, up}, {x, row.axis + row.down}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), raw > x);
  widgets::paint_guess_words(p, {std::min(x + t.px(4), f.right - t.px(110)), up + t.px(3)}, words.view());
}

/// The lanes that have room.
struct Rows {
  std::array<Row, 4> at{};
  std::size_t count = 0;
};

/// Gives the lanes their places under one clock: as many as have room, the first in any case. The clock is long enough
/// for the chip as it is, so that a roof that is dragged does not change it.
Frame place_rows(const Picture& picture, double as_is_s, ImVec2 at, ImVec2 size, Rows& rows) {
  const Theme& t = widgets::theme();
  rows.count = std::min(picture.lanes.size(), rows.at.size());
  const float small = t.type(Type::small), name = t.type(Type::body) + t.px(9);
  const float clock = small + t.px(12), head = small + t.px(8);
  const auto unit = [&](std::size_t n) {
    double roofs = 0;
    for (std::size_t i = 0; i < n; ++i) roofs += picture.lanes[i].flops_scale + picture.lanes[i].bytes_scale;
    return (size.y - clock - head - static_cast<float>(n) * name) / static_cast<float>(roofs);
  };
  const auto low = [&](std::size_t n) {
    const AreaLane& first = picture.lanes[0];
    return unit(n) * static_cast<float>(std::max(first.flops_scale, first.bytes_scale)) < t.px(22);
  };
  while (rows.count > 1 && low(rows.count)) --rows.count;
  const float each = std::max(1.0f, unit(rows.count));
  Frame f{.left = at.x + t.px(96), .right = at.x + size.x - t.px(14), .top = at.y, .bottom = at.y + size.y - clock};
  f.longest_s = 1.02 * as_is_s;
  float y = at.y + head;
  for (std::size_t i = 0; i < rows.count; ++i) {
    Row& row = rows.at[i];
    row.lane = &picture.lanes[i];
    f.longest_s = std::max(f.longest_s, 1.02 * row.lane->request_s);
    row.up = each * static_cast<float>(row.lane->flops_scale);
    row.down = each * static_cast<float>(row.lane->bytes_scale);
    y += name;
    row.axis = y + row.up;
    y = row.axis + row.down;
  }
  return f;
}

void paint_key(const Painter& p, ImVec2 at, float width, View& view) {
  constexpr std::array<widgets::LegendEntry, 3> legend{{{"arithmetic", widgets::Meaning::compute_bound},
                                                        {"bytes of weights", widgets::Meaning::memory_bound},
                                                        {"bytes of caches", widgets::Meaning::kv_cache}}};
  widgets::layout_legend(legend, width, widgets::legend_row_px(), widgets::measure_text, view.legend);
  widgets::paint_legend(p, at, width, legend, view.legend);
}

}  // namespace

void draw_areas(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.lanes.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  Rows rows;
  const Frame f = place_rows(picture, out.as_is_request_s, at, size, rows);
  widgets::drew("areas");
  widgets::drew("roofs");
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    paint_roofs(p, f, rows.at[0]);
    paint_names(p, f, rows.at[0], picture, 0);
    ImGui::Dummy(size);
    return;
  }
  paint_key(p, at, size.x, view);
  for (std::size_t i = 0; i < rows.count; ++i) {
    paint_row(p, f, rows.at[i], in.answer, picture, i == 0);
    paint_roofs(p, f, rows.at[i]);
    paint_names(p, f, rows.at[i], picture, i);
    paint_end(p, f, rows.at[i], picture.lanes[0].request_s, picture.lanes[i].words);
  }
  paint_clock(p, f);
  paint_guess(p, f, rows.at[0]);
  if (size.y >= widgets::theme().px(140) && size.x >= widgets::theme().px(300)) take_drags(in, f, rows.at[0]);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::phases
