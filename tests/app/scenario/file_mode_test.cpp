#include "app/scenario/file_mode.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/content/load_catalog.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/workspace/workspace.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/cli_run.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/sample_files.h"

// In a namespace of its own, where the words of the lab bench are in reach.
namespace file_mode_test {

using namespace support;
using app::Json;
using chapters::FileKind;

namespace {

/// A lab whose file counts in one mode alone.
struct Moded {
  const char *lab, *key, *mode, *option, *other;
  FileKind kind;
};
constexpr Moded moded[] = {
    {"distributed/topology", "file", "machine", "pasted", "hgx_h100", FileKind::topology_table},
    {"framework/allocator", "snapshot", "source", "snapshot", "requests", FileKind::memory_snapshot},
    {"profiling/utilization", "file", "job", "recording", "training", FileKind::recording},
    {"profiling/counters", "report", "source", "file", "measured", FileKind::kernel_report},
    {"distributed/collectives", "log_file", "run", "log", "h100-8-allreduce-dgx", FileKind::collective_log},
};

/// What `ridgeline eval` says of a lab with these inputs, as JSON.
Json evaluated(const std::vector<std::string>& arguments) {
  std::vector<std::string> call{"eval"};
  call.insert(call.end(), arguments.begin(), arguments.end());
  call.emplace_back("--json");
  const Ran ran = run_cli(call);
  INFO(ran.error);
  REQUIRE(ran.status == 0);
  return Json::parse(ran.out);
}

}  // namespace

TEST_CASE(
    "a file that is given on the command line chooses what it needs to count, and is refused beside another choice") {
  const Folder folder;
  for (const Moded& m : moded) {
    INFO(m.lab);
    folder.write("given", sample_file(m.kind));
    const std::string path = (folder / "given").string(), set = std::string(m.key) + "=" + path;
    const Json by_set = evaluated({m.lab, "--set", set});
    CHECK(by_set["inputs"][m.mode] == m.option);
    CHECK(by_set["inputs"][m.key] == path);
    CHECK(evaluated({m.lab, path})["outputs"] == by_set["outputs"]);
    CHECK(evaluated({m.lab, "--set", set, "--set", std::string(m.mode) + "=" + m.option})["outputs"] ==
          by_set["outputs"]);
    const std::string refused =
        refused_by_cli({"eval", m.lab, "--set", std::string(m.mode) + "=" + m.other, "--set", set});
    CHECK(refused.find(std::string(m.key) + " and " + m.mode + " do not go together") == 0);
    CHECK(refused.find(std::string(m.mode) + "=" + m.option) != std::string::npos);
    CHECK(refused_by_cli({"eval", m.lab, path, "--set", std::string(m.mode) + "=" + m.other}) == refused);
  }
}

TEST_CASE("a damaged file ends with the same status in every lab that reads files") {
  const Folder folder;
  folder.write("damaged", "{\"traceEvents\": [{\"ph\": ");
  for (const Moded& m : moded) {
    INFO(m.lab);
    const std::string why =
        refused_by_cli({"eval", m.lab, "--set", std::string(m.key) + "=" + (folder / "damaged").string()});
    CHECK(why.find(m.key) == 0);
  }
  folder.write("good.json", sample_file(FileKind::recording));
  const std::string good = (folder / "good.json").string(), bad = (folder / "damaged").string();
  const std::string ranks = refused_by_cli(
      {"eval", "profiling/trace-viewer", "--set", "file=" + good, "--set", "ranks=[{\"file\":\"" + bad + "\"}]"});
  CHECK(ranks.find("ranks[0].file") == 0);
  const std::string beside =
      refused_by_cli({"eval", "profiling/trace-viewer", "--set", "file=" + good, "--set", "beside_file=" + bad});
  CHECK(beside.find("beside_file") == 0);
}

TEST_CASE("a path that is given for a text is read as the file beside it") {
  const Folder folder;
  folder.write("nccl.log", sample_file(FileKind::collective_log));
  folder.write("topo.txt", sample_file(FileKind::topology_table));
  const std::string log = (folder / "nccl.log").string(), table = (folder / "topo.txt").string();
  const Json run = evaluated({"distributed/collectives", "--set", "log=" + log});
  CHECK(run["inputs"]["run"] == "log");
  CHECK(run["inputs"]["log_file"] == log);
  CHECK(run["outputs"]["run_ranks"] == 8);  // 361.69 / 206.68 is 2 x 7 / 8
  CHECK(evaluated({"distributed/topology", "--set", "table=" + table})["inputs"]["file"] == table);
  // A text is a text, and chooses its mode as well.
  CHECK(evaluated({"distributed/topology", "--set",
                   "table=" + sample_file(FileKind::topology_table)})["inputs"]["machine"] == "pasted");
}

TEST_CASE("links and scenarios choose the mode of their files, and do not hand on a file that does not count") {
  const LabPtr topology = open_lab("distributed/topology");
  const auto missing = app::missing_modes(*topology, Json{{"file", "/x/topo.txt"}});
  REQUIRE(missing);
  CHECK(*missing == Json{{"machine", "pasted"}});
  CHECK(app::missing_modes(*topology, Json{{"file", ""}})->empty());
  const auto linked = app::link_inputs(app::parse_link("distributed/topology?file=/x/topo.txt"));
  REQUIRE(linked);
  CHECK((*linked)["machine"] == "pasted");
  CHECK(app::link_inputs(app::parse_link("distributed/topology?file=/x/topo.txt&machine=hgx_h100"))
            .error.find("file and machine do not go together") == 0);

  input(*topology, "file").file().path = "/x/topo.txt";
  choose(*topology, "machine", "hgx_h200");
  CHECK(app::waits_for_mode(input(*topology, "file"), topology->inputs()));
  CHECK(app::link_of(*topology).find("topo.txt") == std::string::npos);
  CHECK_FALSE(app::scenario_to_json(*topology)["inputs"].contains("file"));
  choose(*topology, "machine", "pasted");
  CHECK(app::link_of(*topology).find("topo.txt") != std::string::npos);
  CHECK(app::scenario_to_json(*topology)["inputs"]["file"] == "/x/topo.txt");
}

TEST_CASE("a file that is opened in the window sets its mode in the same step, which undo takes back whole") {
  use_bundled_catalog();
  const Folder folder;
  for (const Moded& m : moded) {
    INFO(m.lab);
    app::Workspace w(bundled_content(),
                     models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"}));
    folder.write("given", sample_file(m.kind));
    REQUIRE(w.open(m.lab));
    const std::string before(w.lab().inputs().find(m.mode)->choice_id());
    REQUIRE(before != m.option);
    w.current().finish();
    w.update(false);
    CHECK(w.opening.open_and_wait((folder / "given").string()).error == "");
    CHECK(w.lab().info().id == m.lab);
    CHECK(w.lab().inputs().find(m.mode)->choice_id() == m.option);
    CHECK(w.lab().inputs().find(m.key)->file().path == (folder / "given").string());
    w.update(false);
    w.current().undo();
    CHECK(w.lab().inputs().find(m.mode)->choice_id() == before);
    CHECK(w.lab().inputs().find(m.key)->file().path == "");
    CHECK_FALSE(w.current().can_undo());
  }
}

// As nvidia-smi topo -m prints it in a virtual machine of eight H100 that sees no network adapters: the heads
// underlined, the legend below.
TEST_CASE("a table of one machine without network adapters is that one machine, however it is given") {
  use_bundled_catalog();
  std::string table = "\t";
  for (int i = 0; i < 8; ++i) table += "\x1b[4mGPU" + std::to_string(i) + "\t";
  table += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n";
  for (int i = 0; i < 8; ++i) {
    table += "GPU" + std::to_string(i) + "\t";
    for (int j = 0; j < 8; ++j) table += i == j ? " X \t" : "NV18\t";
    table += i < 4 ? "0-103\t0\t\tN/A\n" : "104-207\t1\t\tN/A\n";
  }
  table +=
      "\nLegend:\n\n  X    = Self\n"
      "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
      "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
      "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
      "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
      "  PIX  = Connection traversing at most a single PCIe bridge\n"
      "  NV#  = Connection traversing a bonded set of # NVLinks\n";
  const Folder folder;
  folder.write("topo.txt", table);
  const std::string path = (folder / "topo.txt").string();
  const Json outputs = evaluated({"distributed/topology", path})["outputs"];
  CHECK(outputs["chips"] == 8);
  CHECK(outputs["ranks"] == 8);

  app::Workspace w(bundled_content(),
                   models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"}));
  REQUIRE(w.open("distributed/topology"));
  CHECK(w.opening.open_and_wait(path).error == "");
  w.current().finish();
  CHECK(w.lab().reason() == "");
  CHECK(output(w.lab(), "chips").number() == 8);
  CHECK(w.lab().answer().find("`8` of the plan's `16` ranks") != std::string_view::npos);
  // What it names none of cannot be doubled.
  set(w.lab(), "pasted_boxes", 2);
  w.current().finish();
  CHECK(w.lab().reason().find("no network adapter") != std::string::npos);
}

TEST_CASE("a scenario file whose file needs a mode gets it, and one that sets another is refused") {
  const Folder folder;
  folder.write("topo.txt", sample_file(FileKind::topology_table));
  folder.write("s.json", R"({"lab": "distributed/topology", "inputs": {"file": "topo.txt"}})");
  folder.write("both.json",
               R"({"lab": "distributed/topology", "inputs": {"file": "topo.txt", "machine": "hgx_h100"}})");
  CHECK(evaluated({"--scenario", (folder / "s.json").string()})["inputs"]["machine"] == "pasted");
  CHECK(refused_by_cli({"eval", "--scenario", (folder / "both.json").string()})
            .find("file and machine do not go together") == 0);
}

}  // namespace file_mode_test
