#include <algorithm>
#include <cmath>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::kernels::gemm_tiling {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

/// The gates on one clock: a name, a pipe as thick as the bytes, a bar as long as the time.
class Race {
 public:
  Race(const Picture& picture, const Rect& area, bool hidden) : pic_(picture), area_(area), hidden_(hidden) {
    const float width = area.width();
    names_ = std::clamp(0.2f * width, t_.px(84), t_.px(210));
    pipe_ = width > t_.px(620) ? std::min(t_.px(90), 0.08f * width) : 0;
    bytes_ = width > t_.px(420) ? widgets::text_size("100.0 GB", Type::small, Font::mono).x + t_.px(14) : 0;
    from_ = area.min.x + names_ + pipe_ + bytes_ + t_.px(8);
    to_ = area.max.x - t_.px(70);
    const bool more = !hidden && (!picture.rungs.empty() || !picture.runs);
    const auto rows = static_cast<float>(picture.lanes.size() + (more ? 1 : 0));
    const float head = small_ + t_.px(8), foot = small_ + t_.px(4);
    headed_ = area.height() > rows * (small_ + t_.px(4)) + head + foot;
    footed_ = area.height() > rows * (small_ + t_.px(4)) + foot;
    top_ = area.min.y + (headed_ ? head : 0);
    row_ = std::min((area.max.y - (footed_ ? foot : 0) - top_) / std::max(1.0f, rows), t_.px(58));
  }
  void draw() const;

 private:
  float x(double seconds) const {
    return from_ + (to_ - from_) * static_cast<float>(std::min(1.0, seconds / pic_.longest_s));
  }
  void draw_names(const GateLane& lane, float y) const;
  void draw_lane(const GateLane& lane, float y) const;
  void draw_ghost(float end, float middle, float half) const;
  void draw_ghost_alone(const GateLane& lane, float end, float middle, float half) const;
  void draw_rungs(float y) const;
  void draw_overflow(float y) const;
  void draw_ends(float bottom) const;
  void draw_guess() const;

  const Picture& pic_;
  Rect area_;
  bool hidden_, headed_ = true, footed_ = true;
  float names_ = 0, pipe_ = 0, bytes_ = 0, from_ = 0, to_ = 0, top_ = 0, row_ = 0;
  const widgets::Theme& t_ = widgets::theme();
  float small_ = widgets::theme().type(Type::small);
  const Painter p_ = Painter::window();
};

void Race::draw_names(const GateLane& lane, float y) const {
  const bool two = row_ >= 2 * small_ + t_.px(6) && !hidden_;
  const float name_y = y + (row_ - (two ? 2 * small_ + t_.px(3) : small_)) / 2;
  const float room = names_ + (hidden_ ? pipe_ : 0) - t_.px(6);
  const bool bold = lane.slowest && !hidden_ && widgets::text_size(lane.name, Type::small, Font::bold).x <= room;
  p_.text_fit({area_.min.x, name_y}, lane.name, room, t_.text, Type::small, bold ? Font::bold : Font::sans);
  if (!two) return;
  widgets::Line words;
  words.add(lane.tile);
  if (!lane.intensity.empty()) words.add(": ").add(lane.intensity);
  const bool whole = widgets::text_size(words.view(), Type::small).x <= names_ - t_.px(6);
  const std::string_view said = whole || lane.intensity.empty() ? words.view() : std::string_view(lane.intensity);
  p_.text_fit({area_.min.x, name_y + small_ + t_.px(3)}, said, names_ - t_.px(6), t_.muted, Type::small);
}

void Race::draw_ghost(float end, float middle, float half) const {
  const float top = middle - half - t_.px(3), bottom = middle + half + t_.px(3);
  const ImVec2 corners[] = {{from_, top}, {end, top}, {end, bottom}, {from_, bottom}, {from_, top}};
  p_.dashed_polyline(corners, t_.muted, t_.px(1), t_.px(4));
}

