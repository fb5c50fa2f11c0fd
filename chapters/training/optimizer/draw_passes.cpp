#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/described/training_memory.h"
#include "chapters/training/optimizer/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/charts/vessel.h"
#include "widgets/number/number.h"

namespace chapters::training::optimizer {
namespace {

using models::OptimizerTensor, widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::array<std::string_view, models::optimizer_tensor_count> letters{"p", "g", "m", "v", "t", "w"};
constexpr std::array<std::string_view, models::optimizer_tensor_count> names{
    "weight p", "gradient g", "moment m", "variance v", "temporary t", "BF16 weight w"};
using TensorsUsed = std::array<bool, models::optimizer_tensor_count>;

TensorsUsed tensors_used(const Picture& picture) {
  TensorsUsed used{};
  for (const PassLane* lane : {&picture.upper, &picture.lower})
    for (const PassColumn& c : lane->columns)
      for (const auto* list : {&c.reads, &c.writes})
        for (const models::OptimizerAccess& a : *list) used[static_cast<std::size_t>(a.tensor)] = true;
  return used;
}
bool used(const TensorsUsed& tensors, OptimizerTensor tensor) { return tensors[static_cast<std::size_t>(tensor)]; }

/// In the key: both moments have the colour of what the optimizer remembers; empty for what another entry names.
std::string_view key_of(OptimizerTensor tensor, const TensorsUsed& tensors) {
  const bool both = used(tensors, OptimizerTensor::moment) && used(tensors, OptimizerTensor::variance);
  if (tensor == OptimizerTensor::weight && used(tensors, OptimizerTensor::copy)) return "master weight p";
  if (tensor == OptimizerTensor::moment && both) return "moments m, v";
  if (tensor == OptimizerTensor::variance && both) return {};
  return names[static_cast<std::size_t>(tensor)];
}

/// The colours that the owners of memory have in every lab. Where there is a copy in BF16, the weight is the master.
ImU32 colour_of(OptimizerTensor tensor, bool has_copy) {
  using models::memory::MemoryOwner;
  const auto of = [](MemoryOwner owner) {
    const OwnerLook& look = owner_look(owner);
    return widgets::vessel_colour(look.tint, look.pale, widgets::theme());
  };
  switch (tensor) {
    case OptimizerTensor::weight:
      return of(has_copy ? MemoryOwner::master : MemoryOwner::weights);
    case OptimizerTensor::gradient:
      return of(MemoryOwner::gradients);
    case OptimizerTensor::moment:
    case OptimizerTensor::variance:
      return of(MemoryOwner::optimizer);
    case OptimizerTensor::temporary:
      return of(MemoryOwner::temporary);
    case OptimizerTensor::copy:
      return of(MemoryOwner::weights);
  }
  return widgets::theme().muted;
}

/// A lane between the chip above and HBM below, in screen pixels; x goes by bytes a parameter.
struct LanePlan {
  Rect area;
  float px_per_byte = 1, chip_bottom = 0, memory_top = 0, memory_bottom = 0, band = 0;
  bool has_copy = false;  ///< the weights that products use are a copy in BF16 of those that are updated
  float x(double bytes) const { return area.min.x + px_per_byte * static_cast<float>(bytes); }
};

LanePlan plan_of(Rect area, double axis_bytes) {
  const auto& t = widgets::theme();
  LanePlan plan{.area = area};
  const float head = t.type(Type::small) + t.px(6);
  const float clock = area.height() > t.px(118) ? t.type(Type::small) + t.px(8) : 0.0f;  // the bar of time below
  plan.band = std::clamp((area.height() - head - clock) * 0.26f, t.px(18), t.px(38));
  plan.px_per_byte = area.width() / static_cast<float>(axis_bytes);
  plan.chip_bottom = area.min.y + head + plan.band;
  plan.memory_bottom = area.max.y - clock;
  plan.memory_top = plan.memory_bottom - plan.band;
  return plan;
}

/// A pipe as wide as its bytes, and arrow heads that say which way they go. `share`: how much has passed.
void paint_pipe(const Painter& p, const LanePlan& plan, double from, const models::OptimizerAccess& access, bool up,
                double share) {
  const auto& t = widgets::theme();
  const float x0 = plan.x(from), x1 = plan.x(from + access.bytes), wide = x1 - x0,
              gap = wide > t.px(5) ? t.px(1) : 0.0f;
  const ImU32 colour = colour_of(access.tensor, plan.has_copy);
  const float top = plan.chip_bottom, bottom = plan.memory_top;
  p.rect({x0 + gap, top}, {x1 - gap, bottom}, widgets::with_alpha(colour, 0.22f));
  const float length = (bottom - top) * static_cast<float>(std::clamp(share, 0.0, 1.0));
  if (up)
    p.rect({x0 + gap, bottom - length}, {x1 - gap, bottom}, colour);
  else
    p.rect({x0 + gap, top}, {x1 - gap, top + length}, colour);
  if (wide < t.px(9)) return;
  const float half = std::min(wide * 0.28f, t.px(6)), middle = (top + bottom) / 2, c = (x0 + x1) / 2,
              d = up ? half : -half;
  const ImVec2 head[] = {{c - half, middle + d * 0.6f}, {c, middle - d * 0.4f}, {c + half, middle + d * 0.6f}};
  p.polyline(head, share >= 0.5 ? widgets::text_on(colour, t) : t.text, t.px(1.6f));
}

/// The end of a pipe in memory: the tensor's letter where it has room.
void paint_end(const Painter& p, const LanePlan& plan, double from, const models::OptimizerAccess& access) {
  const auto& t = widgets::theme();
  const float x0 = plan.x(from), x1 = plan.x(from + access.bytes), gap = x1 - x0 > t.px(5) ? t.px(1) : 0.0f;
  const ImU32 colour = colour_of(access.tensor, plan.has_copy);
  p.rect({x0 + gap, plan.memory_top}, {x1 - gap, plan.memory_bottom}, colour, t.px(2));
  const std::string_view letter = letters[static_cast<std::size_t>(access.tensor)];
  if (x1 - x0 < widgets::text_size(letter, Type::small, Font::mono).x + t.px(3)) return;
  p.text({(x0 + x1) / 2, (plan.memory_top + plan.memory_bottom - t.type(Type::small)) / 2}, letter,
         widgets::text_on(colour, t), Type::small, Font::mono, Align::center);
}

/// What the chip computes in a pass: its name, and below it what comes and goes.
void paint_box(const Painter& p, const LanePlan& plan, float x0, float x1, std::string_view name,
               std::string_view figure, bool begun) {
  const auto& t = widgets::theme();
  const float top = plan.chip_bottom - plan.band, room = x1 - x0 - t.px(8), line = t.type(Type::small);
  p.rect({x0 + t.px(1), top}, {x1 - t.px(1), plan.chip_bottom}, begun ? t.card : t.grid, t.px(4));
  p.frame({x0 + t.px(1), top}, {x1 - t.px(1), plan.chip_bottom}, begun ? t.accent : t.line, t.px(1.2f), t.px(4));
  const bool two = plan.band > 2 * line + t.px(7);
  const float block = line * (two ? 2.0f : 1.0f) + (two ? t.px(2) : 0.0f);
  float y = top + (plan.band - block) / 2;
  if (widgets::text_size(name, Type::small).x <= room)
    p.text({(x0 + x1) / 2, y}, name, t.text, Type::small, Font::sans, Align::center);
  y += line + t.px(2);
  if (two && widgets::text_size(figure, Type::small).x <= room)
    p.text({(x0 + x1) / 2, y}, figure, t.muted, Type::small, Font::sans, Align::center);
}

void paint_lane(const Painter& p, const LanePlan& plan, const PassLane& lane, double travelled) {
  const auto& t = widgets::theme();
  const float wide = p.text_fit(plan.area.min, lane.head, plan.area.width() * 0.5f, lane.chosen ? t.accent : t.text,
                                Type::small, Font::bold);
  widgets::fit_text(p, {plan.area.min.x + wide + t.px(10), plan.area.min.y}, lane.more,
                    plan.area.width() - wide - t.px(10), t.muted, Type::small);
  p.rect({plan.area.min.x, plan.memory_top}, {plan.area.max.x, plan.memory_bottom}, t.card);
  for (const PassColumn& c : lane.columns) {
    const float x0 = plan.x(c.from), x1 = plan.x(c.from + c.bytes);
    const bool begun = travelled > c.from;
    // Rounds that repeat share one box.
    if (c.times == 1) {
      paint_box(p, plan, x0, x1, c.name, c.figure, begun);
    } else if (&c == lane.columns.data() || (&c)[-1].times == 1) {
      const PassColumn* end = &c;
      double in = 0, out = 0;
      for (; end != lane.columns.data() + lane.columns.size() && end->times > 1; ++end) {
        for (const auto& a : end->reads) in += a.bytes;
        for (const auto& a : end->writes) out += a.bytes;
      }
      widgets::Line name, figure;
      name.add_integer(c.times).add("\xC3\x97 three matmuls");
      figure.add(widgets::format(in, "")).add(" in, ").add(widgets::format(out, "")).add(" out each time");
      paint_box(p, plan, x0, plan.x(end[-1].from + end[-1].bytes), name.view(), figure.view(), begun);
    }
    double at = c.from;
    const auto share = [&](const models::OptimizerAccess& a) { return (travelled - at) / a.bytes; };
    for (const auto* list : {&c.reads, &c.writes})
      for (const models::OptimizerAccess& a : *list) {
        paint_pipe(p, plan, at, a, list == &c.reads, share(a));
        paint_end(p, plan, at, a);
        at += a.bytes;
      }
  }
}

constexpr std::array<widgets::Meaning, 3> waits{widgets::Meaning::memory_bound, widgets::Meaning::compute_bound,
                                                widgets::Meaning::launch_bound};
constexpr std::array<std::string_view, 3> wait_names{"time for bytes", "time for matmuls", "time for launches"};

std::array<double, 3> waits_of(const models::OptimizerPassTime& pass) {
  return {pass.traffic_s, pass.product_s, pass.launch_s};
}

/// What stands at the left: which end is which, and the bar of time, a block for each pass by what it waits for.
void paint_time(const Painter& p, const LanePlan& plan, const PassLane& lane, double axis_s, float left) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small), head = line + t.px(6), y0 = plan.memory_bottom + t.px(6);
  const auto side = [&](std::string_view word, float top, float bottom) {
    p.text({left, (top + bottom - line) / 2}, word, t.muted, Type::small);
  };
  side("chip", plan.area.min.y + head, plan.chip_bottom);
  side("HBM", plan.memory_top, plan.memory_bottom);
  if (plan.area.max.y <= plan.memory_bottom) return;
  side("time", y0, plan.area.max.y);
  const float label = t.px(76), scale = (plan.area.width() - label) / static_cast<float>(axis_s);
  float x = plan.area.min.x;
  for (const models::OptimizerPassTime& pass : lane.times) {
    const std::array<double, 3> parts = waits_of(pass);
    const float end = x + scale * static_cast<float>(pass.time_s()), gap = end - x > t.px(4) ? 1.0f : 0.0f;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const float wide = scale * static_cast<float>(parts[i]);
      const float upto = std::min(x + wide, end - gap);
      if (upto > x) p.rect({x, y0}, {upto, plan.area.max.y}, t.of(waits[i]));
      x += wide;
    }
  }
  widgets::Line words;
  words.add(widgets::format(lane.time_s, "s"));
  p.text({x + t.px(8), (y0 + plan.area.max.y - line) / 2}, words.view(), t.text, Type::small);
}

