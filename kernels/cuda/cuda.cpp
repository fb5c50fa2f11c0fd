#include "kernels/cuda/cuda.h"

#include <utility>

#include "kernels/cuda/libraries.h"
#include "kernels/cuda/run.h"
#include "kernels/cuda/session.h"

namespace kernels::cuda {

models::Status can_be_timed() {
  const Machine machine = open_machine(false);
  if (std::string why = why_no_device(machine); !why.empty()) return models::Status::fail(std::move(why));
  return models::Status{machine.no_nvrtc};
}

models::Status run(const Request& request, const Ladder& ladder, const Listener& listener) {
  return run_on(open_machine(false), request, ladder, listener);
}

Roofs measure_roofs(double seconds, const Listener& listener) {
  return measure_roofs_on(open_machine(true), seconds, listener);
}

}  // namespace kernels::cuda
