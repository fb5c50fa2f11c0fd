#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/training/data_loader/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_loader = chapters::training::data_loader;

namespace {

auto loader_of(const lab_loader::Inputs& in) { return computed_of(in, lab_loader::compute); }
lab_loader::Picture picture_of(const lab_loader::Inputs& in) {
  return support::picture_of(in, lab_loader::compute, lab_loader::arrange);
}

}  // namespace

TEST_CASE("data-loader: a full pipe brings its bandwidth over the size, with twice the workers too") {
  const LabPtr lab = open_lab("training/data-loader");
  compute(*lab);
  CHECK(near(out(*lab, "samples_per_s"), 1000, 0.002));  // 500 MB/s over 500 kB
  CHECK(near(out(*lab, "gpu_ceiling"), 256 / 0.15, 1e-9));
  CHECK(near(out(*lab, "workers_ceiling"), 12 / (1e-3 + 1e-3 + 6e-3), 1e-9));
  CHECK(near(out(*lab, "cores_ceiling"), 16 / 6e-3, 1e-9));
  CHECK(std::abs(out(*lab, "twice_gain")) <= 0.2);
  CHECK(std::abs(out(*lab, "starved") - 100 * (1 - 1000 * 0.15 / 256)) <= 0.2);
  CHECK(text_of(*lab, "bound") == "the storage");
}

TEST_CASE("data-loader: workers are needed only where storage, cores and pinning keep the GPU's pace") {
  const auto needed = [](const char* inputs) {
    const LabPtr lab = open_lab("training/data-loader", inputs);
    compute(*lab);
    return out(*lab, "workers_needed");
  };
  // The GPU asks for 256 samples in 150 ms, 1,707 a second. 500 MB/s over 500 kB are 1,000, whatever reads them.
  CHECK(std::isnan(needed("{}")));
  CHECK(std::isnan(needed(R"({"workers": 64})")));
  CHECK(std::isnan(needed(R"({"workers": 0})")));
  // 5 GB/s are 10,000 a second; a worker needs 256 x (1 + 0.1 + 6) ms for a batch.
  const std::string own =
      R"({"storage": "own", "request_latency_s": 0.001, "sample_bytes": 5e5, "storage_bytes_per_s": 5e9)";
  CHECK(needed((own + "}").c_str()) == std::ceil(256 * 7.1 / 150));
  CHECK(needed((own + R"(, "workers": 0})").c_str()) == std::ceil(256 * 7.1 / 150));
  // Four cores decode 4 / 6 ms = 667 samples a second.
  CHECK(std::isnan(needed((own + R"(, "cores": 4})").c_str())));
}

TEST_CASE("data-loader: workers, cores, latency and the GPU bound in their turn") {
  const LabPtr lab = open_lab("training/data-loader", R"({"storage": "nvme", "workers": 8})");
  const double sample_s = 80e-6 + 500e3 / 6e9 + 6e-3;
  CHECK(near(computed(*lab, "samples_per_s"), 8 / sample_s, 0.002));
  CHECK(out(*lab, "twice_gain") > 25);
  CHECK(near(computed(set(*lab, "workers", 16, "cores", 4), "samples_per_s"), 4 / 6e-3, 0.002));
  CHECK(near(computed(set(*lab, "cores", 16), "samples_per_s"), 256 / 0.15, 0.002));
  CHECK(std::abs(out(*lab, "starved")) <= 0.1);
  CHECK(text_of(*lab, "bound") == "the GPU");
  set(*lab, "storage", "object_store", "workers", 12);
  CHECK(near(computed(*lab, "samples_per_s"), 12 / (30e-3 + 500e3 / 3e9 + 6e-3), 0.01));
  CHECK(out(*lab, "storage_use") < 10);
  // A thousand samples a request: 30 us are left of the latency.
  CHECK(computed(set(*lab, "samples_per_request", 1000.0), "samples_per_s") > 1690);
}

TEST_CASE("data-loader: without workers loading and training take turns only where the host waits for the GPU") {
  const LabPtr lab = open_lab("training/data-loader", R"({"storage": "nvme", "workers": 0, "samples": 16})");
  const double load_s = 16 * (80e-6 + 500e3 / 6e9 + 6e-3) + 154e6 / 10e9;
  CHECK(near(computed(*lab, "step_s"), 0.15 + load_s, 1e-3));
  // Launched and left alone, the GPU works while the host loads: the longer of the two sets the pace.
  CHECK(near(computed(set(*lab, "reads_loss", 0.0), "step_s"), 0.15, 1e-3));
}

TEST_CASE("data-loader: workers that are the narrowest part, or wait for it, are never idle") {
  // Storage: 12 samples on the way at 1,000 a second leave 12 ms each: 1 asking, 6 decoding, 5 reading or in line.
  const LabPtr lab = open_lab("training/data-loader");
  compute(*lab);
  CHECK(std::abs(out(*lab, "worker_idle")) <= 0.01);
  CHECK(std::abs(out(*lab, "worker_request") - 100 / 12.0) <= 0.01);
  CHECK(std::abs(out(*lab, "worker_read") - 500 / 12.0) <= 0.01);
  CHECK(std::abs(out(*lab, "worker_decode") - 50) <= 0.01);
  // Workers: each takes its own 80 us, 83 us and 6 ms. Objects: 30 ms, 0.17 ms and 6 ms.
  compute(set(*lab, "storage", "nvme", "workers", 8));
  CHECK(std::abs(out(*lab, "worker_idle")) <= 0.01);
  CHECK(std::abs(out(*lab, "worker_decode") - 100 * 6 / (0.08 + 0.5 / 6 + 6)) <= 0.1);
  compute(set(*lab, "storage", "object_store", "workers", 12));
  CHECK(std::abs(out(*lab, "worker_idle")) <= 0.01);
  CHECK(std::abs(out(*lab, "worker_request") - 100 * 30 / (30 + 0.5 / 3 + 6)) <= 0.1);
}

