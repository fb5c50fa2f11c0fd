#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/kv_cache/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/charts/vessel.h"
#include "widgets/number/number.h"

namespace chapters::inference::kv_cache {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

/// Where the vessels stand: one scale for all, the ground at the bottom.
struct Frame {
  Rect all{};             ///< from under the combs to the ground
  float ground = 0;       ///< y
  double bytes_a_px = 1;  ///< the one scale
  float left = 0, pitch = 0, width = 0;
  float comb_top = 0, comb_height = 0;
  std::size_t shown = 0;

  float y(double bytes) const { return ground - static_cast<float>(bytes / bytes_a_px); }
  float x(std::size_t i) const { return left + pitch * static_cast<float>(i) + (pitch - width) / 2; }
};

ImU32 weights_colour(const Theme& t) { return widgets::vessel_colour({}, false, t); }

/// The highest thing that is drawn: the rim, the weights where they are more, or a part of the user who does not fit.
double top_of(const Picture& p, std::size_t shown) {
  double top = p.rim;
  for (std::size_t i = 0; i < shown; ++i) {
    const Vessel& v = p.vessels[i];
    const double held = v.weights + v.workspace + v.sequences * v.sequence;
    top = std::max({top, v.weights + v.workspace, held + std::min(v.sequence, 0.16 * p.rim)});
  }
  return top;
}

Frame frame_of(const Picture& p, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  Frame f;
  const float small = t.type(Type::small), body = t.type(Type::body), title = t.type(Type::title);
  const float axis = t.px(58);
  f.shown = std::clamp<std::size_t>(static_cast<std::size_t>((size.x - axis) / t.px(104)), 1, p.vessels.size());
  const bool comb = size.y >= t.px(380);
  f.comb_top = at.y + t.px(2);
  f.comb_height = comb ? t.px(58) : 0;
  const float head = f.comb_height + body + small + t.px(12), foot = title + small + t.px(12);
  f.all = {{at.x, at.y + head}, {at.x + size.x, at.y + size.y - foot}};
  f.ground = f.all.max.y;
  f.left = at.x + axis;
  f.pitch = (size.x - axis) / static_cast<float>(f.shown);
  f.width = std::min(0.82f * f.pitch, t.px(220));
  f.bytes_a_px = std::max(1.0, top_of(p, f.shown)) / static_cast<double>(std::max(1.0f, f.all.height() - t.px(6)));
  return f;
}

void paint_walls(const Painter& p, const Rect& v, ImU32 colour) {
  const Theme& t = widgets::theme();
  const float w = t.px(2), lip = t.px(7);
  p.line({v.min.x - w / 2, v.min.y}, {v.min.x - w / 2, v.max.y + w}, colour, w);
  p.line({v.max.x + w / 2, v.min.y}, {v.max.x + w / 2, v.max.y + w}, colour, w);
  p.line({v.min.x - w, v.max.y + w / 2}, {v.max.x + w, v.max.y + w / 2}, colour, w);
  p.line({v.min.x - lip, v.min.y}, {v.min.x, v.min.y}, colour, w);
  p.line({v.max.x, v.min.y}, {v.max.x + lip, v.min.y}, colour, w);
}

/// Words in the middle of a piece where they have room.
void caption(const Painter& p, const Rect& r, std::string_view words, ImU32 fill, Font font = Font::mono) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  if (words.empty() || r.height() < small + t.px(3) ||
      widgets::text_size(words, Type::small, font).x > r.width() - t.px(6))
    return;
  p.text({(r.min.x + r.max.x) / 2, (r.min.y + r.max.y - small) / 2}, words, widgets::text_on(fill, t), Type::small,
         font, Align::center);
}