/// A block that does not run has no bar; the other one's stands where it does.
void Race::draw_ghost_alone(const GateLane& lane, float end, float middle, float half) const {
  const float text_y = middle - small_ / 2;
  if (lane.other.empty()) {
    p_.text_fit({from_ + t_.px(6), text_y}, "no time: the block does not run", to_ - from_, t_.muted, Type::small);
    return;
  }
  draw_ghost(end, middle, half);
  const float wide = widgets::text_size(lane.other, Type::small, Font::mono).x;
  const bool inside = wide + t_.px(14) < end - from_;
  p_.text({inside ? from_ + t_.px(7) : end + t_.px(6), text_y}, lane.other, t_.muted, Type::small, Font::mono);
}

void Race::draw_lane(const GateLane& lane, float y) const {
  const float middle = y + row_ / 2, half = std::clamp(0.3f * row_, small_ / 2 + t_.px(1), t_.px(15));
  draw_names(lane, y);
  if (hidden_) {
    p_.frame({from_, middle - half}, {to_, middle + half}, t_.line, 1, t_.px(3));
    return;
  }
  const float text_y = middle - small_ / 2;
  if (pipe_ > 0 && lane.moved > 0) {
    const float thick = std::max(t_.px(1.5f), static_cast<float>(lane.moved) * (row_ - t_.px(6)));
    p_.rect({area_.min.x + names_, middle - thick / 2}, {area_.min.x + names_ + pipe_, middle + thick / 2}, t_.muted,
            t_.px(1));
  }
  if (bytes_ > 0)
    widgets::fit_text(p_, {from_ - t_.px(8), text_y}, lane.bytes, bytes_, t_.text, Type::small, Font::mono,
                      Align::right);
  const float ghost = std::isfinite(lane.other_s) ? x(lane.other_s) : from_;
  if (!pic_.runs) return draw_ghost_alone(lane, ghost, middle, half);
  const ImU32 hue = t_.of(lane.arithmetic ? Meaning::compute_bound : Meaning::memory_bound);
  const Rect bar{{from_, middle - half}, {std::max(from_ + t_.px(2), x(lane.time_s)), middle + half}};
  p_.rect(bar.min, bar.max, hue, t_.px(3));
  if (lane.slowest) p_.frame(bar.min, bar.max, t_.text, t_.px(1.5f), t_.px(3));
  if (widgets::output_lit(lane.output)) widgets::paint_light(p_, bar.min, bar.max);
  const bool apart = std::abs(lane.other_s - lane.time_s) > 0.02 * lane.time_s;
  float end = bar.max.x;
  if (apart) {
    draw_ghost(ghost, middle, half);
    end = std::max(end, ghost);
  }
  if (lane.slowest && pic_.time_s > 1.005 * pic_.gate_s) {
    const Rect late{{bar.max.x, bar.min.y}, {x(pic_.time_s), bar.max.y}};
    widgets::hatch(p_, late, widgets::with_alpha(t_.warning, 0.8f), t_.px(5));
    p_.frame(late.min, late.max, t_.warning, 1);
    end = std::max(end, late.max.x);
  }
  const float time = widgets::text_size(lane.time, Type::small, Font::mono).x,
              rate = widgets::text_size(lane.rate, Type::small).x;
  const ImU32 ink = widgets::text_on(hue, t_);
  if (time + t_.px(14) < bar.width()) {
    p_.text({bar.min.x + t_.px(7), text_y}, lane.time, ink, Type::small, Font::mono);
    if (time + rate + t_.px(34) < bar.width())
      p_.text({bar.max.x - t_.px(7), text_y}, lane.rate, ink, Type::small, Font::sans, Align::right);
  } else {
    const bool inside = apart && ghost - bar.max.x > time + t_.px(14);
    const ImVec2 at{(inside ? bar.max.x : end) + t_.px(6), text_y};
    p_.plate(at, lane.time, t_.background, Type::small, Font::mono);
    p_.text(at, lane.time, t_.text, Type::small, Font::mono);
    end = std::max(end, at.x + time);
  }
  const float other = widgets::text_size(lane.other, Type::small, Font::mono).x;
  if (apart && ghost > bar.max.x + t_.px(4) && end + other + t_.px(8) < area_.max.x) {
    const ImVec2 at{end + t_.px(6), text_y};
    p_.plate(at, lane.other, t_.background, Type::small, Font::mono);
    p_.text(at, lane.other, t_.muted, Type::small, Font::mono);
  }
}

