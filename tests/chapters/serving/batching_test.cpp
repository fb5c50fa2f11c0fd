#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "chapters/serving/batching/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"
#include "tests/support/ui/ui_driver.h"

using namespace support;

namespace {

LabPtr batching() { return open_lab("serving/batching"); }
/// A figure of one of the policies that race.
double racer(const Lab& lab, std::size_t row, std::string_view key) { return cell(lab, "racers", row, key); }

}  // namespace

TEST_CASE("batching: at first, static batches are overloaded and continuous batching is not") {
  const LabPtr lab = batching();
  lab->compute();
  REQUIRE(lab->outputs().find("racers")->table_size() == 2);
  CHECK(racer(*lab, 0, "wasted_slots") == 0);
  CHECK(racer(*lab, 1, "wasted_slots") > 20);
  CHECK(racer(*lab, 0, "overloaded") == 0);
  CHECK(racer(*lab, 1, "overloaded") == 1);
  CHECK(std::isnan(out(*lab, "speedup_p50")));
  // At two a second both keep up.
  set(*lab, "arrival_rate", 2);
  lab->compute();
  CHECK(out(*lab, "speedup_p50") > 1.5);
  CHECK(near(out(*lab, "speedup_p50"), racer(*lab, 1, "p50_latency_s") / racer(*lab, 0, "p50_latency_s"), 1e-12));
  CHECK(near(out(*lab, "served_gain"), racer(*lab, 0, "throughput_per_s") / racer(*lab, 1, "throughput_per_s"), 1e-12));
  CHECK(racer(*lab, 0, "ttft_p99_s") < racer(*lab, 1, "ttft_p99_s"));
  // 90 % of 8 x 80 GB less 141.1 GB of weights, in blocks of 16 x 327,680 B.
  CHECK(near(out(*lab, "kv_pool_bytes"), 0.9 * 640e9 - 141.1e9, 1e-3));
  CHECK(near(out(*lab, "kv_blocks"), out(*lab, "kv_pool_bytes") / (16 * 327680), 1e-4));
}

TEST_CASE("batching: arrivals from a file replace the stream; a bad line is the reason") {
  const LabPtr lab = batching();
  input(*lab, "trace").file() = {"arrivals.csv", "time,prompt,output\n0,100,10\n0.5,100,20\n1,100,30\n"};
  lab->compute();
  CHECK(out(*lab, "completed") == 3);
  CHECK(out(*lab, "measured") == 3);
  CHECK(lab->outputs().find("state")->text() == "a recording, measured as a whole, start and end included");
  CHECK(near(out(*lab, "tokens_per_s") / out(*lab, "throughput_per_s"), 20, 1e-9));
  input(*lab, "trace").file().text = "0,100\n";
  lab->compute();
  CHECK(lab->reason() ==
        "Line 1 of the arrivals has 2 of three values: each line is time,prompt,output in seconds and tokens.");
  std::string many = "time,prompt,output\n";
  for (int i = 0; i < 300; ++i) many += std::to_string(i) + ",100,10\n";
  input(*lab, "trace").file() = {"/home/me/day one.csv", many};
  lab->compute();
  CHECK(out(*lab, "measured") == 300);  // all of the file, whatever number the stream would have had
}

TEST_CASE("batching: where no formula speaks of a queue, the reason is said and no wait is made up") {
  const LabPtr lab = batching();
  const auto theory = [&] {
    lab->compute();
    REQUIRE(lab->reason().empty());
    return std::pair(lab->outputs().find("theory")->text(), lab->outputs().find("theory_wait_s")->number());
  };
  set(*lab, "policy", "single", "service", "exponential", "service_time_s", 0.1, "arrival_rate", 8);
  SECTION("one server of exponential service has one") {
    CHECK(theory().first == "M/M/1");
    CHECK(near(theory().second, 0.4, 1e-9));
  }
  SECTION("past capacity there is no steady state") {
    set(*lab, "arrival_rate", 12);
    CHECK(theory().first == "no steady state: at 120 % of capacity the line grows without end");
    CHECK(std::isnan(theory().second));
  }
  SECTION("several servers have one where service is exponential alone") {
    set(*lab, "arrival_rate", 12, "servers", 2);
    CHECK(theory().first == "M/M/2, Erlang C");
    choose(*lab, "service", "deterministic");
    CHECK(theory().first == "none in closed form for several servers of fixed time");
    CHECK(std::isnan(theory().second));
  }
  SECTION("times by tokens have the formula of any service, gamma gaps that of one exponential server") {
    set(*lab, "service", "per_token", "arrival_rate", 0.2, "prompt_tokens", 1000, "output_tokens", 100);
    CHECK(theory().first == "M/G/1, Pollaczek-Khinchin");
    // 2 ms, 50 ms in and 2 s out; a spread of 0.8 of both.
    const double mean = 2.052, variance = 0.64 * (0.05 * 0.05 + 2 * 2), load = 0.2 * mean;
    CHECK(near(theory().second, load * mean * (1 + variance / (mean * mean)) / (2 * (1 - load)), 1e-9));
    choose(*lab, "arrivals", "gamma");
    CHECK(theory().first == "none in closed form for gamma gaps but for one exponential server");
    set(*lab, "service", "exponential", "service_time_s", 2, "gap_cv", 1);
    CHECK(theory().first == "GI/M/1");
    CHECK(near(theory().second, 2 * 0.4 / 0.6, 1e-9));
  }
  SECTION("one server of fixed time has one, batches have none") {
    set(*lab, "service", "deterministic", "arrival_rate", 5);
    CHECK(theory().first == "M/D/1, Pollaczek-Khinchin");
    choose(*lab, "policy", "static");
    CHECK(theory().first == "none for batches");
    CHECK(std::isnan(theory().second));
  }
}

