#include "widgets/stage/stage_layout.h"

#include <catch2/catch_test_macros.hpp>
#include <random>

using namespace widgets;

namespace {

PanelSpec sized(float width, float height, bool answers = false) {
  return {.title = "Panel", .least = {width, height}, .answers = answers};
}

std::vector<PlacedPanel> placed(std::span<const PanelSpec> panels, Rect area, StagePlan& plan,
                                const StageOptions& options = {}) {
  std::vector<PlacedPanel> out;
  plan = layout_stage(panels, answering_panel(panels), area, options, out);
  return out;
}

bool apart(const Rect& a, const Rect& b) {
  return a.max.x <= b.min.x || b.max.x <= a.min.x || a.max.y <= b.min.y || b.max.y <= a.min.y;
}

}  // namespace

TEST_CASE("one panel has the whole stage and no heading") {
  const PanelSpec panels[] = {sized(300, 200)};
  StagePlan plan;
  const auto out = placed(panels, {{10, 20}, {810, 620}}, plan);
  REQUIRE(out.size() == 1);
  CHECK_FALSE(plan.tabs);
  CHECK_FALSE(out[0].headed);
  CHECK(out[0].at.min.x == 10);
  CHECK(out[0].at.min.y == 20);
  CHECK(out[0].at.max.x == 810);
  CHECK(out[0].at.max.y == 620);
}

TEST_CASE("panels that fit stand together, the answering one first and largest") {
  const PanelSpec panels[] = {sized(300, 150), sized(400, 200, true), sized(300, 150)};
  StagePlan plan;
  const auto out = placed(panels, {{0, 0}, {1200, 700}}, plan);
  REQUIRE(out.size() == 3);
  CHECK_FALSE(plan.tabs);
  CHECK(out[0].panel == 1);
  const float main = out[0].at.width() * out[0].at.height();
  for (std::size_t i = 1; i < 3; ++i) CHECK(out[i].at.width() * out[i].at.height() < main);
}

TEST_CASE("what has no room folds into tabs, and the answering panel keeps its place") {
  const PanelSpec panels[] = {sized(500, 300), sized(700, 420, true), sized(500, 300)};
  StagePlan plan;
  const auto out = placed(panels, {{0, 0}, {900, 560}}, plan);
  REQUIRE(out.size() == 1);
  CHECK(plan.tabs);
  CHECK(out[0].panel == 1);
  CHECK(out[0].at.min.y == 34);  // below the row of tabs
  CHECK(out[0].at.max.y == 560);
}

TEST_CASE("presentation shows one panel over all of the stage, in any room") {
  const PanelSpec panels[] = {sized(100, 100, true), sized(100, 100)};
  StagePlan plan;
  const auto out = placed(panels, {{0, 0}, {2000, 1000}}, plan, {.tabs = 0, .one_panel = true});
  REQUIRE(out.size() == 1);
  CHECK(out[0].at.width() == 2000);
  CHECK(out[0].at.height() == 1000);
}

TEST_CASE("a panel that has its ideal height leaves what is over to others") {
  PanelSpec low = sized(400, 100, true);
  low.ideal = {0, 120};
  const PanelSpec panels[] = {low, sized(1100, 200)};
  StagePlan plan;
  const auto out = placed(panels, {{0, 0}, {1200, 800}}, plan);
  REQUIRE(out.size() == 2);
  CHECK(out[0].at.height() <= 121);
  CHECK(out[1].at.height() > 500);
}

TEST_CASE("any panels in any room: whole pixels, inside, apart, each at least its least size where it has company") {
  std::mt19937 random(7);
  const auto pick = [&](float lo, float hi) { return std::uniform_real_distribution<float>(lo, hi)(random); };
  for (int run = 0; run < 3000; ++run) {
    std::vector<PanelSpec> panels(1 + random() % 6);
    for (PanelSpec& p : panels) {
      p.least = {pick(80, 700), pick(60, 400)};
      if (random() % 3 == 0) p.ideal = {0, p.least.y + pick(0, 100)};
    }
    panels[random() % panels.size()].answers = true;
    const float scale = pick(0.75f, 3);
    const Rect area{{pick(0, 50), pick(0, 50)}, {pick(300, 2000), pick(250, 1200)}};
    StagePlan plan;
    const auto out = placed(panels, area, plan, {.scale = scale});
    REQUIRE(!out.empty());
    CHECK(out[0].panel == answering_panel(panels));
    CHECK(plan.tabs == (out.size() < panels.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Rect& r = out[i].at;
      CHECK(r.min.x == std::floor(r.min.x));
      CHECK(r.min.x >= std::floor(area.min.x));
      CHECK(r.min.y >= std::floor(area.min.y));
      CHECK(r.max.x <= area.max.x + 0.5f);
      CHECK(r.max.y <= area.max.y + 0.5f);
      if (out.size() > 1) {
        CHECK(r.width() >= panels[out[i].panel].least.x * scale - 2);
        CHECK(r.height() >= panels[out[i].panel].least.y * scale - 2);
      }
      for (std::size_t j = i + 1; j < out.size(); ++j) CHECK(apart(r, out[j].at));
    }
  }
}
