#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/described/training_memory.h"
#include "chapters/training/adapters/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::training::adapters {
namespace {

using models::memory::MemoryOwner;
using widgets::AxisKind, widgets::Meaning, widgets::Plot, widgets::Tint, widgets::Type;

/// Owners as every lab paints them; what is added has the colour of what is trained.
OwnerLook look_of(std::size_t owner, const VesselWords& vessel) {
  constexpr std::array known{MemoryOwner::weights,  MemoryOwner::weights,   MemoryOwner::gradients,
                             MemoryOwner::master,   MemoryOwner::optimizer, MemoryOwner::activations,
                             MemoryOwner::temporary};
  OwnerLook look = owner_look(known[owner]);
  const bool layers = vessel.method == Method::bottleneck;
  if (owner == 1)
    look = {layers ? "small layers" : "pairs", Meaning::weight_gradient, false,
            "what is trained, with its gradients and states"};
  constexpr std::array<std::array<std::string_view, 2>, models::adapters::fullest_count> passing{
      {{"logits", "as many as the loss holds together"},
       {"at the loss", "the output matrix's gradient as it passes through, and that of the hidden state"},
       {"a layer again", "what a layer keeps while it is run again; its 4-bit matrix, written out in 16"},
       {"matrix in 16 bits", "a 4-bit matrix that is written out before its product"}}};
  if (owner == 6) {
    look.name = passing[static_cast<std::size_t>(vessel.fullest)][0];
    look.info = passing[static_cast<std::size_t>(vessel.fullest)][1];
  }
  return look;
}

/// The chip's memory with nothing in it: what a question gives.
void draw_empty(const Outputs& out, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const widgets::GivenMarks given;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small), wide = std::min(0.5f * size.x, t.px(240));
  const ImVec2 low{at.x + t.px(70), at.y + size.y - t.px(14)}, high{low.x + wide, at.y + line + t.px(40)};
  const std::array<ImVec2, 4> outline{{{low.x, high.y}, low, {high.x, low.y}, high}};
  p.polyline(outline, t.text, t.px(2));
  widgets::Line rim;
  rim.add("the chip ").add(widgets::format(out.chip_bytes, "B"));
  p.text({low.x, high.y - line - t.px(8)}, rim.view(), t.text, Type::small, widgets::Font::bold);
}

void draw_three(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  std::array<widgets::Vessel, 3> vessels;
  for (std::size_t i = 0; i < vessels.size(); ++i) {
    const VesselWords& v = picture.vessels[i];
    view.layers[i].clear();
    for (std::size_t k = 0; k < owner_count; ++k) {
      const OwnerLook look = look_of(k, v);
      view.layers[i].push_back(
          {.label = look.name, .value = v.bytes[k], .tint = look.tint, .pale = look.pale, .info = look.info});
    }
    vessels[i] = {.label = v.label, .note = v.note, .layers = view.layers[i], .rim = out.chip_bytes};
  }
  const auto clicked = widgets::draw_vessels("vessels", vessels, view.vessels,
                                             {.unit = "B", .size = size, .axis = true, .levels = "full_memory_bytes"});
  widgets::drew("vessels");
  if (clicked >= 0) in.method = picture.vessels[static_cast<std::size_t>(clicked)].method;
  const widgets::Painter p = widgets::Painter::window();
  for (std::size_t i = 0; i < std::min(vessels.size(), view.vessels.layout.vessels.size()); ++i) {
    if (!picture.vessels[i].chosen) continue;
    const widgets::Rect& body = view.vessels.layout.vessels[i].body;
    p.line({body.min.x, body.max.y + t.px(2)}, {body.max.x, body.max.y + t.px(2)}, t.accent, t.px(3));
  }
}

constexpr std::array<std::string_view, 4> flops_names{"forward", "run again", "input gradients", "weight gradients"};
constexpr std::array<Tint, 4> flops_tints{Meaning::forward, Tint(), Meaning::backward, Meaning::weight_gradient};

void draw_flops(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const widgets::Painter p = widgets::Painter::window();
  const float line = t.type(Type::body) + t.px(6);
  p.text_fit(at, "FLOPs of a step", size.x * 0.7f, t.text, Type::body, widgets::Font::bold);
  p.text_fit({at.x + size.x, at.y}, picture.flops_note, size.x * 0.45f, t.text, Type::body, widgets::Font::mono,
             widgets::Align::right);
  view.segments.resize(2);
  view.bars.clear();
  const bool again = picture.flops[0][1] > 0;
  for (std::size_t row = 0; row < 2; ++row) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (k != 1 || again)
        view.segments[row][count++] = {
            .label = flops_names[k], .value = picture.flops[row][k], .tint = flops_tints[k], .hatched = k == 1};
    view.bars.push_back(
        {.label = row == 0 ? "all trained" : "yours", .segments = std::span(view.segments[row]).first(count)});
  }
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  widgets::draw_stacked_bars("flops", view.bars, view.flops,
                             {.unit = "FLOP", .size = {size.x, size.y - line}, .bar_px = 26});
}