// Long prompts among decoders: a mean per request hides the stall, the gaps between tokens show it.
TEST_CASE("batching: chunked prefill shortens the stalls inside answers many times, the mean pace hardly") {
  const LabPtr lab = batching();
  choose(*lab, "policy", "chunked");
  input(*lab, "against").chosen() = {"continuous"};
  set(*lab, "prompt_tokens", 6000);
  set(*lab, "arrival_rate", 2);
  set(*lab, "length_variation", 0.5);
  lab->compute();
  CHECK(near(racer(*lab, 1, "gap_p99_s"), 0.3, 0.02));
  CHECK(near(racer(*lab, 0, "gap_p99_s"), 0.0235, 0.02));
  CHECK(racer(*lab, 1, "gap_p99_s") > 3 * racer(*lab, 0, "gap_p99_s"));
  CHECK(racer(*lab, 1, "tpot_p99_s") < 3 * racer(*lab, 0, "tpot_p99_s"));
  CHECK(out(*lab, "gap_longest_s") >= out(*lab, "gap_p99_s"));
  // A mixed step of 512 tokens takes some 15 ms at 70 % of the roofs, and attention to what is cached on top.
  CHECK(out(*lab, "gap_longest_s") < 0.08);
}

TEST_CASE("batching: what cannot be served is refused in one sentence") {
  const LabPtr lab = batching();
  set(*lab, "chips", 1);
  lab->compute();
  CHECK(lab->reason() ==
        "The weights take 141.1 GB and 1\xC3\x97 H100 SXM offer 72 GB: take more chips, a narrower format or a smaller "
        "model.");
  set(*lab, "chips", 2);
  choose(*lab, "format", "fp64");
  lab->compute();
  CHECK_FALSE(lab->reason().empty());
}

namespace {

/// The race with its first picture drawn.
struct Race {
  LabPtr lab = batching();
  Canvas canvas;
  UiDriver& ui = canvas.ui;
  explicit Race(ImVec2 size = {1000, 1000}) : canvas(*lab, size) {}
};

}  // namespace

// The area under the strip is the time that all requests wait together.
TEST_CASE("batching: the queue strips show the queue: their area is the time that all wait together") {
  Race c;
  std::string file = "time,prompt,output\n";
  for (int i = 0; i < 20; ++i) file += std::to_string(0.05 * i) + ",500,100\n";
  input(*c.lab, "trace").file() = {"arrivals.csv", file};
  c.lab->compute();
  c.ui.frames(2);
  const double wait_s = 20 * out(*c.lab, "mean_wait_s");
  CHECK(wait_s > 5);
  const widgets::Record record = c.ui.record();
  const auto table =
      std::find_if(record.tables.begin(), record.tables.end(), [](const auto& t) { return t.name == "queue"; });
  REQUIRE(table != record.tables.end());
  double area = 0, last_s = 0, last = 0, highest = 0;
  for (const auto& row : table->rows) {
    if (row[0] != "Continuous") continue;
    const double at_s = std::stod(row[1]), waiting = std::stod(row[2]);
    area += last * (at_s - last_s);
    CHECK((last_s == 0 || at_s > last_s));
    last_s = at_s, last = waiting;
    highest = std::max(highest, waiting);
  }
  CHECK(last == 0);
  CHECK(near(area, wait_s, 1e-6));
  CHECK(c.ui.text_present("at most 1"));
}

