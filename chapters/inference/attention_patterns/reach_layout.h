#pragma once
#include <imgui.h>

#include <array>
#include <cstddef>

#include "widgets/base/parts.h"

/// Where cone, axes and cards stand.
namespace chapters::inference::attention_patterns {

struct ReachPlaces {
  static constexpr std::size_t max_cards = 8;
  widgets::Rect words{}, cone{}, axis{}, heading{};  ///< heading: above the cards; no height: no room
  std::array<widgets::Rect, max_cards> cards{};
  std::size_t shown = 0;  ///< cards that have room
  float thumb = 0;        ///< side of a mask, px
  int lines = 0;          ///< lines of figures under each mask, 0 to 3
};

/// `room` in px at `scale`; `small` is the height of small type. At least one card is shown, whatever the room.
ReachPlaces layout_reach(const widgets::Rect& room, float scale, float small, std::size_t cards);

}  // namespace chapters::inference::attention_patterns
