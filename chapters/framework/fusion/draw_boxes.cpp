#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/framework/fusion/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::framework::fusion {
namespace {

namespace gpu = models::gpu;
using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::size_t pipe_points = 17;

/// A pipe's line, `shift` px beside its middle: it leaves the box straight down, and enters the band straight too.
void pipe_line(const PlacedPipe& pipe, float shift, std::span<ImVec2> points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float u = static_cast<float>(i) / static_cast<float>(points.size() - 1), s = u * u * (3 - 2 * u);
    points[i] = {pipe.box.x + (pipe.tensor.x - pipe.box.x) * s + shift, pipe.box.y + (pipe.tensor.y - pipe.box.y) * u};
  }
}

ImU32 colour_of(gpu::KernelBound bound) {
  const auto& t = widgets::theme();
  switch (bound) {
    case gpu::KernelBound::matrix:
    case gpu::KernelBound::vector:
      return t.of(Meaning::compute_bound);
    case gpu::KernelBound::l2:
      return t.series_at(2);
    case gpu::KernelBound::latency:
      return t.of(Meaning::idle);
    case gpu::KernelBound::memory:
      break;
  }
  return t.of(Meaning::memory_bound);
}

void paint_pipes(const Painter& p, const Picture& picture, const BoxesLayout& l) {
  const auto& t = widgets::theme();
  const ImU32 fill = widgets::with_alpha(t.of(Meaning::memory_bound), 0.8f);
  for (std::size_t i = 0; i < picture.pipes.size(); ++i) {
    const PipeMark& mark = picture.pipes[i];
    const PlacedPipe& pipe = l.pipes[i];
    std::array<ImVec2, pipe_points> points;
    if (mark.ghost) {
      const ImU32 dash = widgets::with_alpha(t.muted, 0.8f);
      const float half = std::max(pipe.width / 2, t.px(2));
      for (const float shift : {-half, half}) {
        pipe_line(pipe, shift, points);
        p.dashed_polyline(points, dash, 1, t.px(4));
      }
      continue;
    }
    const ImU32 colour = mark.l2 ? widgets::with_alpha(colour_of(gpu::KernelBound::l2), 0.8f) : fill;
    if (pipe.width > 0.35f * (pipe.tensor.y - pipe.box.y)) {
      // A stroke so wide folds over itself where the line bends: its two sides are filled between.
      std::array<ImVec2, 2 * pipe_points> sides;
      pipe_line(pipe, pipe.width / 2, std::span(sides).first<pipe_points>());
      pipe_line(pipe, -pipe.width / 2, std::span(sides).last<pipe_points>());
      std::reverse(sides.begin() + pipe_points, sides.end());
      p.polygon(sides, colour);
    } else {
      pipe_line(pipe, 0, points);
      p.polyline(points, colour, pipe.width);
    }
    if (pipe.width < t.px(7)) continue;
    // The direction, in the middle.
    const ImVec2 c{(pipe.box.x + pipe.tensor.x) / 2, (pipe.box.y + pipe.tensor.y) / 2};
    const float w = std::min(pipe.width * 0.3f, t.px(7)), h = (mark.up ? -w : w) * 0.7f;
    for (const float dy : {-t.px(4), t.px(4)}) {
      const ImVec2 chevron[] = {{c.x - w, c.y + dy - h / 2}, {c.x, c.y + dy + h / 2}, {c.x + w, c.y + dy - h / 2}};
      p.polyline(chevron, t.background, t.px(1.5f));
    }
  }
}

