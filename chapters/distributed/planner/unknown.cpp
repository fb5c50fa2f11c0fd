#include <array>
#include <cmath>

#include "chapters/distributed/planner/lab.h"
#include "models/parallel/planner/planner_known.h"
#include "widgets/number/number.h"

/// What stands behind the figures of this state, and what does not: at most six short lines.
namespace chapters::distributed::planner {
namespace {

using namespace models::parallel;
using widgets::format_text;

std::string count(std::int64_t n) { return format_text(static_cast<double>(n), "", 9); }

std::string_view generation_name(ChipGeneration generation) {
  constexpr std::array<std::string_view, chip_generation_count> names{"Volta", "Ampere",          "Hopper", "Blackwell",
                                                                      "CDNA",  "Blackwell Ultra", "others"};
  return names[static_cast<std::size_t>(generation)];
}

/// Generations whose shares no run was held against.
bool is_prior(ChipGeneration generation) {
  return generation == ChipGeneration::cdna || generation == ChipGeneration::other;
}

std::string of_chip(const std::string& chip, const PlannerJob& job, std::int64_t runs, std::int64_t left_out) {
  if (runs == 1) return "One published run on " + chip + " was compared.";
  if (runs > 0) return count(runs) + " published runs on " + chip + " were compared.";
  if (is_prior(job.cluster.generation) && left_out > 0)
    return "No run on " + chip + " was compared (" + count(left_out) + " are left out): its shares are a guess.";
  if (is_prior(job.cluster.generation))
    return "No run on " + chip + " was compared: its shares of its peaks are a guess.";
  return "No run on " + chip + " was compared: shares of " + std::string(generation_name(job.cluster.generation)) +
         " are assumed.";
}

/// What was compared of adapters, whichever software trained them.
std::string of_adapters(const KnownRuns& known) {
  return "Adapters: " + count(known.runs) + " runs, whose sources leave rank and matrices unsaid.";
}

std::string of_software(std::string_view software, const KnownRuns& dense, const KnownRuns& experts) {
  const std::int64_t runs = dense.runs + experts.runs;
  if (runs == 0) return std::string(software) + ": no run was compared; its habits are assumed.";
  if (runs == 1) return std::string(software) + ": one published step, which set no constant.";
  return std::string(software) + ": " + count(runs) + " runs, " + count(dense.judging + experts.judging) +
         " of which set no constant.";
}

/// The error of the runs that set no constant.
std::string of_error(const KnownRuns& known, const char* what, bool compared) {
  const std::string kind = std::string(what) + (compared ? "" : ", other chips");
  if (known.judging == 0) return kind + ": the error is not known.";
  if (known.judging < least_judging)
    return kind + ": " + count(known.judging) + (known.judging == 1 ? " run is" : " runs are") +
           " too few to tell the error.";
  return kind + ": median error " + format_text(100 * known.judging_median, "%", 2) + ", one in ten over " +
         format_text(100 * known.judging_ninetieth, "%", 2) + ".";
}

/// What this state rests on beside its constants; the first that holds.
std::string of_state(const Inputs& in, const PlannerJob& job, bool torus) {
  if (job.cluster.is_torus()) return "Assumed: every ring has the links of its torus to itself, a step 1 \xC2\xB5s.";
  if (torus) return "Assumed: boxes of " + count(job.cluster.gpus_per_node) + " and a network in place of its torus.";
  if (in.host_activations) return "Assumed: activations come and go at 50 GB/s a GPU.";
  if (in.offload) return "Assumed: the host's memory gives each GPU's optimizer 50 GB/s.";
  if (job.adapters.rank > 0) return "Assumed: nothing runs while adapters send over a layer's GPUs.";
  if (in.in_network)
    return job.cluster.adding_network ? "Assumed: constants set on rings hold with sums in InfiniBand."
                                      : "This network's switches add nothing: rings are counted.";
  if (in.in_switch)
    return job.cluster.switch_bytes_per_s > 0 ? "Assumed: constants set on rings hold with sums in the switches."
                                              : "No switch of these boxes adds: rings are counted.";
  if (job.architecture.moe.routed > 0) return "Assumed: all experts get as many tokens.";
  if (job.cluster.gpus > job.cluster.gpus_per_node) return "Assumed: no traffic of others between the nodes.";
  return "Assumed: GPUs are alike but for a spread of 0.4 %.";
}

}  // namespace

std::vector<std::string> unknown_lines(const Inputs& in, const PlannerJob& job) {
  const models::Chip* chip = catalog().chip(in.chip);
  if (chip == nullptr) return {};
  const std::string& name = chip->short_name.empty() ? chip->name : chip->short_name;
  const bool experts = job.architecture.moe.routed > 0;
  const KnownRuns dense = known_runs(in.software, false), moe = known_runs(in.software, true);
  const KnownFits fits = known_fits();
  const KnownLeftOut left_out = known_left_out();
  const bool adapters = job.adapters.rank > 0;
  const char* what = adapters ? "Steps of adapters" : experts ? "Steps with experts" : "Steps of dense models";
  return {of_chip(name, job, known_runs_of_chip(chip->id), left_out_of_vendor(chip->vendor)),
          adapters ? of_adapters(known_adapters()) : of_software(software_label(in.software), dense, moe),
          of_error(adapters  ? known_adapters()
                   : experts ? moe
                             : dense,
                   what, job.cluster.compared),
          "Fits or not was right on " + count(fits.right) + " of " + count(fits.runs) + " runs; " +
              count(left_out.runs) + " of " + count(left_out.published) + " rows are left out.",
          of_state(in, job, chip->interconnect.name.find("torus") != std::string::npos),
          "Not counted: failing links, hot clocks, input, checkpoints."};
}

}  // namespace chapters::distributed::planner
