#include "widgets/controls/playback.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/widgets/prose/typeset_fixture.h"

using widgets::Playback;

TEST_CASE("playback: a playing cursor follows the clock at its speed and stops at the end") {
  Playback p{.time_s = 1, .speed = 2, .playing = true};
  widgets::advance(p, 10, 1.5);
  CHECK(p.time_s == 4);
  CHECK(p.playing);
  widgets::advance(p, 10, 100);
  CHECK(p.time_s == 10);
  CHECK_FALSE(p.playing);
  widgets::advance(p, 10, 1);
  CHECK(p.time_s == 10);
}

TEST_CASE("playback: started at the end it begins again, started between it goes on") {
  Playback p{.time_s = 1e9};
  widgets::start_or_stop(p, 10);
  CHECK(p.playing);
  CHECK(p.time_s == 0);
  p.time_s = 3;
  widgets::start_or_stop(p, 10);
  CHECK_FALSE(p.playing);
  widgets::start_or_stop(p, 10);
  CHECK(p.time_s == 3);
}

TEST_CASE("playback: the row starts, stops and changes the speed between its limits") {
  Playback p;
  support::UiDriver ui(typeset::in_window([&] { widgets::draw_playback("race", p, 10, "first come"); }), {700, 200},
                       typeset::set_up);
  CHECK(ui.text_present("0 s of 10 s at 1 x. first come"));
  ui.click("Play##race");
  CHECK(p.playing);
  CHECK(ui.has("Pause##race"));
  ui.click("Pause##race");
  CHECK_FALSE(p.playing);
  ui.click("Faster");
  CHECK(p.speed == 2);
  p.speed = 80;
  ui.click("Faster");
  CHECK(p.speed == 100);
  p.speed = 0.015;
  ui.click("Slower");
  CHECK(p.speed == 0.01);
}