/// One tile a user, of equal area: as many in a row as make them high enough to be seen.
void paint_users(const Painter& p, const Frame& f, const Vessel& v, float x) {
  const Theme& t = widgets::theme();
  if (!(v.sequences > 0)) return;
  const ImU32 fill = t.of(widgets::Meaning::kv_cache), gap = t.panel;
  const double from = v.weights + v.workspace, to = from + v.sequences * v.sequence;
  const float bottom = f.y(from), top = f.y(to);
  p.rect({x, top}, {x + f.width, bottom}, fill);
  const auto tile = static_cast<float>(v.sequence / f.bytes_a_px);
  double columns = 1;
  while (static_cast<float>(columns) * tile < t.px(7) && columns < 4096) columns *= 2;
  const float row = static_cast<float>(columns) * tile, step = f.width / static_cast<float>(columns);
  if (step >= t.px(3)) {
    for (float y = bottom - row; y > top + 0.5f; y -= row) p.line({x, y}, {x + f.width, y}, gap, t.px(1));
    const double rows = std::ceil(v.sequences / columns);
    for (double c = 1; c < columns; ++c) {
      // The last row may not be full: its tiles end where the users do.
      const double in_last = v.sequences - (rows - 1) * columns;
      const float upper = c < in_last || rows < 2 ? top : bottom - static_cast<float>(rows - 1) * row;
      const float at = x + step * static_cast<float>(c);
      p.line({at, upper}, {at, bottom}, gap, t.px(1));
    }
  }
  const float shown = std::min(bottom - top, columns > 1 ? bottom - top : tile);
  const Rect first{{x, bottom - shown}, {x + f.width, bottom}};
  if (columns > 1) {
    const float small = t.type(Type::small), wide = widgets::text_size(v.each, Type::small, Font::mono).x;
    if (first.height() < small + t.px(8) || wide > f.width - t.px(12)) return;
    const ImVec2 middle{(first.min.x + first.max.x) / 2, (first.min.y + first.max.y) / 2};
    p.rect({middle.x - wide / 2 - t.px(4), middle.y - small / 2 - t.px(2)},
           {middle.x + wide / 2 + t.px(4), middle.y + small / 2 + t.px(3)}, fill, t.px(2));
  }
  caption(p, first, v.each, fill);
}

/// The user who does not fit stands pale above those who do.
void paint_next(const Painter& p, const Frame& f, const Vessel& v, float x) {
  const Theme& t = widgets::theme();
  const double held = v.weights + v.workspace + v.sequences * v.sequence;
  const float bottom = f.y(held), top = std::max(f.y(held + v.sequence), f.all.min.y);
  if (bottom - top < t.px(9) || bottom <= f.all.min.y) return;
  const ImU32 colour = t.of(widgets::Meaning::kv_cache);
  p.rect({x, top}, {x + f.width, bottom}, widgets::with_alpha(colour, 0.2f));
  for (const float side : {x, x + f.width}) p.dashed_line({side, top}, {side, bottom}, t.muted, t.px(1), t.px(4));
  p.dashed_line({x, top}, {x + f.width, top}, t.muted, t.px(1), t.px(4));
  const float small = t.type(Type::small);
  if (bottom - top < small + t.px(6)) return;
  for (const std::string* const words : {&v.over, &v.over_short}) {  // never a figure without its unit
    if (widgets::text_size(*words, Type::small).x > f.width - t.px(6)) continue;
    p.text({x + f.width / 2, (top + bottom - small) / 2}, *words, t.text, Type::small, Font::sans, Align::center);
    break;
  }
}

/// Query heads above, what is kept for them below, joined where they share.
void paint_comb(const Painter& p, const Frame& f, const Vessel& v, float x) {
  const Theme& t = widgets::theme();
  if (f.comb_height <= 0 || !(v.query_heads > 0)) return;
  const float tooth = t.px(9), upper = f.comb_top, lower = f.comb_top + f.comb_height - t.px(14);
  const auto teeth = [&](float y, double count, float width, ImU32 colour) {
    const float step = width / static_cast<float>(count), gap = step > t.px(4) ? t.px(1) : 0.25f * step;
    for (double i = 0; i < count; ++i)
      p.rect({x + step * static_cast<float>(i), y}, {x + step * static_cast<float>(i + 1) - gap, y + tooth}, colour);
  };
  const ImU32 kept = t.of(widgets::Meaning::kv_cache), join = widgets::with_alpha(kept, 0.25f);
  teeth(upper, v.query_heads, f.width, t.muted);
  const double groups = v.kept > 0 ? v.kept : 1;
  const float share = f.width / static_cast<float>(groups);
  // The widths of what is kept are true to its numbers: all of the comb where every query head has its own.
  const auto width = std::max(t.px(2), static_cast<float>(v.kept_share) * f.width);
  for (double g = 0; g < groups; ++g) {
    const float from = x + share * static_cast<float>(g), each = width / static_cast<float>(groups);
    const float to = from + (share - each) / 2;
    const ImVec2 funnel[] = {{from, upper + tooth}, {from + share, upper + tooth}, {to + each, lower}, {to, lower}};
    p.polygon(funnel, join);
    p.rect({to, lower}, {to + std::max(t.px(1), each - (each > t.px(4) ? t.px(1) : 0)), lower + tooth}, kept);
  }
}

