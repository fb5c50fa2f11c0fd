#include <algorithm>

#include "chapters/framework/memory_timeline/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::framework::memory_timeline {

void draw_given_step(const Outputs& out, const Picture& picture, const StepPlaces& places) {
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const widgets::GivenMarks given;
  const float small = t.type(widgets::Type::small), ground = places.mountain.max.y - small - t.px(20),
              rim = places.mountain.min.y + 0.22f * (ground - places.mountain.min.y);
  // Time to the right and memory upwards on an empty ground, under the line that must not be passed.
  const float left = places.mountain.min.x + t.px(20), right = places.mountain.max.x;
  p.line({left, places.mountain.min.y}, {left, ground}, t.muted, t.px(1));
  p.line({left, ground}, {right, ground}, t.muted, t.px(1));
  p.line({left, rim}, {right, rim}, t.text, t.px(1.5f));
  widgets::Line words;
  words.add("nameplate: ").add(widgets::format(out.chip_bytes, "B"));
  p.text({left + t.px(8), rim - small - t.px(5)}, words.view(), t.text, widgets::Type::small, widgets::Font::bold);
  p.text({(left + right) / 2, ground + t.px(6)}, "time in the step", t.muted, widgets::Type::small, widgets::Font::sans,
         widgets::Align::center);
  if (places.vessel.width() > 0) {  // on the scale of the plot: the line and the rim are one
    const float middle = (places.vessel.min.x + places.vessel.max.x) / 2, half = 0.35f * places.vessel.width();
    const ImVec2 outline[] = {
        {middle - half, rim}, {middle - half, ground}, {middle + half, ground}, {middle + half, rim}};
    p.polyline(outline, t.text, t.px(2));
  }
  const std::size_t layers = picture.pillars.size();
  if (layers == 0 || places.pillars.height() <= 0) return;
  const float pitch = places.pillars.width() / static_cast<float>(layers), gap = pitch > t.px(8) ? t.px(3) : 1;
  words = widgets::Line();
  words.add_integer(static_cast<std::int64_t>(layers)).add(layers == 1 ? " layer" : " layers");
  p.text({places.pillars.min.x, places.pillars.min.y - small - t.px(5)}, words.view(), t.text, widgets::Type::small,
         widgets::Font::bold);
  for (std::size_t i = 0; i < layers; ++i) {
    const float x = places.pillars.min.x + pitch * static_cast<float>(i);
    p.frame({x, places.pillars.min.y}, {std::max(x + 1, x + pitch - gap), places.pillars.max.y}, t.muted, 1, t.px(2));
  }
}

}  // namespace chapters::framework::memory_timeline
