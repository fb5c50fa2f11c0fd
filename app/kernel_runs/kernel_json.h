#pragma once
#include <string>
#include <string_view>

#include "kernels/kernel.h"
#include "kernels/turns.h"
#include "models/base/result.h"

/// What a process that runs kernels says, one JSON object a line, and what it is asked.
namespace app {

/// One line of `ridgeline kernels run|turns|roofline --json`. Which members mean anything depends on `kind`.
struct KernelEvent {
  enum class Kind : unsigned char {
    progress,  ///< `fraction` of the whole request is done
    result,    ///< `result`
    device,    ///< `device` and its `name`; comes before its roofs
    roof,      ///< `roof`
    note,      ///< `note` on the roofs before it
    turn,      ///< `turn`: one run of two rungs
    done       ///< the last line; `failure` is one sentence when nothing could be run, otherwise empty
  };
  Kind kind{};
  double fraction = 0;
  kernels::Result result;
  kernels::Roof roof;
  kernels::TimedTurn turn;
  kernels::Device device{};
  std::string name, failure, note;
  bool operator==(const KernelEvent&) const = default;
};

/// A line longer than this is not read.
inline constexpr std::size_t max_kernel_line_bytes = 1u << 20;

/// One line without its end. Numbers survive exactly; one that is not finite is written as null and read as NaN. Bytes
/// that are not UTF-8 become replacement characters.
std::string to_line(const KernelEvent& event);

/// Reads what to_line wrote. Anything else (not JSON, too long, an unknown event, a member that is missing or of a
/// wrong type) is one sentence that quotes no more than a few words of it. Members it does not know are left alone.
models::Result<KernelEvent> parse_kernel_event(std::string_view line);

/// A request as one line, and back: to hand over to a process. The same rules.
std::string to_line(const kernels::Request& request);
models::Result<kernels::Request> parse_kernel_request(std::string_view line);

}  // namespace app