void paint_words(const Painter& p, const Frame& f, const Vessel& v, float x) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), body = t.type(Type::body);
  const float y = f.comb_top + f.comb_height + (f.comb_height > 0 ? 0 : t.px(2));
  widgets::Line heads;
  heads.add(v.heads);
  const float wide = widgets::text_size(heads.view(), Type::body, Font::bold).x;
  widgets::fit_text(p, {x, y}, heads.view(), f.pitch - t.px(6), v.yours ? t.accent : t.text, Type::body, Font::bold);
  if (wide + widgets::text_size(v.sharing, Type::small).x + t.px(10) < f.pitch)
    p.text({x + wide + t.px(7), y + body - small}, v.sharing, t.muted, Type::small);
  widgets::fit_text(p, {x, y + body + t.px(2)}, v.token, f.pitch - t.px(6), t.muted, Type::small);
  const float foot = f.ground + t.px(6);
  widgets::fit_text(p, {x, foot}, v.users, f.pitch - t.px(4), v.yours ? t.accent : t.text, Type::title);
  widgets::fit_text(p, {x, foot + t.type(Type::title) + t.px(2)}, v.pace, f.pitch - t.px(6), t.muted, Type::small);
}

void paint_vessel(const Painter& p, const Frame& f, const Picture& picture, std::size_t i) {
  const Theme& t = widgets::theme();
  const Vessel& v = picture.vessels[i];
  const float x = f.x(i);
  const ImU32 grey = weights_colour(t);
  const Rect weights{{x, f.y(v.weights)}, {x + f.width, f.ground}};
  p.rect(weights.min, weights.max, grey);
  widgets::Line words;
  words.add("weights ").add(widgets::format(v.weights, "B"));
  caption(p, weights, words.view(), grey, Font::sans);
  if (v.workspace > 0) {
    const Rect kept{{x, f.y(v.weights + v.workspace)}, {x + f.width, f.y(v.weights)}};
    p.rect(kept.min, kept.max, widgets::with_alpha(grey, 0.35f));
    widgets::hatch(p, kept, widgets::with_alpha(t.text, 0.25f), t.px(5));
  }
  paint_users(p, f, v, x);
  if (v.weights + v.workspace <= picture.rim) paint_next(p, f, v, x);
  paint_walls(p, {{x, f.y(picture.rim)}, {x + f.width, f.ground}}, v.yours ? t.accent : t.text);
  paint_comb(p, f, v, x);
  paint_words(p, f, v, x);
}

void paint_axis(const Painter& p, const Frame& f, const Picture& picture) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), x = f.left - t.px(6), rim = f.y(picture.rim);
  p.text({x, rim - small - t.px(1)}, "rim", t.text, Type::small, Font::bold, Align::right);
  p.text({x, rim + t.px(1)}, picture.rim_words, t.text, Type::small, Font::mono, Align::right);
  if (f.comb_height > 0) {
    widgets::fit_text(p, {x, f.comb_top}, "queries", t.px(54), t.muted, Type::small, Font::sans, Align::right);
    widgets::fit_text(p, {x, f.comb_top + f.comb_height - t.px(16)}, "kept", t.px(54), t.muted, Type::small, Font::sans,
                      Align::right);
  }
}

