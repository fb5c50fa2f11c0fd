#include <algorithm>
#include <cmath>

#include "chapters/framework/fusion/lab.h"

namespace chapters::framework::fusion {
namespace {

using widgets::Rect;
using widgets::Type;

/// Tensors beside one another in the band, each as near to its place as its neighbours allow.
void place_tensors(const Picture& picture, BoxesLayout& out, float first_x) {
  const auto& t = widgets::theme();
  const std::size_t n = picture.tensors.size();
  const float gap = t.px(3), least = t.px(2);
  double most = 0;
  for (const TensorMark& m : picture.tensors) most = std::max(most, m.bytes);
  out.px_per_byte = most > 0 ? 0.46f * out.pitch / static_cast<float>(most) : 0.0f;
  const auto width_of = [&](std::size_t i) {
    return std::max(least, static_cast<float>(picture.tensors[i].bytes) * out.px_per_byte);
  };
  // All of them side by side must fit the band.
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += width_of(i) + gap;
  if (sum > out.band.width())
    out.px_per_byte *= std::max(0.1f, (out.band.width() - 2 * gap * static_cast<float>(n)) / sum);
  out.tensors.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const float x = first_x + out.pitch * static_cast<float>(picture.tensors[i].centre), w = width_of(i);
    out.tensors.push_back({{x - w / 2, out.band.min.y + t.px(5)}, {x + w / 2, out.band.max.y - t.px(5)}});
  }
  // A few rounds of pushing neighbours apart; they are few, and their order is that of their places.
  for (int round = 0; round < 24; ++round) {
    bool moved = false;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        Rect &a = out.tensors[i], &b = out.tensors[j];
        const bool before = picture.tensors[i].centre < picture.tensors[j].centre ||
                            (picture.tensors[i].centre == picture.tensors[j].centre && i < j);
        if (i == j || !before) continue;
        const float overlap = a.max.x + gap - b.min.x;
        if (overlap <= 0.01f) continue;
        moved = true;
        a.min.x -= overlap / 2;
        a.max.x -= overlap / 2;
        b.min.x += overlap / 2;
        b.max.x += overlap / 2;
      }
    for (Rect& r : out.tensors) {
      const float shift =
          std::max(0.0f, out.band.min.x + gap - r.min.x) - std::max(0.0f, r.max.x - out.band.max.x + gap);
      r.min.x += shift;
      r.max.x += shift;
    }
    if (!moved) break;
  }
}

void place_pipes(const Picture& picture, BoxesLayout& out) {
  const auto& t = widgets::theme();
  out.pipes.clear();
  for (const PipeMark& pipe : picture.pipes) {
    const Rect& box = out.boxes[static_cast<std::size_t>(pipe.box)];
    const Rect& tensor = out.tensors[static_cast<std::size_t>(pipe.tensor)];
    const float x = (tensor.min.x + tensor.max.x) / 2, middle = (box.min.x + box.max.x) / 2;
    const float width =
        std::max(t.px(1.5f), static_cast<float>(picture.tensors[static_cast<std::size_t>(pipe.tensor)].bytes) *
                                 out.px_per_byte * 0.8f);
    const float room = std::max(0.0f, (box.width() - width) / 2);
    out.pipes.push_back({.box = {middle + std::clamp((x - middle) * 0.55f, -room, room), box.max.y},
                         .tensor = {x, out.band.min.y + t.px(5)},
                         .width = width});
  }
}

void place_matrix(const Picture& picture, Rect area, BoxesLayout& out) {
  const auto& t = widgets::theme();
  out.cells.clear();
  const auto rows = static_cast<float>(std::max<std::size_t>(1, picture.rows.size()));
  const float top = area.min.y + t.type(Type::small) + t.px(7), pitch = (area.max.y - top) / rows;
  out.matrix = {{area.min.x, top}, area.max};
  for (const RunCell& cell : picture.cells) {
    // A cell stands under its run's last box, a row for its first.
    const Rect& box = out.boxes[static_cast<std::size_t>(cell.last)];
    const float middle = (box.min.x + box.max.x) / 2, y = top + pitch * static_cast<float>(cell.first);
    out.cells.push_back(
        {{middle - out.pitch * 0.47f, y}, {middle + out.pitch * 0.47f, y + pitch - std::min(t.px(3), pitch * 0.15f)}});
  }
}

}  // namespace

