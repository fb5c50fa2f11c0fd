#pragma once
#include "app/kernel_runs/kernel_worker.h"
#include "app/workspace/services.h"

namespace app {

/// The service "kernels" of the kernel lab: reads its request, lets a worker process run it, and puts what was measured
/// into the lab's tables `runs` and `roofs`, or run by run into `timed` and `timed_runs`. Measured ceilings become a
/// chip. A bad request is one sentence.
Service kernel_service(KernelWorker worker = {});

/// What a lab asks for, line by line: "call run|roofline|turns", "ladder", "rungs" with commas, "size", "cold", "seed",
/// "seconds", "device", "turns", "edited_rung", and last "edited_source", which takes the rest of the text. Of turns
/// the first rung is A and the last one B.
struct KernelRequest {
  bool roofline = false, in_turns = false;
  std::string turns;
  kernels::Device device = kernels::Device::cpu;
  kernels::Request request;
};
models::Result<KernelRequest> read_kernel_request(std::string_view text);

}  // namespace app
