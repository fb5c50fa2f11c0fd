#include <algorithm>
#include <cmath>

#include "chapters/inference/state_space/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

namespace chapters::inference::state_space {
namespace {

using widgets::AxisKind, widgets::Plot;

constexpr widgets::AxisSpec context_axis{
    .kind = AxisKind::log10, .lo = 256, .hi = 1'048'576, .label = "context", .unit = "tokens"};

void drag_context(Plot& plot, const char* id, Inputs& in, double y, const std::string& label) {
  double x = std::max(256.0, static_cast<double>(in.context)), at = y;
  if (plot.drag_point(id, x, at, {.label = label, .lo = 256, .hi = 1'048'576}))
    in.context = static_cast<std::int64_t>(std::llround(x));
}

void draw_bytes(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("bytes", view.bytes,
            {.x = context_axis,
             .y = {.kind = AxisKind::log10,
                   .lo = picture.bytes_lo,
                   .hi = picture.bytes_hi,
                   .label = "kept of a sequence",
                   .unit = "B"},
             .size = size,
             .ghost = false});
  plot.curves(picture.bytes);
  drag_context(plot, "drag the context", in, out.sequence_bytes, picture.bytes_label);
}

void draw_step(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("step", view.step,
            {.x = context_axis,
             .y = {.lo = 0, .hi = picture.step_hi, .label = "a decode step", .unit = "s"},
             .size = size,
             .ghost = false});
  plot.curves(picture.step);
  if (picture.cross_at > 0) plot.vertical_mark(picture.cross_at, picture.cross_words, {.output = "crossing_tokens"});
  drag_context(plot, "drag the step's context", in, out.step_s, picture.step_label);
}

void draw_recall(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("recall", view.recall,
            {.x = {.lo = 0, .hi = static_cast<double>(in.pairs) + 1, .label = "pairs in the stream"},
             .y = {.lo = 0, .hi = 105, .label = "found again", .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.recall);
  double x = static_cast<double>(in.pairs), y = out.recall;
  if (plot.drag_point("drag how many pairs", x, y, {.label = picture.recall_label, .lo = 2, .hi = max_pairs}))
    in.pairs = std::clamp<std::int64_t>(std::llround(x), 2, max_pairs);
}

void draw_scan(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(widgets::Type::small) + t.px(6);
  if (!widgets::veiled())
    widgets::fit_text(widgets::Painter::window(), at, picture.scan_note, size.x, t.muted, widgets::Type::small);
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  size.y -= line;
  if (picture.scan.empty()) {
    widgets::fit_text(widgets::Painter::window(), {at.x, at.y + line},
                      "This model's layers have no scan of matrix products, or the chip states no FP32 peak.", size.x,
                      t.text);
    ImGui::Dummy(size);
    return;
  }
  Plot plot("scan", view.scan,
            {.x = {.kind = AxisKind::log2, .lo = 1, .hi = 4096, .label = "block", .unit = "tokens"},
             .y = {.kind = AxisKind::log10,
                   .lo = picture.scan_lo,
                   .hi = picture.scan_hi,
                   .label = "one layer over the prompt",
                   .unit = "s"},
             .size = size,
             .ghost = false});
  plot.curves(picture.scan);
  double x = static_cast<double>(in.block), y = out.blocked_s;
  if (plot.drag_point("drag the block", x, y, {.label = picture.scan_label, .lo = 1, .hi = 4096}))
    in.block = std::clamp<std::int64_t>(std::llround(x), 1, 4096);
}

/// Both against context, side by side; published figures below where there is room.
void draw_costs(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float strip = picture.published.any && size.y > t.px(560) ? t.px(220) : 0;
  const float gap = t.px(16), half = (size.x - gap) / 2;
  const ImVec2 one{half, size.y - strip};
  draw_step(in, out, picture, view, one);
  ImGui::SetCursorScreenPos({at.x + half + gap, at.y});
  draw_bytes(in, out, picture, view, one);
  if (strip > 0) {
    ImGui::SetCursorScreenPos({at.x, at.y + one.y + t.px(12)});
    published_strip(picture.published, {size.x, strip - t.px(12)});
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  const auto hero = [&](const auto& paint, const char* mark) {
    return [&picture, &view, paint, mark](ImVec2 size) {
      draw_over_doors(picture.doors, size, view.requests, paint, 480);
      widgets::drew(mark);
    };
  };
  const auto costs = [&] {
    stage.panel("costs", {.title = "What a step costs, what a sequence keeps", .least = {580, 230}, .ideal = {0, 260}},
                [&](ImVec2 size) { draw_costs(in, out, picture, view, size); });
  };
  if (picture.shown == Shown::cost) {
    stage.panel("kept",
                {.title = "What two models keep of a sequence, and what a step moves",
                 .least = {480, 320},
                 .ideal = {0, 560},
                 .answers = true,
                 .marks = "what is kept"},
                hero([&](ImVec2 room) { draw_kept(in, picture, view, room); }, "what is kept"));
    costs();
  } else {
    stage.panel("stream",
                {.title = "The needle in the stream",
                 .least = {480, 320},
                 .ideal = {0, 560},
                 .answers = true,
                 .marks = "the stream"},
                hero([&](ImVec2 room) { draw_stream(in, picture, view, room); }, "the stream"));
    stage.panel("recall", {.title = "What is found of more and more pairs", .least = {380, 230}},
                [&](ImVec2 size) { draw_recall(in, out, picture, view, size); });
    costs();
  }
  stage.panel("scan", {.title = "The scan in blocks", .least = {380, 230}},
              [&](ImVec2 size) { draw_scan(in, out, picture, view, size); });
}

}  // namespace chapters::inference::state_space
