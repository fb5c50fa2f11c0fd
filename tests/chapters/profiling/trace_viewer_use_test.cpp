#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "models/trace/trace.h"
#include "models/trace/writers/sample.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

// The trace viewer in use: what a press, a key or a drag does to the picture. The made-up run is that of
// models/trace/writers/sample.cpp.

namespace {

struct ViewerInUse {
  support::ShellDriver d{
      support::bundled_content(), models::Result<app::UserPaths>::fail("Nothing is kept in a test."), {1600, 2600}};

  explicit ViewerInUse(const app::Json& inputs) {
    support::use_bundled_catalog();
    REQUIRE(d.workspace.open_with("profiling/trace-viewer", inputs, app::Json::object()).error == "");
    REQUIRE(d.settle());
  }
  double view(const char* key) { return d.workspace.lab().view().find(key)->number(); }
  double middle_s() { return view("start_s") + view("duration_s") / 2; }
  double out(const char* key) { return d.output(key).number(); }
};

/// A recording of one rank with one kernel at `kernel_us` after `base_ns`, as one line.
std::string rank_file(int rank, std::int64_t base_ns, double kernel_us, double dur_us) {
  return R"({"baseTimeNanoseconds": )" + std::to_string(base_ns) + R"(, "distributedInfo": {"rank": )" +
         std::to_string(rank) + R"(, "world_size": 2}, "traceEvents": [
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)" +
         std::to_string(kernel_us) + R"(,"dur":)" + std::to_string(dur_us) + R"(,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)" +
         std::to_string(kernel_us + 500) + R"(,"dur":)" + std::to_string(dur_us) +
         R"(,"args":{"device":0,"stream":7}}]})";
}

}  // namespace

TEST_CASE("a search steps from match to match by button and by key, and round the end") {
  ViewerInUse v(app::Json{{"sample", "none"}, {"search", "NCCL"}});
  CHECK(v.out("matches") == 40);  // the call and the kernel of 5 buckets in 4 steps
  v.d.ui.click("Next match");
  v.d.ui.frames(2);
  CHECK(v.d.ui.text_present("1 of 40 matches"));
  const double first_s = v.middle_s();
  v.d.ui.key(ImGuiKey_N);
  v.d.ui.frames(2);
  CHECK(v.d.ui.text_present("2 of 40 matches"));
  CHECK(v.middle_s() > first_s);
  v.d.ui.key(ImGuiKey_N, ImGuiMod_Shift);
  v.d.ui.key(ImGuiKey_N, ImGuiMod_Shift);
  v.d.ui.frames(2);
  CHECK(v.d.ui.text_present("40 of 40 matches"));
  CHECK(v.middle_s() > first_s);
}

TEST_CASE("the next gap is shown by button and by key, in order of time") {
  ViewerInUse v(app::Json{{"sample", "hidden_sync"}});
  std::vector<double> seen;
  for (int i = 0; i < 4; ++i) {
    if (i == 0)
      v.d.ui.click("Next gap");
    else
      v.d.ui.key(ImGuiKey_G);
    v.d.ui.frames(2);
    seen.push_back(v.middle_s());
    CHECK(v.view("duration_s") < 0.01);
  }
  for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i] > seen[i - 1]);
}

TEST_CASE("a part marked by shift-drag is measured, and Escape lets go of it") {
  ViewerInUse v(app::Json{{"sample", "hidden_sync"}});
  const ImVec2 from = v.d.ui.point_in("timeline", {0.3f, 0.5f}), to = v.d.ui.point_in("timeline", {0.8f, 0.5f});
  v.d.ui.move_to(from);
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, true);
  v.d.ui.frames(1);
  v.d.ui.press();
  v.d.ui.move_to(to);
  v.d.ui.release();
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, false);
  REQUIRE(v.d.settle());  // it is measured in a job
  const std::string text = v.d.ui.all_text();
  const auto at = text.find("Selected ");
  REQUIRE(at != std::string::npos);
  CHECK(text.find(" tasks on the device, busy ", at) != std::string::npos);
  CHECK(text.find("exposed", at) != std::string::npos);
}

TEST_CASE("a press in the rank heat map chooses that rank and step, counted from 1 as the input counts") {
  ViewerInUse v(app::Json{{"sample", "straggler"}});
  v.d.ui.click_at(v.d.ui.point_in("ranks", {0.45f, 0.55f}));
  REQUIRE(v.d.settle());
  const double rank = v.d.input("device").number(), step = v.d.input("step").number();
  CHECK(rank >= 1);
  CHECK(rank <= 2);
  CHECK(step >= 2);
  CHECK(step <= 3);
  CHECK(std::abs(v.out("span_s") - v.out("step_time_s")) <= 1e-9);
}

