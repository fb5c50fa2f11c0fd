#include "kernels/cuda/libraries.h"

#include <dlfcn.h>

#include <chrono>

namespace kernels::cuda {
namespace {

/// Looks symbols up one after the other and gathers the names that are not there.
struct Binder {
  const Symbols& symbols;
  std::string missing;

  template <class R, class... A>
  void operator()(std::function<R(A...)>& function, const char* name) {
    if (void* address = symbols(name)) {
      function = reinterpret_cast<R (*)(A...)>(address);
      return;
    }
    missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  /// Left empty where it is not there.
  template <class R, class... A>
  void optional(std::function<R(A...)>& function, const char* name) {
    if (void* address = symbols(name)) function = reinterpret_cast<R (*)(A...)>(address);
  }
};

/// A sentence, or empty when the library was opened and has all that is needed.
template <class Api>
std::string open(Api& api, const std::string& what, const std::vector<std::string>& names, const std::string& remedy) {
  for (const auto& path : library_paths(names)) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    const std::string missing = bind(api, [library](const char* name) { return dlsym(library, name); });
    if (missing.empty()) return {};
    return what + " (" + path + ") is too old for Ridgeline: it lacks " + missing + ".";
  }
  return what + " (" + names.front() + ") was not found: " + remedy + ".";
}

}  // namespace

std::string bind(Driver& d, const Symbols& symbols) {
  Binder b{symbols, {}};
  b(d.init, "cuInit");
  b(d.driver_version, "cuDriverGetVersion");
  b(d.device_count, "cuDeviceGetCount");
  b(d.device_get, "cuDeviceGet");
  b(d.device_name, "cuDeviceGetName");
  b(d.device_attribute, "cuDeviceGetAttribute");
  b(d.context_retain, "cuDevicePrimaryCtxRetain");
  b(d.context_release, "cuDevicePrimaryCtxRelease_v2");
  b(d.context_set_current, "cuCtxSetCurrent");
  b(d.memory_info, "cuMemGetInfo_v2");
  b(d.allocate, "cuMemAlloc_v2");
  b(d.free, "cuMemFree_v2");
  b(d.copy_to_host, "cuMemcpyDtoH_v2");
  b(d.copy_to_device, "cuMemcpyHtoD_v2");
  b(d.copy_on_device, "cuMemcpyDtoDAsync_v2");
  b(d.fill_words, "cuMemsetD32Async");
  b(d.load, "cuModuleLoadData");
  b(d.unload, "cuModuleUnload");
  b(d.function, "cuModuleGetFunction");
  b(d.function_set, "cuFuncSetAttribute");
  b(d.launch, "cuLaunchKernel");
  b(d.stream_create, "cuStreamCreate");
  b(d.stream_destroy, "cuStreamDestroy_v2");
  b(d.stream_synchronize, "cuStreamSynchronize");
  b(d.capture_begin, "cuStreamBeginCapture_v2");
  b(d.capture_end, "cuStreamEndCapture");
  b(d.graph_instantiate, "cuGraphInstantiateWithFlags");
  b(d.graph_launch, "cuGraphLaunch");
  b(d.graph_exec_destroy, "cuGraphExecDestroy");
  b(d.graph_destroy, "cuGraphDestroy");
  b(d.event_create, "cuEventCreate");
  b(d.event_destroy, "cuEventDestroy_v2");
  b(d.event_record, "cuEventRecord");
  b(d.event_elapsed, "cuEventElapsedTime");
  b(d.error_name, "cuGetErrorName");
  b.optional(d.copy_up, "cuMemcpyHtoDAsync_v2");
  b.optional(d.copy_down, "cuMemcpyDtoHAsync_v2");
  b.optional(d.host_allocate, "cuMemAllocHost_v2");
  b.optional(d.host_free, "cuMemFreeHost");
  b.optional(d.stream_wait_event, "cuStreamWaitEvent");
  return b.missing;
}

std::string bind(Nvrtc& n, const Symbols& symbols) {
  Binder b{symbols, {}};
  b(n.architecture_count, "nvrtcGetNumSupportedArchs");
  b(n.architectures, "nvrtcGetSupportedArchs");
  b(n.create, "nvrtcCreateProgram");
  b(n.destroy, "nvrtcDestroyProgram");
  b(n.compile, "nvrtcCompileProgram");
  b(n.log_bytes, "nvrtcGetProgramLogSize");
  b(n.log, "nvrtcGetProgramLog");
  b(n.cubin_bytes, "nvrtcGetCUBINSize");
  b(n.cubin, "nvrtcGetCUBIN");
  b(n.ptx_bytes, "nvrtcGetPTXSize");
  b(n.ptx, "nvrtcGetPTX");
  b(n.error_text, "nvrtcGetErrorString");
  return b.missing;
}

std::string bind(Blas& blas, const Symbols& symbols) {
  Binder b{symbols, {}};
  b(blas.create, "cublasCreate_v2");
  b(blas.destroy, "cublasDestroy_v2");
  b(blas.set_stream, "cublasSetStream_v2");
  b(blas.sgemm, "cublasSgemm_v2");
  b(blas.gemm_ex, "cublasGemmEx");
  return b.missing;
}

std::vector<std::string> library_paths(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const auto& name : names)
    for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/lib/wsl/lib/"}) paths.push_back(folder + name);
  return paths;
}

double host_clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Machine open_machine(bool with_blas) {
  Machine m;
  m.no_driver = open(m.driver, "The CUDA driver", {"libcuda.so.1"},
                     "install NVIDIA's driver for a GPU in this machine to time kernels on it");
  // A driver of CUDA 12 does not load what the libraries of CUDA 13 make.
  int version = 0;
  const bool old_driver = m.no_driver.empty() && m.driver.driver_version(&version) == 0 && version < 13000;
  const auto names = [&](const std::string& library) {
    return old_driver ? std::vector<std::string>{library + ".12", library + ".13", library}
                      : std::vector<std::string>{library + ".13", library + ".12", library};
  };
  m.no_nvrtc = open(m.nvrtc, "The CUDA compiler NVRTC", names("libnvrtc.so"),
                    "install the CUDA toolkit 12 or 13 to compile kernels");
  m.no_blas = with_blas && m.no_driver.empty()
                  ? open(m.blas, "cuBLAS", names("libcublas.so"), "install the CUDA toolkit to compare with it")
                  : "cuBLAS was not opened.";
  return m;
}

}  // namespace kernels::cuda
