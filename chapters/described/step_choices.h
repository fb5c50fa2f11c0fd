#pragma once
#include "chapters/mechanism/field.h"
#include "models/base/result.h"
#include "models/machine/hardware.h"

/// Choices and inputs of how a step runs: its launches, its optimizer, its all-reduces, and the made-up recordings of
/// one. The same in every lab.
namespace chapters {

/// In the order of models::LaunchMode, OptimizerCode, AllReduceAlgorithm and SampleFault.
const Choices& launch_mode_choices();
const Choices& optimizer_code_choices();
const Choices& all_reduce_choices();
const Choices& sample_fault_choices();

/// The chip of that id, for labs whose host launches one kernel after another. Fails, in one sentence, where there is
/// no such chip and where it is known to run programs that are compiled whole; a chip of one's own counts as one with a
/// queue of launches.
models::Result<const models::Chip*> find_launched_chip(std::string_view id);

/// The inputs `inside_hop_s` and `between_hop_s`: what a step of a collective takes however few bytes it has, up to
/// `hi_s`.
void describe_inside_hop(Fields& fields, double& hop_s, double hi_s);
void describe_between_hop(Fields& fields, double& hop_s, double hi_s);

}  // namespace chapters