TEST_CASE("data-loader: shares of a worker's time add up, and levels stay within their tanks") {
  for (const double spread : {0.0, 0.7}) {
    lab_loader::Inputs in;
    in.decode_spread = spread;
    const auto computed = loader_of(in);
    const lab_loader::Outputs& o = computed.facts;
    double all = 0;
    for (const double x : o.worker_share) all += x;
    CHECK(std::abs(all - 100) <= 1e-9);
    const lab_loader::Picture p = lab_loader::arrange(in, o, *computed.run);
    for (const auto& level : p.levels)
      for (const models::LoaderLevel& l : level.levels) {
        CHECK(l.count >= 0);
        CHECK(static_cast<double>(l.count) <= level.room);
      }
    for (std::size_t i = 0; i < p.simulated.x.size(); ++i)
      if (spread == 0) CHECK(p.simulated.y[i] <= p.allowed.y[i] * 1.002);
  }
}

TEST_CASE("data-loader: the picture opens where the GPU waits, and at the beginning where it never does") {
  lab_loader::Inputs in;
  const lab_loader::Picture p = picture_of(in);
  bool waits = false;
  for (const widgets::TimelineSpan& s : p.gpu)
    waits |= s.name == 1 && 1e-9 * static_cast<double>(s.start_ns) < p.opening_s &&
             p.opening_s < 1e-9 * static_cast<double>(s.end_ns());
  CHECK(waits);
  in.gpu_s = 0.4;  // 640 samples a second, and the storage brings 1,000
  CHECK(loader_of(in).facts.starved == 0);
  CHECK(picture_of(in).opening_s == 0);
}

TEST_CASE("data-loader: the answer names the part that is slow, and what more workers would change") {
  const auto says = [](const char* inputs) { return answer_of("training/data-loader", inputs); };
  CHECK(says("{}") ==
        "The GPU waits `41.4 %` of the time: storage gives `12` workers `1,000` samples/s; the GPU takes "
        "`1,707`.\n"
        "More workers change nothing: storage is `100 %` busy. Smaller samples or faster storage would help.");
  CHECK(says(R"({"storage": "object_store"})").find("\nEach waits `82.9 %` of its time for first bytes: ") !=
        std::string::npos);
  CHECK(says(R"({"storage": "nvme", "workers": 16})").starts_with("The GPU never waits: `16` workers keep up"));
  CHECK(says(R"({"storage": "nvme", "workers": 1})").find("`1` worker brings ") != std::string::npos);
  CHECK(says(R"({"storage": "nvme", "workers": 16, "cores": 4})")
            .find(": `4` cores decode `667` samples/s; the GPU takes ") != std::string::npos);
}

TEST_CASE("data-loader: the picture says which part is narrow, and without workers how the process divides its time") {
  const auto picture = [](lab_loader::Storage storage, std::int64_t workers) {
    lab_loader::Inputs in;
    in.storage = storage;
    in.workers = workers;
    return picture_of(in);
  };
  const lab_loader::Picture server = picture(lab_loader::Storage::nfs, 12);
  REQUIRE(server.stations.size() == 5);
  CHECK(server.neck == 0);
  CHECK(server.neck_words == "1,000/s");
  CHECK(server.dry_words == "41.4 % dry");
  CHECK(near(server.stations[1].twice_per_s, 2 * server.stations[1].per_s));
  // Twelve workers that wait for answers: asking is the largest part of their time, and they are the neck.
  const lab_loader::Picture objects = picture(lab_loader::Storage::object_store, 12);
  CHECK(objects.neck == 1);
  CHECK(objects.worker_time[0].label == "asking");
  CHECK(near(objects.worker_time[0].value, 100 * 30 / (30 + 0.5 / 3 + 6), 0.01));
  // Sixteen on a local drive keep up: the GPU is the narrowest, and nothing of it is dry.
  const lab_loader::Picture fed = picture(lab_loader::Storage::nvme, 16);
  CHECK(fed.neck == 4);
  CHECK(fed.dry_words.empty());
  const lab_loader::Picture alone = picture(lab_loader::Storage::nvme, 0);
  CHECK_FALSE(alone.process.empty());
  CHECK(alone.neck == 1);
  const double step_s = 256 * (80e-6 + 500e3 / 6e9 + 6e-3) + 154e6 / 10e9 + 0.15;
  CHECK(near(alone.worker_time[2].value, 100 * 256 * 6e-3 / step_s, 1e-3));
  CHECK(near(alone.worker_time[0].value, 100 * 256 * 80e-6 / step_s, 1e-3));
  REQUIRE(alone.worker_time.size() == 4);
  double sum = 0;
  for (const auto& part : alone.worker_time) sum += part.value;
  CHECK(near(sum, 100));
}

TEST_CASE("data-loader: the picture says whose channel is dashed, and names no work that nobody does") {
  const lab_loader::Picture server = picture_of({});
  CHECK(server.ghost_words == "with 24 workers");
  CHECK(server.worker_time.size() == 3);  // storage keeps the workers busy: none is idle
  for (const widgets::BarSegment& part : server.worker_time) CHECK(part.label != "idle");
  CHECK(picture_of({.storage = lab_loader::Storage::nvme, .workers = 0}).ghost_words.empty());
  const lab_loader::Picture fed = picture_of({.storage = lab_loader::Storage::nvme, .workers = 16});
  CHECK(fed.worker_time.back().label == "idle");
}
