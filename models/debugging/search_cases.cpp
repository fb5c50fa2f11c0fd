#include "models/debugging/search_cases.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "models/debugging/failure_causes.h"

namespace models::debugging {
namespace {

using enum Layer;

constexpr CheckName names[] = {
    {"smi", "nvidia-smi", "Clocks, throttle reasons, ECC counts and PCIe links of every GPU."},
    {"top", "top", "Who uses the host's cores and its memory."},
    {"nccl_log", "NCCL log", "Which network interface and which transport NCCL chose."},
    {"compile_log", "recompile log", "How often the compiler ran, and why."},
    {"empty_loader", "empty loader", "The same step on data that is already in memory."},
    {"numactl", "numactl", "Which cores and which memory each process is bound to."},
    {"nccl_tests", "nccl-tests", "The bandwidth of collectives on these nodes, without the job."},
    {"profile", "profile", "Five steps in the profiler, every kernel and every gap."},
    {"git_log", "git log", "What was merged since it last worked."},
    {"rank_times", "time per rank", "The time of a step on each rank, before anybody waits."},
    {"versions", "versions", "Driver, firmware and libraries on all nodes, compared."},
    {"placement", "placement", "Which nodes and switches the scheduler gave this time."},
    {"port_counters", "port counters", "Errors, drops and rates of the network's ports."},
    {"lengths", "sequence lengths", "How long the sequences of the last batches are."},
    {"xid_log", "Xid log", "What the driver wrote of its GPUs into the kernel's log."},
    {"event_log", "event log", "What the cluster's operators and schedulers did to the nodes."},
    {"traceback", "traceback", "The last lines of each rank's own log."},
    {"dcgm", "dcgmi diag", "The vendor's diagnosis of a GPU, level 3."},
    {"host_diag", "host diagnosis", "The maker's diagnosis of a host's other parts."},
    {"flight_recorder", "flight recorder", "The last collectives of each rank, compared."},
    {"stacks", "stacks", "Where each process stands now, line by line."},
    {"clock_log", "clock log", "Clocks and temperatures over the hours."},
    {"read_test", "read test", "How fast the storage reads and writes now."},
    {"memory_log", "memory log", "What the allocator held and retried over the hours."},
    {"scale_log", "scale factors", "The scale factors of every tensor, and which are at their end."},
    {"grad_norms", "gradient norms", "Norms by layer and by rank around the step."},
    {"batch_replay", "batch replay", "The same batches again, from the checkpoint before."},
    {"shard_hashes", "shard hashes", "Hashes of the shards that were read, compared."},
    {"config_diff", "config diff", "The two configurations, line by line."},
    {"bitwise_rerun", "bitwise rerun", "The same steps twice on other GPUs, compared bit by bit."},
};

struct Sees {
  std::size_t cause;
  double probability;
};

Check check(std::string_view id, Layer layer, double minutes, std::size_t causes, std::initializer_list<Sees> sees) {
  const auto at = std::find_if(std::begin(names), std::end(names), [&](const CheckName& n) { return n.id == id; });
  Check out{.id = at->id, .name = at->name, .layer = layer, .minutes = minutes, .sees = std::vector(causes, 0.0)};
  for (const Sees& s : sees) out.sees[s.cause] = s.probability;
  return out;
}

struct CheckRow {
  std::string_view id;
  Layer layer;
  double minutes;
  std::initializer_list<Sees> sees;
  bool points = false;
};

SearchCase search(std::initializer_list<Cause> causes, std::initializer_list<CheckRow> checks, double escalation) {
  SearchCase c{.causes = causes, .checks = {}, .escalation_minutes = escalation};
  double all = 0;
  for (const Cause& cause : c.causes) all += cause.likelihood;
  for (Cause& cause : c.causes) cause.likelihood /= all;
  for (const CheckRow& r : checks) {
    c.checks.push_back(check(r.id, r.layer, r.minutes, causes.size(), r.sees));
    c.checks.back().points = r.points;
  }
  return c;
}

FixedCase slower_since_merge() {
  return {"merge", "Slower since the merge", "Steps got a third slower with the last merge.", Prior::own,
          search({{"clocks throttled", hardware, 6},
                  {"another job on the node", system, 6},
                  {"NCCL on TCP", system, 6},
                  {"recompiles", code, 16},
                  {"storage slow", data, 6},
                  {"loader starves", data, 10},
                  {"NUMA, no pinning", system, 6},
                  {"a bad link", hardware, 6},
                  {"a straggling rank", code, 12},
                  {"a hidden sync", code, 26}},
                 {{"smi", hardware, 2, {{0, 1}}},
                  {"top", system, 2, {{1, 1}}},
                  {"nccl_log", system, 3, {{2, 1}}},
                  {"compile_log", code, 4, {{3, 1}}},
                  {"empty_loader", data, 5, {{4, 1}, {5, 1}}},
                  {"numactl", system, 6, {{6, 1}}},
                  {"nccl_tests", hardware, 12, {{7, 1}}},
                  {"profile", code, 15, {{3, 1}, {4, 1}, {5, 1}, {8, 1}, {9, 1}}}},
                 120)};
}

FixedCase slower_since_reboot() {
  return {"reboot", "Slower since the reboot", "Nothing was merged; the nodes were restarted, and steps are slower.",
          Prior::own,
          search({{"power limit lost", system, 24},
                  {"PCIe link at x8", hardware, 12},
                  {"another job on the node", system, 14},
                  {"NCCL on TCP", system, 18},
                  {"NUMA, no pinning", system, 14},
                  {"storage mounted elsewhere", data, 8},
                  {"a bad link", hardware, 10}},
                 {{"smi", hardware, 2, {{0, 1}, {1, 1}}},
                  {"top", system, 2, {{2, 1}}},
                  {"nccl_log", system, 3, {{3, 1}}},
                  {"numactl", system, 4, {{4, 1}}},
                  {"read_test", data, 6, {{5, 1}}},
                  {"nccl_tests", hardware, 12, {{6, 1}}}},
                 120)};
}

FixedCase slower_since_yesterday() {
  return {"yesterday", "30 % slower since yesterday",
          "A job on 1,024 GPUs ran well yesterday; today its steps are 30 % slower.", Prior::own,
          search({{"a throttled GPU", hardware, 16},
                  {"a bad link", hardware, 12},
                  {"driver or NCCL changed", system, 20},
                  {"placed over more switches", system, 14},
                  {"a noisy neighbour", system, 8},
                  {"longer sequences", data, 12},
                  {"a commit last night", code, 18}},
                 {{"git_log", code, 1, {{6, 0.5}}},
                  {"smi", hardware, 2, {{0, 0.6}}},
                  {"top", system, 2, {{4, 0.5}}},
                  {"placement", system, 3, {{3, 0.95}}},
                  {"rank_times", hardware, 4, {{0, 0.8}, {4, 0.4}}},
                  {"versions", system, 4, {{2, 0.95}}},
                  {"port_counters", hardware, 5, {{1, 0.8}}},
                  {"lengths", data, 5, {{5, 1}}},
                  {"profile", code, 15, {{0, 0.5}, {4, 0.4}, {5, 0.8}, {6, 0.9}}}},
                 120)};
}

FixedCase slower_by_the_hour() {
  return {"hours", "Slower after two hours",
          "Every run begins fast and is 20 % slower after two hours; a restart helps for a while.", Prior::own,
          search({{"GPUs throttle from heat", hardware, 34},
                  {"allocator retries", code, 12},
                  {"the host swaps", data, 16},
                  {"storage fills up", system, 10},
                  {"logging grows", code, 8},
                  {"longer sequences come later", data, 12},
                  {"a noisy neighbour", system, 8}},
                 {{"top", system, 2, {{2, 0.7}, {6, 0.5}}},
                  {"clock_log", hardware, 3, {{0, 0.95}}},
                  {"memory_log", code, 3, {{1, 0.9}}},
                  {"lengths", data, 5, {{5, 1}}},
                  {"read_test", system, 6, {{3, 0.9}}},
                  {"profile", code, 15, {{1, 0.6}, {2, 0.8}, {4, 0.9}, {6, 0.5}}}},
                 120)};
}

FixedCase loss_spiked() {
  return {"spike", "The loss spiked",
          "A new FP8 run spikes at step 12,000, and again after a restart, at another step.", Prior::own,
          search({{"an FP8 scale saturates", code, 28},
                  {"learning rate too high", code, 18},
                  {"a bad batch", data, 22},
                  {"tokenizer or shard changed", data, 10},
                  {"silent corruption in a GPU", hardware, 8},
                  {"optimizer state underflows", code, 14}},
                 {{"config_diff", code, 2, {{1, 0.5}, {5, 0.4}}},
                  {"scale_log", code, 3, {{0, 0.9}}},
                  {"grad_norms", code, 5, {{1, 0.6}, {2, 0.3}, {4, 0.7}}},
                  {"shard_hashes", data, 6, {{3, 0.95}}},
                  {"batch_replay", data, 12, {{2, 0.9}, {3, 0.5}}},
                  {"dcgm", hardware, 20, {{4, 0.4}}},
                  {"bitwise_rerun", hardware, 40, {{4, 0.8}, {5, 0.5}}}},
                 240)};
}

FixedCase nccl_timeout() {
  return {"timeout", "NCCL timeout", "After hours of training a collective never ends, and the watchdog stops the job.",
          Prior::own,
          search({{"a rank skipped a collective", code, 20},
                  {"a loader is stuck", data, 16},
                  {"a rank ran out of memory", code, 18},
                  {"a GPU fell off the bus", hardware, 14},
                  {"a bad link", hardware, 12},
                  {"NCCL versions differ", system, 6},
                  {"wrong network interface", system, 6},
                  {"a checkpoint write hangs", system, 8}},
                 {{"traceback", code, 2, {{2, 0.8}}},
                  {"xid_log", hardware, 3, {{3, 0.95}}},
                  {"memory_log", code, 3, {{2, 0.7}}},
                  {"nccl_log", system, 3, {{5, 0.6}, {6, 0.9}}},
                  {"stacks", code, 4, {{0, 0.4}, {1, 0.9}, {7, 0.9}}},
                  {"versions", system, 4, {{5, 1}}},
                  {"port_counters", hardware, 5, {{4, 0.8}}},
                  {"read_test", system, 6, {{1, 0.3}, {7, 0.7}}},
                  {"flight_recorder", code, 8, {{0, 0.95}, {1, 0.6}, {2, 0.8}}},
                  {"nccl_tests", hardware, 12, {{4, 0.9}, {6, 0.9}}}},
                 180)};
}

FixedCase busy_40_percent() {
  return {"idle", "GPU utilization 40 %", "A job on one node shows a GPU utilization of 40 %.", Prior::own,
          search({{"the loader starves it", data, 30},
                  {"a hidden sync", code, 20},
                  {"many small kernels", code, 18},
                  {"recompiles", code, 10},
                  {"all-reduce not hidden", system, 12},
                  {"cores not pinned", system, 10}},
                 {{"top", system, 2, {{0, 0.5}, {5, 0.4}}},
                  {"compile_log", code, 4, {{3, 1}}},
                  {"empty_loader", data, 5, {{0, 1}}},
                  {"numactl", system, 6, {{5, 0.9}}},
                  {"profile", code, 15, {{0, 0.9}, {1, 1}, {2, 1}, {3, 0.8}, {4, 1}}}},
                 90)};
}

FixedCase two_runs_differ() {
  return {"differ", "Two runs differ", "The same training twice, and one ends a point of accuracy lower.", Prior::own,
          search({{"another seed or shuffle", data, 22},
                  {"the configurations differ", code, 26},
                  {"the data changed", data, 14},
                  {"order of additions", system, 18},
                  {"library versions differ", system, 12},
                  {"silent corruption in a GPU", hardware, 8}},
                 {{"config_diff", code, 2, {{0, 0.8}, {1, 0.95}}},
                  {"versions", system, 4, {{4, 1}}},
                  {"shard_hashes", data, 6, {{2, 0.95}}},
                  {"grad_norms", code, 10, {{1, 0.3}, {5, 0.4}}},
                  {"dcgm", hardware, 20, {{5, 0.4}}},
                  {"bitwise_rerun", hardware, 40, {{0, 0.9}, {3, 0.95}, {5, 0.6}}}},
                 240)};
}

/// Two of the checks name nobody: times of the ranks say that one of them is late, a step without loading that the
/// loader is it.
FixedCase slower_somewhere() {
  return {"somewhere", "Slower, nobody knows where",
          "A job on 64 GPUs is 20 % slower since this morning, and nothing was merged.", Prior::own,
          search({{"a throttled GPU", hardware, 14},
                  {"PCIe link at x8", hardware, 8},
                  {"another job on the node", system, 12},
                  {"NUMA, no pinning", system, 8},
                  {"storage slow", data, 14},
                  {"too few loader workers", data, 12},
                  {"a bad link", hardware, 12},
                  {"NCCL on TCP", system, 8},
                  {"a hidden sync", code, 12}},
                 {{"nccl_log", system, 3, {{7, 1}}},
                  {"port_counters", hardware, 5, {{6, 0.8}}},
                  {"smi", hardware, 6, {{0, 0.9}, {1, 0.95}}},
                  {"rank_times", system, 6, {{0, 0.95}, {1, 0.95}, {2, 0.9}, {3, 0.9}}, true},
                  {"top", system, 7, {{2, 0.9}, {5, 0.5}}},
                  {"empty_loader", data, 7, {{4, 1}, {5, 1}}, true},
                  {"numactl", system, 8, {{3, 1}}},
                  {"read_test", data, 9, {{4, 0.9}}},
                  {"profile", code, 18, {{5, 0.6}, {8, 1}}}},
                 120)};
}

/// The published interruptions by these causes.
double counted(std::initializer_list<std::string_view> causes) {
  double sum = 0;
  for (const FailureCause& cause : llama3_causes())
    if (std::find(causes.begin(), causes.end(), cause.name) != causes.end()) sum += static_cast<double>(cause.count);
  return sum;
}

/// Likelihoods: the published interruptions of Llama 3, grouped.
FixedCase large_run_stopped() {
  return {
      "stopped", "A run on 16,384 GPUs stops", "A pre-training run of months was interrupted, and nobody planned it.",
      Prior::llama3,
      search({{"a faulty GPU", hardware, counted({"Faulty GPU"})},
              {"GPU memory (HBM3)", hardware, counted({"GPU memory (HBM3)"})},
              {"a software bug", code, counted({"Software bug"})},
              {"other parts of a GPU", hardware,
               counted({"GPU SRAM", "GPU system processor", "Silent data corruption", "GPU heat or its sensor"})},
              {"a switch or a cable", hardware, counted({"Network switch or cable"})},
              {"host maintenance", system, counted({"Host maintenance"})},
              {"other parts of a host", hardware,
               counted({"Network card", "SSD", "Power supply", "Server chassis", "I/O board", "CPU", "System memory"})},
              {"NCCL watchdog, unexplained", system, counted({"NCCL watchdog timeout"})},
              {"a dependency", code, counted({"Dependency"})}},
             {{"event_log", system, 2, {{5, 1}}},
              {"xid_log", hardware, 3, {{0, 0.8}, {1, 0.95}, {3, 0.5}}},
              {"port_counters", hardware, 5, {{4, 0.8}}},
              {"traceback", code, 6, {{2, 0.8}, {8, 1}}},
              {"flight_recorder", code, 10, {{4, 0.4}, {7, 0.7}}},
              {"host_diag", hardware, 15, {{6, 0.9}}},
              {"dcgm", hardware, 20, {{0, 0.95}, {1, 0.95}, {3, 0.7}}}},
             180)};
}

/// Likelihoods: shares of faults on H200 nodes in a talk of Crusoe at GTC 2025, known here from a page on reliability
/// that names it.
FixedCase node_dropped() {
  return {"node", "A node drops out", "One node of H200 GPUs does not answer, and the job waits for it.",
          Prior::h200_talk,
          search({{"a GPU, recoverable", hardware, 19.5},
                  {"the host must be replaced", hardware, 41.5},
                  {"another fault of the host", system, 4.9},
                  {"InfiniBand, recoverable", system, 4.9},
                  {"InfiniBand hardware", hardware, 12.2},
                  {"InfiniBand, other", system, 17}},
                 {{"xid_log", hardware, 3, {{0, 0.9}}},
                  {"port_counters", hardware, 5, {{3, 0.9}, {4, 0.7}, {5, 0.6}}},
                  {"nccl_tests", hardware, 12, {{3, 0.5}, {4, 0.9}, {5, 0.6}}},
                  {"dcgm", hardware, 20, {{0, 0.9}, {1, 0.3}}},
                  {"host_diag", hardware, 25, {{1, 0.95}, {2, 0.7}}}},
                 120)};
}

}  // namespace

std::vector<CheckName> check_names() { return {std::begin(names), std::end(names)}; }

const std::vector<FixedCase>& fixed_cases() {
  static const std::vector<FixedCase> cases{slower_since_merge(), slower_since_reboot(), slower_since_yesterday(),
                                            slower_by_the_hour(), loss_spiked(),         nccl_timeout(),
                                            busy_40_percent(),    two_runs_differ(),     large_run_stopped(),
                                            node_dropped(),       slower_somewhere()};
  return cases;
}

}  // namespace models::debugging