void paint_key(const Painter& p, const Picture& picture, ImVec2 at, float right) {
  const auto& t = widgets::theme();
  const TensorsUsed tensors = tensors_used(picture);
  const float sample = t.px(14), line = t.type(Type::small);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto tensor = static_cast<OptimizerTensor>(i);
    const std::string_view name = tensors[i] ? key_of(tensor, tensors) : std::string_view();
    if (name.empty()) continue;
    const float wide = sample + t.px(6) + widgets::text_size(name, Type::small).x;
    if (at.x + wide > right) continue;
    p.rect({at.x, at.y + t.px(2)}, {at.x + sample, at.y + line},
           colour_of(tensor, used(tensors, OptimizerTensor::copy)));
    p.text({at.x + sample + t.px(6), at.y}, name, t.muted, Type::small);
    at.x += wide + t.px(16);
  }
  std::array<bool, waits.size()> waited{};
  for (const PassLane* lane : {&picture.upper, &picture.lower})
    for (const models::OptimizerPassTime& pass : lane->times)
      for (std::size_t i = 0; i < waits.size(); ++i)
        waited[i] = waited[i] || waits_of(pass)[i] > 0.004 * picture.axis_s;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const float wide = sample + t.px(6) + widgets::text_size(wait_names[i], Type::small).x;
    if (!waited[i] || at.x + wide > right) continue;
    p.rect({at.x, at.y + line * 0.35f}, {at.x + sample, at.y + line * 0.85f}, t.of(waits[i]));
    p.text({at.x + sample + t.px(6), at.y}, wait_names[i], t.muted, Type::small);
    at.x += wide + t.px(16);
  }
  constexpr std::string_view scale = "width: bytes per parameter";
  const float wide = widgets::text_size(scale, Type::small).x;
  if (at.x + wide <= right) p.text({right - wide, at.y}, scale, t.muted, Type::small);
}

