#include "kernels/cuda/compile.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/compiler_log.h"

namespace kernels::cuda {
namespace {

/// An NVRTC program for the length of a compilation.
struct Source {
  const Nvrtc& nvrtc;
  Program program = nullptr;
  ~Source() {
    if (program) nvrtc.destroy(&program);
  }
};

std::string first_error(const Compilation& c) {
  for (const auto& d : c.diagnostics)
    if (d.error) return (d.line > 0 ? "line " + std::to_string(d.line) + ": " : std::string()) + d.text;
  return {};
}

/// The options after which the compiler reports what a kernel uses; empty, with the failure set, when it cannot serve
/// `capability`.
std::string architecture(const Nvrtc& nvrtc, int capability, bool& as_ptx, std::string& failure) {
  int count = 0;
  std::vector<int> known;
  if (nvrtc.architecture_count(&count) == 0 && count > 0) {
    known.resize(static_cast<std::size_t>(count));
    if (nvrtc.architectures(known.data()) != 0) known.clear();
  }
  as_ptx = !known.empty() && capability > known.back();
  if (as_ptx) return "-arch=compute_" + std::to_string(known.back());
  if (!known.empty() && capability < known.front()) {
    failure = "This NVRTC compiles for sm_" + std::to_string(known.front()) + " and newer, and the GPU is sm_" +
              std::to_string(capability) + ": install an older CUDA toolkit.";
    return {};
  }
  return "-arch=sm_" + std::to_string(capability);
}

/// nvrtcResult NVRTC_ERROR_INVALID_OPTION.
constexpr Status invalid_option = 5;

template <class Size, class Get>
std::string text_of(Program program, const Size& size, const Get& get) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (get(program, text.data()) != 0) return {};
  return text;
}

}  // namespace

Compilation compile(const Nvrtc& nvrtc, std::string_view source, const std::string& file, std::string_view entry,
                    int capability, bool architecture_specific) {
  Compilation result;
  if (source.find('\0') != std::string_view::npos) {
    result.failure = "The kernel has a zero byte in its text: remove it.";
    return result;
  }
  bool as_ptx = false;
  std::string arch = architecture(nvrtc, capability, as_ptx, result.failure);
  if (architecture_specific && !as_ptx && !arch.empty()) arch += 'a';
  if (!result.failure.empty()) return result;
  const std::string text(source);
  // A learner's helper or table needs no __device__: there is no host code here. Where there is a driver, NVRTC keeps
  // what it compiled and says nothing of registers and warnings when it meets the same source again: -no-cache makes it
  // compile, and an NVRTC that does not know the option has no such cache.
  std::vector<const char*> options{arch.c_str(), "-std=c++17", "-default-device"};
  if (!as_ptx) options.push_back("--ptxas-options=-v");
  options.push_back("-no-cache");
  Source unit{nvrtc};
  Status status = invalid_option;
  for (int tries = 0; status == invalid_option && tries < 2; ++tries) {
    if (tries > 0) {
      options.pop_back();
      nvrtc.destroy(&unit.program);
    }
    status = nvrtc.create(&unit.program, text.c_str(), file.c_str(), 0, nullptr, nullptr);
    if (status != 0) {
      unit.program = nullptr;
      result.failure = std::string("NVRTC did not take the kernel: ") + nvrtc.error_text(status) + ".";
      return result;
    }
    status = nvrtc.compile(unit.program, static_cast<int>(options.size()), options.data());
  }
  const std::string& log = result.log = text_of(unit.program, nvrtc.log_bytes, nvrtc.log);
  result.diagnostics = parse_diagnostics(log);
  result.report = parse_report(log, entry);
  if (as_ptx && result.report.arch.empty()) result.report.arch = arch.substr(6);
  if (status != 0) {
    const std::string error = first_error(result);
    if (!error.empty())
      result.failure = "The kernel does not compile: " + error + (error.ends_with('.') ? "" : ".");
    else if (result.report.shared_bytes > 48 * 1024)
      result.failure = "The kernel does not compile: its " + std::to_string(result.report.shared_bytes) +
                       " bytes of shared memory are more than a block may declare, 49152.";
    else
      result.failure = std::string("The kernel does not compile: ") + nvrtc.error_text(status) + ".";
    return result;
  }
  result.image = as_ptx ? text_of(unit.program, nvrtc.ptx_bytes, nvrtc.ptx)
                        : text_of(unit.program, nvrtc.cubin_bytes, nvrtc.cubin);
  if (result.image.empty())
    result.failure = "NVRTC compiled the kernel but gave no code for it.";
  else if (text.find(entry) == std::string::npos ||
           (!as_ptx && result.report.arch.empty() && log.find("entry function") != std::string::npos))
    result.failure = "The source has no kernel named " + std::string(entry) +
                     ": keep its extern \"C\" entry, which is what is launched.";
  return result;
}

}  // namespace kernels::cuda
