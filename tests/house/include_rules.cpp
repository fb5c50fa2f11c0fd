#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/house/sources.h"

namespace house {
namespace {

struct Include {
  std::string target;
  bool angled = false;
};

Include included(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return {};
  const std::size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string_view::npos || !line.substr(word).starts_with("include")) return {};
  const std::size_t open = line.find_first_of("<\"", word);
  if (open == std::string_view::npos) return {};
  const std::size_t close = line.find_first_of(">\"", open + 1);
  if (close == std::string_view::npos) return {};
  return {std::string(line.substr(open + 1, close - open - 1)), line[open] == '<'};
}

/// <vector>, <cstdint>: no folder and no extension.
bool is_standard(const Include& i) { return i.angled && i.target.find_first_of("/.") == std::string::npos; }
bool is_imgui(const Include& i) { return i.target == "imgui.h" || i.target == "imgui_internal.h"; }
bool is_json(const Include& i) { return i.target.starts_with("nlohmann/"); }
bool is_cuda(const Include& i) {
  static constexpr std::array starts{"cuda", "nvrtc", "cublas", "nvml", "cooperative_groups", "mma.h", "curand"};
  return std::any_of(starts.begin(), starts.end(), [&](const char* start) { return i.target.starts_with(start); });
}

/// The rooms that have wings, and each one's wings from the ground up: what stands on the same or a later place is
/// above. A room's list is the one place that knows its order.
struct Room {
  std::string_view name;
  std::vector<std::string_view> wings;
};
const std::vector<Room>& rooms_with_wings() {
  static const std::vector<Room> rooms{
      {"models", {"base", "machine",   "gpu",         "numerics", "measure",  "realtime", "trace",
                  "hang", "learning",  "transformer", "memory",   "training", "parallel", "compression",
                  "rare", "debugging", "inference",   "serving",  "platform", "fleet",    "sheet"}},
      {"widgets", {"base", "number", "plot", "prose", "charts", "pictures", "table", "timeline", "controls", "stage"}},
      {"app", {"platform", "scenario", "store", "explore", "content", "workspace", "kernel_runs", "shell", "cli"}},
      {"chapters", {"mechanism", "described", "practice"}},  // then every chapter, none above another
  };
  return rooms;
}

/// The folder after the first: "roofline" of "chapters/roofline/iron_law/lab.h"; empty for a file in chapters/ itself.
std::string_view wing_of(std::string_view path) {
  const std::size_t first = path.find('/');
  const std::size_t second = first == std::string_view::npos ? first : path.find('/', first + 1);
  return second == std::string_view::npos ? std::string_view() : path.substr(first + 1, second - first - 1);
}

std::string_view room_of(std::string_view path) { return path.substr(0, path.find('/')); }

/// Why a file may not include another of its own room: only its own wing and those below it are open to it.
std::string fault_between_wings(std::string_view path, std::string_view target) {
  const auto room = std::find_if(rooms_with_wings().begin(), rooms_with_wings().end(),
                                 [&](const Room& r) { return r.name == room_of(path); });
  if (room == rooms_with_wings().end() || room_of(target) != room->name) return {};
  const bool leaves = room->name == "chapters";
  const std::string_view own = wing_of(path), theirs = wing_of(target);
  if (own == theirs) return {};
  const auto floor_of = [&](std::string_view wing) {
    return std::find(room->wings.begin(), room->wings.end(), wing) - room->wings.begin();
  };
  const auto top = floor_of({});
  const std::string list = "list its wing in tests/house/include_rules.cpp, in order from the ground up";
  if (theirs.empty()) return "a wing may not include what stands above the wings";
  if (!leaves && !own.empty() && floor_of(own) == top) return list;
  if (!leaves && floor_of(theirs) == top) return list;
  if (leaves && floor_of(theirs) == top && !own.empty()) {
    return floor_of(own) == top ? "a chapter may not include another chapter"
                                : "what chapters stand on knows none of them";
  }
  if (!own.empty() && floor_of(theirs) > floor_of(own))
    return std::string(room->name) + "/" + std::string(own) + " is below " + std::string(theirs) +
           ": arrows go down only";
  return {};
}

std::string fault_in_models(std::string_view path, const Include& i) {
  if (i.target == "fstream" || i.target == "filesystem") return "models take text, not paths";
  if (is_standard(i) || i.target.starts_with("models/")) return {};
  const bool loader = path.starts_with("models/trace/") && path.ends_with(".cpp");
  if (i.target == "simdjson.h" || i.target == "isa-l/igzip_lib.h" || i.target == "sqlite3.h")
    return loader ? "" : "simdjson, ISA-L and SQLite are for the .cpp of the trace loaders alone";
  // What several loaders share is declared where JSON is a name alone.
  if ((path == "models/base/json_text.h" || path == "models/memory/snapshot_json.h") &&
      i.target == "nlohmann/json_fwd.hpp")
    return {};
  if (is_json(i)) return path.ends_with(".cpp") ? "" : "in models, JSON is for the .cpp of the loaders alone";
  return "models may include the standard library and models alone";
}

std::string fault_in_widgets(std::string_view path, const Include& i) {
  if (is_standard(i) || is_imgui(i) || i.target.starts_with("widgets/")) return {};
  if (i.target == "md4c.h" && path.starts_with("widgets/prose/") && path.ends_with(".cpp")) return {};
  return "widgets may include Dear ImGui, the standard library and widgets alone (md4c in the .cpp of widgets/prose)";
}

std::string fault_in_kernels(std::string_view path, const Include& i) {
  if (is_cuda(i) && !path.starts_with("kernels/cuda/")) return "only kernels/cuda knows CUDA";
  if (i.target.starts_with("kernels/")) return {};
  // What an operation costs, the one way to draw random numbers, and the one way to fail.
  if (i.target == "models/machine/op_cost.h" || i.target == "models/base/counter_random.h" ||
      i.target == "models/base/result.h")
    return {};
  const bool ours = !i.angled || i.target.starts_with("models/");
  if (ours || is_imgui(i) || is_json(i))
    return "kernels may include op_cost.h, counter_random.h and result.h of models, kernels and the system alone";
  return {};
}

std::string fault_in_chapters(const Include& i) {
  if (is_standard(i) || is_imgui(i) || i.target.starts_with("models/") || i.target.starts_with("widgets/")) return {};
  if (i.target == "kernels/kernel.h") return {};
  if (i.target.starts_with("chapters/")) return {};
  return "chapters may include models, widgets, kernels/kernel.h, Dear ImGui and the standard library alone";
}

}  // namespace

std::string include_fault(std::string_view path, std::string_view line) {
  const Include i = included(line);
  if (i.target.empty()) return {};
  if (i.target.find("..") != std::string::npos) return "includes are written from the root of the tree";
  if (i.target.starts_with("tests/") && !path.starts_with("tests/")) return "only tests may include tests";
  std::string fault;
  if (path.starts_with("models/")) fault = fault_in_models(path, i);
  if (path.starts_with("widgets/")) fault = fault_in_widgets(path, i);
  if (path.starts_with("kernels/")) fault = fault_in_kernels(path, i);
  if (path.starts_with("chapters/")) fault = fault_in_chapters(i);
  if (path.starts_with("app/") && is_cuda(i)) fault = "only kernels/cuda knows CUDA";
  if (fault.empty()) fault = fault_between_wings(path, i.target);
  return fault.empty() ? fault : "includes " + i.target + ": " + fault;
}

}  // namespace house
