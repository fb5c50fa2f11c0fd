#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "models/trace/cases/case.h"
#include "models/trace/cases/detect.h"
#include "models/trace/cases/recording.h"
#include "models/trace/writers/extract.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"

// An extract keeps what the diagnosis reads, to the nanosecond, and hands on nothing else.

using namespace models::trace;
using namespace trace_test;

namespace {

JobDiagnosis found_in(const std::vector<Trace>& traces) {
  std::vector<const Trace*> ranks;
  for (const Trace& t : traces) ranks.push_back(&t);
  return diagnose_job(ranks);
}

std::string written_extract(const Trace& trace, const ExtractWindow& window = {}) {
  const auto extract = diagnosis_extract(trace, window);
  INFO(extract.error);
  REQUIRE(extract);
  auto text = to_chrome_json(*extract);
  REQUIRE(text);
  return *text;
}

/// What was found in recordings, and in their extracts once these were written and opened again.
void check_same_diagnosis(const std::vector<Trace>& whole) {
  std::vector<Trace> parts;
  for (const Trace& t : whole) parts.push_back(opened_made(written_extract(t)));
  const JobDiagnosis a = found_in(whole), b = found_in(parts);
  CHECK(a.cause == b.cause);
  CHECK(a.row == b.row);
  CHECK(a.length_ns == b.length_ns);
  CHECK(a.idle_ns == b.idle_ns);
  CHECK(a.explained_ns == b.explained_ns);
  for (std::size_t c = 1; c < cause_count; ++c) {
    const Witness &in_whole = a.witnesses[c], &in_part = b.witnesses[c];
    CHECK(in_whole.cost_ns == in_part.cost_ns);
    CHECK(in_whole.row == in_part.row);
    if (in_whole.event == none) continue;
    const Trace &t = whole[static_cast<std::size_t>(in_whole.event_row)],
                &p = parts[static_cast<std::size_t>(in_part.event_row)];
    CHECK(t.name(t.events[in_whole.event]) == p.name(p.events[in_part.event]));
  }
}

}  // namespace

TEST_CASE("the extract of a recording reads back to the same diagnosis, of one rank and of several") {
  for (const std::uint64_t seed : {17u, 11u, 43u}) {
    const Case c = Case::of({.seed = seed});
    check_same_diagnosis(record_case(c.job(), c.times(), false).ranks);
  }
  std::vector<Trace> small;
  small.push_back(opened_trace(own_trace("small.json")));
  check_same_diagnosis(small);
}

TEST_CASE("an extract hands on no stacks, paths, shapes, or names of processes and threads") {
  const std::string text = made_recording(
      {R"({"ph":"M","name":"process_name","pid":9,"tid":1,"args":{"name":"python on secret-host"}})",
       R"({"ph":"M","name":"thread_name","pid":9,"tid":1,"args":{"name":"secret thread"}})",
       made_span("cpu_op", "aten::mul", 9, 1, 0, 20, R"x("Input Dims":[[7777]],"Call stack":"secret.py(12)")x"),
       made_span("user_annotation", "run /home/secret/train.py with a/b", 9, 1, 1, 18, ""),
       made_span("python_function", "secret.py(3): main", 9, 1, 0, 30, ""), made_call(2, 5, 1),
       made_kernel("mul_kernel", 9, 10, 1, R"(,"grid":[1234,1,1])"),
       made_span("kernel", "ncclKernel_AllReduce", 0, 8, 20, 5,
                 R"("device":0,"stream":8,"Process Group Name":"tp","Seq":4,"Rank":"secret")"),
       made_span("cpu_op", "aten::elsewhere", 9, 2, 0, 5, "")},
      R"("traceName": "/tmp/secret/t.json", "host_name": "secret", )");
  const std::string extract = written_extract(opened_made(text));
  for (const char* lost : {"secret", "7777", "1234", "elsewhere", "stack", "python"}) {
    INFO(lost);
    CHECK(extract.find(lost) == std::string::npos);
  }
  for (const char* kept : {"\"run train.py with a/b\"", "\"mul_kernel\"", "\"Process Group Name\": \"tp\"",
                           "\"Seq\": 4", "\"thread 1\"", "\"stream\": 8"}) {
    INFO(kept);
    CHECK(extract.find(kept) != std::string::npos);
  }
}

TEST_CASE("a window keeps what was launched in it, and refuses where no device worked") {
  std::vector<std::string> events;
  for (int i = 0; i < 6; ++i) {
    events.push_back(made_call(100 * i, 5, i + 1));
    events.push_back(made_kernel("k" + std::to_string(i), 100 * i + 250, 40, i + 1));
  }
  const Trace whole = opened_made(made_recording(events, R"("baseTimeNanoseconds": 5000, )"));
  const auto part = diagnosis_extract(whole, {.from_ns = 200'000, .to_ns = 400'000});
  REQUIRE(part);
  CHECK(part->events.size() == 4);
  CHECK(part->base_ns == 205'000);  // what the times lose, the base gains
  CHECK(part->first_ns == 0);
  CHECK(part->last_ns == 390'000);
  const auto nothing = diagnosis_extract(whole, {.from_ns = 10'000'000});
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error.find("No work of a device") != std::string::npos);
}

TEST_CASE("a recording whose extract would be diagnosed otherwise is refused") {
  // A pipeline's spans and kernels of another recording in one file, as a fuzzer mixed them.
  const auto mixed =
      read_trace(support::read_text(support::source_file("tests/fuzz/corpus/trace_json/launches_of_other_work.json")),
                 "mixed.json");
  REQUIRE(mixed);
  const auto extract = diagnosis_extract(*mixed);
  REQUIRE_FALSE(extract);
  CHECK(extract.error.find("diagnosed otherwise") != std::string::npos);
  CHECK(diagnosis_extract(*mixed, {.from_ns = 1}));  // a part of it has no whole to agree with
}

TEST_CASE("extracts of real recordings have the diagnosis of the whole", "[trace]") {
  const auto folder = real_traces();
  if (folder.empty()) SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  for (const char* name : {"mi300_norm_test_slow_first_launch", "h100_timesformer_healthy"}) {
    INFO(name);
    std::vector<Trace> one;
    one.push_back(opened_trace(support::read_text(folder / (std::string(name) + ".json.gz"))));
    check_same_diagnosis(one);
  }
  std::vector<Trace> ranks;
  for (int r = 0; r < 8; ++r)
    ranks.push_back(
        opened_trace(support::read_text(folder / ("ranks/dlrm_param_worker" + std::to_string(r) + ".json.gz"))));
  check_same_diagnosis(ranks);
}