void draw_times(const Picture& picture, View& view, ImVec2 size) {
  constexpr std::array<std::string_view, 4> names{"base model", "adapters", "4 bits to 16", "optimizer"};
  constexpr std::array<Tint, 4> tints{Tint::ramp(2, 8), Tint::series(1), Tint::series(2), Meaning::optimizer};
  view.time_segments.resize(picture.times.size());
  view.time_bars.clear();
  for (std::size_t row = 0; row < picture.times.size(); ++row) {
    for (std::size_t k = 0; k < 4; ++k)
      view.time_segments[row][k] = {.label = names[k], .value = picture.times[row][k], .tint = tints[k]};
    view.time_bars.push_back({.label = picture.names[row], .segments = view.time_segments[row]});
  }
  widgets::draw_stacked_bars("times", view.time_bars, view.times,
                             {.unit = "s", .size = size, .bar_px = 26, .axis = AxisKind::time});
}

/// Gives the panel its whole extent, whatever its parts had to draw.
void end_body(ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

/// A line of words over a plot, in what is left of `size`.
ImVec2 under_note(std::string_view words, ImVec2 size) {
  const auto& t = widgets::theme();
  if (widgets::veiled()) return size;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(6);
  widgets::fit_text(widgets::Painter::window(), at, words, size.x, t.muted, Type::small);
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  return {size.x, size.y - line};
}

void draw_fit(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("fit", view.fit,
            {.x = {.kind = AxisKind::log10, .lo = 0.9, .hi = 20, .label = "rank there"},
             .y = {.lo = 0, .hi = picture.fit_hi, .label = "loss, nats"},
             .size = under_note(picture.fit_note, size),
             .ghost = false});
  plot.curves(picture.fit);
  double rank = static_cast<double>(in.fit_rank), loss = out.fit_loss;
  if (plot.drag_point("drag the rank", rank, loss,
                      {.label = picture.fit_label, .lo = 1, .hi = 16, .output = "fit_loss"}))
    in.fit_rank = std::clamp<std::int64_t>(std::llround(rank), 1, 16);
}

void draw_served(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const double most = std::max(2.0, static_cast<double>(in.served));
  Plot plot("served", view.served,
            {.x = {.kind = AxisKind::log10, .lo = 0.9, .hi = 1.15 * most, .label = "different adapters in the batch"},
             .y = {.kind = AxisKind::log10,
                   .lo = picture.served_lo,
                   .hi = picture.served_hi,
                   .label = "decode step",
                   .unit = "s"},
             .size = under_note(picture.served_note, size),
             .ghost = false});
  plot.curves(picture.served);
  double distinct = static_cast<double>(in.distinct), step = out.decode_s;
  if (plot.drag_point(
          "drag the adapters", distinct, step,
          {.label = picture.served_label, .lo = 1, .hi = static_cast<double>(in.served), .output = "decode_s"}))
    in.distinct = std::clamp<std::int64_t>(std::llround(distinct), 1, in.served);
}

}  // namespace

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool beside = size.x >= t.px(620);
  const float left = beside ? std::round(size.x * (size.x < t.px(1000) ? 0.69f : 0.6f)) : size.x;
  if (widgets::veiled()) {
    draw_empty(out, {left, size.y});
    if (beside) draw_given_matrix(picture, {at.x + left + t.px(18), at.y}, {size.x - left - t.px(18), 0.5f * size.y});
    return end_body(at, size);
  }
  draw_three(in, out, picture, view, {left, size.y});
  if (!beside) return end_body(at, size);
  const float x = at.x + left + t.px(18), wide = size.x - left - t.px(18);
  const float bars = std::clamp(0.42f * size.y, t.px(120), t.px(190));
  const bool both = size.y >= t.px(290);
  const float upper = both ? size.y - bars - t.px(10) : 0;
  if (both) {
    ImGui::SetCursorScreenPos({x, at.y});
    draw_pair(in, picture, {wide, upper});
  }
  ImGui::SetCursorScreenPos({x, at.y + size.y - bars});
  draw_flops(picture, view, {wide, bars});
  end_body(at, size);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("vessels", {.title = "The vessel and the pair", .least = {960, 260}, .answers = true, .marks = "vessels"},
              [&](ImVec2 size) {
                draw_over_doors(
                    picture.doors, size, view.requests, [&](ImVec2 room) { draw_hero(in, out, picture, view, room); },
                    480);
              });
  stage.panel("fit", {.title = "What a rank is worth, on the small network", .least = {380, 220}},
              [&](ImVec2 size) { draw_fit(in, out, picture, view, size); });
  stage.panel("served", {.title = "Many adapters on one base", .least = {380, 220}},
              [&](ImVec2 size) { draw_served(in, out, picture, view, size); });
  stage.panel("times", {.title = "Time of a step, and what was measured", .least = {420, 200}}, [&](ImVec2 size) {
    const auto& t = widgets::theme();
    const bool strip = picture.published.any && !widgets::veiled() && size.y > t.px(270);
    const float upper = strip ? std::min(0.55f * size.y, t.px(230)) : size.y;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_times(picture, view, {size.x, upper});
    if (strip) {
      ImGui::SetCursorScreenPos({at.x, at.y + upper + t.px(14)});
      published_strip(picture.published, {size.x, size.y - upper - t.px(14)});
    }
    end_body(at, size);
  });
}

}  // namespace chapters::training::adapters
