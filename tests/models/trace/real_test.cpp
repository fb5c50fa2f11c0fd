#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "models/trace/measure/metrics.h"
#include "tests/models/trace/files.h"
#include "tests/support/base/effort.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using namespace models::trace;
using nlohmann::json;
using trace_test::real_traces;

// Expected: tests/data/trace_figures.json, found by an independent reader (exact rules: integer nanoseconds, every
// event).
namespace {

void check_idle(const Idle& idle, const json& expected) {
  CHECK(idle.host_wait_ns == expected["host_wait"]);
  CHECK(idle.kernel_wait_ns == expected["kernel_wait"]);
  CHECK(idle.other_ns == expected["other"]);
  CHECK(idle.gaps == expected["n_gaps"]);
}

void check_device(const Trace& trace, const DeviceMetrics& d, const json& g) {
  CHECK(d.events == g["n"]);
  CHECK(d.computations == g["n_by_type"].value("comp", 0));
  CHECK(d.communications == g["n_by_type"].value("comm", 0));
  CHECK(d.memories == g["n_by_type"].value("mem", 0));
  CHECK(d.span_ns == g["span_ns"]);
  CHECK(d.busy_ns == g["busy_ns"]);
  CHECK(d.idle_ns == g["idle_ns"]);
  CHECK(d.comp_ns == g["comp_ns"]);
  CHECK(d.comm_ns == g["comm_ns"]);
  CHECK(d.mem_ns == g["mem_ns"]);
  CHECK(d.comp_and_comm_ns == g["comp_and_comm_ns"]);
  if (g.contains("exposed_comm_ns")) CHECK(d.exposed_comm_ns == g["exposed_comm_ns"]);
  if (g["overlap_pct_of_comm"].is_null())
    CHECK(d.overlap_pct_of_comm == -1);
  else
    CHECK(d.overlap_pct_of_comm == Catch::Approx(g["overlap_pct_of_comm"].get<double>()).margin(6e-5));
  if (g.contains("busy_kernels_only_ns")) CHECK(d.busy_kernels_only_ns == g["busy_kernels_only_ns"]);
  if (g.contains("n_busy_intervals")) CHECK(d.busy_intervals == g["n_busy_intervals"]);
  if (g.contains("n_kernel_names")) CHECK(static_cast<int>(d.kernels.size()) == g["n_kernel_names"]);
  if (g.contains("streams")) CHECK(d.streams.size() == g["streams"].size());
  for (std::size_t i = 0; i < g["top10_kernels"].size(); ++i) {
    const json& k = g["top10_kernels"][i];
    REQUIRE(i < d.kernels.size());
    CHECK(d.kernels[i].total_ns == k["total_ns"]);
    if (i > 0 && d.kernels[i].total_ns == d.kernels[i - 1].total_ns)
      continue;  // which of two equal ones comes first is nobody's fact
    if (i + 1 < d.kernels.size() && d.kernels[i].total_ns == d.kernels[i + 1].total_ns) continue;
    CHECK(d.kernels[i].count == k["count"]);
    CHECK(trace.strings[d.kernels[i].name].substr(0, 40) == k["name"]);
  }
  check_idle(d.idle, g["idle_device_level"]);
  for (const auto& s : d.streams) {
    const std::string stream = std::to_string(s.stream);
    INFO("stream " << stream);
    if (g.contains("idle_by_stream")) check_idle(s.idle, g["idle_by_stream"].at(stream));
    const json& q = g["queue_by_stream"];
    if (!q.contains(stream)) {
      CHECK(s.linked == 0);
      continue;
    }
    CHECK(s.queue_max == q[stream]["max"]);
    CHECK(s.queue_min == q[stream].value("min", 0));
    CHECK(s.linked == q[stream]["linked"]);
  }
}

void check_counts(const Trace& t, const json& x) {
  CHECK(t.records == x["n_events"]);
  for (const auto& [ph, n] : x["by_ph"].items()) CHECK(t.phase_counts[static_cast<std::size_t>(ph[0])] == n);
  for (const auto& [cat, n] : x["by_cat"].items()) {
    std::int64_t count = cat == "None" ? t.uncategorised : 0;
    for (std::size_t i = 0; i < t.categories.size(); ++i)
      if (t.categories[i] == cat) count = t.category_counts[i];
    INFO(cat);
    CHECK(count == n);
  }
  const Shape s = shape(t);
  CHECK(s.spans == x["n_X"]);
  CHECK(t.out_of_order == x["X_with_start_before_previous_in_file"]);
  CHECK(s.zero_duration == x["zero_dur"]);
  CHECK(t.first_ns == x["first_start_ns"]);
  CHECK(t.last_ns == x["last_end_ns"]);
  CHECK(s.rows == x["n_rows_pid_tid"]);
  CHECK(s.deepest == x["max_nesting_depth"]);
  CHECK(s.partial_overlaps == x["partially_overlapping_X"]);
  CHECK(s.flow_ids == x["flow_ids"]);
  CHECK(s.flow_both_ends == x["flow_ids_with_both_ends"]);
  CHECK(s.flow_end_only == x["flow_ids_end_only"]);
  for (const auto& [key, m] : x["memory"].items()) {
    INFO(key);
    bool found = false;
    for (const MemoryRecord& r : t.memory) {
      if ("type" + std::to_string(r.device_type) + "_dev" + std::to_string(r.device_id) != key) continue;
      found = true;
      CHECK(r.records == m["n"]);
      CHECK(r.sum_bytes == m["sum_bytes"]);
      CHECK(r.allocations == m["allocs"]);
      CHECK(r.frees == m["frees"]);
      CHECK(r.max_bytes == m["running_sum_max"]);
      CHECK(r.min_bytes == m["running_sum_min"]);
      CHECK(r.max_allocated_bytes ==
            (m["total_allocated_max"].is_null() ? -1 : m["total_allocated_max"].get<std::int64_t>()));
      CHECK(r.max_reserved_bytes ==
            (m["total_reserved_max"].is_null() ? -1 : m["total_reserved_max"].get<std::int64_t>()));
    }
    CHECK(found);
  }
}

void check_launch(const LaunchMetrics& l, const json& x) {
  CHECK(l.linked == x["linked"]);
  CHECK(l.unlinked == x["unlinked_gpu"]);
  CHECK(l.shorter_than_launch == x["short_gpu_lt_cpu"]);
  CHECK(l.calls_over_50_us == x["runtime_outliers_gt50us"]);
  CHECK(l.delays_over_100_us == x["delay_outliers_gt100us"]);
  CHECK(l.before_launch_ends == x["gpu_starts_before_launch_ends"]);
  CHECK(l.before_launch_starts == x["gpu_starts_before_launch_starts"]);
  if (x.contains("delay_ns_median")) CHECK(l.median_delay_ns == x["delay_ns_median"]);
  if (x.contains("delay_ns_max")) CHECK(l.max_delay_ns == x["delay_ns_max"]);
}

void check_trace(const Trace& trace, const json& expected) {
  const bool sqlite = expected["kind"] == "nsys_sqlite";
  const Metrics m = measure(trace);
  const json& gpu = sqlite ? expected["gpu"] : expected["exact"]["gpu"];
  CHECK(m.devices.size() == gpu.size());
  for (const DeviceMetrics& d : m.devices) {
    INFO("device " << d.device);
    REQUIRE(gpu.contains(std::to_string(d.device)));
    check_device(trace, d, gpu[std::to_string(d.device)]);
    if (sqlite) CHECK(d.launch.linked == gpu[std::to_string(d.device)]["linked_to_runtime"]);
  }
  if (!sqlite) check_launch(m.launch, expected["exact"]["launch"]);
}

}  // namespace

