#include "models/hang/alarm_cost.h"

#include <algorithm>
#include <cmath>

namespace models::hang {
namespace {

/// GPU hours lost a month at a timeout. A pause that ends in time costs what it lasts whatever the timeout is, and is
/// not counted; one that does not is counted with what comes on top of it: the restart.
double lost_gpu_hours(const AlarmJob& job, double timeout_s) {
  const double false_alarms = job.pauses * std::exp(-timeout_s / job.pause_mean_s);
  return job.gpus / 3600 * (job.hangs * (timeout_s + job.restart_s) + false_alarms * job.restart_s);
}

}  // namespace

AlarmCost alarm_cost(const AlarmJob& job) {
  AlarmCost out;
  out.false_alarms = job.pauses * std::exp(-job.timeout_s / job.pause_mean_s);
  out.waiting_gpu_hours = job.gpus / 3600 * job.hangs * job.timeout_s;
  out.restart_gpu_hours = job.gpus / 3600 * job.hangs * job.restart_s;
  out.false_gpu_hours = job.gpus / 3600 * out.false_alarms * job.restart_s;
  out.lost_gpu_hours = lost_gpu_hours(job, job.timeout_s);
  // hangs = pauses x restart / mean x exp(-timeout / mean)
  const double ratio = job.pauses * job.restart_s / (job.hangs * job.pause_mean_s);
  out.best_timeout_s = ratio > 1 ? job.pause_mean_s * std::log(ratio) : 0;
  out.best_lost_gpu_hours = lost_gpu_hours(job, out.best_timeout_s);
  return out;
}

}  // namespace models::hang
