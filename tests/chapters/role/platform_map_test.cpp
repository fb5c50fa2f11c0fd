#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "app/scenario/link.h"
#include "chapters/role/platform_map/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;
namespace map_lab = chapters::role::platform_map;
using models::platform::Part;

namespace {

map_lab::Computed computed_map(const map_lab::Inputs& in) {
  use_bundled_catalog();
  map_lab::Computed computed = map_lab::compute(in);
  INFO(computed.facts.reason);
  REQUIRE(computed.facts.reason.empty());
  REQUIRE(computed.run);
  return computed;
}

}  // namespace

TEST_CASE("platform-map: the bottleneck leaves training as GPUs are added, and money goes on") {
  const LabPtr lab = open_lab("role/platform-map");
  compute(*lab);
  CHECK(choice_of(*lab, "bottleneck") == "training");
  // From there on a run twice as fast in training alone saves less than a quarter of the run: data and training
  // overlap.
  CHECK(out(*lab, "leaves_at") == 114);
  CHECK(near(out(*lab, "time_s"), 32.6 * 3600, 2e-3));
  const double usd = out(*lab, "run_usd");
  CHECK(near(usd, 24.89 * 64 * 3, 1e-3));
  compute(set(*lab, "gpus", 512));
  CHECK(choice_of(*lab, "bottleneck") == "data");
  CHECK(near(out(*lab, "run_s"), 40000, 1e-3));  // 120 TB over 3 GB/s
  CHECK(std::abs(out(*lab, "twice_gain")) <= 0.01);
  CHECK(out(*lab, "run_usd") > 3 * usd);
  compute(set(*lab, "gpus", 1024, "storage_bytes_per_s", 20e9));
  CHECK(choice_of(*lab, "bottleneck") == "monitoring");
}

TEST_CASE("platform-map: the strip, the answer and the bottleneck are the same at every number of GPUs") {
  for (const std::int64_t gpus : {64, 113, 114, 160, 200, 222, 223, 384, 512}) {
    map_lab::Inputs in;
    in.setup.gpus = gpus;
    const auto [o, run] = computed_map(in);
    const map_lab::Picture p = map_lab::arrange(in, o, *run);
    const auto n = static_cast<double>(gpus);
    const auto at = std::find_if(p.stretches.begin(), p.stretches.end(),
                                 [&](const map_lab::Stretch& s) { return n >= s.from && n < s.to; });
    REQUIRE(at != p.stretches.end());
    INFO(gpus << ": " << p.answer);
    CHECK(at->name == map_lab::holder_name(o.bottleneck));
    CHECK(p.answer.find(" GPUs " + at->name + (at->both ? " hold" : " holds")) != std::string::npos);
  }
}

// At 160 GPUs the run of 11.3 h is half loading and half kernels that hide one another: training twice as fast saves
// 0.9 h, loading twice as fast none, both 5.6 h.
TEST_CASE("platform-map: data and training share the blame where halving one alone saves little") {
  map_lab::Inputs in;
  in.setup.gpus = 160;
  const map_lab::Outputs o = computed_map(in).facts;
  CHECK(o.bottleneck == map_lab::Holder::data_and_training);
  CHECK(near(o.bottleneck_saves_s, o.release.run.time_s / 2));
  CHECK(std::max(o.release.twice_saves_s[0], o.release.twice_saves_s[1]) < o.bottleneck_saves_s / 2);
  CHECK(o.next_bottleneck == "data");
  CHECK(o.next_at > 160);
}

TEST_CASE("platform-map: shares add up, and rows are the same release on other GPUs") {
  const map_lab::Outputs o = computed_map({}).facts;
  double time = 0, usd = 0;
  for (std::size_t i = 0; i < map_lab::parts; ++i) {
    time += o.time_share[i];
    usd += o.usd_share[i];
  }
  CHECK(near(time, 100, 1e-9));
  CHECK(near(usd, 100, 1e-9));
  REQUIRE(o.by_gpus.size() == 12);
  CHECK(o.by_gpus[6].gpus == 64);
  CHECK(near(o.by_gpus[6].release.total.time_s, o.release.total.time_s, 1e-12));
  CHECK(o.by_gpus[0].refused.starts_with("A GPU would hold "));
  CHECK(o.by_gpus[0].refused.find(" in training and has 80 GB: ") != std::string::npos);
}

TEST_CASE("platform-map: a technique of another part saves nothing of the hours that matter") {
  map_lab::Inputs in;
  const auto few = computed_map(in).facts.techniques;
  in.setup.gpus = 512;
  const auto many = computed_map(in).facts.techniques;
  const auto row = [](const std::vector<map_lab::TechniqueRow>& all, std::string_view name) {
    for (const map_lab::TechniqueRow& r : all)
      if (r.name == name) return r;
    FAIL("no such technique");
    return map_lab::TechniqueRow{};
  };
  CHECK(row(few, "Matmuls in FP8").saves_s > 9 * 3600);
  CHECK(std::abs(row(many, "Matmuls in FP8").saves_s) < 60);
  CHECK(std::abs(row(few, "Twice the storage bandwidth").saves_s) < 60);
  // Half of 40,000 s of the run, and of the profiled steps.
  CHECK(near(row(many, "Twice the storage bandwidth").saves_s, 20000, 0.02));
  CHECK(row(few, "Gradients exchanged while backward runs").then == "in use");
}