/// What the learner said that a parameter moves, as a width of the lane that is chosen. Where passes repeat, a width
/// is not the bytes of all of them.
void paint_guess(const Painter& p, const LanePlan& plan, const PassLane& lane, double axis_bytes) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "traffic_bytes" || !lane.chosen || lane.all_bytes > lane.bytes) return;
  const auto& t = widgets::theme();
  const float x = plan.x(std::min(guess->value, axis_bytes));
  p.dashed_line({x, plan.chip_bottom}, {x, plan.memory_bottom}, t.accent, t.px(2), t.px(5));
  const widgets::Line words =
      widgets::guess_words(widgets::format(guess->value, guess->unit), guess->value > axis_bytes);
  const float width = widgets::text_size(words.view(), Type::small).x;
  widgets::paint_guess_words(
      p, {x + t.px(6) + width > plan.area.max.x ? x - t.px(6) - width : x + t.px(6), plan.chip_bottom + t.px(6)},
      words.view());
}

/// What a question gives: the chip above, the memory below with the tensors that are in it. How often each goes between
/// them is asked.
void draw_given(const Picture& picture, const Rect& all) {
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const auto& t = widgets::theme();
  const float band = t.px(38);
  for (const auto& [name, top] : {std::pair<std::string_view, float>{"chip", all.min.y},
                                  std::pair<std::string_view, float>{"HBM", all.max.y - band}}) {
    p.frame({all.min.x, top}, {all.max.x, top + band}, t.muted, 1, t.px(4));
    p.text({all.min.x + t.px(10), top + (band - t.type(Type::small)) / 2}, name, t.text, Type::small);
  }
  const TensorsUsed tensors = tensors_used(picture);
  widgets::Line kept;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto tensor = static_cast<OptimizerTensor>(i);
    const std::string_view name =
        tensors[i] && tensor != OptimizerTensor::temporary ? key_of(tensor, tensors) : std::string_view();
    if (!name.empty()) kept.add(kept.length > 0 ? ", " : "").add(name);
  }
  widgets::fit_text(p, {all.min.x + t.px(64), all.max.y - band + (band - t.type(Type::small)) / 2}, kept.view(),
                    all.width() - t.px(260), t.muted, Type::small);
}

