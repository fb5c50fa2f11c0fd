#pragma once
#include <string>

#include "kernels/kernel.h"

namespace app {

/// What of the machine the roofs do not tell. 0: unknown.
struct MachineFacts {
  double memory_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  int cores = 0;
};
MachineFacts machine_facts();

/// The measured ceilings as a chip "this machine" (a GPU: "this GPU", and "this GPU through OpenGL" where that measured
/// it) in the form of a hardware file; empty where they hold no arithmetic or no bandwidth, without which a chip cannot
/// be used. `date` is "2026-08-31". All figures of a CPU are of one thread, as measured.
struct MachineChip {
  std::string file_name;  ///< name of the file in the folder with the learner's own chips
  std::string name, json;
};
MachineChip machine_chip(const kernels::Roofs& roofs, const MachineFacts& facts, const std::string& date);
std::string today();  ///< "2026-08-31"

/// One sentence where a measurement that keeps a core at work had it for less than nine tenths of the time: then other
/// work ran, and its figures are too low. Empty where it had it, and for times that are not above 0. Seconds.
std::string busy_machine(double wall_s, double cpu_s);

}  // namespace app
