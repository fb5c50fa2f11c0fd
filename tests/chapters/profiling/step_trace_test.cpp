#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <string>

#include "chapters/profiling/step_trace/hero_plan.h"
#include "chapters/profiling/step_trace/lab.h"
#include "models/trace/measure/metrics.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_step = chapters::profiling::step_trace;

namespace {

double ms_of(const Lab& lab, std::string_view key) { return 1e3 * out(lab, key); }

}  // namespace

TEST_CASE("step-trace: workers are needed only where storage and cores keep the step's pace") {
  const auto needed = [](const char* inputs) {
    const LabPtr lab = open_lab("profiling/step-trace", inputs);
    compute(*lab);
    return out(*lab, "workers_needed");
  };
  CHECK(needed("{}") >= 1);
  // 200 samples of 200 kB at 50 MB/s are 1.25 batches a second: no step of less than 800 ms is fed by any number.
  CHECK(std::isnan(needed(R"({"storage_bytes_per_s": 5e7})")));
  CHECK(std::isnan(needed(R"({"storage_bytes_per_s": 5e7, "workers": 16})")));
  // One core decodes 200 samples of 10 ms in 2 s.
  CHECK(std::isnan(needed(R"({"cores": 1, "decode_s": 0.01, "workers": 8})")));
}

TEST_CASE("step-trace: the study's shares, and what each change takes in its order and alone") {
  const LabPtr lab = open_lab("profiling/step-trace");
  compute(*lab);
  CHECK(std::abs(ms_of(*lab, "found_s") - 850) <= 0.1);
  CHECK(std::abs(out(*lab, "found_data") - 40) <= 0.02);
  CHECK(std::abs(out(*lab, "found_forward") - 20) <= 0.02);
  CHECK(std::abs(out(*lab, "found_optimizer_part") - 10) <= 0.02);
  // 170 + 212.5 + 800e6 x 28 B / 753 GB/s = 29.75, the last bucket 14, a hundredth of a log of 13.5 ms.
  CHECK(std::abs(ms_of(*lab, "step_s") - (170 + 212.5 + 29.75 + 14 + 0.135)) <= 0.1);
  REQUIRE(rows(*lab, "fixes") == 4);
  CHECK(std::abs(1e3 * cell(*lab, "fixes", 0, "in_order_s") + 340) <= 0.1);
  CHECK(std::abs(1e3 * cell(*lab, "fixes", 1, "in_order_s") + 9) <= 0.1);  // 15 ms blocking, 6 pinned
  // Without workers the training process pins each batch itself: 15 ms for the pages, 6 for the copy, 15 saved.
  CHECK(std::abs(1e3 * cell(*lab, "fixes", 1, "alone_s") - 6) <= 0.1);
  // Read every hundredth step, the host loads while the optimizer's last 1,025 of 2,304 kernels run, but for the launch
  // of the last: 1,025 x 85 ms / 2,304 - 8 us = 37.81 ms, and the log's 13.5 ms and two latencies of 4 us are gone. Of
  // both, 99 of 100 steps profit.
  CHECK(std::abs(1e3 * cell(*lab, "fixes", 2, "alone_s") + 0.99 * (37.81 + 13.5)) <= 0.02);
  CHECK(out(*lab, "lead") == 1024);
  CHECK(std::abs(1e3 * cell(*lab, "fixes", 3, "alone_s") + 85 * 52 / 80.0) <= 0.2);
  double sum_s = out(*lab, "found_s");
  for (std::size_t i = 0; i < 4; ++i) {
    sum_s += cell(*lab, "fixes", i, "in_order_s");
    CHECK(near(cell(*lab, "fixes", i, "step_s"), sum_s, 1e-9));
  }
  CHECK(near(sum_s, out(*lab, "step_s"), 1e-9));
}

TEST_CASE("step-trace: shares add up, and what is hidden of the all-reduce is what does not wait") {
  for (const char* inputs : {"{}", R"({"workers": 0, "copy": "pageable"})", R"({"buckets": 1, "amp": true})",
                             R"({"forward_s": 0.002, "backward_s": 0.004})", R"({"overlap": false})"}) {
    CAPTURE(inputs);
    const LabPtr lab = open_lab("profiling/step-trace", inputs);
    compute(*lab);
    double all = 0;
    for (const char* key :
         {"forward", "backward", "optimizer_part", "data", "copies", "launch_waits", "sync_waits", "communication"})
      all += out(*lab, key);
    CHECK(std::abs(all - 100) <= 1e-6);
  }
  const LabPtr lab = open_lab("profiling/step-trace", R"({"overlap": false})");
  compute(*lab);
  CHECK(std::abs(out(*lab, "hidden_communication")) <= 0.1);  // a launch of 8 us is all that separates them
}