void show_tip(const LanePlan& plan, const PassLane& lane) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (!plan.area.contains(mouse)) return;
  const double byte = static_cast<double>((mouse.x - plan.area.min.x) / plan.px_per_byte);
  for (const PassColumn& c : lane.columns) {
    if (byte < c.from || byte >= c.from + c.bytes) continue;
    double at = c.from;
    for (const auto* list : {&c.reads, &c.writes})
      for (const models::OptimizerAccess& a : *list) {
        if (byte >= at && byte < at + a.bytes) {
          widgets::Line value;
          value.add(widgets::format(a.bytes, "B", 4)).add(list == &c.reads ? " read" : " written");
          widgets::tip(names[static_cast<std::size_t>(a.tensor)], value.view(), c.name);
          return;
        }
        at += a.bytes;
      }
  }
}

}  // namespace

void draw_passes(const Picture& picture, double travelled, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect all = widgets::canvas("passes", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  if (widgets::veiled()) return draw_given(picture, all);
  const float key = t.type(Type::small) + t.px(10), gap = t.px(16);
  paint_key(p, picture, all.min, all.max.x);
  const Rect body{{all.min.x + t.px(40), all.min.y + key}, all.max};
  if (body.height() < t.px(90)) return;
  const float lane = (body.height() - gap) / 2;
  LanePlan first = plan_of({body.min, {body.max.x, body.min.y + lane}}, picture.axis_bytes),
           second = plan_of({{body.min.x, body.max.y - lane}, body.max}, picture.axis_bytes);
  first.has_copy = second.has_copy = used(tensors_used(picture), OptimizerTensor::copy);
  paint_lane(p, first, picture.upper, travelled);
  paint_lane(p, second, picture.lower, travelled);
  paint_guess(p, first, picture.upper, picture.axis_bytes);
  paint_guess(p, second, picture.lower, picture.axis_bytes);
  widgets::drew("both lanes");
  paint_time(p, first, picture.upper, picture.axis_s, all.min.x);
  paint_time(p, second, picture.lower, picture.axis_s, all.min.x);
  // What the lower one does not move, as a length.
  const float x0 = second.x(picture.lower.bytes) + t.px(10), y = (second.chip_bottom + second.memory_top) / 2;
  if (second.area.max.x - x0 > t.px(120)) {
    p.dashed_line({x0, y}, {second.area.max.x, y}, t.muted, 1, t.px(4));
    widgets::Line words;
    words.add(widgets::format(picture.upper.all_bytes - picture.lower.all_bytes, "B"))
        .add(" per parameter that never travel");
    p.text({(x0 + second.area.max.x) / 2, y - t.type(Type::small) - t.px(5)}, words.view(), t.text, Type::small,
           Font::sans, Align::center);
  }
  if (hovered) {
    show_tip(first, picture.upper);
    show_tip(second, picture.lower);
  }
  if (!p.record()) return;
  widgets::DataTable table{"passes", {"lane", "pass", "times", "bytes_read", "bytes_written"}, {}};
  for (const PassLane* l : {&picture.upper, &picture.lower})
    for (const PassColumn& c : l->columns) {
      double in = 0, out = 0;
      for (const auto& a : c.reads) in += a.bytes;
      for (const auto& a : c.writes) out += a.bytes;
      table.rows.push_back({l->head, c.name, std::to_string(c.times), widgets::exact(in), widgets::exact(out)});
    }
  p.record()->tables.push_back(std::move(table));
}

}  // namespace chapters::training::optimizer
