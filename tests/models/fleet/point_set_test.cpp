#include "models/fleet/point_set.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

using namespace models::fleet;

namespace {

std::string fault_of(std::string_view text) { return read_point_set(text).error; }

}  // namespace

TEST_CASE("points: names, qualities and columns of a CSV, with cells that are missing") {
  const auto set = read_point_set(
      "# title: Mine\n# axis: ms | latency | ms | low\nname,quality,ms,acc,note\n\"a, fast\",8B,1.5,70,good\n"
      "b,70B,,80,\nc,8B,nan,75,\"say \"\"hi\"\"\"\n");
  REQUIRE(set);
  CHECK(set->title == "Mine");
  CHECK(set->names == std::vector<std::string>{"a, fast", "b", "c"});
  CHECK(set->qualities == std::vector<std::string>{"8B", "70B"});
  CHECK(set->quality_of == std::vector<std::uint16_t>{0, 1, 0});
  REQUIRE(set->axis("ms"));
  CHECK(set->axis("ms")->label == "latency");
  CHECK_FALSE(set->axis("ms")->high);
  CHECK(set->axis("ms")->values[0] == 1.5);
  CHECK(std::isnan(set->axis("ms")->values[1]));
  CHECK(std::isnan(set->axis("ms")->values[2]));
  CHECK(set->axis("acc")->high);
  CHECK(set->axis("note")->bad_line == 4);  // words: no axis
  CHECK_FALSE(set->axis("quality"));
}

TEST_CASE(
    "points: semicolons with decimal commas and tabs read as well, and an axis of wide range is seen by factors") {
  const auto set = read_point_set("name;ips;top1\r\na;1,5;80,5\r\nb;100;81\r\n");
  REQUIRE(set);
  CHECK(set->axis("ips")->values[0] == 1.5);
  CHECK(set->axis("ips")->log);
  CHECK_FALSE(set->axis("top1")->log);
  CHECK(read_point_set("name\tx\ty\na\t1\t2\n"));
  CHECK_FALSE(read_point_set("name,x,y\na,0,2\nb,9,3\n")->axis("x")->log);
}

TEST_CASE("points: less is better where a column's name says so and the file does not") {
  const auto set = read_point_set(
      "# axis: cost | cost | $ | high\nname,p99 latency,Energy_per_token,perplexity,price,Power "
      "(W),cost,tokens_per_joule,"
      "energy efficiency,latency budget per cost,top1\na,1,1,1,1,1,1,1,1,1,1\n");
  REQUIRE(set);
  for (const char* low :
       {"p99 latency", "Energy_per_token", "perplexity", "price", "Power (W)", "latency budget per cost"}) {
    INFO(low);
    CHECK_FALSE(set->axis(low)->high);
    CHECK(set->axis(low)->guessed);
  }
  for (const char* high : {"cost", "tokens_per_joule", "energy efficiency", "top1"}) {
    INFO(high);
    CHECK(set->axis(high)->high);
    CHECK_FALSE(set->axis(high)->guessed);
  }
}

TEST_CASE("points: each hostile file gets one sentence with the line") {
  CHECK(fault_of("") == "The points have no row: after the line of names each line is a point.");
  CHECK(fault_of("To whom it may concern\n") ==
        "Line 1 of the points names 1 column: a name and at least two axes are needed.");
  CHECK(fault_of("{\"cells\": []}").starts_with("Line 1 of the points begins as JSON does"));
  CHECK(fault_of(std::string_view("name,x,y\na\0,1,2", 15)).starts_with("The points are no text"));
  CHECK(fault_of("name,x,y\na,1\n").starts_with("Line 2 of the points has 2 cells where the first has 3"));
  CHECK(fault_of("name,x,y\n\"a,1,2\n").starts_with("Line 2 of the points has "));
  CHECK(fault_of("name,x,x\na,1,2\n").starts_with("Line 1 of the points names two columns \"x\""));
  CHECK(fault_of("name,x,y\n,1,2\n") == "Line 2 of the points has no name in its first column.");
  CHECK(fault_of("name,x,y\na,fast,2\n") ==
        "The points have fewer than two columns of numbers: line 2 has none under \"x\".");
  CHECK(fault_of("name,x,y\n") == "The points have no row: after the line of names each line is a point.");
  std::string many = "name,x,y\n";
  for (std::size_t i = 0; i <= max_points; ++i) many += "p,1,2\n";
  CHECK(fault_of(many) == "Line 5002 of the points is beyond the 5000 points that are read.");
  CHECK(fault_of(std::string(max_points_bytes + 1, 'x')).starts_with("The points take more than 2 MiB"));
  std::string wide = "name";
  for (int i = 0; i < 40; ++i) wide += ",c" + std::to_string(i);
  CHECK(fault_of(wide + "\n").starts_with("Line 1 of the points has a quote that is not closed, or more than 32"));
}

TEST_CASE("points: nine published sets read, each with its source, its date and at least two axes") {
  for (const char* name : {"chat", "reasoning", "timm", "gguf_8b", "gguf_70b", "bev", "yolov5", "rtdetr", "orin"}) {
    INFO(name);
    const auto set = read_point_set(published_points(name));
    REQUIRE(set);
    CHECK_FALSE(set->source.empty());
    CHECK_FALSE(set->title.empty());
    CHECK(set->date == "2026-11-23");
    for (const PointAxis& axis : set->axes) CHECK(axis.bad_line == 0);
  }
  CHECK(published_points("nothing").empty());
  CHECK(read_point_set(published_points("timm"))->size() == 795);
}

// ML.ENERGY prints power, rate and energy of each run: power over rate is the energy, within its rounding.
TEST_CASE("points: energy per token is power over rate in every run of ML.ENERGY") {
  for (const char* name : {"chat", "reasoning"}) {
    const auto set = read_point_set(published_points(name));
    REQUIRE(set);
    for (std::size_t p = 0; p < set->size(); ++p) {
      const double joules = set->axis("power_w_per_gpu")->values[p] / set->axis("tokens_per_s_per_gpu")->values[p];
      CHECK(std::abs(joules / set->axis("joules_per_token")->values[p] - 1) <= 0.001);
    }
  }
}