void paint_band(const Painter& p, const Picture& picture, const BoxesLayout& l) {
  const auto& t = widgets::theme();
  const ImU32 hue = t.of(Meaning::memory_bound);
  const float small = t.type(Type::small);
  const float band_words = widgets::text_size(picture.band, Type::small).x + t.px(14);
  p.rect(l.band.min, l.band.max, widgets::with_alpha(hue, 0.22f), t.px(6));
  for (std::size_t i = 0; i < picture.tensors.size(); ++i) {
    const TensorMark& m = picture.tensors[i];
    const Rect& r = l.tensors[i];
    if (m.ghost) {
      const ImVec2 corners[] = {r.min, {r.max.x, r.min.y}, r.max, {r.min.x, r.max.y}, r.min};
      p.dashed_polyline(corners, t.muted, 1, t.px(4));
    } else {
      p.rect(r.min, r.max, hue, std::min(t.px(4), r.width() / 3));
    }
    const ImU32 ink = m.ghost ? t.text : widgets::text_on(hue, t);
    const float middle = (r.min.x + r.max.x) / 2, room = r.width() - t.px(2),
                y = (r.min.y + r.max.y) / 2 - (l.under ? small + t.px(1) : small / 2);
    const float name = widgets::text_size(m.name, Type::small).x,
                size = widgets::text_size(m.size, Type::small, Font::mono).x;
    if (name <= room) p.text({middle, y}, m.name, ink, Type::small, Font::sans, Align::center);
    if (l.under && size <= room && name <= room)
      p.text({middle, y + small + t.px(2)}, m.size, ink, Type::small, Font::mono, Align::center);
    // What has no room for its name and is more than a bias says it under the band, between the two captions.
    if (name > room && !m.ghost && l.caption && m.bytes * static_cast<double>(l.px_per_byte) > 4) {
      widgets::Line words;
      words.add(m.name).add(" ").add(m.size);
      const float half = widgets::text_size(words.view(), Type::small).x / 2, left = l.band.min.x + band_words,
                  right = l.band.max.x - l.band.width() * 0.28f;
      if (middle - half > left && middle + half < right)
        p.text({middle, l.band.max.y + t.px(4)}, words.view(), t.muted, Type::small, Font::sans, Align::center);
    }
  }
  if (l.caption)
    widgets::fit_text(p, {l.band.min.x, l.band.max.y + t.px(4)}, picture.band, l.band.width() * 0.7f, t.muted,
                      Type::small);
}

void paint_kernels(const Painter& p, const Picture& picture, const BoxesLayout& l) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  for (std::size_t i = 0; i < picture.kernels.size(); ++i) {
    const KernelMark& k = picture.kernels[i];
    const Rect &frame = l.frames[i], &bar = l.bars[i];
    if (k.last > k.first) {
      p.rect(frame.min, frame.max, widgets::with_alpha(t.accent, k.lasso ? 0.14f : 0.06f), t.px(8));
      const ImVec2 corners[] = {
          frame.min, {frame.max.x, frame.min.y}, frame.max, {frame.min.x, frame.max.y}, frame.min};
      if (k.lasso) {
        p.dashed_polyline(corners, t.accent, t.px(1.5f), t.px(5));
        for (const float x : {frame.min.x, frame.max.x}) {
          const float y = (bar.max.y + frame.max.y) / 2;
          p.rect({x - t.px(3), y - t.px(10)}, {x + t.px(3), y + t.px(10)}, t.accent, t.px(2));
        }
      } else {
        p.frame(frame.min, frame.max, t.line, 1, t.px(8));
      }
    }
    constexpr auto registers = static_cast<double>(max_registers);
    // Registers: the track is what a thread may have, and what is beyond it is spilled.
    const float spill_words = widgets::text_size(k.figure, Type::small, Font::mono).x + t.px(6);
    const float track_end = bar.max.x - (k.spilled > 0 ? bar.width() * 0.22f : 0.0f);
    p.rect(bar.min, {track_end, bar.max.y}, t.line, t.px(2));
    const float used = bar.min.x + (track_end - bar.min.x) * static_cast<float>(k.registers / registers);
    p.rect(bar.min, {used, bar.max.y}, k.lasso ? t.accent : t.muted, t.px(2));
    if (k.spilled > 0) {
      const float beyond =
          std::min(bar.max.x, track_end + (track_end - bar.min.x) * static_cast<float>(k.spilled / registers));
      p.rect({track_end, bar.min.y - t.px(2)}, {beyond, bar.max.y + t.px(2)}, t.bad);
      p.line({track_end, bar.min.y - t.px(5)}, {track_end, bar.max.y + t.px(4)}, t.text, t.px(1.5f));
    }
    const float y = bar.min.y - small - t.px(4);
    p.text({bar.max.x, y}, k.figure, t.text, Type::small, Font::mono, Align::right);
    if (k.last > k.first) {
      const float room = bar.width() - spill_words - t.px(4);
      const bool fits = widgets::text_size(k.head, Type::small).x <= room;
      widgets::fit_text(p, {bar.min.x, y}, fits ? k.head : k.brief, room, t.text, Type::small);
    }
  }
}

