#include "widgets/timeline/span_names.h"

#include "widgets/base/parts.h"

namespace widgets {
namespace {

std::string_view longest_name(const void* context, std::uint32_t id) {
  const SpanNames& n = *static_cast<const SpanNames*>(context);
  if (id >= n.names.size()) return {};
  const float room = static_cast<float>(n.names[id].duration_ns) * n.px_per_ns - n.margin_px;
  for (const std::string& said : n.names[id].said)
    if (!said.empty() && static_cast<float>(said.size()) * n.letter_px <= room) return said;
  return {};
}

std::string_view name_info(const void* context, std::uint32_t lane, std::uint32_t span) {
  const SpanNames& n = *static_cast<const SpanNames*>(context);
  if (lane >= n.lanes.size() || span >= n.lanes[lane].spans.size()) return {};
  const std::uint32_t id = TimelineSpan(n.lanes[lane].spans[span]).name;
  return id < n.names.size() ? std::string_view(n.names[id].info) : std::string_view{};
}

}  // namespace

SpanNames span_names(std::span<const SpanName> names, std::span<const TimelineLane> lanes, const TimelineView& view,
                     float margin_px) {
  return {names, lanes, (view.x_pixel(1) - view.x_pixel(0)) * 1e-9f, text_size("0", Type::small, Font::mono).x,
          margin_px};
}

void say_names(const SpanNames& names, TimelineData& data) {
  data.context = &names;
  data.name = longest_name;
  data.info = name_info;
}

}  // namespace widgets
