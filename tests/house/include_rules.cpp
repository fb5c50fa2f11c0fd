#include <algorithm>
#include <array>
#include <string>

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

/// "chapters/roofline" of "chapters/roofline/iron_law.cpp"; empty for a file that lies in chapters/ itself.
std::string_view second_folder(std::string_view path) {
  const std::size_t first = path.find('/');
  const std::size_t second = first == std::string_view::npos ? first : path.find('/', first + 1);
  return second == std::string_view::npos ? std::string_view() : path.substr(0, second);
}

std::string fault_in_models(std::string_view path, const Include& i) {
  if (i.target == "fstream" || i.target == "filesystem") return "models take text, not paths";
  if (is_standard(i) || i.target.starts_with("models/")) return {};
  const bool loader = path.starts_with("models/trace") && path.ends_with(".cpp");
  if (i.target == "simdjson.h" || i.target == "isa-l/igzip_lib.h" || i.target == "sqlite3.h")
    return loader ? "" : "simdjson, ISA-L and SQLite are for the .cpp of the trace loaders alone";
  if (path == "models/base/json_text.h" && i.target == "nlohmann/json_fwd.hpp") return {};
  if (is_json(i)) return path.ends_with(".cpp") ? "" : "in models, JSON is for the .cpp of the loaders alone";
  return "models may include the standard library and models alone";
}

std::string fault_in_widgets(std::string_view path, const Include& i) {
  if (is_standard(i) || is_imgui(i) || i.target.starts_with("widgets/")) return {};
  if (i.target == "md4c.h" && path.find("prose") != std::string_view::npos && path.ends_with(".cpp")) return {};
  return "widgets may include Dear ImGui, the standard library and widgets alone (md4c in prose*.cpp)";
}

std::string fault_in_kernels(std::string_view path, const Include& i) {
  if (is_cuda(i) && !path.starts_with("kernels/cuda/")) return "only kernels/cuda knows CUDA";
  if (i.target.starts_with("kernels/")) return {};
  // What an operation costs, and the one way to draw random numbers.
  if (i.target == "models/machine/op_cost.h" || i.target == "models/base/counter_random.h") return {};
  const bool ours = !i.angled || i.target.starts_with("models/");
  if (ours || is_imgui(i) || is_json(i))
    return "kernels may include op_cost.h and counter_random.h of models, kernels and the system alone";
  return {};
}

std::string fault_in_chapters(std::string_view path, const Include& i) {
  if (is_standard(i) || is_imgui(i) || i.target.starts_with("models/") || i.target.starts_with("widgets/")) return {};
  if (i.target == "kernels/kernel.h") return {};
  const std::string_view own = second_folder(path);
  if (i.target.starts_with("chapters/")) {
    const std::string_view theirs = second_folder(i.target);
    return own.empty() || theirs.empty() || own == theirs ? "" : "a chapter may not include another chapter";
  }
  // The mechanism that labs stand on reads scenarios; a lab never sees JSON.
  if (own.empty() && is_json(i) && (path.ends_with(".cpp") || i.target == "nlohmann/json_fwd.hpp")) return {};
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
  if (path.starts_with("chapters/")) fault = fault_in_chapters(path, i);
  if (path.starts_with("app/") && is_cuda(i)) fault = "only kernels/cuda knows CUDA";
  return fault.empty() ? fault : "includes " + i.target + ": " + fault;
}

}  // namespace house