void paint_boxes(const Painter& p, const Picture& picture, const BoxesLayout& l) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  for (std::size_t i = 0; i < picture.names.size(); ++i) {
    const Rect& r = l.boxes[i];
    const ImU32 fill = colour_of(picture.bounds[i]), ink = widgets::text_on(fill, t);
    p.rect(r.min, r.max, fill, t.px(5));
    const float middle = (r.min.x + r.max.x) / 2, room = r.width() - t.px(6);
    const bool wide = widgets::text_size(picture.names[i], Type::body, Font::bold).x <= room,
               fits = wide || widgets::text_size(picture.names[i], Type::small, Font::bold).x <= room;
    const Type type = wide ? Type::body : Type::small;
    const float y = r.min.y + (r.height() - t.type(type) - (l.under ? small + t.px(3) : 0.0f)) / 2;
    widgets::fit_text(p, {middle, y}, fits ? picture.names[i] : picture.briefs[i], room, ink, type,
                      fits ? Font::bold : Font::sans, Align::center);
    if (l.under)
      widgets::fit_text(p, {middle, y + t.type(type) + t.px(3)}, picture.under[i], room, ink, Type::small, Font::mono,
                        Align::center);
    const bool inside = std::any_of(picture.kernels.begin(), picture.kernels.end(), [&](const KernelMark& k) {
      return k.first <= static_cast<int>(i) && k.last > static_cast<int>(i);
    });
    if (inside && i + 1 < picture.names.size()) {
      const float x0 = r.max.x + t.px(2), x1 = l.boxes[i + 1].min.x - t.px(2), at = (r.min.y + r.max.y) / 2;
      p.line({x0, at}, {x1, at}, t.accent, t.px(2));
      const ImVec2 tip[] = {{x1 - t.px(5), at - t.px(4)}, {x1, at}, {x1 - t.px(5), at + t.px(4)}};
      p.polyline(tip, t.accent, t.px(2));
    }
  }
  if (picture.break_after > 0 && static_cast<std::size_t>(picture.break_after) < l.boxes.size()) {
    const float x = (l.boxes[static_cast<std::size_t>(picture.break_after) - 1].max.x +
                     l.boxes[static_cast<std::size_t>(picture.break_after)].min.x) /
                    2;
    p.dashed_line({x, l.chip.min.y + small + t.px(4)}, {x, l.chip.max.y}, t.bad, t.px(2), t.px(5));
    if (l.key) p.text({x, l.chip.min.y + t.px(3)}, "graph break", t.bad, Type::small, Font::sans, Align::center);
  }
}

/// What the learner took for what is saved, or for how much faster the chain is, next to what is.
void paint_chain_guess(const Painter& p, const Picture& picture, const BoxesLayout& l) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  const auto& t = widgets::theme();
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), false);
  const float right = l.band.max.x - widgets::text_size(picture.saved, Type::small, Font::bold).x - t.px(18);
  widgets::paint_guess_words(p, {right - widgets::text_size(words.view(), Type::small).x, l.band.max.y + t.px(4)},
                             words.view());
}

void paint_matrix(const Painter& p, const Picture& picture, const BoxesLayout& l) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), top = l.matrix.min.y - small - t.px(5);
  widgets::fit_text(p, {l.matrix.min.x, top}, picture.runs_head, l.matrix.width() * 0.6f, t.text, Type::small,
                    Font::bold);
  widgets::fit_text(p, {l.matrix.max.x, top}, "hatched: slower than none fused", l.matrix.width() * 0.38f, t.muted,
                    Type::small, Font::sans, Align::right);
  for (std::size_t i = 0; i < picture.cells.size(); ++i) {
    const RunCell& c = picture.cells[i];
    const Rect& r = l.cells[i];
    const float y = (r.min.y + r.max.y - small) / 2;
    if (c.last == c.first + 1)
      widgets::fit_text(p, {r.min.x - t.px(8), y}, picture.rows[static_cast<std::size_t>(c.first)],
                        r.min.x - l.matrix.min.x - t.px(8), t.muted, Type::small, Font::sans, Align::right);
    const ImU32 ground =
        c.slower || c.none ? t.card : widgets::with_alpha(t.accent, 0.08f + 0.4f * static_cast<float>(c.share));
    p.rect(r.min, r.max, ground, t.px(3));
    if (c.slower || c.none) widgets::hatch(p, r, t.line, t.px(5));
    if (c.chosen || c.best) p.frame(r.min, r.max, c.chosen ? t.accent : t.text, t.px(c.chosen ? 2.0f : 1.5f), t.px(3));
    const float middle = (r.min.x + r.max.x) / 2;
    const bool named = c.best && r.width() > t.px(84);
    const float wide = widgets::text_size(c.words, Type::small, Font::mono).x;
    if (c.slower || c.none)
      p.rect({middle - wide / 2 - t.px(4), y - t.px(1)}, {middle + wide / 2 + t.px(4), y + small + t.px(1)}, t.card);
    if (wide <= r.width() - t.px(4))
      p.text({named ? r.max.x - t.px(8) : middle, y}, c.words, t.text, Type::small, Font::mono,
             named ? Align::right : Align::center);
    if (named) p.text({r.min.x + t.px(8), y}, "best", t.text, Type::small, Font::bold);
  }
}