void layout_boxes(const Picture& picture, Rect area, BoxesLayout& out) {
  const auto& t = widgets::theme();
  const std::size_t n = std::max<std::size_t>(1, picture.names.size());
  const float small = t.type(Type::small), body = t.type(Type::body);
  // The chain's own input and its result stand half a box outside of it.
  out.pitch = area.width() / (static_cast<float>(n) + 0.6f);
  const float first_x = area.min.x + out.pitch * 0.8f;

  const float row = std::clamp(area.height() * 0.045f, small + t.px(3), t.px(30));
  const float matrix = row * static_cast<float>(picture.rows.size()) + small + t.px(7);
  const float why = small + t.px(10);
  // The least height of the chain with all its words, as it is placed below.
  const float pipes = t.px(34), hero = t.px(86) + 6 * small + body + pipes;
  out.runs = !picture.cells.empty() && area.height() >= hero + matrix + t.px(14);
  out.why_y = area.height() >= hero + why + (out.runs ? matrix + t.px(14) : 0.0f) ? area.max.y - small - t.px(1) : 0;
  float bottom = area.max.y;
  if (out.why_y > 0) bottom -= why;
  if (out.runs) bottom -= matrix + t.px(14);

  // From the top: the chip with heads, bars and boxes; pipes; the band. Where there is little room, lines of words go
  // before the pipes do: the band's caption, the second line of boxes and tensors, the key.
  const float head = small + t.px(8), bar = t.px(8), around = t.px(36);
  const float space = bottom - area.min.y, least = around + head + bar + body + t.px(8) + small + t.px(12) + pipes;
  float spare = space - least;
  const auto afford = [&](float height) {
    if (spare < height) return false;
    spare -= height;
    return true;
  };
  out.key = afford(small + t.px(4));
  out.under = afford(2 * small + t.px(6));
  out.caption = afford(small + t.px(4));
  const float low = bottom - (out.caption ? small + t.px(4) : 0.0f);
  const float band = out.under ? std::clamp(space * 0.14f, 2 * small + t.px(14), t.px(62)) : small + t.px(12);
  const float box = body + t.px(8) + (out.under ? small + t.px(8) : 0.0f);
  out.band = {{area.min.x, low - band}, {area.max.x, low}};
  const float frame_top = area.min.y + (out.key ? small + t.px(10) : t.px(6)), bar_top = frame_top + head + t.px(2),
              box_top = bar_top + bar + t.px(8);
  out.boxes.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const float middle = first_x + out.pitch * static_cast<float>(i), half = out.pitch * 0.38f;
    out.boxes.push_back({{middle - half, box_top}, {middle + half, box_top + box}});
  }
  const float inset = out.pitch * 0.08f;
  out.bars.clear();
  out.frames.clear();
  for (const KernelMark& k : picture.kernels) {
    const Rect &a = out.boxes[static_cast<std::size_t>(k.first)], &b = out.boxes[static_cast<std::size_t>(k.last)];
    out.bars.push_back({{a.min.x, bar_top}, {b.max.x, bar_top + bar}});
    out.frames.push_back({{a.min.x - inset, frame_top}, {b.max.x + inset, box_top + box + t.px(8)}});
  }
  out.chip = {area.min, {area.max.x, box_top + box + t.px(16)}};
  place_tensors(picture, out, first_x);
  place_pipes(picture, out);
  if (out.runs) {
    const float end = out.why_y > 0 ? area.max.y - why : area.max.y;
    place_matrix(picture, {{area.min.x, end - matrix}, {area.max.x, end}}, out);
  }
}

}  // namespace chapters::framework::fusion
