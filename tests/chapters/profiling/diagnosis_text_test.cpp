#include "chapters/profiling/trace_viewer/diagnosis_text.h"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "models/trace/writers/sample.h"
#include "tests/support/base/paths.h"

// What the findings of a recording say, and that each kind of them has its own title.

using namespace models::trace;
using chapters::profiling::trace_viewer::diagnosis_sentence;
using chapters::profiling::trace_viewer::diagnosis_title;

namespace {

struct Measured {
  Trace trace;
  Metrics metrics;
};

Measured measured(const std::string& text) {
  auto read = read_trace(text, "t.json");
  INFO(read.error);
  REQUIRE(read);
  Measured out{std::move(*read), {}};
  out.metrics = measure(out.trace);
  return out;
}

/// The sentence under this title, or nothing.
std::string sentence_about(const Measured& m, std::string_view title) {
  for (const Diagnosis& d : m.metrics.diagnosis)
    if (diagnosis_title(d.kind) == title) return diagnosis_sentence(m.trace, m.metrics, d);
  return {};
}

std::string kernel_event(const std::string& name, int ts_us, int dur_us, int stream) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":)" + std::to_string(stream) + R"(,"ts":)" +
         std::to_string(ts_us) + R"(,"dur":)" + std::to_string(dur_us) + R"(,"args":{"device":0,"stream":)" +
         std::to_string(stream) + "}}";
}

std::string call_event(int ts_us, int correlation, int dur_us = 1) {
  return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":)" + std::to_string(ts_us) +
         R"(,"dur":)" + std::to_string(dur_us) + R"(,"args":{"correlation":)" + std::to_string(correlation) + "}}";
}

std::string recording_of(const std::vector<std::string>& events) {
  std::string text = "{\"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i ? ",\n" : "\n") + events[i];
  return text + "\n]}";
}

}  // namespace

// The figures are derived by hand in tests/models/trace/trace_test.cpp.
TEST_CASE("the sentence about an idle device has its shares, its causes and the longest gap") {
  std::ifstream file(support::data_file("traces/small.json"));
  std::ostringstream text;
  text << file.rdbuf();
  const Measured m = measured(text.str());
  REQUIRE_FALSE(m.metrics.diagnosis.empty());
  const std::string first = diagnosis_sentence(m.trace, m.metrics, m.metrics.diagnosis[0]);
  // A wait for the host is said in its parts: before the call, inside it and after it.
  CHECK(
      first.starts_with("GPU 0 is idle for 59.4 % of 320 µs, from its first task to its last: 36.8 % of the "
                        "idle time lies before the host called"));
  CHECK(first.ends_with("ends with tail."));
}

TEST_CASE("the sentences about a planted fault name the call that caused it") {
  const auto about = [](models::SampleFault fault, std::string_view title) {
    return sentence_about(measured(models::sample_traces({.fault = fault, .ranks = 1}).front()), title);
  };
  const std::string sync = about(models::SampleFault::hidden_sync, "A synchronisation drains the queue");
  CHECK(sync.find("begin inside aten::item") != std::string::npos);
  CHECK(sync.find("it was in log_metrics for 9") != std::string::npos);
  CHECK(about(models::SampleFault::data_starved, "The data loader is late").find("in enumerate(DataLoader)") !=
        std::string::npos);
  CHECK(about(models::SampleFault::none, "A synchronisation drains the queue").empty());
}

TEST_CASE("doubts are said with their counts, and a leading kernel with its share of all kernels' time") {
  std::vector<std::string> events{kernel_event("runs on", 10, 500, 7)};
  for (int i = 1; i < 10; ++i) events.push_back(kernel_event("k", 10 + 20 * i, 10, 7));
  for (int i = 0; i < 40; ++i) events.push_back(call_event(i, 100 + i));
  const Measured m = measured(recording_of(events));
  CHECK(sentence_about(m, "Durations are doubtful")
            .starts_with("9 of 10 tasks on stream 7 of GPU 0 begin before the one before them ends. A CUDA stream "
                         "does one after the other: "));
  CHECK(sentence_about(m, "Kernels are missing")
            .starts_with("40 of 40 launching calls have no work on a device in the file, and no stream capture"));
  const Measured two = measured(recording_of({kernel_event("a", 0, 30, 7), kernel_event("b", 0, 10, 8)}));
  // A kernel that is alone leads nobody, and neither does one of a device that hardly works.
  CHECK(sentence_about(measured(recording_of({kernel_event("a", 0, 30, 7)})), "One kernel leads").empty());
  const Measured idle = measured(recording_of({kernel_event("a", 0, 30, 7), kernel_event("b", 5000, 10, 7)}));
  CHECK(sentence_about(idle, "One kernel leads").empty());
  CHECK(sentence_about(two, "One kernel leads") == "a takes 75 % of the time of all kernels of GPU 0 in 1 run.");
}

TEST_CASE("a title says how large a part is: hardly used, most of the busy time") {
  const auto titles = [](const Measured& m) {
    std::set<std::string> out;
    for (const auto& told : chapters::profiling::trace_viewer::tell_diagnosis(m.trace, m.metrics))
      out.insert(told.title);
    return out;
  };
  const Measured idle = measured(recording_of({kernel_event("a", 0, 30, 7), kernel_event("b", 5000, 10, 7)}));
  CHECK(titles(idle).contains("The device is hardly used"));
  const std::string copy = R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":100,"dur":900,)"
                           R"("args":{"device":0,"stream":7}})";
  CHECK(titles(measured(recording_of({kernel_event("a", 0, 100, 7), copy})))
            .contains("Copies take most of the busy time"));
}