void paint_key(const Painter& p, const BoxesLayout& l, const Picture& picture) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), y = l.chip.min.y + t.px(5), sample = t.px(11);
  float x = l.chip.min.x + t.px(10);
  constexpr std::string_view ground = "on chip: drag over boxes";
  p.text({x, y}, ground, t.muted, Type::small);
  x += widgets::text_size(ground, Type::small).x + t.px(18);
  widgets::Line scale;
  scale.add("bar: registers per thread, of ").add_integer(max_registers);
  const float limit = picture.break_after > 0
                          ? l.chip.min.x + l.chip.width() * 0.3f
                          : l.chip.max.x - widgets::text_size(scale.view(), Type::small).x - t.px(20);
  static constexpr std::array<std::pair<gpu::KernelBound, std::string_view>, 4> names{
      {{gpu::KernelBound::memory, "waits for memory"},
       {gpu::KernelBound::matrix, "for arithmetic"},
       {gpu::KernelBound::l2, "for L2"},
       {gpu::KernelBound::latency, "for latency"}}};
  for (const auto& [bound, name] : names) {
    const auto colour = colour_of(bound);
    const bool used = std::any_of(picture.bounds.begin(), picture.bounds.end(),
                                  [&](gpu::KernelBound b) { return colour_of(b) == colour; });
    const float wide = sample + t.px(6) + widgets::text_size(name, Type::small).x;
    if (!used || x + wide > limit) continue;
    p.rect({x, y + (small - sample) / 2}, {x + sample, y + (small + sample) / 2}, colour, t.px(2));
    p.text({x + sample + t.px(6), y}, name, t.muted, Type::small);
    x += wide + t.px(16);
  }
  constexpr std::string_view from_l2 = "pipe: read from L2";
  const bool any = std::any_of(picture.pipes.begin(), picture.pipes.end(), [](const PipeMark& m) { return m.l2; });
  if (any && x + sample + t.px(6) + widgets::text_size(from_l2, Type::small).x <= limit) {
    p.rect({x, y + (small - sample) / 2}, {x + sample, y + (small + sample) / 2}, colour_of(gpu::KernelBound::l2),
           t.px(2));
    p.text({x + sample + t.px(6), y}, from_l2, t.muted, Type::small);
  }
  if (picture.break_after == 0)
    p.text({l.chip.max.x - t.px(10), y}, scale.view(), t.muted, Type::small, Font::sans, Align::right);
}

int box_under(const BoxesLayout& l, float x) {
  int nearest = -1;
  float least = 1e9f;
  for (std::size_t i = 0; i < l.boxes.size(); ++i) {
    const float d = std::abs((l.boxes[i].min.x + l.boxes[i].max.x) / 2 - x);
    if (d >= least) continue;
    least = d;
    nearest = static_cast<int>(i);
  }
  return nearest;
}

void set_lasso(Inputs& in, int first, int last) {
  in.first = std::min(first, last) + 1;
  in.last = std::max(first, last) + 1;
}

/// The pointer draws the lasso; a cell of the matrix is a run.
void take_pointer(Inputs& in, const Picture& picture, View& view) {
  const BoxesLayout& l = view.layout;
  const ImVec2 mouse = ImGui::GetMousePos();
  if (!ImGui::IsItemActive()) {
    view.anchor = -1;
    return;
  }
  if (ImGui::IsItemActivated()) {
    for (std::size_t i = 0; l.runs && i < picture.cells.size(); ++i)
      if (l.cells[i].contains(mouse)) set_lasso(in, picture.cells[i].first, picture.cells[i].last);
    if (mouse.y >= l.chip.max.y) return;
    const int box = box_under(l, mouse.x);
    // At a handle the other end stays; anywhere else a new lasso begins.
    const float reach = widgets::theme().px(12);
    view.anchor = box;
    for (std::size_t i = 0; i < picture.kernels.size(); ++i) {
      if (!picture.kernels[i].lasso) continue;
      if (std::abs(mouse.x - l.frames[i].min.x) < reach) view.anchor = picture.last;
      if (std::abs(mouse.x - l.frames[i].max.x) < reach) view.anchor = picture.first;
    }
  }
  if (view.anchor >= 0) set_lasso(in, view.anchor, box_under(l, mouse.x));
}

