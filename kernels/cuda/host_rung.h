#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda/session.h"

namespace kernels::cuda {

/// A rung whose runs the host makes and times by the machine's clock: launches themselves, or copies to and from the
/// device. It is made for one size and holds its memory. All calls throw Failure.
class HostRung {
 public:
  HostRung() = default;
  virtual ~HostRung() = default;
  HostRung(const HostRung&) = delete;
  HostRung& operator=(const HostRung&) = delete;
  virtual void fill(std::uint32_t seed) = 0;  ///< new inputs, and poison where the result will be
  virtual double run() = 0;                   ///< one run to its end; seconds of what its ladder counts as one
  virtual std::vector<std::byte> result() = 0;
};

/// What is not in every driver: throws Failure with the name of the function unless it is there.
void must_have(bool there, const char* name);

/// Seconds of a kernel of a graph of a thousand, and of the call that launches one on a stream.
double graph_node_s(const Session& session, double seconds);
double launch_call_s(const Session& session, double seconds);
/// The link between host and device, both ways at once, in pinned memory.
double host_link_bytes_per_s(const Session& session, double seconds);

}  // namespace kernels::cuda
