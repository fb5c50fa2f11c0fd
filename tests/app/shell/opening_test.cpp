#include <time.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <memory>

#include "tests/app/shell/shell_fixture.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/busy_workers.h"
#include "tests/support/lab/reader_choice.h"

// Files that take long to read are opened by a job: the window goes on answering, shows how far that is, and can stop.

namespace {

/// CPU time of the calling thread: other programs on the machine do not count.
double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A training of one rank as PyTorch records it: operation, launch, kernel, about 250 bytes each.
void write_recording(const std::filesystem::path& path, std::size_t bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
  std::size_t written = 0;
  const auto put = [&](const char* format, auto... values) {
    written += static_cast<std::size_t>(std::fprintf(file.get(), format, values...));
  };
  put("{\"schemaVersion\": 1, \"traceEvents\": [\n");
  for (long i = 0; written < bytes; ++i) {
    put("%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::addmm\", \"pid\": 4711, \"tid\": 4711, \"ts\": "
        "%ld.066, "
        "\"dur\": 18.250, \"args\": {\"External id\": %ld, \"Record function id\": 0, \"Concrete Inputs\": [\"\", "
        "\"\", "
        "\"\"], \"Input Dims\": [[4096], [8192, 4096], [4096, 4096]], \"Ev Idx\": %ld}},\n",
        i > 0 ? ",\n" : "", 1000000 + 60 * i, i, i);
    put("{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4711, \"tid\": 4711, "
        "\"ts\": "
        "%ld.566, \"dur\": 4.125, \"args\": {\"External id\": %ld, \"cbid\": 211, \"correlation\": %ld}},\n",
        1000000 + 60 * i, i, i);
    put("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
        "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_"
        "bf16_128x128_32x5_nn_align8>(Params)\", \"pid\": 0, \"tid\": 7, \"ts\": %ld.900, \"dur\": 47.010, \"args\": "
        "{\"External id\": %ld, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %ld, "
        "\"registers per thread\": 230, \"shared memory\": 81920, \"blocks per SM\": 18.96, \"warps per SM\": 75.85, "
        "\"grid\": [64, 32, 1], \"block\": [128, 1, 1], \"est. achieved occupancy %%\": 12}}",
        1000000 + 60 * i, i, i);
  }
  put("\n]}\n");
}

/// The size of a recording that takes long: what a person drops, or in the daily tests enough to see the fault.
std::size_t large() {
  if (support::full() && !support::sanitized()) return 300u << 20;
  return (support::sanitized() ? 8u : 40u) << 20;
}

/// What a frame may take of the window's thread. Sanitized code is some twenty times slower.
double frame_s() { return support::sanitized() ? 1.0 : 0.05; }

struct Frames {
  double worst_s = 0;
  int drawn = 0;
};

/// Draws until `done`, some frames more, and says what the dearest frame cost this thread.
template <class Done>
Frames draw_until(Opened& o, const Done& done) {
  Frames frames;
  for (int after = 0; after < 20; after += done() ? 1 : 0) {
    const double before = thread_cpu_s();
    o.ui.frames(1);
    frames.worst_s = std::max(frames.worst_s, thread_cpu_s() - before);
    ++frames.drawn;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (frames.drawn > 300'000) throw std::runtime_error("it is not opened within ten minutes");
  }
  return frames;
}

}  // namespace

TEST_CASE("a large recording that is dropped costs no frame of the window more than 50 ms, and opens") {
  Opened o("roofline/iron-law");
  REQUIRE(o.d.settle());
  const std::string path = (o.folder / "rank0.json").string();
  write_recording(path, large());
  const double before = thread_cpu_s();
  o.w.opening.open(std::vector<std::string>{path});  // as the window's drop does
  const double begun_s = thread_cpu_s() - before;
  const auto opened = draw_until(o, [&] { return !o.w.opening.busy() && !o.w.current().computing(); });
  // The detective reads recordings as well, and is offered them only while it is the open lab: nobody is asked.
  CHECK_FALSE(o.w.opening.asked_reader());
  CHECK(o.d.open_lab() == "profiling/trace-viewer");
  CHECK(o.w.lab().reason() == "");
  CHECK(o.d.input("file").file().path == path);
  CHECK(o.out("devices") == 1);
  CHECK(begun_s < frame_s());
  CHECK(opened.worst_s < frame_s());
  std::printf(
      "%zu MB dropped: %d frames meanwhile, the dearest %.1f ms of the window's thread, the drop itself %.1f ms\n",
      large() >> 20, opened.drawn, 1e3 * opened.worst_s, 1e3 * begun_s);
  // And again, which gives up what the lab held.
  o.w.opening.open(path);
  const auto again = draw_until(o, [&] { return !o.w.opening.busy() && !o.w.current().computing(); });
  CHECK(again.worst_s < frame_s());
  std::printf("again: the dearest %.1f ms\n", 1e3 * again.worst_s);
}

namespace {

constexpr const char* runs = "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n";

}  // namespace

TEST_CASE("a file that takes long shows its name and a button that stops it, on a lab and on home; the lab stays") {
  Opened o("serving/batching");
  REQUIRE(o.d.settle());
  o.folder.write("runs.csv", runs);
  const auto before = o.w.lab().clone();
  for (const bool home : {false, true}) {
    if (home) app::go_home(o.d.shell);
    support::BusyWorkers busy(o.w.jobs);
    o.w.opening.open((o.folder / "runs.csv").string());
    CHECK_FALSE(o.ui.text_present("Opening"));  // what is quick flashes nothing
    o.ui.frames(10);
    CHECK(o.ui.text_present("Opening"));
    CHECK(o.ui.text_present("runs.csv"));
    CHECK(o.ui.text_present("0 %"));
    o.ui.click("opening/Stop");
    o.ui.frames(2);
    CHECK_FALSE(o.w.opening.busy());
    CHECK_FALSE(o.ui.text_present("Opening"));
    busy.let_go();
    REQUIRE(o.d.settle());
    CHECK(o.d.open_lab() == "serving/batching");
    CHECK(o.w.lab().same_inputs(*before));
    CHECK(o.w.messages().empty());
    CHECK(o.w.files.opened.empty());
  }
}

TEST_CASE(
    "the window goes on while a file waits, a second opening gives up the first, and files dropped together all open") {
  Opened o("serving/batching");
  REQUIRE(o.d.settle());
  o.folder.write("runs.csv", runs);
  o.folder.write("arrivals.csv", "time,prompt,output\n0,100,20\n1,200,30\n");
  const std::string first = (o.folder / "runs.csv").string(), second = (o.folder / "arrivals.csv").string();
  {
    support::BusyWorkers busy(o.w.jobs);
    o.w.opening.open(first);
    o.ui.frames(3);
    REQUIRE(o.w.open("precision/number-line"));  // a person does other things meanwhile
    o.ui.frames(3);
    o.w.opening.open(second);
    o.ui.frames(3);
  }
  REQUIRE(o.d.settle());
  support::take_reader(o.w, "serving/batching");
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "serving/batching");
  CHECK(o.d.input("trace").file().path == second);
  CHECK(o.w.files.opened == std::vector<std::string>{second});

