#include <array>

#include "chapters/distributed/collectives/measured.h"
#include "models/parallel/collectives/collective_tuner.h"
#include "widgets/base/wrapped_text.h"

namespace chapters::distributed::collectives {
namespace {

void draw_candidates(const MeasuredPicture& p, std::uint64_t version, MeasuredView& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (p.candidates.empty()) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    if (!p.notes.empty()) widgets::wrapped_text(widgets::Painter::window(), at, p.notes.front(), size.x, t.muted);
    return;
  }
  // An algorithm has a hue. LL is dashed, LL128 thin, Simple wide.
  static constexpr std::array<float, models::parallel::nccl_protocol_count> widths{1.2f, 1.6f, 2.2f};
  widgets::Plot plot("weighed", view.weighed,
                     {.x = bytes_axis(p.weighed_bytes),
                      .y = {.kind = widgets::AxisKind::log10, .label = "time", .unit = "s"},
                      .size = size,
                      .legend = size.y >= t.px(260)});
  plot.line("chosen", p.weighed_bytes, p.chosen_s,
            {.colour = widgets::with_alpha(t.accent, 0.35f),
             .width = 7,
             .label = false,
             .info = "the one that NCCL ranks first at each size",
             .version = version});
  for (const CandidateLine& c : p.candidates)
    plot.line(c.name, p.weighed_bytes, c.time_s,
              {.colour = t.series_at(c.algorithm),
               .width = widths[c.protocol],
               .dashed = c.protocol == 0,
               .label = false,
               .info = c.info,
               .version = version});
}

}  // namespace

void draw_weighed(widgets::Stage& stage, const MeasuredPicture& picture, std::uint64_t version, MeasuredView& view) {
  stage.panel("weighed", {.title = "What NCCL weighs", .least = {380, 200}},
              [&](ImVec2 size) { draw_candidates(picture, version, view, size); });
}

}  // namespace chapters::distributed::collectives
