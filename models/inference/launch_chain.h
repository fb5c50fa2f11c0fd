#pragma once

/// Launches that follow one another behind a host, in closed form: what run_launches (launch_queue.h) walks kernel by
/// kernel, while the queue is never full.
namespace models::inference {

/// The i-th thing that is launched, a kernel or a whole graph, ends at max(end of the one before + gap, i x launch +
/// latency) + duration. So the device's lag behind its own launches becomes max(lag + after_s, least_s), and a chain of
/// such steps is one such step again (max-plus algebra). All of a chain have one interval from launch to launch.
struct LaunchChain {
  double after_s = 0;
  double least_s = -1e300;  ///< below every lag: an empty chain changes nothing
  double launches = 0;

  /// This chain, then `next`.
  LaunchChain then(const LaunchChain& next) const;
  /// The chain `times` over, a whole number of at least 1.
  LaunchChain repeated(double times) const;
  /// From the end of a step on the device to the end of the next, where the host reads a token between the two, s.
  double period_s(double launch_s, double latency_s) const;
};

/// One launch whose work takes `duration_s` and comes `gap_s` after the work before where both are there.
LaunchChain one_launch(double duration_s, double gap_s, double launch_s, double latency_s);

}  // namespace models::inference