/// What others measured for this matmul on this chip, on the same clock.
void Race::draw_rungs(float y) const {
  const float middle = y + row_ / 2, r = t_.px(5), text_y = middle - small_ / 2;
  const bool two = row_ >= 2 * small_ + t_.px(6);
  const float name_y = y + (row_ - (two ? 2 * small_ + t_.px(3) : small_)) / 2;
  p_.text_fit({area_.min.x, name_y}, "published, own tiles", names_ - t_.px(6), t_.text, Type::small);
  if (two)
    p_.text_fit({area_.min.x, name_y + small_ + t_.px(3)}, pic_.ladder, from_ - area_.min.x - t_.px(10), t_.muted,
                Type::small);
  if (!pic_.beyond.empty())
    p_.text_fit({from_ - t_.px(8), name_y}, pic_.beyond, bytes_ + pipe_, t_.muted, Type::small, Font::sans,
                Align::right);
  float free = from_;
  for (std::size_t i = 0; i < pic_.rungs.size(); ++i) {
    const RungMark& rung = pic_.rungs[i];
    const float at = x(rung.time_s);
    const ImVec2 diamond[] = {{at, middle - r}, {at + r, middle}, {at, middle + r}, {at - r, middle}};
    p_.polygon(diamond, t_.text);
    const float next = i + 1 < pic_.rungs.size() ? x(pic_.rungs[i + 1].time_s) - r : area_.max.x;
    const float words = widgets::text_size(rung.name, Type::small).x;
    const bool before = i == 0 && at - r - words - t_.px(8) > free;
    if (before) {
      p_.plate({at - r - t_.px(5) - words, text_y}, rung.name, t_.background, Type::small);
      p_.text({at - r - t_.px(5), text_y}, rung.name, t_.text, Type::small, Font::sans, Align::right);
    } else if (at + r + t_.px(5) + words < next - t_.px(3)) {
      p_.plate({at + r + t_.px(5), text_y}, rung.name, t_.background, Type::small);
      p_.text({at + r + t_.px(5), text_y}, rung.name, t_.text, Type::small);
    }
    const ImVec2 mouse = ImGui::GetMousePos();
    if (ImGui::IsWindowHovered() && std::abs(mouse.x - at) <= r && std::abs(mouse.y - middle) <= 2 * r)
      widgets::tip(rung.name, widgets::format(rung.time_s, "s"), pic_.ladder);
    free = at + r;
  }
}

/// What the block needs more of than there is: up to the limit as it is, beyond it pale and dashed.
void Race::draw_overflow(float y) const {
  const Overflow& o = pic_.overflow;
  if (!(o.share > 0)) return;
  const float middle = y + row_ / 2, half = std::clamp(0.3f * row_, small_ / 2 + t_.px(1), t_.px(15));
  const float text_y = middle - small_ / 2;
  p_.text_fit({area_.min.x, text_y}, o.name, names_ + pipe_ - t_.px(6), t_.text, Type::small, Font::bold);
  if (bytes_ > 0)
    widgets::fit_text(p_, {from_ - t_.px(8), text_y}, o.needs, bytes_, t_.bad, Type::small, Font::mono, Align::right);
  const auto share = static_cast<float>(std::min(o.share, 4.0));
  const float all = (to_ - from_) / std::max(share, 1.0f), limit = from_ + all, end = from_ + all * share;
  const ImU32 hue = t_.of(Meaning::memory_bound);
  p_.rect({from_, middle - half}, {limit, middle + half}, widgets::with_alpha(hue, 0.75f), t_.px(3));
  const Rect over{{limit, middle - half}, {end, middle + half}};
  p_.rect(over.min, over.max, widgets::with_alpha(t_.bad, 0.14f));
  const ImVec2 corners[] = {over.min, {over.max.x, over.min.y}, over.max, {over.min.x, over.max.y}, over.min};
  p_.dashed_polyline(corners, t_.bad, t_.px(1.3f), t_.px(4));
  const auto parts = static_cast<float>(o.parts);
  for (float i = 1; i < parts; ++i) {
    const float at = from_ + (end - from_) * i / parts;
    p_.line({at, middle - half}, {at, middle + half}, at < limit ? t_.background : t_.bad);
  }
  p_.line({limit, middle - half - t_.px(4)}, {limit, middle + half + t_.px(4)}, t_.text, t_.px(2));
  widgets::Line words;
  words.add("of ").add(o.limit);
  p_.text({end + t_.px(6), text_y}, words.view(), t_.text, Type::small);
}