TEST_CASE(
    "batching: a click on a request follows it through every policy and does not scrub; another click lets it go") {
  Race c;
  const auto number_at = [&](std::string_view number) {
    for (const auto& s : c.ui.record().strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text == number && s.points[0].y < 500)
        return ImVec2{s.points[0].x + 2, s.points[0].y + 4};
    FAIL("no number " << number);
    return ImVec2{};
  };
  const auto followed = [&] { return view(*c.lab, "request").number(); };
  const double before_s = view(*c.lab, "time").real();
  const ImVec2 at = number_at("14");
  c.ui.click_at(at);
  c.ui.frames(2);
  CHECK(followed() == 14);
  CHECK(view(*c.lab, "time").real() == before_s);
  c.ui.move_to({5, 5});
  c.ui.frames(2);
  CHECK(c.ui.text_present("Request 14"));
  CHECK(c.ui.text_present("Static waits"));
  c.ui.click_at(at);
  c.ui.move_to({5, 5});
  c.ui.frames(2);
  CHECK(followed() == 0);
  CHECK_FALSE(c.ui.text_present("Request 14"));
}

TEST_CASE("batching: with the keyboard on the race, arrows step by a hundredth and Space plays and stops") {
  Race c;
  std::string file = "time,prompt,output\n";
  for (int i = 0; i < 48; ++i) file += std::to_string(0.2 * i) + ",500,150\n";
  input(*c.lab, "trace").file() = {"arrivals.csv", file};
  c.lab->compute();
  c.ui.frames(2);
  const auto time = [&] { return view(*c.lab, "time").real(); };
  const double end_s = out(*c.lab, "makespan_s");
  const ImVec2 corner = c.ui.point_in("cursor", {0.5f, 0.97f});  // on the ruler, where nobody is
  c.ui.click_at(corner);
  c.ui.frames(2);
  const double from_s = time();
  c.ui.key(ImGuiKey_RightArrow);
  c.ui.frames(2);
  const double step_s = time() - from_s;
  CHECK(step_s > end_s / 100);  // of the slower rival's race
  CHECK(step_s < end_s / 50);
  c.ui.key(ImGuiKey_RightArrow);
  c.ui.key(ImGuiKey_RightArrow);
  c.ui.key(ImGuiKey_LeftArrow);
  c.ui.frames(2);
  CHECK(near(time(), from_s + 2 * step_s, 1e-6));
  c.ui.key(ImGuiKey_Space);
  c.ui.frames(3);
  CHECK(view(*c.lab, "playing").toggle());
  CHECK(time() > from_s + 2 * step_s);
  CHECK(time() < from_s + 4 * step_s);
  c.ui.key(ImGuiKey_Space);
  c.ui.frames(2);
  CHECK_FALSE(view(*c.lab, "playing").toggle());
}

TEST_CASE("batching: the shares of latencies stand beside the race where there is room, with the limit and p99") {
  ShellDriver d(bundled_content());
  d.ui.resize({1600, 1200});
  REQUIRE(d.workspace.open("serving/batching"));
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("SLO 1 s"));
  CHECK(d.ui.text_present("p99"));
  CHECK(d.canvas_overflow_px() == 0);
}

TEST_CASE("batching: the answer names who waits, for what and how long") {
  const LabPtr lab = batching();
  lab->compute();
  CHECK(lab->answer() ==
        "Static serves `2.53` of `5.09` requests per second: its queue grows without end. Continuous keeps up.\nUnder "
        "Continuous a request waits `580 ms` on average for room in the batch; `4.01` per second meet the limits.");
  set(*lab, "arrival_rate", 2);
  lab->compute();
  CHECK(lab->answer().find("Under Static a request waits `") == 0);
  CHECK(lab->answer().find("` on average for its batch to fill and the last to end, under Continuous `") !=
        std::string::npos);
  input(*lab, "against").chosen().clear();
  set(*lab, "requests", 1);
  lab->compute();
  CHECK(lab->answer().find("Under Continuous no request waits: each is taken on arrival.") == 0);
}

TEST_CASE("batching: dragging the race moves the cursor, who waits then is said, and Play moves it on") {
  Race c;
  const LabPtr& lab = c.lab;
  UiDriver& ui = c.ui;
  ui.drag_by("cursor", {-200, 0});
  const double time = view(*lab, "time").real();
  CHECK(time > 0);
  CHECK(time < out(*lab, "makespan_s"));
  CHECK(ui.text_present(" wait, at most "));
  ui.click("Play");
  ui.frames(5);
  CHECK(view(*lab, "playing").toggle());
  CHECK(view(*lab, "time").real() > time);
}