TEST_CASE("step-trace: gradients have four bytes, with autocast too, and two only where they are cast") {
  const LabPtr lab = open_lab("profiling/step-trace", R"({"amp": true})");
  CHECK(near(computed(*lab, "gradient_bytes"), 800e6 * 4, 1e-12));
  CHECK(near(computed(set(*lab, "bf16_gradients", 1.0), "gradient_bytes"), 800e6 * 2, 1e-12));
}

TEST_CASE("step-trace: a network of 50 MB/s holds up eight workers, and they the GPU") {
  const LabPtr lab =
      open_lab("profiling/step-trace", R"({"workers": 8, "request_latency_s": 0.005, "storage_bytes_per_s": 5e7})");
  CHECK(near(computed(*lab, "step_s"), 200 * 200e3 / 50e6, 1e-6));
  CHECK(text_of(*lab, "largest") == "waiting for data");
}

TEST_CASE("step-trace: lanes stand on one axis, before above after, and every gap says its cause") {
  const lab_step::Inputs in;
  const lab_step::Picture p = picture_of(in, lab_step::compute, lab_step::arrange);
  REQUIRE(p.before.size() == 5);
  CHECK(p.before.front().label == "Before");
  CHECK(p.before.back().label == "compute");
  CHECK(p.after.front().label == "After");
  for (const auto* lanes : {&p.before, &p.after})
    for (const auto& lane : *lanes)
      for (const widgets::TimelineSpan& s : lane.spans) {
        CHECK(s.start_ns >= 0);
        CHECK(s.end_ns() <= std::llround(p.range_s * 1e9));
      }
  std::int64_t gap_ns = 0;
  for (const widgets::TimelineSpan& s : p.before.back().spans)
    if (s.mark == widgets::TimelineMark::hatched && p.names[s.name].said[1] == "waits for data" &&
        s.start_ns < 800'000'000)
      gap_ns += s.duration_ns;
  CHECK(gap_ns == 340'000'000);
  CHECK(
      p.answer ==
      "With four changes the step takes `426 ms` instead of `850 ms`; the largest part was waiting for data, `40.0 %` "
      "of it.\nThe largest part is now the backward pass, `49.8 %` of the step.");
}

TEST_CASE("step-trace: who reads the figures alone reads the same ones, and no history is kept for him") {
  lab_step::Inputs in;
  in.decode_spread = GENERATE(0.0, 0.5);
  in.now.workers = GENERATE(2, 16);
  chapters::Progress seen, alone;
  alone.facts_alone = true;
  const lab_step::Computed drawn = lab_step::compute(in, seen), read = lab_step::compute(in, alone);
  CHECK(read.facts.now.mean.period_s == drawn.facts.now.mean.period_s);
  CHECK(read.facts.found.share == drawn.facts.found.share);
  CHECK(read.facts.now.share == drawn.facts.now.share);
  CHECK(read.facts.longest_step_s == drawn.facts.longest_step_s);
  CHECK(read.run->now.blocks.empty());
  CHECK_FALSE(drawn.run->now.blocks.empty());
}

TEST_CASE("step-trace: its document opens as a recording with the figures of the lab") {
  lab_step::Inputs in;
  in.layers = 8;
  in.now.sync_every = 0;
  chapters::Progress progress;
  const lab_step::Computed made = lab_step::compute(in, progress);
  const lab_step::Outputs& o = made.facts;
  const auto text = lab_step::document_of(o, *made.run);
  REQUIRE(text);
  const auto read = models::trace::read_trace(*text, "exported");
  REQUIRE(read);
  const models::trace::Metrics m = models::trace::measure(*read);
  REQUIRE(m.steps.size() == 8);
  REQUIRE(m.devices.size() == 1);
  // Nothing but the last bucket is waited for: forward, backward and optimizer of eight steps are the computation.
  const double kernels_s = (o.now.mean.forward_s + o.now.mean.backward_s + o.now.mean.optimizer_s) * 8;
  CHECK(near(static_cast<double>(m.devices[0].comp_ns) * 1e-9, kernels_s, 1e-6));
}

TEST_CASE("step-trace: more buckets than layers are refused in a sentence") {
  const LabPtr lab = open_lab("profiling/step-trace", R"({"buckets": 32})");
  CHECK(reason_of(*lab).find("more buckets than layers") != std::string::npos);
}