/// Under the line of the slowest gate, and next to it what the hatched piece is.
void Race::draw_ends(float bottom) const {
  if (!footed_) return;
  const float line = x(pic_.gate_s), y = bottom + t_.px(3);
  const float words = widgets::text_size(pic_.finish, Type::small, Font::bold).x;
  const bool left = line - words - t_.px(6) > area_.min.x;
  p_.text({left ? line - t_.px(5) : line + t_.px(5), y}, pic_.finish, t_.text, Type::small, Font::bold,
          left ? Align::right : Align::left);
  if (pic_.waves.empty()) return;
  const float wide = widgets::text_size(pic_.waves, Type::small).x;
  const float after = left ? line + t_.px(5) : line + words + t_.px(15), before = line - words - t_.px(17) - wide;
  if (after + wide <= area_.max.x)
    p_.text({after, y}, pic_.waves, t_.warning, Type::small);
  else if (left && before >= area_.min.x)
    p_.text({before, y}, pic_.waves, t_.warning, Type::small);
}

/// What the learner said, on the bar that it was said of.
void Race::draw_guess() const {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), false);
  widgets::paint_guess_words(
      p_, {area_.max.x - widgets::text_size(words.view(), Type::small).x - t_.px(8), area_.min.y}, words.view());
}

void Race::draw() const {
  if (headed_) {
    constexpr std::string_view title = "What passes each gate, and how long it takes";
    if (widgets::text_size(title, Type::small, Font::bold).x <= area_.width())
      p_.text({area_.min.x, area_.min.y}, title, t_.text, Type::small, Font::bold);
    const float behind = area_.min.x + widgets::text_size(title, Type::small, Font::bold).x + t_.px(20);
    const std::string_view rule =
        pic_.runs ? "all at once: the longest bar is the time" : "no SM can hold this block: it takes no time";
    if (!hidden_ && behind + widgets::text_size(rule, Type::small).x < area_.max.x) {
      p_.text({behind, area_.min.y}, rule, t_.muted, Type::small);
      const float rest = behind + widgets::text_size(rule, Type::small).x + t_.px(20);
      if (!widgets::shown_guess() && rest + widgets::text_size(pic_.other_label, Type::small).x < area_.max.x)
        p_.text({area_.max.x, area_.min.y}, pic_.other_label, t_.muted, Type::small, Font::sans, Align::right);
    }
  }
  float y = top_;
  // First, so that no words are crossed by it: no bar reaches beyond.
  const float rows = static_cast<float>(pic_.lanes.size() + (pic_.rungs.empty() ? 0 : 1)), line = x(pic_.gate_s);
  if (!hidden_ && pic_.runs) p_.line({line, top_}, {line, top_ + rows * row_}, t_.text, t_.px(1.5f));
  for (const GateLane& lane : pic_.lanes) {
    draw_lane(lane, y);
    y += row_;
  }
  if (hidden_) return;
  if (!pic_.rungs.empty()) {
    draw_rungs(y);
    y += row_;
  }
  if (pic_.runs)
    draw_ends(y);
  else
    draw_overflow(y);
  draw_guess();
  widgets::drew("gates");
}

}  // namespace

void draw_race(const Picture& picture, const Rect& area, bool hidden) { Race(picture, area, hidden).draw(); }

}  // namespace chapters::kernels::gemm_tiling