void take_keys(Inputs& in, const Picture& picture) {
  const int steps = widgets::play_keys().steps, end = static_cast<int>(picture.names.size()) - 1;
  if (steps == 0 || end < 1) return;
  int first = picture.first, last = picture.last;
  if (ImGui::GetIO().KeyShift)
    first = std::clamp(first + steps, 0, last);
  else
    last = std::clamp(last + steps, first, end);
  set_lasso(in, first, last);
}

void show_tip(const Outputs& out, const Picture& picture, const BoxesLayout& l) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t i = 0; i < l.boxes.size() && i < out.boxes.size(); ++i)
    if (l.boxes[i].contains(mouse)) {
      widgets::Line value, info;
      value.add("alone ").add(widgets::format(out.boxes[i].time_s, "s")).add(", ");
      value.add(widgets::format(out.boxes[i].bytes, "B"));
      info.add("drag from box to box to make them one kernel");
      widgets::tip(picture.names[i], value.view(), info.view());
      return;
    }
  for (std::size_t i = 0; i < l.tensors.size() && i < picture.tensors.size(); ++i)
    if (l.tensors[i].contains(mouse)) {
      widgets::tip(picture.tensors[i].name, widgets::format(picture.tensors[i].bytes, "B"),
                   picture.tensors[i].ghost ? "never written: it stays on the chip" : "in main memory");
      return;
    }
  for (std::size_t i = 0; l.runs && i < l.cells.size() && i < out.runs.size(); ++i)
    if (l.cells[i].contains(mouse)) {
      widgets::Line name;
      name.add(picture.names[static_cast<std::size_t>(picture.cells[i].first)]).add(" to ");
      name.add(picture.names[static_cast<std::size_t>(picture.cells[i].last)]);
      widgets::tip(name.view(), widgets::format(out.runs[i].time_s, "s"), "the whole chain, these boxes one kernel");
      return;
    }
}

}  // namespace

void draw_boxes(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("boxes", size, {16, 16});
  if (picture.names.empty()) return;
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  layout_boxes(picture, area, view.layout);
  take_pointer(in, picture, view);
  take_keys(in, picture);
  const BoxesLayout& l = view.layout;
  const Painter p = Painter::window();
  if (widgets::veiled()) return draw_given_boxes(picture, l);
  widgets::drew("boxes");
  p.rect(l.chip.min, l.chip.max, widgets::with_alpha(t.card, 0.5f), t.px(8));
  p.frame(l.chip.min, l.chip.max, t.line, 1, t.px(8));
  paint_pipes(p, picture, l);
  paint_band(p, picture, l);
  paint_kernels(p, picture, l);
  paint_boxes(p, picture, l);
  if (l.key) paint_key(p, l, picture);
  if (l.caption)
    widgets::fit_text(p, {l.band.max.x, l.band.max.y + t.px(4)}, picture.saved, l.band.width() * 0.28f, t.text,
                      Type::small, Font::bold, Align::right);
  if (l.caption) paint_chain_guess(p, picture, l);
  if (l.runs) paint_matrix(p, picture, l);
  if (l.why_y > 0) widgets::fit_text(p, {area.min.x, l.why_y}, picture.why, area.width(), t.muted, Type::small);
  if (hovered && !active) show_tip(out, picture, l);
  if (!p.record()) return;
  widgets::DataTable table{"pipes", {"tensor", "bytes", "box", "way", "written"}, {}};
  for (const PipeMark& m : picture.pipes) {
    const TensorMark& tensor = picture.tensors[static_cast<std::size_t>(m.tensor)];
    table.rows.push_back({tensor.name, widgets::exact(tensor.bytes), picture.names[static_cast<std::size_t>(m.box)],
                          m.up ? "read" : "write", m.ghost ? "no" : "yes"});
  }
  p.record()->tables.push_back(std::move(table));
}

}  // namespace chapters::framework::fusion
