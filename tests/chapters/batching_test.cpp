#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "catalog_fixture.h"
#include "chapters/registry.h"
#include "tests/support/ui_driver.h"

using chapters::Lab;
using chapters::LabPtr;

namespace {

LabPtr batching() {
  use_bundled_catalog();
  LabPtr lab = chapters::make_lab_by_id("serving/batching");
  REQUIRE(lab);
  return lab;
}
void set(Lab& lab, std::string_view key, double value) { lab.inputs().find(key)->set_number(value); }
void choose(Lab& lab, std::string_view key, std::string_view id) { REQUIRE(lab.inputs().find(key)->set_choice_id(id)); }
double out(const Lab& lab, std::string_view key) {
  INFO(lab.reason());
  REQUIRE(lab.reason().empty());
  return lab.outputs().find(key)->number();
}
bool near(double value, double expected, double tolerance) { return std::abs(value - expected) <= tolerance * std::abs(expected); }
double cell(Lab& lab, std::size_t row, std::string_view key) {
  chapters::Fields fields;
  lab.outputs().find("racers")->table_row(row, fields);
  return fields.find(key)->number();
}

}  // namespace

// Erlang C: 4 servers at 3.2 erlangs wait 0.745541 service times; 100,000 arrivals leave some 2 % of noise.
TEST_CASE("batching: a plain queue meets its formula, which is shown beside it") {
  const LabPtr lab = batching();
  choose(*lab, "policy", "single");
  choose(*lab, "service", "exponential");
  lab->inputs().find("against")->chosen().clear();
  set(*lab, "servers", 4);
  set(*lab, "arrival_rate", 3.2);
  set(*lab, "service_time_s", 1);
  set(*lab, "requests", 100'000);
  lab->compute();
  CHECK(near(out(*lab, "theory_wait_s"), 0.745541, 1e-5));
  CHECK(near(out(*lab, "mean_wait_s"), 0.745541, 0.08));
  CHECK(near(out(*lab, "mean_latency_s"), 1.745541, 0.04));
  CHECK(near(out(*lab, "utilization"), 80, 0.02));
  CHECK(out(*lab, "little_error") <= 1e-9);
  CHECK(out(*lab, "tpot_p99_s") == 0);
  CHECK(out(*lab, "completed") == 100'000);
}

TEST_CASE("batching: at first, continuous batching beats static on the same arrivals") {
  const LabPtr lab = batching();
  lab->compute();
  REQUIRE(lab->outputs().find("racers")->table_size() == 2);
  CHECK(cell(*lab, 0, "wasted_slots") == 0);
  CHECK(cell(*lab, 1, "wasted_slots") > 20);
  CHECK(out(*lab, "speedup_p50") > 1.5);
  CHECK(near(out(*lab, "speedup_p50"), cell(*lab, 1, "p50_latency_s") / cell(*lab, 0, "p50_latency_s"), 1e-12));
  CHECK(cell(*lab, 0, "ttft_p99_s") < cell(*lab, 1, "ttft_p99_s"));
  // 90 % of 8 x 80 GB less 141.1 GB of weights, in blocks of 16 x 327,680 B.
  CHECK(near(out(*lab, "kv_pool_bytes"), 0.9 * 640e9 - 141.1e9, 1e-3));
  CHECK(near(out(*lab, "kv_blocks"), out(*lab, "kv_pool_bytes") / (16 * 327680), 1e-4));
}

TEST_CASE("batching: arrivals from a file replace the stream; a bad line is the reason") {
  const LabPtr lab = batching();
  lab->inputs().find("trace")->file() = {"arrivals.csv", "time,prompt,output\n0,100,10\n0.5,100,20\n1,100,30\n"};
  lab->compute();
  CHECK(out(*lab, "completed") == 3);
  CHECK(near(out(*lab, "tokens_per_s") / out(*lab, "throughput_per_s"), 20, 1e-9));
  lab->inputs().find("trace")->file().text = "0,100\n";
  lab->compute();
  CHECK(lab->reason() == "Line 1 of the arrivals has 2 of three values: each line is time,prompt,output in seconds and tokens.");
}

TEST_CASE("batching: what cannot be served is refused in one sentence") {
  const LabPtr lab = batching();
  set(*lab, "chips", 1);
  lab->compute();
  CHECK(lab->reason() == "The weights take 141.1 GB and 1 x H100 SXM offer 72.0 GB: take more chips, a narrower format or a smaller model.");
  set(*lab, "chips", 2);
  choose(*lab, "format", "fp64");
  lab->compute();
  CHECK_FALSE(lab->reason().empty());
}

TEST_CASE("batching: dragging the race moves the cursor, Play moves it on, and requests after it have not left yet") {
  const LabPtr lab = batching();
  lab->compute();
  support::UiDriver ui(
      [&] {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
        ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
        lab->draw();
        ImGui::End();
      },
      {1000, 1000});
  ui.frames(3);
  const auto departures = [&] {
    const widgets::Record record = ui.record();
    std::size_t rows = 0;
    for (const auto& table : record.tables)
      if (table.name == "Static") rows += table.rows.size();
    return rows;
  };
  const std::size_t all = departures();
  ui.drag_by("cursor", {-200, 0});
  const double time = lab->view().find("time")->real();
  CHECK(time > 0);
  CHECK(time < out(*lab, "makespan_s"));
  CHECK(departures() < all);
  ui.click("Play");
  ui.frames(5);
  CHECK(lab->view().find("playing")->toggle());
  CHECK(lab->view().find("time")->real() > time);
}
