#include "app/explore/explore.h"
#include "app/scenario/scenario.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "chapters/mechanism/registry.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/toy_lab.h"

using Catch::Approx;

namespace {

app::SweepAxis axis(const chapters::Lab& lab, const char* text) {
  const auto parsed = app::parse_sweep_axis(lab, text);
  REQUIRE(parsed.error == "");
  return *parsed;
}

}  // namespace

TEST_CASE("a sweep gives the output at every point, and leaves the lab alone") {
  const auto lab = support::toy_lab();
  chapters::Progress progress;
  const auto r = app::sweep(*lab, {axis(*lab, "width=1:4:4")}, "area", progress);
  REQUIRE(r.error == "");
  CHECK(r->x.values == std::vector<double>{1, 2, 3, 4});
  CHECK(r->values == std::vector<double>{3, 6, 9, 12});  // height 3
  CHECK(lab->inputs().find("width")->real() == 2);
}

TEST_CASE("a sweep over two inputs runs the first fastest and marks infeasible points") {
  const auto lab = support::toy_lab();
  chapters::Progress progress;
  const auto r = app::sweep(*lab, {axis(*lab, "width=1:1000:2"), axis(*lab, "height=1:10:2")}, "area", progress);
  REQUIRE(r->values.size() == 4);
  CHECK(r->values[0] == 1);
  CHECK(r->values[1] == 1000);
  CHECK(r->values[2] == 10);
  CHECK(std::isnan(r->values[3]));  // 10,000 is above what the toy allows
}

TEST_CASE("log sweeps are even in ratio, whole inputs take each number once, options all") {
  const auto lab = support::toy_lab();
  const auto log = axis(*lab, "width=1:100:3:log");
  CHECK(log.values[1] == Approx(10));
  CHECK(axis(*lab, "count=1:3:64").values == std::vector<double>{1, 2, 3});
  CHECK(axis(*lab, "tone").labels == std::vector<std::string>{"red", "green", "blue"});
  CHECK(axis(*lab, "tone=blue,red").values == std::vector<double>{2, 0});
}

TEST_CASE("a bad sweep says what it needs") {
  const auto lab = support::toy_lab();
  const auto error = [&](const char* text) { return app::parse_sweep_axis(*lab, text).error; };
  CHECK(error("widht=1:2:3").find("did you mean \"width\"") != std::string::npos);
  CHECK(error("note=1:2:3") == "note cannot be swept: it is not a number, a toggle or a choice.");
  CHECK(error("width=1") == "width needs LO:HI:N or LO:HI:N:log, such as width=1:64:32:log; it is \"1\".");
  CHECK(error("width=0.0001:1:3").find("width can be swept from") == 0);
  CHECK(error("height=0:1:3:log") == "height: a log sweep needs LO above 0.");
  CHECK(error("width=1:2:5000").find("with N from 2 to 4096") != std::string::npos);
  chapters::Progress progress;
  CHECK(app::sweep(*lab, {axis(*lab, "width=1:4:4")}, "ara", progress).error.find("did you mean \"area\"") !=
        std::string::npos);
}

TEST_CASE("sensitivity ranks inputs by how far they move the output") {
  const auto lab = support::toy_lab();  // area = 2 x 3
  chapters::Progress progress;
  const auto r = app::sensitivity(*lab, "area", progress);
  REQUIRE(r.error == "");
  CHECK(r->base == 6);
  // height moves by a tenth of its 0..100: 0 (clamped) to 13, area 0 to 26; width is halved and doubled: area 3 to 12;
  // shape: 4 or 6.
  REQUIRE(r->rows.size() >= 3);
  CHECK(r->rows[0].key == "height");
  CHECK(r->rows[0].low_output == 0);
  CHECK(r->rows[0].high_output == 26);
  CHECK(r->rows[1].key == "width");
  CHECK(r->rows[1].low_output == 3);
  CHECK(r->rows[1].high_output == 12);
  CHECK(r->rows[2].key == "shape");
  CHECK(r->rows[2].span() == 2);
  CHECK(r->rows.back().span() == 0);
}

