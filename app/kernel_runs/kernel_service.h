#pragma once
#include "app/kernel_runs/kernel_worker.h"
#include "app/workspace/services.h"

namespace app {

/// The service "kernels" of the kernel lab: reads its request, lets a worker process run it, and puts what was measured
/// into the lab's tables `runs` and `roofs`. Measured ceilings become a chip. A bad request is one sentence.
Service kernel_service(KernelWorker worker = {});

/// What the lab asks for, line by line: "call run|roofline", "ladder", "rungs" with commas, "size", "cold", "seed",
/// "seconds", "device", "edited_rung", and last "edited_source", which takes the rest of the text.
struct KernelRequest {
  bool roofline = false;
  kernels::Device device = kernels::Device::cpu;
  kernels::Request request;
};
models::Result<KernelRequest> read_kernel_request(std::string_view text);

}  // namespace app
