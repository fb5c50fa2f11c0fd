#pragma once

namespace models::hang {

/// How long a watchdog waits before it ends a job, and what that costs a month.
struct AlarmJob {
  double gpus = 1024, timeout_s = 600, restart_s = 900;
  double hangs = 4;          ///< a month that never end by themselves
  double pauses = 2000;      ///< a month in which a collective is only late: a checkpoint, a compilation, slow storage
  double pause_mean_s = 60;  ///< exponentially distributed: an assumption
};
struct AlarmCost {
  double false_alarms = 0;  ///< a month: pauses that last longer than the timeout
  double waiting_gpu_hours = 0, false_gpu_hours = 0, restart_gpu_hours = 0;
  double lost_gpu_hours = 0;
  double best_timeout_s = 0, best_lost_gpu_hours = 0;
};

/// Each hang costs the timeout and a restart, each pause beyond the timeout a restart on top of itself. The best
/// timeout follows by setting the derivative of all lost time to zero.
AlarmCost alarm_cost(const AlarmJob& job);

}  // namespace models::hang
