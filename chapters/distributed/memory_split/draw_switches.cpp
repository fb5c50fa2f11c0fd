#include <algorithm>
#include <array>

#include "chapters/distributed/memory_split/lab.h"
#include "widgets/base/motion.h"
#include "widgets/base/press_area.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::distributed::memory_split {

using widgets::Font, widgets::Painter, widgets::Theme, widgets::Type;

namespace {

/// One axis to switch: its name, its value and two buttons that halve and double it, up to `most`.
float axis_switch(const char* name, const char* id, std::int64_t& value, std::int64_t most, ImVec2 at) {
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  widgets::Line less, more;
  const widgets::NumberText number = widgets::format(static_cast<double>(value), "");
  less.add("-##less ").add(id);
  more.add("+##more ").add(id);
  const float body = t.type(Type::body), high = widgets::button_size("-").y;
  float x = at.x + p.text({at.x, at.y + (high - body) / 2}, name, t.muted, Type::body) + t.px(5);
  ImGui::SetCursorScreenPos({x, at.y});
  if (value > 1 && widgets::button(less.c_str())) value = std::max<std::int64_t>(1, value / 2);
  x += widgets::button_size("-").x + t.px(3);
  const float wide = std::max(t.px(20), widgets::text_size(number, Type::body, Font::mono).x);
  p.text({x + wide / 2, at.y + (high - body) / 2}, number, t.text, Type::body, Font::mono, widgets::Align::center);
  x += wide + t.px(3);
  ImGui::SetCursorScreenPos({x, at.y});
  if (value < most && widgets::button(more.c_str())) value = std::min(value * 2, most);
  return x + widgets::button_size("+").x - at.x;
}

}  // namespace

float draw_switches(Inputs& in, ImVec2 at, float width) {
  const Theme& t = widgets::theme();
  static constexpr std::array<const char*, 4> stages{"DDP##zero0", "ZeRO-1##zero1", "ZeRO-2##zero2", "ZeRO-3##zero3"};
  float x = at.x;
  for (std::int64_t i = 0; i < 4; ++i) {
    ImGui::SetCursorScreenPos({x, at.y});
    if (widgets::button(stages[static_cast<std::size_t>(i)], in.zero_stage == i)) in.zero_stage = i;
    x += widgets::button_size(stages[static_cast<std::size_t>(i)]).x + t.px(5);
  }
  x += t.px(12);
  struct Axis {
    const char *name, *id;
    std::int64_t *value, most;  // as the inspector allows
  };
  const std::array<Axis, 5> axes{{{"data", "data", &in.data_parallel, 65536},
                                  {"tensor", "tensor", &in.tensor_parallel, 72},
                                  {"pipeline", "pipeline", &in.pipeline_parallel, 1024},
                                  {"context", "context", &in.context_parallel, 1024},
                                  {"expert", "expert", &in.expert_parallel, 1024}}};
  for (const Axis& axis : axes) {
    const float wide = widgets::text_size(axis.name, Type::body).x + 2 * widgets::button_size("-").x + t.px(40);
    if (x + wide > at.x + width) break;
    if (axis.value != &in.data_parallel && in.cuts != Cuts::as_set) break;
    x += axis_switch(axis.name, axis.id, *axis.value, axis.most, {x, at.y}) + t.px(14);
  }
  return widgets::button_size("-").y;
}

void draw_steps(const Outputs& out, const Picture& picture, View& view, ImVec2 at, float width) {
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const float body = t.type(Type::body), pad = t.px(7), high = body + t.px(6);
  const std::size_t last = picture.step_names.size() - 1;
  const std::size_t now = view.step >= 0 ? std::min(last, static_cast<std::size_t>(view.step)) : last;
  // Where not all have room, the last ones.
  std::size_t first = picture.step_names.size();
  const auto wide_of = [&](std::size_t i) {
    return widgets::text_size(picture.step_names[i], Type::body).x + t.px(6) +
           widgets::text_size(picture.step_totals[i], Type::body, Font::mono).x + 2 * pad;
  };
  float room = width;
  while (first > 0 && wide_of(first - 1) + t.px(20) <= room) room -= wide_of(--first) + t.px(20);
  float x = at.x;
  for (std::size_t i = first; i <= last; ++i) {
    const float wide = wide_of(i);
    if (i > first) {
      p.text({x + t.px(3), at.y + t.px(3)}, "\xE2\x86\x92", t.muted, Type::body);
      x += t.px(20);
    }
    widgets::Line name;
    name.add("step ").add_integer(static_cast<std::int64_t>(i));
    ImGui::SetCursorScreenPos({x, at.y});
    if (widgets::press_area(name.c_str(), {wide, high})) {
      view.step = i == last ? -1 : static_cast<std::int64_t>(i);
      view.moment = -1;
      view.dealing = widgets::motion().on;
      view.dealt = view.dealing ? 0 : 1;
    }
    const bool over = ImGui::IsItemHovered();
    if (i == now || over)
      p.rect({x, at.y}, {x + wide, at.y + high}, widgets::with_alpha(t.accent, i == now ? 0.16f : 0.08f), t.px(4));
    if (i == now) p.frame({x, at.y}, {x + wide, at.y + high}, t.accent, t.px(1), t.px(4));
    const float named =
        p.text({x + pad, at.y + t.px(3)}, picture.step_names[i], i == now ? t.text : t.muted, Type::body);
    p.text({x + pad + named + t.px(6), at.y + t.px(3)}, picture.step_totals[i], t.text, Type::body, Font::mono);
    // Over the rim: a bar in the colour of what is wrong under its figure.
    if (!out.cuts[i].fits) p.rect({x + pad, at.y + high - t.px(3)}, {x + wide - pad, at.y + high - t.px(1)}, t.bad);
    x += wide;
  }
}

}  // namespace chapters::distributed::memory_split
