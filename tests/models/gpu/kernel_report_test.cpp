#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/gpu/counters/kernel_report_file.h"
#include "models/gpu/counters/kernel_verdict.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models::gpu;
using support::near;

namespace {

std::string report_text(const std::string& name) {
  return support::read_text(support::data_file("kernel_reports/" + name));
}

KernelReports read(const std::string& name) {
  auto out = read_kernel_reports(report_text(name));
  INFO(name << ": " << out.error);
  REQUIRE(out);
  return std::move(*out);
}

}  // namespace

// The figures of the T4's register-tiled SGEMM, written in the form in which each tool prints them.
TEST_CASE("kernel reports: text of Nsight Compute, two kernels, new and old labels") {
  const KernelReports out = read("details.txt");
  REQUIRE(out.kernels.size() == 2);
  const KernelReport& r = out.kernels[0];
  CHECK(r.kernel == "register_tiled(const float *, const float *, float *, int)");
  CHECK(r[Figure::grid_blocks] == 1024);
  CHECK(r[Figure::block_threads] == 256);
  CHECK(r[Figure::compute_capability] == 75);
  CHECK(r[Figure::sm_pct] == 47.15);
  CHECK(r[Figure::memory_pct] == 48.97);  // not the other Memory Throughput, in bytes a second
  CHECK(near(r[Figure::dram_bytes_per_s], 68.68e9, 1e-9));
  CHECK(near(r[Figure::duration_s], 0.01229, 1e-9));
  CHECK(near(r[Figure::sm_hz], 584.94e6, 1e-9));
  CHECK(near(r[Figure::shared_static_bytes], 32770, 1e-9));
  CHECK(r[Figure::sm_count] == 40);
  CHECK(r[Figure::limit_shared] == 2);
  REQUIRE(r.stalls.size() == 1);
  CHECK(r.stalls[0].reason == StallReason::mio_throttle);
  CHECK(r.stalls[0].cycles == 6.0);
  CHECK(r.stalls[0].share_pct == 49.1);
  CHECK(r.printed_verdict == SolVerdict::latency);
  CHECK_FALSE(r.has(Figure::tensor_pipe_pct));  // not printed, which is not 0
  bool conflict = false;
  for (const ToolRule& rule : r.rules)
    conflict |= rule.rule == "bank_conflicts_shared_store" && rule.value == 2.1 && rule.estimate_pct == 51.28;
  CHECK(conflict);
  const Diagnosis d = diagnose(r);
  CHECK(d.verdict == SolVerdict::latency);
  CHECK(d.bound == KernelClass::latency);
  CHECK(d.cause == Cause::mio_queue);
  const ReportIdentities also = report_identities(r);
  CHECK(near(also.waves, 12.8, 1e-9));
  CHECK(near(also.theoretical_occupancy_pct, 50, 1e-9));
  CHECK(near(also.elapsed_cycles, r[Figure::elapsed_cycles], 0.01));

  const KernelReport& old = out.kernels[1];
  CHECK(old.kernel == "row_sums(float *, float *, int)");
  CHECK(old[Figure::memory_pct] == 59.11);
  CHECK(old[Figure::sm_pct] == 2.08);
  CHECK(near(old[Figure::duration_s], 3.84e-3, 1e-9));
  CHECK_FALSE(old.has(Figure::sm_count));
}

TEST_CASE("kernel reports: the same kernel as CSV of the details page and of the raw page") {
  const KernelReports details = read("details.csv");
  REQUIRE(details.kernels.size() == 2);
  CHECK(details.kernels[0].kernel == "register_tiled(const float *, int)");
  CHECK(details.kernels[0][Figure::elapsed_cycles] == 7187283);
  CHECK(details.kernels[0].stalls.at(0).reason == StallReason::mio_throttle);
  CHECK(diagnose(details.kernels[0]).cause == Cause::mio_queue);
  CHECK(diagnose(details.kernels[1]).bound == KernelClass::launch);
  const KernelReports raw = read("raw.csv");
  REQUIRE(raw.kernels.size() == 1);
  const KernelReport& r = raw.kernels[0];
  CHECK(r.chip == "Tesla T4");
  CHECK(near(r[Figure::duration_s], 0.01229, 1e-9));
  CHECK(near(report_identities(r).waves, 12.8, 1e-9));
  REQUIRE(top_stall(r));
  CHECK(top_stall(r)->reason == StallReason::mio_throttle);
  CHECK(near(stall_share_pct(r, *top_stall(r)), 49.06, 1e-3));
  CHECK(diagnose(r).cause == Cause::mio_queue);
}

