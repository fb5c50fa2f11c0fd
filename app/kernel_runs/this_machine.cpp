#include "app/kernel_runs/this_machine.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "app/platform/json.h"
#include "widgets/number/number.h"

namespace app {
namespace {

double largest(const kernels::Roofs& roofs, std::initializer_list<std::string_view> ids) {
  double most = 0;
  for (const auto id : ids)
    for (const auto& roof : roofs.roofs)
      if (roof.id == id && std::isfinite(roof.value)) most = std::max(most, roof.value);
  return most;
}

/// One line of printable text, short enough for a name.
std::string plain(std::string_view s) {
  std::string out;
  for (const char c : s)
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out.substr(0, 80);
}

}  // namespace

MachineFacts machine_facts() {
  const auto known = [](int name) { return std::max(0.0, static_cast<double>(::sysconf(name))); };
  return {.memory_bytes = known(_SC_PHYS_PAGES) * known(_SC_PAGESIZE),
          .l2_bytes = known(_SC_LEVEL2_CACHE_SIZE),
          .l3_bytes = known(_SC_LEVEL3_CACHE_SIZE),
          .cores = static_cast<int>(known(_SC_NPROCESSORS_ONLN))};
}

MachineChip machine_chip(const kernels::Roofs& roofs, const MachineFacts& facts, const std::string& date) {
  const bool gpu = kernels::is_gpu(roofs.device), opengl = roofs.device == kernels::Device::opengl;
  const double fp32 = largest(roofs, {"fma", "fma_avx512", "fma_avx2", "gpu_fma", "gpu_sgemm", "gl_fma"});
  const double bf16 = largest(roofs, {"gpu_bf16"});
  const double bandwidth = largest(roofs, {"dram_copy", "dram_read", "gpu_copy", "gpu_read", "gl_copy", "gl_read"});
  const double own_memory = largest(roofs, {"gpu_memory", "gl_memory"});
  // OpenGL need not say how much memory a GPU has; most that do not share the machine's.
  const bool shared = opengl && own_memory < 1;
  const double memory = gpu && !shared ? own_memory : facts.memory_bytes;
  if (!(fp32 > 0 && bandwidth > 0 && memory >= 1)) return {};
  const std::string device = plain(roofs.device_name);
  const std::string source = "measured on this machine, " + date;
  Json peak = {{"fp32", fp32}};
  if (gpu && bf16 > 0) peak["bf16"] = bf16;  // a core's rate is measured in FP32 alone, and is said of nothing else
  const std::string id = opengl ? "this_gpu_opengl" : gpu ? "this_gpu" : "this_machine";
  MachineChip out{id + ".json", opengl ? "This GPU through OpenGL" : gpu ? "This GPU" : "This machine", {}};
  const std::string title = out.name + (device.empty() ? "" : " (" + device + ")");
  Json chip = {{"id", id},
               {"name", title},
               {"short_name", out.name},
               {"vendor", "this machine"},
               {"architecture", gpu ? "GPU" : "CPU, one thread"},
               {"confidence", "user"}};
  chip["peak_flops_per_s"] = peak;
  chip["memory_bytes"] = memory;
  chip["memory_bandwidth_bytes_per_s"] = bandwidth;
  if (!gpu && facts.l2_bytes > 0) chip["l2_bytes"] = facts.l2_bytes;
  if (const double l2 = largest(roofs, {"gpu_l2"}); gpu && l2 >= 1) chip["l2_bytes"] = l2;
  if (!gpu && facts.l3_bytes > 0) chip["l3_bytes"] = facts.l3_bytes;
  if (const double clock = largest(roofs, {"clock", "gpu_clock"}); clock > 0) chip["boost_clock_hz"] = clock;
  const auto found = [&](const char* key, std::initializer_list<std::string_view> ids) {
    if (const double value = largest(roofs, ids); value > 0) chip["measured"][key] = value;
  };
  found("l2_bytes_per_s", {"l2_read", "gpu_l2_read"});
  found("l2_latency_s", {"latency_l2"});
  found("dram_latency_s", {"latency_dram"});
  chip["notes"] = {gpu ? "Its ceilings were measured by the kernel lab, not read from a data sheet."
                       : "Its ceilings were measured by the kernel lab with one thread, in FP32."};
  if (shared)
    chip["notes"].push_back("Its driver does not say how much memory it has: the figure is that of the machine.");
  chip["sources"] = {{"*", source}};
  out.json = to_text(chip, 2) + "\n";
  return out;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return text;
}

std::string busy_machine(double wall_s, double cpu_s) {
  constexpr double least_share = 0.9;
  if (!(wall_s > 0) || !(cpu_s >= 0) || cpu_s >= least_share * wall_s) return {};
  return "Other work ran on this machine: the measurement had its core for " +
         widgets::format_percent(cpu_s / wall_s, 2) + " of " + widgets::format_text(wall_s, "s", 2) +
         ", and its figures are too low. Measure again while it is quiet.";
}

}  // namespace app