TEST_CASE("platform-map: every box leads to a lab that takes the present scenario") {
  ShellDriver d(bundled_content(), nowhere());
  use_bundled_catalog();
  for (const char* model : {"llama-3-8b", "llama-3.2-1b"})
    for (const std::int64_t gpus : {8, 64, 1024}) {
      map_lab::Inputs in;
      in.model = model;
      in.recipe = gpus == 8 ? "w4a16" : "fp8";
      in.setup.gpus = gpus;
      in.setup.samples_per_request = gpus == 8 ? 1e5 : 1;
      in.setup.workers = gpus == 1024 ? 0 : 8;
      const auto [o, run] = computed_map(in);
      for (std::size_t i = 0; i < map_lab::parts; ++i) {
        const std::string link = map_lab::link_of(in, o, *run, static_cast<Part>(i));
        INFO(link);
        REQUIRE(!link.empty());
        CHECK(d.workspace.open_link(link).error == "");
        CHECK(d.workspace.lab().info().id == map_lab::lab_of(o, static_cast<Part>(i)));
      }
      const map_lab::Picture p = map_lab::arrange(in, o, *run);
      for (const std::string& link : p.technique_links) {
        INFO(link);
        REQUIRE(!link.empty());
        CHECK(d.workspace.open_link(link).error == "");
      }
    }
}

TEST_CASE("platform-map: the labs behind the boxes compute what the map says of them") {
  use_bundled_catalog();
  map_lab::Inputs in;
  in.setup.gpus = 512;
  const auto [o, run] = computed_map(in);
  const auto opened = [&, &o = o, &run = run](Part part) {
    const app::Link link = app::parse_link(map_lab::link_of(in, o, *run, part));
    LabPtr lab = open_lab(link.lab);
    for (const auto& [key, value] : link.sets) set(*lab, key, value);
    return lab;
  };
  // The loader starves: 512 GPUs share 750 samples a second.
  CHECK(near(computed(*opened(Part::data), "samples_per_s"), 750.0 / 512, 0.02));
  // The step that a profile would record is the step of the run.
  CHECK(near(computed(*opened(Part::profiling), "step_s"), o.release.run.step.period_s, 0.02));
  // A prompt takes as long in the lab of recipes.
  CHECK(near(computed(*opened(Part::compression), "prefill_s"), o.release.service.prefill_s, 1e-6));
  CHECK(near(computed(*opened(Part::compression), "decode_s"), o.release.service.decode_s, 1e-6));
}

TEST_CASE("platform-map: bands of the river are the hours of the parts, and the cut stands on them") {
  map_lab::Inputs in;
  in.setup.gpus = 100;
  const auto [o, run] = computed_map(in);
  const map_lab::Picture p = map_lab::arrange(in, o, *run);
  REQUIRE(p.river.size() >= 10);
  bool yours = false;
  for (std::size_t i = 0; i < p.river.size(); ++i) {
    double sum = 0;
    for (const double hours : p.river[i].hours) sum += hours;
    CHECK(near(sum, p.river[i].all, 1e-9));
    if (i > 0) CHECK(p.river[i].gpus > p.river[i - 1].gpus);
    if (p.river[i].gpus == 100) yours = near(p.river[i].all, o.release.total.time_s / 3600, 1e-9);
  }
  CHECK(yours);
  for (const float scale : {1.0f, 1.5f}) {
    const widgets::Rect area{{10, 20}, {10 + 900 * scale, 20 + 460 * scale}};
    const map_lab::River river = map_lab::layout_river(area, p.river, p.axis_hi, p.top_hours, scale, 15 * scale);
    for (std::size_t i = 0; i < map_lab::parts; ++i) {
      CHECK(river.cards[i].max.y < river.hours.min.y);
      if (i > 0) CHECK(river.cards[i].min.x > river.cards[i - 1].max.x);
    }
    CHECK(river.cards.back().max.x <= area.max.x + 0.5f);
    CHECK(river.hours.max.y < river.money.min.y);
    CHECK(river.axis.max.y <= area.max.y);
    CHECK(river.y(0) == river.hours.max.y);
    CHECK(std::abs(river.y(p.top_hours) - river.hours.min.y) < 0.01f);
    CHECK(river.x(64) > river.x(8));
  }
}

TEST_CASE("platform-map: a place on the axis of GPUs is a factor of them") {
  CHECK(near(map_lab::gpus_at_place(map_lab::place_of_gpus(64, 2048), 2048), 64, 1e-9));
  CHECK(map_lab::gpus_at_place(0, 2048) == 1);
  CHECK(map_lab::gpus_at_place(1, 2048) == 2048);
}

TEST_CASE("platform-map: dragging the axis moves the GPUs, and a click on a box opens its lab as set here") {
  ShellDriver d(bundled_content(), nowhere(), {1280, 800}, true);
  use_bundled_catalog();
  d.shell.drawer_open = false;
  REQUIRE(d.workspace.open("role/platform-map"));
  REQUIRE(d.settle());
  CHECK(d.canvas_overflow_px() == 0);
  CHECK(d.ui.text_present("holds it up"));
  d.ui.drag("GPUs that train", 0.82f, 0.545f);
  REQUIRE(d.settle());
  const double gpus = d.input("gpus").number();
  CHECK(gpus > 400);
  CHECK(gpus < 700);
  CHECK(d.output("bottleneck").choice_id() == "data");
  d.ui.click("data");
  d.ui.frames(3);
  REQUIRE(d.settle());
  CHECK(d.open_lab() == "training/data-loader");
  CHECK(near(d.input("storage_bytes_per_s").number(), 3e9 / gpus, 1e-6));
}