/// The guess of users stands as a line across the first vessel, as high as so many users would reach.
void paint_guess(const Painter& p, const Frame& f, const Vessel& yours) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "sequences") return;
  widgets::drew("guess");
  const Theme& t = widgets::theme();
  const float raw = f.y(yours.weights + yours.workspace + guess->value * yours.sequence);
  const float y = std::clamp(raw, f.all.min.y, f.ground), x = f.x(0);
  p.line({x - t.px(6), y}, {x + f.width + t.px(6), y}, t.accent, t.px(2));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), raw < y);
  widgets::paint_guess_words(p, {x + t.px(4), y - t.type(Type::small) - t.px(5)}, words.view());
}

/// The divisor of `heads` that is nearest to `n` by ratio.
std::int64_t nearest_divisor(std::int64_t heads, double n) {
  std::int64_t best = 1;
  const auto off = [&](std::int64_t d) { return std::abs(std::log(static_cast<double>(d) / std::max(n, 1.0))); };
  for (std::int64_t d = 1; d <= heads; ++d)
    if (heads % d == 0 && off(d) < off(best)) best = d;
  return best;
}

/// The comb of yours is drawn together and apart, its first tile up and down.
void take_drags(Inputs& in, const Outputs& out, const Frame& f, const Vessel& yours) {
  const Theme& t = widgets::theme();
  const float x = f.x(0);
  if (f.comb_height > 0) {
    ImGui::SetCursorScreenPos({x, f.comb_top});
    widgets::press_area("drag KV heads", {f.width, f.comb_height});
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
      widgets::tip("Key and value heads", {}, "Drag to the left and heads share; to the right each has its own.");
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
      const auto along = static_cast<double>((ImGui::GetMousePos().x - x) / f.width);
      in.sharing = models::inference::KvSharing::grouped;
      in.kv_heads = nearest_divisor(static_cast<std::int64_t>(out.query_heads),
                                    std::exp2(std::clamp(along, 0.0, 1.0) * std::log2(out.query_heads)));
    }
  }
  const float ground = f.y(yours.weights + yours.workspace);
  if (!(yours.sequence > 0) || ground <= f.all.min.y) return;
  const float top = std::max(f.all.min.y, f.y(yours.weights + yours.workspace + yours.sequence));
  ImGui::SetCursorScreenPos({x, top - t.px(5)});
  widgets::press_area("drag a user's context", {f.width, t.px(10)});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    widgets::tip("One user", widgets::format(yours.sequence, "B"), "Drag up and every user's context grows.");
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    const double bytes = std::max(0.0, static_cast<double>(ground - ImGui::GetMousePos().y)) * f.bytes_a_px;
    const double tokens = static_cast<double>(in.context) * bytes / yours.sequence;
    in.context = std::clamp<std::int64_t>(std::llround(tokens / 256) * 256, 256, 1 << 20);
  }
}

/// While a question is open: the vessels with their rims and the query heads, which are given.
void draw_given(const Painter& p, const Frame& f, const Picture& picture) {
  const widgets::GivenMarks given;
  const Theme& t = widgets::theme();
  for (std::size_t i = 0; i < f.shown; ++i)
    paint_walls(p, {{f.x(i), f.all.min.y + t.px(20)}, {f.x(i) + f.width, f.ground}}, t.text);
  const float small = t.type(Type::small);
  p.text({f.left - t.px(6), f.all.min.y + t.px(20) - small - t.px(1)}, "rim", t.text, Type::small, Font::bold,
         Align::right);
  p.text({f.left - t.px(6), f.all.min.y + t.px(21)}, picture.rim_words, t.text, Type::small, Font::mono, Align::right);
}

}  // namespace

void draw_vessels(Inputs& in, const Outputs& out, const Picture& picture, ImVec2 size) {
  if (picture.vessels.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const Frame f = frame_of(picture, at, size);
  widgets::drew("vessels");
  widgets::drew("rim");
  if (widgets::veiled()) {
    draw_given(p, f, picture);
    ImGui::Dummy(size);
    return;
  }
  for (std::size_t i = 0; i < f.shown; ++i) paint_vessel(p, f, picture, i);
  paint_axis(p, f, picture);
  paint_guess(p, f, picture.vessels.front());
  if (f.ground > f.all.min.y + widgets::theme().px(40)) take_drags(in, out, f, picture.vessels.front());
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::kv_cache