TEST_CASE("where no device is recognised the sentence says among how much, and not that there is none") {
  const Measured m = measured(recording_of({call_event(1, 1), call_event(5, 2)}));
  CHECK(sentence_about(m, "No device") ==
        "No row was recognised as a device among 1 process and 2 spans: the rows are shown as they are.");
}

TEST_CASE("what begins late, is not recorded or only waits is said as that") {
  const auto span = [](const char* name, int ts_us, int dur_us) {
    return std::string(R"({"ph":"X","cat":"user_annotation","name":")") + name + R"(","pid":9,"tid":9,"ts":)" +
           std::to_string(ts_us) + R"(,"dur":)" + std::to_string(dur_us) + ",\"args\":{}}";
  };
  const auto work = [](int ts_us, int dur_us, int correlation) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(ts_us) + R"(,"dur":)" +
           std::to_string(dur_us) + R"(,"args":{"device":0,"stream":7,"correlation":)" + std::to_string(correlation) +
           "}}";
  };
  const Measured late = measured(recording_of(
      {span("ProfilerStep#1", 0, 1000), span("preprocess", 5, 290), call_event(298, 1), work(300, 600, 1)}));
  CHECK(sentence_about(late, "The device starts late") ==
        "300 µs of the 1 ms step pass before the first task of GPU 0; the host is in preprocess for 290 µs.");
  const auto gap = [&](const std::vector<std::string>& more) {
    std::vector<std::string> events{call_event(0, 1), work(2, 98, 1), call_event(1099, 2), work(1101, 99, 2)};
    events.insert(events.end(), more.begin(), more.end());
    return measured(recording_of(events));
  };
  CHECK(sentence_about(gap({}), "The host's time was not recorded")
            .ends_with("waited for the host to call the next launch, no host span covers 100 % of it."));
  CHECK(sentence_about(gap({span("execute_diffusion", 0, 1200)}), "The host's time was not recorded")
            .ends_with("it was inside execute_diffusion, in nothing recorded within it, for 100 %."));
  CHECK(sentence_about(gap({span("block_until_ready", 110, 900)}), "The host was blocked")
            .find("it was blocked in block_until_ready for 90.1 %") != std::string::npos);
  const Measured unlaunched = measured(recording_of({kernel_event("a", 0, 30, 7)}));
  CHECK(sentence_about(unlaunched, "No launches recorded") ==
        "This recording has no launching calls, so why GPU 0 waits cannot be seen.");
}

TEST_CASE("each kind of finding has a title of its own") {
  std::set<std::string_view> titles;
  const int count = static_cast<int>(DiagnosisKind::durations_doubtful) + 1;
  for (int i = 0; i < count; ++i) titles.insert(diagnosis_title(static_cast<DiagnosisKind>(i)));
  CHECK(titles.size() == static_cast<std::size_t>(count));
  CHECK_FALSE(titles.contains(""));
}

// Three devices do the same: 10 us of work, 80 us of nothing, 10 us of work.
TEST_CASE("what three devices share is told once, with the count of the others and their shares") {
  const auto on = [](int device, int ts_us) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(ts_us) +
           R"(,"dur":10,"args":{"device":)" + std::to_string(device) + R"(,"stream":7}})";
  };
  const auto told_of = [&](int devices) {
    std::vector<std::string> events;
    for (int device = 0; device < devices; ++device) {
      events.push_back(on(device, 0));
      events.push_back(on(device, 90));
    }
    const Measured m = measured(recording_of(events));
    std::vector<std::string> idle;
    for (const auto& told : chapters::profiling::trace_viewer::tell_diagnosis(m.trace, m.metrics))
      if (told.title == "The device is idle") idle.push_back(told.sentence);
    return idle;
  };
  REQUIRE(told_of(3).size() == 1);
  CHECK(told_of(3)[0].ends_with(" The same is found of 2 more GPUs, with 80 % in place of 80 %."));
  CHECK(told_of(2).size() == 2);
  CHECK(told_of(2)[0].find("more GPUs") == std::string::npos);
}

TEST_CASE("a gap that passes inside a call which began before it is not said to wait for something unknown") {
  const auto kernel = [](const char* name, int ts_us, int correlation) {
    return R"({"ph":"X","cat":"kernel","name":")" + std::string(name) + R"(","pid":0,"tid":7,"ts":)" +
           std::to_string(ts_us) + R"(,"dur":100,"args":{"device":0,"stream":7,"correlation":)" +
           std::to_string(correlation) + "}}";
  };
  // The gap is 100 to 1,100 us; the call that ends it begins 10 us before it.
  const auto said = [&](int call_us, std::string_view title) {
    return sentence_about(
        measured(recording_of({call_event(0, 1), kernel("a", 0, 1), call_event(90, 2, call_us), kernel("b", 1100, 2)})),
        title);
  };
  for (const int call_us : {600, 900, 1005}) {
    INFO(call_us);
    const std::string waits = said(call_us, "Waits though its launch was called");
    CHECK(waits.find("pass inside the launching call, which had not returned") != std::string::npos);
    CHECK(waits.find("does not say which") == std::string::npos);
  }
  for (const int call_us : {1, 5, 400}) {
    INFO(call_us);
    CHECK(said(call_us, "Waits though its launch was called").find("does not say which") != std::string::npos);
  }
}
