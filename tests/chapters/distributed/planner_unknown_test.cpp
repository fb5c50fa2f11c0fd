#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "chapters/distributed/planner/lab.h"
#include "models/parallel/planner/planner_known.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

// "What this does not know" is right in every state: over all chips and all software, dense models and such with
// experts, and the lab's presets.

using namespace support;
namespace lab_planner = chapters::distributed::planner;
using models::parallel::ChipGeneration;
using models::parallel::known_runs;
using models::parallel::known_runs_of_chip;
using models::parallel::StackId;

namespace {

std::string said(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

void check_lines(const lab_planner::Inputs& in) {
  const auto job = lab_planner::job_of(in);
  if (!job) return;  // a chip without a link or a 16-bit peak has no figures to explain
  const std::vector<std::string> lines = lab_planner::unknown_lines(in, *job);
  const std::string all = said(lines);
  INFO(in.chip << ", " << lab_planner::software_label(in.software) << ", " << in.model << "\n" << all);
  CHECK(!lines.empty());
  CHECK(lines.size() <= lab_planner::unknown_most);
  for (const std::string& line : lines) {
    CHECK(line.ends_with("."));
    CHECK(line.size() <= 80);
  }
  const auto says = [&](const std::string& words) { return all.find(words) != std::string::npos; };
  const bool experts = job->architecture.moe.routed > 0;
  const auto of_kind = known_runs(in.software, experts), other = known_runs(in.software, !experts);
  const std::string name = chapters::catalog().chip(in.chip)->short_name;
  CHECK(says("No run on " + name + " was compared") == !job->cluster.compared);
  if (job->cluster.compared)
    CHECK(says(known_runs_of_chip(in.chip) == 1
                   ? "One published run on " + name + " was compared."
                   : std::to_string(known_runs_of_chip(in.chip)) + " published runs on " + name + " were compared."));
  CHECK(says("are a guess") == (in.chip.starts_with("mi") || in.chip.starts_with("tpu") || in.chip.starts_with("trn") ||
                                in.chip.starts_with("gaudi") || job->cluster.generation == ChipGeneration::other));
  CHECK(says("its habits are assumed") == (of_kind.runs + other.runs == 0));
  if (of_kind.runs + other.runs == 1) CHECK(says(": one published step, which set no constant."));
  if (of_kind.runs + other.runs > 1)
    CHECK(says(": " + std::to_string(of_kind.runs + other.runs) + " runs, " +
               std::to_string(of_kind.judging + other.judging) + " of which set no constant."));
  CHECK(says(": median error ") == (of_kind.judging >= models::parallel::least_judging));
  CHECK(says("the error is not known") == (of_kind.judging == 0));
  if (of_kind.judging >= models::parallel::least_judging)
    CHECK(says(experts ? "Steps with experts" : "Steps of dense models"));
  CHECK(says("the links of its torus") == in.chip.starts_with("tpu"));
  CHECK(says("of 658 rows are left out."));
  CHECK(says(" are left out): its shares") ==
        (in.chip.starts_with("mi") || in.chip.starts_with("tpu") || in.chip.starts_with("trn")));
}

}  // namespace

TEST_CASE("planner: what it does not know is right for every chip and software") {
  use_bundled_catalog();
  lab_planner::Inputs in;
  for (const char* model : {"llama-3-70b", "mixtral-8x7b"})
    for (const models::Chip& chip : chapters::catalog().chips) {
      if (chip.is_several()) continue;
      for (std::size_t i = 0; i < models::parallel::stack_count; ++i) {
        in.model = model;
        in.chip = chip.id;
        in.software = static_cast<StackId>(i);
        check_lines(in);
      }
    }
}

TEST_CASE("planner: what it does not know is right in every preset") {
  use_bundled_catalog();
  const auto labs = nlohmann::json::parse(read_text(source_file("assets/labs/distributed/planner.json")));
  std::size_t presets = 0;
  for (const auto& preset : labs.at("presets")) {
    const nlohmann::json& set = preset.at("set");
    lab_planner::Inputs in;
    in.model = set.value("model", in.model);
    in.chip = set.value("chip", in.chip);
    in.gpus = set.value("gpus", in.gpus);
    const std::string software = set.value("software", std::string("megatron_core"));
    for (std::size_t i = 0; i < models::parallel::stack_count; ++i)
      if (models::parallel::stack_name(static_cast<StackId>(i)) == software) in.software = static_cast<StackId>(i);
    check_lines(in);
    ++presets;
  }
  CHECK(presets >= 10);
}

TEST_CASE("planner: sums in the switches are named where they are asked for, and where the boxes have none") {
  use_bundled_catalog();
  lab_planner::Inputs in;
  in.in_switch = true;
  const auto lines = [&] { return said(lab_planner::unknown_lines(in, *lab_planner::job_of(in))); };
  CHECK(lines().find("hold with sums in the switches") != std::string::npos);
  in.chip = "a100_80_sxm";
  CHECK(lines().find("No switch of these boxes adds") != std::string::npos);
  in.in_network = true;
  CHECK(lines().find("hold with sums in InfiniBand") != std::string::npos);
  in.network = "ethernet_400";
  CHECK(lines().find("This network's switches add nothing") != std::string::npos);
  in.host_activations = true;
  CHECK(lines().find("activations come and go at 50 GB/s a GPU") != std::string::npos);
  CHECK(lines().find("LoRA") == std::string::npos);
  in.host_activations = in.in_network = false;
  in.adapter_rank = 16;
  CHECK(lines().find("Adapters: 16 runs, whose sources leave rank and matrices unsaid.") != std::string::npos);
  CHECK(lines().find("Steps of adapters: median error 12 %") != std::string::npos);
}