// Model, chip and format as they come have seven published runs; the first row is the lab's own.
TEST_CASE("batching: published runs of the model stand beside the race by default, filled, with their bounds") {
  for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1600, 1000}, ImVec2{1920, 1080}}) {
    ShellDriver d(bundled_content(), nowhere(), size, true);
    REQUIRE(d.workspace.open("serving/batching"));
    REQUIRE(d.settle());
    INFO(size.x << " x " << size.y);
    CHECK(d.ui.text_present("Published: Llama 3 70B on H100 SXM, FP8"));
    CHECK(d.ui.text_present("8 chips, batch 64"));
    CHECK(d.ui.text_present("100"));
    CHECK(d.ui.text_present("200"));     // two names at the axis
    CHECK(d.ui.text_present("20.7 %"));  // 15.45 ms measured, 3.13 ms at full roofs
    CHECK(d.ui.text_present("this lab, batch 6.8"));
    CHECK(d.canvas_overflow_px() == 0);
  }
  ShellDriver d(bundled_content(), nowhere(), {1600, 1000}, true);
  REQUIRE(d.workspace.open("serving/batching"));
  REQUIRE(d.input("model").set_choice_id("llama-2-70b"));  // saturated runs and MLPerf alone
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("output tokens per second, all answers"));
  CHECK(d.ui.text_present("Published: Llama 2 70B on H100 SXM, FP8"));
  CHECK(d.ui.text_present("16 chips, 294/293"));
  REQUIRE(d.input("model").set_choice_id("smollm3-3b"));
  REQUIRE(d.settle());
  CHECK_FALSE(d.ui.text_present("Published: "));
}

TEST_CASE("batching: where every queue overflows the empty distributions say why") {
  ShellDriver d(bundled_content(), nowhere(), {1920, 1080}, true);
  REQUIRE(
      d.workspace.open_with("serving/batching", {{"against", {"static"}}, {"arrival_rate", 6.5}}, app::Json::object())
          .error == "");
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("Overloaded: waits grow as long as requests come."));
}

TEST_CASE("batching: the key of the race names what is drawn in it and nothing else") {
  ShellDriver d(bundled_content(), nowhere(), {1600, 1000}, true);
  REQUIRE(d.workspace.open("serving/batching"));
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("done, slot held"));  // the static rival's
  CHECK_FALSE(d.ui.text_present("sent back"));
  REQUIRE(d.workspace
              .open_with("serving/batching",
                         {{"policy", "single"},
                          {"against", app::Json::array()},
                          {"service", "exponential"},
                          {"arrival_rate", 0.8},
                          {"service_time_s", 1}},
                         app::Json::object())
              .error == "");
  REQUIRE(d.settle());
  CHECK(d.ui.text_present("in service"));
  CHECK_FALSE(d.ui.text_present("done, slot held"));
}

// 4,096 slots over a cache of 82 blocks: two requests at once, and their pace is under the bound of two, not of 4,096.
TEST_CASE("batching: a server that falls behind for lack of memory is set against the sequences that it holds") {
  using namespace chapters::serving::batching;
  support::use_bundled_catalog();
  Inputs in;
  in.slots = 4096;
  in.kv_share = 0.1;
  in.against = {};
  chapters::Progress progress;
  Streams streams;
  const auto [out, run] = compute(in, progress, streams);
  REQUIRE(run);
  const MeasuredRuns runs = measured_runs(in, out, run->published);
  REQUIRE_FALSE(runs.runs.empty());
  CHECK(runs.runs.front().name == "this lab, batch 1.8");
  CHECK(runs.runs.front().measured < runs.runs.front().bound);
  // Their panel has its title before there is an answer, so that it has its place.
  const MeasuredRuns expected = measured_runs(in, {}, published_runs(in));
  CHECK(expected.title == runs.title);
  CHECK(expected.runs.empty());
}

TEST_CASE("batching: a steady run is drawn once the server has filled, one whose queue grows from an empty server on") {
  const auto drawn = [](const char* inputs) {
    const LabPtr lab = open_lab("serving/batching", inputs);
    lab->compute();
    Canvas canvas(*lab, {1200, 900});
    std::set<std::string> requests;
    for (const auto& table : canvas.ui.record().tables)
      if (table.name == "slots")
        for (const auto& row : table.rows) requests.insert(row[1]);
    return std::pair(requests, canvas.ui.text_present("SLO missed"));
  };
  const auto [steady, steady_missed] = drawn(R"({"against": [], "requests": 2000})");
  CHECK(steady.contains("201"));  // the first that is measured: a tenth of 2,000 come before
  CHECK_FALSE(steady.contains("1"));
  const auto [grows, missed] = drawn(R"({"against": [], "requests": 2000, "arrival_rate": 8})");
  CHECK(grows.contains("1"));
  CHECK(missed);  // later than the limit of a second, as its goodput says
}