TEST_CASE("every exact figure of the real traces", "[trace]") {
  const auto folder = real_traces();
  if (folder.empty()) SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  const json all = json::parse(support::read_text(std::filesystem::path(support::data_file("trace_figures.json"))));
  for (const auto& [name, expected] : all.items()) {
    if (!std::filesystem::exists(folder / name)) continue;
    // Under sanitizers the recordings below a megabyte: the large ones hold more of the same.
    if (support::sanitized() && !support::full() && std::filesystem::file_size(folder / name) > 1'000'000) continue;
    DYNAMIC_SECTION(name) {
      auto read = read_trace(support::read_text(folder / name), name);
      if (!expected.contains("exact") && !expected.contains("gpu")) {
        CHECK_FALSE(read);
        CHECK(read.error.find(std::to_string(expected["rows"].get<int>()) + " values, not of trace events") !=
              std::string::npos);
        continue;
      }
      INFO(read.error);
      REQUIRE(read);
      CHECK(read->losses.empty());
      if (expected.contains("exact")) {
        CHECK(read->text->size() == expected["json_bytes"]);
        CHECK(read->rank == (expected["rank"].is_null() ? -1 : expected["rank"].get<int>()));
        CHECK(read->world_size == (expected["world_size"].is_null() ? -1 : expected["world_size"].get<int>()));
        CHECK(read->backend == (expected["backend"].is_null() ? "" : expected["backend"].get<std::string>()));
        if (!expected["device_name"].is_null()) CHECK(read->device_names.at(0) == expected["device_name"]);
        CHECK(read->base_ns == (expected["base_ns"].is_null() ? 0 : expected["base_ns"].get<std::int64_t>()));
        check_counts(*read, expected["exact"]);
      }
      check_trace(*read, expected);
      const auto again = read_trace(to_chrome_json(*read).value.value(), "exported");
      INFO("exported and opened again: " << again.error);
      REQUIRE(again);
      CHECK(again->losses.empty());
      check_trace(*again, expected);
    }
  }
}