TEST_CASE(
    "step-trace: the table says what each change is worth in its place and alone, with a sign, and marks where they "
    "differ") {
  const lab_step::Order order = picture_of(lab_step::Inputs{}, lab_step::compute, lab_step::arrange).order;
  REQUIRE(order.rows.size() == 4);
  CHECK(order.rows[0].name == "2 workers, 2 ahead");
  CHECK(order.rows[1].name == "pinned, a copy stream");
  CHECK(order.rows[1].alone == "+5.99 ms");
  CHECK(order.rows[2].in_order ==
        "\xE2\x88\x92"
        "19.3 ms");
  CHECK(order.rows[2].alone ==
        "\xE2\x88\x92"
        "50.8 ms");
  CHECK_FALSE(order.rows[0].differs);
  CHECK(order.rows[1].differs);
  CHECK(order.rows[2].differs);
  CHECK_FALSE(order.rows[3].differs);
  CHECK(order.says.find("loss read every 100 steps alone changes the step by") != std::string::npos);
}

TEST_CASE("step-trace: the table has one unit in which no change is a fraction of a hundredth") {
  lab_step::Inputs network;  // a step of 0.8 s, and changes of 6 to 1,810 ms
  network.now.workers = 8;
  network.request_latency_s = 0.005;
  network.storage_bytes_per_s = 50e6;
  for (const lab_step::Order::Row& row : picture_of(network, lab_step::compute, lab_step::arrange).order.rows) {
    CHECK(row.step == "800 ms");
    CHECK(row.alone.ends_with(" ms"));
    CHECK(row.alone.find("0.0") == std::string::npos);
  }
  lab_step::Inputs one;  // a step of 510 ms stays in the unit of the bars
  one.now = one.found;
  one.now.workers = 2;
  CHECK(picture_of(one, lab_step::compute, lab_step::arrange).order.rows[0].step == "510 ms");
}

TEST_CASE("step-trace: what is shown of the main thread and the workers is known to the end of the axis") {
  lab_step::Inputs in;
  in.now.amp = in.now.compile = true;  // the main thread is two steps ahead of the GPU
  in.now.workers = GENERATE(2, 8, 16);
  const lab_step::Picture p = picture_of(in, lab_step::compute, lab_step::arrange);
  const auto range_ns = std::llround(p.range_s * 1e9);
  for (const auto& lane : p.after) {
    if (lane.label != "main thread" && lane.label != "workers" && lane.label != "compute") continue;
    if (!lane.sublabel.empty()) continue;  // some of more workers, which may be done with the last batch
    CAPTURE(lane.label);
    REQUIRE_FALSE(lane.spans.empty());
    std::int64_t last_ns = 0;
    for (const widgets::TimelineSpan& s : lane.spans) last_ns = std::max(last_ns, s.end_ns());
    CHECK(last_ns > range_ns * 9 / 10);
  }
}

TEST_CASE("step-trace: slab and table stand beside the steps at 1280 x 800, and go where the steps need the room") {
  const auto plan = [](float width, float height, std::size_t fixes) {
    return lab_step::plan_hero({{0, 0}, {width, height}}, {.steps_height = 300, .bars = fixes + 1, .fixes = fixes}, 1);
  };
  const lab_step::HeroPlan all = plan(855, 545, 4);
  CHECK(all.has_slab);
  CHECK(all.has_table);
  CHECK(all.steps.height() >= 300);
  CHECK(all.steps.width() >= 480);
  CHECK(all.slab.min.x >= all.steps.max.x);
  CHECK(all.slab.max.x == 855);
  CHECK(all.table.min.y >= all.steps.max.y);
  CHECK(all.table.height() == lab_step::order_table_height(4));
  CHECK_FALSE(plan(855, 400, 4).has_table);
  CHECK(plan(855, 400, 4).has_slab);
  CHECK_FALSE(plan(560, 545, 4).has_slab);
  CHECK_FALSE(plan(855, 545, 0).has_table);
}

TEST_CASE("step-trace: taken out of the recording, the log of each step wins what reading the loss seldom takes off") {
  namespace st = chapters::profiling::step_trace;
  st::Inputs in;
  in.found.sync_every = 1;
  chapters::Progress progress;
  const auto computed = st::compute(in, progress);
  REQUIRE(computed.run);
  const st::SpanTable spans = st::host_spans_of(*computed.run);
  REQUIRE_FALSE(spans.rows.empty());
  CHECK(spans.words.find("the replay explains") != std::string::npos);
  const auto named = [&](std::string_view name) {
    for (const st::SpanRow& r : spans.rows)
      if (r.name == name) return r;
    FAIL(name << " is not among them");
    return st::SpanRow{};
  };
  const st::SpanRow log = named("log_metrics");
  CHECK(log.count == 1);
  CHECK(std::abs(log.longest_s - in.log_s) <= 1e-6);
  CHECK(log.won_s <= log.length_s + 1e-9);
  CHECK(log.won_s >= 0);
}
