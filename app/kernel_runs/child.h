#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// A program beside ours whose output is read line by line and never trusted: it may crash, hang, print rubbish or
/// never stop printing.
namespace app {

/// Seconds since some moment: what silence and floods are measured by.
using Clock = std::function<double()>;
double steady_s();

struct ChildLimits {
  double silence_s = 10;                ///< this long without a line: it hangs, and is killed
  std::size_t line_bytes = 1u << 20;    ///< most bytes of one line
  std::size_t lines_per_s = 10000;      ///< within any one second
  std::size_t total_bytes = 64u << 20;  ///< most bytes of everything that it prints
  Clock clock = steady_s;
};

struct ChildEnd {
  enum class How : unsigned char { exited, signalled, hung, flooded, refused, truncated, cancelled, not_started };
  How how = How::not_started;
  int code = 0;            ///< exit status or signal
  std::string error_tail;  ///< the last 4 KiB of its standard error
  std::string why;         ///< one sentence; empty when it exited with 0 after whole lines, or was cancelled
};

/// What is done with a line (without its line end). Fails with a clause that says why the line makes no sense, which
/// ends the child.
using TakeLine = std::function<models::Status(std::string_view line)>;

/// Starts `argv` (a path first, nothing is searched) in a process group of its own, with no standard input, and reads
/// until it has ended. Asks `stop` about twenty times a second. Whatever happens, the whole group is dead and waited
/// for on return, and nothing stays open.
ChildEnd run_child(const std::vector<std::string>& argv, const ChildLimits& limits, const TakeLine& take,
                   const std::function<bool()>& stop);

}  // namespace app