TEST_CASE("the map of waits has the culprit's cost above 0 and what the others waited below") {
  ViewerInUse v(app::Json{{"sample", "straggler"}});
  CHECK(v.d.ui.text_present("Who waits for whom"));
  CHECK(v.d.ui.text_present("arrives last: costs the others"));
  bool found = false;
  for (const auto& table : v.d.ui.record().tables) {
    if (table.name != "waits") continue;
    found = true;
    REQUIRE(table.rows.size() == 4);
    REQUIRE(table.columns.size() == 21);
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < 4; ++r) {
        const double cell = std::stod(table.rows[r][c]);
        sum += cell;
        CHECK((r == 2 ? cell > 0 : cell < 0));
      }
      CHECK(std::abs(sum) <= 1e-9);  // what it costs is what the others wait
    }
  }
  CHECK(found);
}

TEST_CASE("a row of the kernels shows its longest run, a row of the host's calls the longest wait in it") {
  ViewerInUse v(app::Json{{"sample", "hidden_sync"}});
  v.d.ui.click("log_metrics");
  v.d.ui.frames(3);
  CHECK(v.view("duration_s") > 2.5e-3);  // 2.9 ms with room around them
  CHECK(v.view("duration_s") < 1e-2);
  v.d.ui.click("flash_fwd_kernel");
  v.d.ui.frames(3);
  CHECK(v.view("duration_s") < 1e-3);  // a kernel of 0.3 ms
}

TEST_CASE("kernels of two recordings stand side by side by name, over as many steps") {
  const support::Folder folder;
  folder.write("a.json", models::sample_traces({
                                                   .fault = models::SampleFault::none,
                                                   .ranks = 1,
                                                   .steps = 4,
                                                   .layers = 2,
                                               })
                             .front());
  folder.write("b.json", models::sample_traces({
                                                   .fault = models::SampleFault::none,
                                                   .ranks = 1,
                                                   .steps = 2,
                                                   .layers = 2,
                                               })
                             .front());
  ViewerInUse v(app::Json{{"file", (folder / "a.json").string()}, {"beside_file", (folder / "b.json").string()}});
  REQUIRE(v.d.workspace.lab().reason() == "");
  const app::Json rows = app::evaluation_to_json(v.d.workspace.lab())["outputs"]["kernels"];
  REQUIRE(rows.size() > 5);
  for (const auto& row : rows) {
    INFO(row["name"]);
    const double total = row["total_s"], beside = row["beside_s"];
    CHECK(std::abs(total - beside) <=
          0.1 * total);  // half the steps, counted double: the same but for the scatter of each run
    CHECK(std::abs(row["saved_s"].get<double>() - (total - beside)) <= 1e-12);
  }
}

TEST_CASE("ranks with clocks of their own are put on one by their base time, and their files may be bad one by one") {
  const support::Folder folder;
  folder.write("r0.json", rank_file(0, 1'700'000'000'000'000'000, 100, 50));
  folder.write("r1.json", rank_file(1, 1'700'000'000'000'200'000, 100, 100));  // its clock began 200 us later
  folder.write("bad.json", "{\"cells\": []}");
  const auto row = [&](const char* name) { return app::Json{{"file", (folder / name).string()}}; };
  ViewerInUse v(app::Json{
      {"file", (folder / "r0.json").string()}, {"ranks", {row("r1.json"), row("bad.json")}}, {"all_ranks", true}});
  REQUIRE(v.d.workspace.lab().reason() == "");
  CHECK(v.out("devices") == 2);
  CHECK(v.out("slowest_rank") == 1);
  CHECK(v.d.output("losses").text().find(
            "Row 2 of the ranks is left out: bad.json: This JSON has no \"traceEvents\"") != std::string::npos);
  const auto record = v.d.ui.record();
  std::vector<double> starts;
  for (const auto& table : record.tables)
    if (table.columns.size() == 5 && table.columns[3] == "start (s)")
      for (const auto& cells : table.rows)
        if (cells[2] == "gemm") starts.push_back(std::stod(cells[3]));
  REQUIRE(starts.size() == 4);
  std::sort(starts.begin(), starts.end());
  CHECK(std::abs(starts[1] - starts[0] - 200e-6) <= 1e-9);  // 100 us after 0 and after 200 us
}

