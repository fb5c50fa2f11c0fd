#include "chapters/serving/chunked_disaggregated/draw_places.h"

#include <algorithm>

namespace chapters::serving::chunked_disaggregated {

using widgets::Rect, widgets::theme, widgets::Type;

Places places_of(Rect area) {
  const auto& t = theme();
  Places out{.area = area};
  out.heading = t.type(Type::small) + t.px(5);
  out.ruler = t.type(Type::small) + t.px(8);
  out.bill = area.width() > t.px(560) ? std::clamp(area.width() * 0.25f, t.px(168), t.px(260)) : 0;
  const float names = area.width() > t.px(420) ? t.px(64) : t.px(8),
              right = out.bill > 0 ? out.bill + t.px(18) : t.px(4);
  out.time = {{area.min.x + names, area.min.y}, {std::max(area.min.x + names + 1, area.max.x - right), area.max.y}};
  const float gap = std::clamp(area.height() * 0.02f, t.px(2), t.px(12)),
              each = (area.height() - out.ruler) / static_cast<float>(worlds);
  for (std::size_t w = 0; w < worlds; ++w) {
    const float top = area.min.y + each * static_cast<float>(w);
    out.world[w] = {{out.time.min.x, top + out.heading},
                    {out.time.max.x, std::max(top + out.heading + 1, top + each - gap)}};
  }
  return out;
}

BandPlaces place_bands(const Scene& scene, Rect world) {
  const auto& t = theme();
  BandPlaces out;
  float lanes = 0, writers = 0;
  for (const Band& b : scene.bands) {
    lanes += b.lane || b.users == 0;
    writers += b.users > 0;
  }
  const float gap = std::min(t.px(4), world.height() * 0.04f),
              room = world.height() - gap * static_cast<float>(scene.bands.size());
  const float lane = std::min({t.px(17), room * 0.5f / std::max(1.0f, lanes), room * 0.24f}),
              rows = std::max(1.0f, (room - lane * lanes) / std::max(1.0f, writers));
  float y = world.min.y;
  for (const Band& b : scene.bands) {
    if (out.count == out.band.size()) break;
    BandPlace& place = out.band[out.count++];
    const auto take = [&](float height) {
      const Rect r{{world.min.x, y}, {world.max.x, y + height}};
      y += height;
      return r;
    };
    place.lane = take(b.lane || b.users == 0 ? lane : 0);
    place.rows = take(b.users > 0 ? rows : 0);
    y += gap;
  }
  return out;
}

bool seen_edges(const Places& at, const PromptBar& bar) {
  return (bar.to - bar.from) * at.time.width() > theme().px(3) * static_cast<float>(bar.edges.size() + 1);
}

}  // namespace chapters::serving::chunked_disaggregated