TEST_CASE("solve finds the input, the least whole one, or says why there is none") {
  const auto lab = support::toy_lab();
  chapters::Progress progress;
  const auto real = app::solve(*lab, "width", 0.001, 1000, "area", 30, progress);
  REQUIRE(real->found);
  CHECK(real->input == Approx(10).epsilon(1e-9));
  const auto whole = app::solve(*lab, "count", 1, 64, "cells", 50, progress);  // 7 x 7 = 49 is short of it
  REQUIRE(whole->found);
  CHECK(whole->input == 8);
  CHECK(whole->output == 64);
  const auto none = app::solve(*lab, "width", 1, 10, "area", 1000, progress);
  CHECK_FALSE(none->found);
  CHECK(none->why == "Area stays between 3 s and 30 s while Width runs from 1 s to 10 s; the target is 16.67 min.");
  CHECK(app::solve(*lab, "tone", 0, 1, "area", 1, progress).error == "tone is not a number: solve needs one.");
  CHECK(app::solve(*lab, "width", 5, 2, "area", 1, progress).error.find("LO below HI") != std::string::npos);
}

TEST_CASE("compare walks from A to B one input at a time and says what each moved") {
  const auto a = support::toy_lab(), b = support::toy_lab();
  REQUIRE(app::apply_inputs(*b, {{"width", 4}, {"count", 5}, {"note", "x"}}).error == "");
  const auto r = app::compare(*a, *b);
  REQUIRE(r.error == "");
  REQUIRE(r->steps.size() == 3);
  CHECK(r->steps[0].key == "width");
  REQUIRE(r->steps[0].moved.size() == 2);  // area and total
  CHECK(r->steps[0].moved[0].a == 6);
  CHECK(r->steps[0].moved[0].b == 12);
  CHECK(r->steps[1].key == "count");
  REQUIRE(r->steps[1].moved.size() == 1);
  CHECK(r->steps[1].moved[0].key == "cells");
  CHECK(r->steps[2].moved.empty());  // the note moves no number
  CHECK(r->total.size() == 3);
}

TEST_CASE("a cancelled sweep says so") {
  const auto lab = support::toy_lab();
  chapters::Progress progress;
  progress.cancelled = true;
  CHECK(app::sweep(*lab, {axis(*lab, "width=1:4:400")}, "area", progress).error == "The sweep was cancelled.");
}

TEST_CASE("the pair that Explore opens with bends; a ratio of its own two inputs, straight on both scales, does not") {
  support::use_bundled_catalog();
  const auto lab = chapters::make_lab_by_id("roofline/roofline");
  REQUIRE(lab);
  lab->compute();
  chapters::Progress progress;
  const app::TellingPair pair = app::telling_pair(*lab, progress);
  CHECK(pair.bend > 0.2);
  CHECK(pair.output != "intensity");  // work over traffic: a straight line over either
  REQUIRE(lab->inputs().find(pair.input));
  REQUIRE(lab->outputs().find(pair.output));
  // Its curve over the typical range, in the words of the sweep itself.
  const auto& spec = lab->inputs().find(pair.input)->spec;
  char range[80];
  std::snprintf(range, sizeof range, "%s=%.17g:%.17g:33:log", pair.input.c_str(), spec.typical.lo, spec.typical.hi);
  const auto axis = app::parse_sweep_axis(*lab, range, 33);
  REQUIRE(axis);
  const auto swept = app::sweep(*lab, {*axis}, pair.output, progress);
  REQUIRE(swept);
  const auto& ys = swept->values;
  CHECK(std::log(ys.back() / ys.front()) != 0);
  const double middle = std::log(ys[16]), chord = (std::log(ys.front()) + std::log(ys.back())) / 2;
  CHECK(std::abs(middle - chord) > 0.05 * std::abs(std::log(ys.back() / ys.front())));
  chapters::Progress cancelled;
  cancelled.cancelled = true;
  CHECK(app::telling_pair(*lab, cancelled).input.empty());
}