TEST_CASE("kernel reports: tables of rocprof-compute, drawn and as CSV") {
  const KernelReport lds = read("rocprof.txt").kernels.at(0);
  CHECK(lds.amd);
  CHECK(lds.kernel == "yax(double*, double*) [clone .kd]");
  CHECK(near(lds[Figure::duration_s], 0.176224652, 1e-9));
  CHECK(lds[Figure::wavefront_occupancy_pct] == 3.1);
  CHECK(lds[Figure::insufficient_lds_pct] == 79.01);
  CHECK(diagnose(lds).cause == Cause::occupancy_shared);
  CHECK(diagnose(lds).verdict == SolVerdict::undecided);
  const KernelReport strided = read("rocprof.csv").kernels.at(0);
  CHECK(strided[Figure::l2_utilization_pct] == 98.66);
  CHECK(near(strided[Figure::fabric_read_bytes_per_s], 125.05e9, 1e-9));
  CHECK(diagnose(strided).cause == Cause::uncoalesced);
}

TEST_CASE("kernel reports: JSON, one or a list; what says nothing is counted and left out") {
  const KernelReports list = read("list.json");
  CHECK(list.kernels.size() == 2);
  CHECK(list.left_out == 1);
  CHECK(diagnose(list.kernels[0]).cause == Cause::long_scoreboard);
  CHECK(diagnose(list.kernels[1]).bound == KernelClass::launch);
  CHECK_FALSE(list.kernels[0].has(Figure::l1_pct));
}

TEST_CASE("kernel reports: what is none is refused with one sentence that says what to do") {
  for (const std::string& text :
       {std::string("NVR\0\1\2", 6), std::string("dear diary"), std::string(), std::string("{\"report\": 7}"),
        std::string("{\"report\": {"), std::string(100, '[') + "\"report\"", std::string("\"Kernel Name\",\"a__b\"\n"),
        std::string("Section: Occupancy\n nothing\n"), std::string("\xFF\xFE\0S", 4)}) {
    const auto out = read_kernel_reports(text);
    REQUIRE_FALSE(out);
    CHECK(out.error.ends_with('.'));
    CHECK(out.error.find('\n') == std::string::npos);
  }
  CHECK(read_kernel_reports(std::string("NVR\0", 4)).error.find("ncu --import FILE --page details") !=
        std::string::npos);
}

TEST_CASE("kernel reports: cut at every byte, each is read or refused") {
  for (const char* name : {"details.txt", "details.csv", "raw.csv", "rocprof.txt", "rocprof.csv", "list.json"}) {
    const std::string whole = report_text(name);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const auto out = read_kernel_reports(std::string_view(whole).substr(0, n));
      if (out) {
        for (const KernelReport& r : out->kernels) diagnose(r);
      } else if (out.error.empty() || out.error.back() != '.') {
        FAIL(name << " cut at " << n);
      }
    }
  }
}

TEST_CASE("kernel reports: hostile sizes stay bounded") {
  std::string many = "[";
  for (int i = 0; i < 6000; ++i) many += R"({"kernel":"k","tool":"ncu","report":{"sm_pct":1,"memory_pct":2}},)";
  many.back() = ']';
  const auto out = read_kernel_reports(many);
  REQUIRE(out);
  CHECK(out->kernels.size() == max_report_kernels);
  CHECK(out->left_out == 6000 - max_report_kernels);
  std::string wide = "\"Kernel Name\"";
  for (int i = 0; i < 20000; ++i) wide += ",\"m__" + std::to_string(i) + "\"";
  CHECK_FALSE(read_kernel_reports(wide + "\n"));
}