TEST_CASE(
    "all ranks: their streams stand under each other, above the threads of a deep stack, and a search still finds its "
    "spans") {
  const support::Folder folder;
  std::string deep = rank_file(0, 0, 100, 50);
  std::string stack;
  for (int i = 0; i < 12; ++i)
    stack += R"({"ph":"X","cat":"cpu_op","name":"op )" + std::to_string(i) + R"(","pid":1,"tid":1,"ts":)" +
             std::to_string(i) + R"(,"dur":)" + std::to_string(400 - 2 * i) + "},";
  deep.insert(deep.find("[\n") + 1, stack);
  folder.write("r0.json", deep);
  folder.write("r1.json", rank_file(1, 0, 120, 50));
  ViewerInUse v(app::Json{{"file", (folder / "r0.json").string()},
                          {"ranks", {{{"file", (folder / "r1.json").string()}}}},
                          {"all_ranks", true},
                          {"search", "op 3"}});
  std::vector<std::string> spans;  // lane after lane
  for (const auto& table : v.d.ui.record().tables)
    if (table.columns.size() == 5 && table.columns[3] == "start (s)")
      for (const auto& cells : table.rows) spans.push_back(cells[0] + ": " + cells[2]);
  REQUIRE(spans.size() >= 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(spans[i] == "stream 7: gemm");  // two of each rank
  // The gaps of the first rank's device stand under the streams, the threads under them.
  CHECK(spans[4].starts_with("device idle: "));
  const auto thread = std::find(spans.begin(), spans.end(), "thread 1: op 0");
  REQUIRE(thread != spans.end());
  CHECK(std::all_of(spans.begin() + 4, thread, [](const std::string& s) { return s.starts_with("device idle: "); }));
  v.d.ui.click("Next match");
  v.d.ui.frames(2);
  CHECK(v.d.ui.text_present("1 of 1 match"));
  CHECK(std::abs(v.view("start_s") + 0.6 / 2.2 * v.view("duration_s") - 3e-6) <=
        1e-9);  // shown from its start, with room around it
}

TEST_CASE("two runs: streams of one kind stand under each other, above the threads of both") {
  ViewerInUse v(app::Json{{"sample", "hidden_sync"}, {"beside", "healthy"}, {"step", 2}});
  std::vector<std::string> lanes;
  for (const auto& table : v.d.ui.record().tables)
    if (table.columns.size() == 5 && table.columns[3] == "start (s)")
      for (const auto& cells : table.rows)
        if (lanes.empty() || lanes.back() != cells[0]) lanes.push_back(cells[0]);
  // Each name stands for the streams of both runs, which follow each other.
  REQUIRE(lanes.size() >= 4);
  CHECK(lanes[0] == "stream 7");
  CHECK(lanes[1] == "stream 20");
  CHECK(lanes[2] == "stream 24");
  CHECK(lanes[3] == "device idle");
}

TEST_CASE("of one recording what answers comes first: the stream that computes, its gaps, the thread that launches") {
  ViewerInUse v(app::Json{{"sample", "hidden_sync"}});
  std::vector<std::string> lanes;
  for (const auto& table : v.d.ui.record().tables)
    if (table.columns.size() == 5 && table.columns[3] == "start (s)")
      for (const auto& cells : table.rows)
        if (lanes.empty() || lanes.back() != cells[0]) lanes.push_back(cells[0]);
  REQUIRE(lanes.size() >= 3);
  CHECK(lanes[0] == "stream 7");
  CHECK(lanes[1] == "device idle");
  CHECK(lanes[2] == "main thread");
}

TEST_CASE("a finding's card says what it costs in all and of what it is a share") {
  ViewerInUse v(app::Json{{"sample", "data_starved"}});
  CHECK(v.d.ui.text_present("The data loader is late"));
  CHECK(v.d.ui.text_present("21.1 ms"));  // all four waits together, not the longest of them
  CHECK(v.d.ui.text_present("100 % of host waits"));
  CHECK(v.d.ui.text_present("19.3 % of 112 ms"));
}

TEST_CASE("a rank given twice is left out with a sentence; one that computes longer stands behind what costs more") {
  const support::Folder folder;
  folder.write("r0.json", rank_file(0, 0, 100, 50));
  folder.write("r1.json", rank_file(1, 0, 100, 100));
  const auto row = [&](const char* name) { return app::Json{{"file", (folder / name).string()}}; };
  ViewerInUse v(app::Json{{"file", (folder / "r0.json").string()}, {"ranks", {row("r1.json"), row("r1.json")}}});
  CHECK(v.d.output("losses").text().find("r1.json was given twice; the second is left out.") != std::string::npos);
  CHECK(v.out("devices") == 2);
  const app::Json findings = app::evaluation_to_json(v.d.workspace.lab())["outputs"]["findings"];
  REQUIRE(findings.size() >= 2);
  // Rank 0 is idle for 450 of 550 us; rank 1 computes for 200 us where rank 0 does for 100.
  CHECK(findings[0]["title"] == "The device is idle");
  CHECK(findings[1]["title"] == "Rank 1 computes longer");
  CHECK(v.d.ui.text_present("Rank 1 computes 100 % longer than rank 0"));
}

TEST_CASE("recordings of jobs of different size stand side by side in the lab") {
  const support::Folder folder;
  folder.write("r0.json", rank_file(0, 0, 100, 50));
  std::string other = rank_file(1, 0, 100, 100);
  other.replace(other.find("\"world_size\": 2"), 15, "\"world_size\": 4");
  folder.write("r1.json", other);
  ViewerInUse v(
      app::Json{{"file", (folder / "r0.json").string()}, {"ranks", {{{"file", (folder / "r1.json").string()}}}}});
  CHECK(v.d.output("diagnosis")
            .text()
            .starts_with("These recordings are not of one job: rank 0 of 2, rank 1 of 4; they stand side by side."));
  CHECK(std::isnan(v.out("slowest_rank")));
  CHECK(v.d.output("diagnosis").text().find("computes") == std::string::npos);
}

TEST_CASE("with a step chosen the panel says that the findings are about the whole recording") {
  ViewerInUse v(app::Json{{"sample", "hidden_sync"}, {"step", 2}});
  CHECK(v.d.ui.text_present("Diagnosis of the whole recording"));
  ViewerInUse all(app::Json{{"sample", "hidden_sync"}});
  CHECK_FALSE(all.d.ui.text_present("Diagnosis of the whole recording"));
}

TEST_CASE("a recording without a device is told in sentences, without figures, bars or a map that nobody measured") {
  const support::Folder folder;
  folder.write("host.json", R"({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":500},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":600,"dur":200}]})");
  ViewerInUse v(app::Json{{"file", (folder / "host.json").string()}});
  CHECK(v.d.workspace.lab().answer() ==
        "No row was recognised as a device in `2` events: its rows are shown as they are.\nThe largest part of the "
        "threads' time, `71.4 %`, is in aten::mm itself.");
  CHECK(std::isnan(v.out("busy_share")));
  CHECK(std::isnan(v.out("step_time_s")));
  for (const char* absent : {"queue_longest", "launch_delay_median_s", "host_wait_s", "streams_idle_s", "slowest_rank",
                             "late_rank", "matches", "idle_host_share", "exposed_communication_s"}) {
    INFO(absent);
    CHECK(std::isnan(v.out(absent)));
  }
  // Panels of a device are not there; the busiest thread and the top spans by their own time are.
  CHECK_FALSE(v.d.ui.text_present("Where the time went"));
  CHECK_FALSE(v.d.ui.text_present("Ranks and steps"));
  CHECK(v.d.ui.text_present("Top spans"));
  CHECK(v.d.ui.text_present("thread 1"));
  bool overview = false;
  for (const auto& table : v.d.ui.record().tables) {
    CHECK(table.name != "ranks");
    CHECK(table.name != "breakdown");
    if (table.name != "overview") continue;
    overview = true;
    // 500 us, a pause of 90 and 200 us: of 240 parts the first is full, the one at 550 us empty.
    CHECK(std::abs(std::stod(table.rows.at(0).at(1)) - 1) <= 1e-9);
    CHECK(std::stod(table.rows.at(166).at(1)) == 0);
  }
  CHECK(overview);
  v.d.ui.click("aten::add");
  v.d.ui.frames(3);
  CHECK(std::abs(v.view("duration_s") - 2.2 * 200e-6) <= 1e-9);
}

// The timeline stands behind the panel in front; it is where the chosen step is all the same, and so it is kept.
TEST_CASE("a step chosen while another panel is in front is gone to") {
  ViewerInUse v(app::Json{{"sample", "hidden_sync"}, {"step", 1}});
  const double start_s = v.view("start_s");
  v.d.shell.drawer_open = false;
  v.d.ui.resize({1280, 800});
  v.d.ui.frames(3);
  v.d.ui.click("Where the time went");
  v.d.ui.frames(3);
  v.d.input("step").set_number(3);
  REQUIRE(v.d.settle());
  v.d.ui.frames(3);
  REQUIRE_FALSE(v.d.ui.has("Next gap"));
  CHECK(v.view("asked_start_s") > start_s);
  CHECK(v.view("start_s") > start_s);
}
