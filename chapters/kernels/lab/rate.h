#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/kernels/lab/lab.h"
#include "models/machine/kernel_prediction.h"
#include "models/machine/op_cost.h"
#include "models/machine/roofline.h"

/// One rung against its roof: between lab_rate.cpp and lab_compute.cpp.
namespace chapters::kernels::lab {

/// Ceilings in force: measured ones where there are, else what is assumed of the core or stated by the chip.
struct Ceilings {
  models::Machine machine;
  models::KernelMachine ports;
  bool arithmetic_measured = false, bandwidth_measured = false;
  std::string arithmetic, bandwidth;  ///< names for the caption
  std::string error;
};

/// One rung against its roof; fills what the picture shows of it.
struct Rated {
  Bar bar;
  const RunRow* run = nullptr;
  Ceilings ceilings;
  double floor_s = 0, predicted_s = 0;
  models::KernelBound bound;
};

Rated rate(const Inputs& in, const ::kernels::Ladder& ladder, std::size_t rung, const models::OpCost& cost,
           std::int64_t size);
/// The latest run of the rung at this size; null when there is none.
const RunRow* run_of(const Inputs& in, const ::kernels::Ladder& ladder, std::string_view rung, std::int64_t size,
                     bool edited);
bool timed(const RunRow* run);
/// Is a rung with this roof held against bandwidth? By the roof, else by what its ladder counts.
bool against_bandwidth(const Inputs& in, const ::kernels::Ladder& ladder, std::string_view roof);
/// "37.5 MFLOP/s", or whatever the ladder is compared by.
std::string rate_text(const ::kernels::Ladder& ladder, double flops, double bytes, double time_s);
std::string report_of(const RunRow& run);
std::vector<Note> notes_of(std::string_view lines);

}  // namespace chapters::kernels::lab