  o.w.opening.open({first, (o.folder / "none.csv").string(), second});
  REQUIRE(o.d.settle());
  CHECK(o.d.was_said("none.csv"));
  support::take_reader(o.w, "serving/batching");
  REQUIRE(o.d.settle());
  CHECK(o.w.files.opened == std::vector<std::string>{second, first});
  CHECK(o.d.open_lab() == "serving/batching");
  REQUIRE(o.w.open("roofline/roofline"));
  CHECK(o.d.input("measured").file().path == first);
}

TEST_CASE(
    "a large file that looks like a recording and is none is refused in a sentence with a way to the lab that reads "
    "such files") {
  Opened o("roofline/iron-law");
  REQUIRE(o.d.settle());
  const std::string path = (o.folder / "rank0.json").string();
  o.folder.write("rank0.json", R"({"traceEvents": 7, "padding": ")" + std::string(12u << 20, 'a') + "\"}");
  const auto before = o.w.lab().clone();
  o.w.opening.open(path);
  const auto refused = draw_until(o, [&] { return !o.w.opening.busy(); });
  CHECK(refused.worst_s < frame_s());
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.w.lab().same_inputs(*before));
  CHECK(o.d.was_said("Trace viewer does not take \"rank0.json\": "));
  REQUIRE(o.d.shell.toasts.shown.size() == 1);
  CHECK(o.d.shell.toasts.shown[0].message.failure);
  CHECK(o.d.shell.toasts.shown[0].message.action.label == "Open Trace viewer");
}

TEST_CASE("a file that is not what its name says is refused, and what is open stays") {
  Opened o("profiling/trace-viewer");
  REQUIRE(o.d.settle());
  REQUIRE(o.w.lab().reason().empty());
  o.folder.write("broken.sqlite", "This is no database, whatever its name says.");
  CHECK(o.w.opening.open_and_wait((o.folder / "broken.sqlite").string()).error.find("broken.sqlite") !=
        std::string::npos);
  REQUIRE(o.d.settle());
  CHECK(o.w.lab().reason().empty());
  CHECK(o.d.input("file").file().path.empty());
}
