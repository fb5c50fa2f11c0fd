#include "chapters/mechanism/lab.h"
#include "chapters/training/data_loader/lab.h"

namespace chapters::training::data_loader {
namespace {

const Choices storages = {
    {"nvme", "Local NVMe", "80 us a request, 6 GB/s: a PCIe 4 drive, assumed."},
    {"nfs", "File server", "1 ms a request, 500 MB/s: NFS over a shared 10 Gb/s network, assumed."},
    {"object_store", "Object store", "30 ms a request, 3 GB/s: S3 and its kin over 25 Gb/s, assumed."},
    {"own", "My own", "Your own request latency and bandwidth."},
};
static_assert(storage_count == 4);

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The loader");
  f.integer("workers", in.workers,
            {
                .label = "Workers",
                .help = "Processes that read and decode; with none the training process loads each batch itself.",
                .lo = 0,
                .hi = 64,
                .scale = Scale::step,
                .typical_lo = 0,
                .typical_hi = 32,
                .headline = true,
            });
  f.integer("prefetch", in.prefetch,
            {
                .label = "Batches ahead",
                .help = "That each worker is asked for (prefetch_factor).",
                .lo = 1,
                .hi = 16,
                .scale = Scale::step,
            });
  f.toggle("pinned", in.pinned,
           {.label = "Pinned", .help = "A thread copies each batch into pages that stay in place."});
  f.choice("storage", in.storage, storages,
           {.label = "Storage", .help = "Where the samples are read from.", .headline = true});
  f.real("request_latency_s", in.request_latency_s,
         {
             .label = "Request",
             .unit = "s",
             .help = "From asking to the first byte; a worker waits for one request at a time.",
             .lo = 1e-6,
             .hi = 0.1,
             .scale = Scale::log,
             .when = {"storage", "own"},
         });
  f.real("storage_bytes_per_s", in.storage_bytes_per_s,
         {
             .label = "Bandwidth",
             .unit = "B/s",
             .help = "For all workers together.",
             .lo = 1e6,
             .hi = 1e11,
             .scale = Scale::log,
             .typical_lo = 1e7,
             .typical_hi = 1e11,
             .when = {"storage", "own"},
         });
  f.real("samples_per_request", in.samples_per_request,
         {
             .label = "Samples a request",
             .help = "1: a file each; a shard is read in sequence, thousands a request.",
             .lo = 1,
             .hi = 10000,
             .scale = Scale::log,
             .headline = true,
         });
  f.group("The samples");
  f.integer("samples", in.samples,
            {
                .label = "Batch",
                .help = "Samples that one GPU takes in a step.",
                .lo = 1,
                .hi = 4096,
                .scale = Scale::log,
            });
  f.real("sample_bytes", in.sample_bytes,
         {.label = "Stored size", .unit = "B", .help = "Of one sample.", .lo = 1e3, .hi = 1e8, .scale = Scale::log});
  f.real("decode_s", in.decode_s,
         {.label = "Decoding one", .unit = "s", .help = "On one core.", .lo = 1e-6, .hi = 0.1, .scale = Scale::log});
  f.real(
      "decode_spread", in.decode_spread,
      {.label = "Spread", .help = "A batch takes between 1 - spread and 1 + spread of the mean.", .lo = 0, .hi = 0.9});
  f.integer("cores", in.cores,
            {
                .label = "Cores",
                .help = "That decode at once.",
                .lo = 1,
                .hi = 128,
                .scale = Scale::step,
            });
  f.real("batch_bytes", in.batch_bytes,
         {
             .label = "Decoded batch",
             .unit = "B",
             .help = "256 images of 224 x 224 x 3 in FP32 are 154 MB.",
             .lo = 1e5,
             .hi = 1e10,
             .scale = Scale::log,
         });
  f.real("host_copy_bytes_per_s", in.host_copy_bytes_per_s,
         {
             .label = "Pinning",
             .unit = "B/s",
             .help = "At which the thread copies into pinned pages.",
             .lo = 1e8,
             .hi = 1e11,
             .scale = Scale::log,
             .when = {"pinned", "true"},
         });
  f.group("The GPU");
  f.real(
      "gpu_s", in.gpu_s,
      {.label = "A step", .unit = "s", .help = "That waits for nothing.", .lo = 1e-3, .hi = 10, .scale = Scale::log});
  f.toggle(
      "reads_loss", in.reads_loss,
      {.label = "Loss read", .help = "In every step, so that the host waits for the GPU before it takes a batch."});
  f.integer("seed", in.seed,
            {.label = "Seed", .help = "Of the luck in decoding.", .lo = 1, .hi = 99, .scale = Scale::step});
}

void describe(Fields& f, Outputs& o) {
  f.group("The GPU");
  f.real("samples_per_s", o.samples_per_s,
         {.label = "Samples a second",
          .help = "Mean over the last steps of the simulation.",
          .headline = true,
          .formula = "batch / step"});
  f.real("starved", o.starved,
         {.label = "GPU starves", .unit = "%", .headline = true, .formula = "waiting for a batch / step"});
  f.real("step_s", o.step_s, {.label = "A step", .unit = "s", .help = "From the end of one to the end of the next."});
  f.real("starved_s", o.starved_s, {.label = "Waiting", .unit = "s", .help = "Of a step."});
  f.group("What more would change");
  f.real("twice_gain", o.twice_gain,
         {.label = "Twice the workers",
          .unit = "%",
          .help = "More samples a second, simulated.",
          .headline = true,
          .may_be_missing = true,
          .absent = "There is no worker to double."});
  f.real("gain_over_none", o.gain_over_none,
         {.label = "Against none",
          .help = "Times as many samples as without workers.",
          .may_be_missing = true,
          .absent = "Without workers it cannot run."});
  f.real("workers_needed", o.workers_needed,
         {.label = "Workers needed",
          .help = "For the GPU's pace, if storage and cores allow it.",
          .formula = "ceil(a batch, one worker / GPU's step)"});
  f.group("Where it is narrow");
  f.real("ceiling_per_s", o.ceiling_per_s,
         {.label = "At most",
          .help = "Samples a second that the narrowest part lets through.",
          .headline = true,
          .formula = "min over the parts"});
  f.text("bound", o.bound, {.label = "Narrowest"});
  constexpr std::array<std::string_view, 5> keys{"storage_ceiling", "workers_ceiling", "cores_ceiling", "pin_ceiling",
                                                 "gpu_ceiling"};
  constexpr std::array<std::string_view, 5> labels{"Storage", "Workers", "Cores", "Pinning", "GPU"};
  constexpr std::array<std::string_view, 5> formulas{"bandwidth / stored size", "workers / (request + read + decode)",
                                                     "cores / decode", "pinning rate / decoded size",
                                                     "batch / GPU's step"};
  for (std::size_t i = 0; i < keys.size(); ++i)
    f.real(keys[i], o.ceilings[i],
           {.label = labels[i],
            .help = "Samples a second, were this the only limit.",
            .may_be_missing = true,
            .absent = "It does not bound the loader.",
            .formula = formulas[i]});
  f.group("How busy they are");
  f.real("storage_use", o.storage_use, {.label = "Storage", .unit = "%", .formula = "bytes read / bandwidth"});
  f.real("core_use", o.core_use, {.label = "Cores", .unit = "%", .formula = "decoding / (cores x time)"});
  constexpr std::array<std::string_view, 4> shares{"worker_request", "worker_read", "worker_decode", "worker_idle"};
  constexpr std::array<std::string_view, 4> does{"Workers ask", "Workers read", "Workers decode", "Workers idle"};
  constexpr std::array<std::string_view, 4> helps{"Waiting for the first byte.",
                                                  "Waiting for the bytes, in line or not.",
                                                  "Decoding, or waiting for a core.", "Asked for no more batches."};
  for (std::size_t i = 0; i < 4; ++i)
    f.real(shares[i], o.worker_share[i], {.label = does[i], .unit = "%", .help = helps[i]});
  f.real("mean_queue", o.mean_queue, {.label = "Batches ready", .help = "Mean over time."});
  f.real("queue_room", o.queue_room,
         {.label = "Room for", .help = "Batches asked for ahead.", .formula = "workers x batches ahead"});
  f.real("one_reader_bytes_per_s", o.one_reader_bytes_per_s,
         {.label = "One reader",
          .unit = "B/s",
          .help = "That asks, waits, reads and asks again.",
          .formula = "size / (latency / samples a request + size / bandwidth)"});
  f.real("asked_bytes_per_s", o.asked_bytes_per_s,
         {.label = "The GPU asks for", .unit = "B/s", .formula = "batch x stored size / GPU's step"});
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s,
         {.label = "Time cursor",
          .unit = "s",
          .help = "The moment whose levels the tanks show; below 0 the one at which the lab opens.",
          .lo = -1,
          .hi = 1e6});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "training/data-loader",
       .title = "Data loader",
       .question = "Why does the GPU starve, and what would twice the workers change?",
       .job = true},
      [](const Inputs& in, Progress&) { return compute(in); }, arrange, draw);
}

}  // namespace chapters::training::data_loader
