#pragma once
#include <imgui.h>

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "models/compression/small_network_study.h"
#include "widgets/base/parts.h"

/// What the labs on the small network share.
namespace chapters::compression {

enum class Difficulty : std::uint8_t { easy, usual, hard };
inline models::DigitStyle style_of(Difficulty d) {
  if (d == Difficulty::easy)
    return {
        .shift = 0.3,
        .turn = 0.08,
        .noise = 0.06,
        .distractor = 0.05,
    };
  if (d == Difficulty::hard)
    return {
        .shift = 0.9,
        .turn = 0.22,
        .noise = 0.16,
        .distractor = 0.35,
    };
  return {};
}

/// A digit as ink on a card.
inline void paint_digit(const widgets::Painter& p, std::span<const float> pixels, ImVec2 at, float cell) {
  const auto& t = widgets::theme();
  const float side = cell * static_cast<float>(models::digit_side);
  p.rect(at, {at.x + side, at.y + side}, t.card);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (pixels[i] < 0.04f) continue;
    const float x = at.x + cell * static_cast<float>(i % models::digit_side),
                y = at.y + cell * static_cast<float>(i / models::digit_side);
    p.rect({x, y}, {x + cell, y + cell}, widgets::with_alpha(t.text, pixels[i]));
  }
}

/// Blue above zero, orange below, stronger the larger; a weight that is exactly zero leaves the ground.
inline ImU32 weight_colour(float weight, float largest) {
  const auto& t = widgets::theme();
  const float strength = largest > 0 ? std::sqrt(std::min(1.0f, std::abs(weight) / largest)) : 0.0f;
  return widgets::with_alpha(t.series_at(weight > 0 ? 0 : 1), strength);
}

}  // namespace chapters::compression
