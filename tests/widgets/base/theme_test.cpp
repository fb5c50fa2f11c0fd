#include "widgets/base/theme.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using widgets::Meaning;
using widgets::Mode;

TEST_CASE("contrast is WCAG's: 21 for black on white, 1 for a colour on itself") {
  CHECK(widgets::contrast(0xFF000000, 0xFFFFFFFF) == Catch::Approx(21.0));
  CHECK(widgets::contrast(0xFF336699, 0xFF336699) == Catch::Approx(1.0));
}

TEST_CASE("every text can be read: at least 4.5 to 1 on each surface, in both themes") {
  for (const Mode mode : {Mode::dark, Mode::light}) {
    const auto t = widgets::make_theme(mode, 1, {});
    for (const ImU32 surface : {t.background, t.panel, t.card, t.rail}) {
      INFO("mode " << static_cast<int>(mode) << " surface " << std::hex << surface);
      CHECK(widgets::contrast(t.text, surface) >= 4.5);
      CHECK(widgets::contrast(t.muted, surface) >= 4.5);
      CHECK(widgets::contrast(t.accent, surface) >= 4.5);
      CHECK(widgets::contrast(t.warning, surface) >= 4.5);
      CHECK(widgets::contrast(t.good, surface) >= 4.5);
      CHECK(widgets::contrast(t.bad, surface) >= 4.5);
    }
  }
}

TEST_CASE("series lines stand out from the background by at least 3 to 1") {
  for (const Mode mode : {Mode::dark, Mode::light}) {
    const auto t = widgets::make_theme(mode, 1, {});
    for (const ImU32 c : t.series) CHECK(widgets::contrast(c, t.background) >= 3.0);
  }
}

TEST_CASE("the heat ramp's lightness runs one way, so that order survives any colour vision") {
  for (const Mode mode : {Mode::dark, Mode::light}) {
    const auto t = widgets::make_theme(mode, 1, {});
    const ImU32 black = 0xFF000000;
    for (int i = 0; i < 20; ++i) {
      const double a = widgets::contrast(widgets::heat(t, i / 20.0), black),
                   b = widgets::contrast(widgets::heat(t, (i + 1) / 20.0), black);
      if (mode == Mode::dark)
        CHECK(b > a);
      else
        CHECK(b < a);
    }
  }
}
