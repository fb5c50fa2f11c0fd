#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/kernel_runs/child.h"
#include "kernels/kernel.h"
#include "kernels/turns.h"
#include "models/base/result.h"

/// Kernels run in a child process of this same program, so that a crash, a hang or a poisoned GPU context takes nobody
/// along.
namespace app {

struct KernelWorker {
  /// What to start; the words of the call are appended ("kernels", "run", ...).
  std::vector<std::string> program{"/proc/self/exe"};
  ChildLimits limits;
};

/// As kernels::run, in a child; an edited rung runs alone. When it crashes, hangs or talks nonsense, the rungs that
/// have no result yet are run again, each in a child of its own: the one at fault gets a Result whose `failure` says
/// what happened, the others their measurement. `stop` is asked about twenty times a second; once true (or once the
/// listener says false) the child is killed and nothing more is reported. `say` gets a sentence where other work ran on
/// the machine meanwhile. Fails when nothing could be run at all.
models::Status run_kernels(const KernelWorker& worker, const kernels::Request& request,
                           const kernels::Listener& listener, const std::function<bool()>& stop,
                           const std::function<void(std::string)>& say = {});

/// As kernels::run_turns, in a child; a child that crashes, hangs or talks nonsense ends it with a sentence, and the
/// runs before stay. `stop` and `say` as above.
models::Status run_turns(const KernelWorker& worker, const kernels::TurnsRequest& request,
                         const kernels::TakeTurn& take, const std::function<bool()>& stop,
                         const std::function<void(std::string)>& say = {});

/// As kernels::measure_roofs, in a child; what was measured before a failure is kept.
kernels::Roofs measure_roofs(const KernelWorker& worker, kernels::Device device, double seconds,
                             const kernels::Listener& listener, const std::function<bool()>& stop);

}  // namespace app
