#include <algorithm>
#include <cmath>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

/// What a world costs: tokens not written, cut by who does not get them.
namespace chapters::serving::chunked_disaggregated {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

constexpr std::array<std::string_view, worlds> lost_keys{"tokens_lost_stalled", "tokens_lost_chunked",
                                                         "tokens_lost_parted"};

/// A bar as long as the bill: a piece for each user who pays, then the answers to the prompts themselves.
void paint_bar(const Painter& p, const Picture& picture, const Scene& scene, Rect bar) {
  const auto& t = theme();
  const double scale = static_cast<double>(bar.width()) / picture.most_lost;
  const float users = static_cast<float>(scale * std::max(0.0, scene.lost)),
              own = static_cast<float>(scale * std::max(0.0, scene.newcomers_lost));
  const auto pieces = static_cast<float>(std::max<std::int64_t>(1, scene.payers));
  const float piece = users / pieces, gap = piece > t.px(4) ? t.px(1) : 0;
  if (gap > 0)
    for (float i = 0; i < pieces; ++i)
      p.rect({bar.min.x + piece * i, bar.min.y}, {bar.min.x + piece * (i + 1) - gap, bar.max.y}, t.bad);
  else if (users > 0)
    p.rect(bar.min, {bar.min.x + std::max(1.0f, users), bar.max.y}, t.bad);
  if (own <= 0) return;
  const Rect rest{{bar.min.x + users + t.px(1), bar.min.y}, {bar.min.x + users + std::max(t.px(2), own), bar.max.y}};
  p.rect(rest.min, rest.max, widgets::with_alpha(t.of(Meaning::compute_bound), 0.55f));
  widgets::hatch(p, rest, widgets::with_alpha(t.panel, 0.5f), t.px(5));
}

/// What the learner said that is not written, as a line across the bar.
void paint_guess(const Painter& p, const Picture& picture, std::size_t world, Rect bar) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != lost_keys[world]) return;
  const auto& t = theme();
  const float x = bar.min.x + bar.width() * static_cast<float>(std::clamp(guess->value / picture.most_lost, 0.0, 1.0));
  p.line({x, bar.min.y - t.px(3)}, {x, bar.max.y + t.px(3)}, t.accent, t.px(2));
}

}  // namespace

void paint_bill(const Picture& picture, std::size_t world, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const Scene& scene = picture.scenes[world];
  const float line = t.type(Type::small) + t.px(4), bottom = at.y + size.y;
  float x = at.x + p.text({at.x, at.y}, scene.lost_words, t.text, Type::body, Font::mono) + t.px(6);
  widgets::fit_text(p, {x, at.y + (t.type(Type::body) - t.type(Type::small)) / 2}, "tokens not written",
                    at.x + size.x - x, t.muted, Type::small);
  float y = at.y + t.type(Type::body) + t.px(3);
  const Rect bar{{at.x, y}, {at.x + size.x, y + std::clamp(size.y * 0.13f, t.px(7), t.px(16))}};
  paint_bar(p, picture, scene, bar);
  paint_guess(p, picture, world, bar);
  y = bar.max.y + t.px(4);
  const auto row = [&](std::string_view label, std::string_view value, ImU32 hue) {
    if (y + t.type(Type::small) > bottom) return;
    const float width = value.empty() ? 0 : widgets::text_size(value, Type::small, Font::mono).x + t.px(8);
    widgets::fit_text(p, {at.x, y}, label, size.x - width, hue, Type::small);
    if (!value.empty()) p.text({at.x + size.x, y}, value, t.text, Type::small, Font::mono, Align::right);
    y += line;
  };
  row(scene.payers_words, {}, t.bad);
  row("longest silence", scene.gap_words, t.muted);
  row("first token", scene.ttft_words, t.muted);
  row("GPUs idle", scene.idle_words, t.muted);
  row("the newcomer's answer", scene.newcomers_words, t.of(Meaning::compute_bound));
}

}  // namespace chapters::serving::chunked_disaggregated
