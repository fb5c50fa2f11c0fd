// The ladder of launches: the same tiny kernels, one after the other, started in three ways. A run is counted for each
// launch; its time is the host's, from the first call until the last kernel has ended. Kernel number i leaves one more
// than the kernel before it left, so that a launch that is missing or out of its order shows.
//
// cuda-launch:
//   sync    the host waits for each kernel before it launches the next
//   stream  all launches go to a stream, and the host waits once
//   graph   the launches were recorded as a graph, and one call starts them all
//
//   ridgeline kernels run cuda-launch --size 1000
#include <algorithm>
#include <array>

#include "kernels/cuda/host_rung.h"
#include "kernels/error_norm.h"
#include "kernels/sources.h"
#include "kernels/statistics.h"

namespace kernels::cuda {
namespace {

/// A number of launches of count_up, and the words that they leave.
class Launches {
 public:
  Launches(const Session& session, std::int64_t count)
      : session_(session),
        driver_(session.driver()),
        count_(static_cast<unsigned>(count)),
        kernel_(session.instrument("count_up")),
        out_(session.driver(), 4 * count, "cuda-launch") {}
  ~Launches() {
    if (exec_) driver_.graph_exec_destroy(exec_);
    if (graph_) driver_.graph_destroy(graph_);
  }
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  unsigned count() const { return count_; }
  double now_s() const { return session_.machine().now_s(); }
  void poison() const {
    session_.fill_words(out_.address(), poison_word, count_);
    wait();
  }
  std::vector<std::byte> words() const {
    std::vector<std::byte> host(std::size_t{4} * count_);
    must(driver_, driver_.copy_to_host(host.data(), out_.address(), host.size()), "reading the result");
    return host;
  }

  void launch(unsigned i) const {
    DevicePointer out = out_.address();
    std::array<void*, 2> arguments{&out, &i};
    must(driver_, driver_.launch(kernel_, 1, 1, 1, 1, 1, 1, 0, session_.stream(), arguments.data(), nullptr),
         "launching count_up");
  }
  void wait() const { must(driver_, driver_.stream_synchronize(session_.stream()), "waiting for a launch"); }
  void begin_recording() const {
    must(driver_, driver_.capture_begin(session_.stream(), 1), "recording launches as a graph");
  }
  void end_recording() {
    must(driver_, driver_.capture_end(session_.stream(), &graph_), "recording launches as a graph");
    must(driver_, driver_.graph_instantiate(&exec_, graph_, 0), "making a graph ready");
  }
  void replay() const { must(driver_, driver_.graph_launch(exec_, session_.stream()), "starting a graph"); }

 private:
  const Session& session_;
  const Driver& driver_;
  unsigned count_;
  Function kernel_;
  DeviceArray out_;
  Graph graph_ = nullptr;
  GraphExec exec_ = nullptr;
};

void nothing_to_prepare(Launches&) {}

// rung: sync
void run_sync(const Launches& launches) {
  for (unsigned i = 0; i < launches.count(); ++i) {
    launches.launch(i);
    launches.wait();  // the device idles until the host has woken and called again
  }
}
// end rung

// rung: stream
void run_stream(const Launches& launches) {
  for (unsigned i = 0; i < launches.count(); ++i) launches.launch(i);
  launches.wait();
}
// end rung

// rung: graph
void prepare_graph(Launches& launches) {  // once, before any run
  launches.begin_recording();
  for (unsigned i = 0; i < launches.count(); ++i) launches.launch(i);
  launches.end_recording();
}
void run_graph(const Launches& launches) {
  launches.replay();  // one call for all kernels
  launches.wait();
}
// end rung

class LaunchRung : public HostRung {
 public:
  LaunchRung(const Session& session, std::string_view rung, std::int64_t size) : launches_(session, size) {
    if (rung == "graph") {
      prepare_graph(launches_);
      run_ = run_graph;
    } else {
      nothing_to_prepare(launches_);
      run_ = rung == "sync" ? run_sync : run_stream;
    }
  }
  void fill(std::uint32_t) override { launches_.poison(); }
  double run() override {
    const double start_s = launches_.now_s();
    run_(launches_);
    return (launches_.now_s() - start_s) / launches_.count();
  }
  std::vector<std::byte> result() override { return launches_.words(); }

 private:
  Launches launches_;
  void (*run_)(const Launches&) = nullptr;
};

std::unique_ptr<HostRung> make_launches(const Session& session, std::string_view rung, std::int64_t size) {
  return std::make_unique<LaunchRung>(session, rung, size);
}

std::int64_t launch_output_bytes(std::int64_t launches) { return 4 * launches; }

/// One kernel reads a word and writes one.
models::OpCost launch_cost(std::int64_t) { return {1, 4, 4}; }

Deviation launch_compare(const Outcome& outcome) {
  const std::span<const std::uint32_t> out = words_of(outcome);
  Deviation d;
  ErrorNorm norm;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == poison_word) ++d.never_written;
    norm.add(static_cast<double>(out[i]), static_cast<double>(i + 1));
  }
  d.error = norm.value();
  return d;
}

const Ladder& launch_ladder() {
  static const std::array rungs{
      Rung{"sync", "wait after each", "The device idles while the host wakes, and the host while the device runs.",
           embedded_source("cuda/launch.cpp:sync"), "", "gpu_launch"},
      Rung{"stream", "in a stream",
           "The host runs ahead and the device finds the next launch waiting: the slower of the two sets the pace.",
           embedded_source("cuda/launch.cpp:stream"), "", "gpu_launch"},
      Rung{"graph", "as a graph",
           "One call starts all of them: what is left is the device's own time from kernel to kernel.",
           embedded_source("cuda/launch.cpp:graph"), "", "gpu_launch"},
  };
  static const Ladder ladder{"cuda-launch", "GPU launches", Device::cuda, Measure::latency_s, "Launches", "", 10,
                             1000,          10000,          rungs,        launch_cost};
  return ladder;
}

/// The median of what `once` gives, for about `seconds`.
template <class F>
double median_for(const Session& session, double seconds, F once) {
  const auto now_s = [&] { return session.machine().now_s(); };
  std::vector<double> samples;
  once();
  const double start_s = now_s();
  do samples.push_back(once());
  while (samples.size() < 5 || (samples.size() < 1000 && now_s() - start_s < seconds));
  return summarize(samples).median;
}

}  // namespace

double graph_node_s(const Session& session, double seconds) {
  LaunchRung graph(session, "graph", 1000);
  return median_for(session, seconds, [&] { return graph.run(); });
}

double launch_call_s(const Session& session, double seconds) {
  const Launches launches(session, 200);  // fewer than a stream holds, so that no call waits for the device
  return median_for(session, seconds, [&] {
    const double start_s = launches.now_s();
    for (unsigned i = 0; i < launches.count(); ++i) launches.launch(i);
    const double s = (launches.now_s() - start_s) / launches.count();
    launches.wait();
    return s;
  });
}

const Operation& launch_operation() {
  static const Operation operation{
      .ladder = &launch_ladder(),
      .edge_size = 37,
      .output_bytes = launch_output_bytes,
      .compare = launch_compare,
      .host = make_launches,
  };
  return operation;
}

}  // namespace kernels::cuda
