#include "chapters/mechanism/lab.h"
#include "chapters/training/data_loader/lab.h"

namespace chapters::training::data_loader {
namespace {

const Choices storages = {
    {"nvme", "Local NVMe", "80 \xC2\xB5s per request, 6 GB/s: a PCIe 4 drive, assumed."},
    {"nfs", "File server", "1 ms per request, 500 MB/s: NFS over a shared 10 Gb/s network, assumed."},
    {"object_store", "Object store", "30 ms per request, 3 GB/s: S3 and its kin over 25 Gb/s, assumed."},
    {"own", "My own", "Your own request latency and bandwidth."},
};
static_assert(storage_count == 4);

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The loader");
  f.integer("workers", in.workers, "Workers",
            "Processes that read and decode; with none the training process loads each batch itself.",
            {.range = {0, 64, Scale::step}, .typical = {0, 32}, .headline = true});
  f.integer("prefetch", in.prefetch, "Batches ahead",
            "How many batches each worker is asked for ahead (prefetch_factor).", {.range = {1, 16, Scale::step}});
  f.toggle("pinned", in.pinned, "Pinned", "A thread copies each batch into pages that stay in place.");
  f.choice("storage", in.storage, storages, "Storage", "Where the samples are read from.", {.headline = true});
  f.real("request_latency_s", in.request_latency_s, {"Request", "s"},
         "From asking to the first byte; a worker waits for one request at a time.",
         {.range = {1e-6, 0.1, Scale::log}, .when = {"storage", "own"}});
  f.real("storage_bytes_per_s", in.storage_bytes_per_s, {"Bandwidth", "B/s"}, "All workers together share it.",
         {.range = {1e6, 1e11, Scale::log}, .typical = {1e7, 1e11}, .when = {"storage", "own"}});
  f.real("samples_per_request", in.samples_per_request, "Samples per request",
         "1: a file each; a shard is read in sequence, thousands per request.",
         {.range = {1, 10000, Scale::log}, .headline = true});
  f.group("The samples");
  f.integer("samples", in.samples, "Batch", "Samples that one GPU takes in a step.", {.range = {1, 4096, Scale::log}});
  f.real("sample_bytes", in.sample_bytes, {"Stored size", "B"}, "The size of one sample as it is stored.",
         {.range = {1e3, 1e8, Scale::log}});
  f.real("decode_s", in.decode_s, {"Decoding one", "s"}, "One core takes so long for a sample.",
         {.range = {1e-6, 0.1, Scale::log}});
  f.real("decode_spread", in.decode_spread, "Spread", "A batch takes between 1 - spread and 1 + spread of the mean.",
         {.range = {0, 0.9}});
  f.integer("cores", in.cores, "Cores", "How many cores decode at once.", {.range = {1, 128, Scale::step}});
  f.real("batch_bytes", in.batch_bytes, {"Decoded batch", "B"}, "256 images of 224 × 224 × 3 in FP32 are 154 MB.",
         {.range = {1e5, 1e10, Scale::log}});
  f.real("host_copy_bytes_per_s", in.host_copy_bytes_per_s, {"Pinning", "B/s"},
         "The rate at which the thread copies into pinned pages.",
         {.range = {1e8, 1e11, Scale::log}, .when = {"pinned", "true"}});
  f.group("The GPU");
  f.real("gpu_s", in.gpu_s, {"A step", "s"}, "How long a step takes that waits for nothing.",
         {.range = {1e-3, 10, Scale::log}});
  f.toggle("reads_loss", in.reads_loss, "Loss read",
           "In every step, so that the host waits for the GPU before it takes a batch.");
  f.integer("seed", in.seed, "Seed", "It draws how long batches take to decode.", {.range = {1, 99, Scale::step}});
}

void describe(Fields& f, Outputs& o) {
  f.group("The GPU");
  f.real("samples_per_s", o.samples_per_s, "Samples/s", "Mean over the last steps of the simulation.",
         {.headline = true, .formula = "batch / step"});
  f.real("starved", o.starved, {"GPU waits", "%"}, {.headline = true, .formula = "waiting for a batch / step"});
  f.real("step_s", o.step_s, {"A step", "s"}, "From the end of one to the end of the next.");
  f.real("starved_s", o.starved_s, {"Waiting", "s"}, "The time of a step in which the GPU waits for a batch.");
  f.group("What more would change");
  f.real("twice_gain", o.twice_gain, {"Twice the workers", "%"}, "More samples per second, simulated.",
         {.headline = true, .absent = "There is no worker to double."});
  f.real("twice_per_s", o.twice_per_s, "Samples/s, twice the workers", "Simulated.",
         {.absent = "There is no worker to double."});
  f.real("gain_over_none", o.gain_over_none, "Against none", "How many times the samples of a loader without workers.",
         {.absent = "Without workers it cannot run."});
  f.real("workers_needed", o.workers_needed, "Workers needed", "So many keep the GPU's pace.",
         {.absent = "No number of workers: storage, cores or the pinning thread are slower than the GPU.",
          .formula = "ceil(a batch, one worker / GPU's step)"});
  f.group("Where it is narrow");
  f.real("ceiling_per_s", o.ceiling_per_s, "At most", "Samples per second that the narrowest part lets through.",
         {.headline = true, .formula = "min over the parts"});
  f.text("bound", o.bound, "Narrowest");
  constexpr std::array<std::string_view, 5> keys{"storage_ceiling", "workers_ceiling", "cores_ceiling", "pin_ceiling",
                                                 "gpu_ceiling"};
  constexpr std::array<std::string_view, 5> labels{"Storage", "Workers", "Cores", "Pinning", "GPU"};
  constexpr std::array<std::string_view, 5> formulas{"bandwidth / stored size", "workers / (request + read + decode)",
                                                     "cores / decode", "pinning rate / decoded size",
                                                     "batch / GPU's step"};
  for (std::size_t i = 0; i < keys.size(); ++i)
    f.real(keys[i], o.ceilings[i], labels[i], "Samples per second, were this the only limit.",
           {.absent = "It does not bound the loader.", .formula = formulas[i]});
  f.group("How busy they are");
  f.real("storage_use", o.storage_use, {"Storage", "%"}, {.formula = "bytes read / bandwidth"});
  f.real("core_use", o.core_use, {"Cores", "%"}, {.formula = "decoding / (cores x time)"});
  constexpr std::array<std::string_view, 4> shares{"worker_request", "worker_read", "worker_decode", "worker_idle"};
  constexpr std::array<std::string_view, 4> does{"Workers ask", "Workers read", "Workers decode", "Workers idle"};
  constexpr std::array<std::string_view, 4> helps{"Waiting for the first byte.",
                                                  "Waiting for the bytes, in line or not.",
                                                  "Decoding, or waiting for a core.", "Asked for no more batches."};
  for (std::size_t i = 0; i < 4; ++i) f.real(shares[i], o.worker_share[i], {does[i], "%"}, helps[i]);
  f.real("mean_queue", o.mean_queue, "Batches ready", "Mean over time.");
  f.real("queue_room", o.queue_room, "Room for", "Batches asked for ahead.", {.formula = "workers x batches ahead"});
  f.real("one_reader_bytes_per_s", o.one_reader_bytes_per_s, {"One reader", "B/s"},
         "What a reader gets that asks, waits, reads and asks again.",
         {.formula = "size / (latency / samples per request + size / bandwidth)"});
  f.real("asked_bytes_per_s", o.asked_bytes_per_s, {"The GPU asks for", "B/s"},
         {.formula = "batch x stored size / GPU's step"});
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s, {"Time cursor", "s"},
         "The moment that the cursor over time stands at; below 0 the one at which the lab opens.",
         {.range = {-1, 1e6}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"training/data-loader",
       "Data loader",
       "Why does the GPU wait for data, and what would twice the workers change?",
       {.job = true}},
      compute, arrange, draw);
}

}  // namespace chapters::training::data_loader
