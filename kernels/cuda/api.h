#pragma once
#include <cstddef>
#include <functional>
#include <string>

/// The part of the CUDA driver, NVRTC and cuBLAS that is used, declared here so that no CUDA header is needed to build.
/// Every entry is a function that a library fills in when it is opened (libraries.h), or that a test fills in to play a
/// device. Signatures: CUDA driver API, NVRTC and cuBLAS references, CUDA 12 and 13. Handles are opaque; enumerations
/// are passed as int.
namespace kernels::cuda {

using Status = int;  ///< CUresult, nvrtcResult or cublasStatus_t: 0 is success
using DevicePointer = unsigned long long;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphExec = struct GraphExecHandle*;
using Program = struct ProgramHandle*;
using BlasHandle = struct BlasHandleHandle*;

/// CUdevice_attribute.
enum Attribute : int {
  attribute_clock_khz = 13,
  attribute_multiprocessors = 16,
  attribute_execution_timeout = 17,  ///< 1: a display watchdog ends launches of about 2 s
  attribute_l2_bytes = 38,
  attribute_multiprocessor_threads = 39,
  attribute_capability_major = 75,
  attribute_capability_minor = 76,
  attribute_multiprocessor_shared_bytes = 81,
};

/// CUfunction_attribute: what a launch may ask for of dynamic shared memory; above 48 KiB it must be set first.
inline constexpr int function_dynamic_shared_bytes = 8;

/// CUevent_flags: an event to wait for alone.
inline constexpr unsigned event_without_time = 2;

struct Driver {
  std::function<Status(unsigned flags)> init;
  std::function<Status(int* version)> driver_version;  ///< 13000 for CUDA 13.0; needs no init
  std::function<Status(int* count)> device_count;
  std::function<Status(int* device, int ordinal)> device_get;
  std::function<Status(char* name, int length, int device)> device_name;
  std::function<Status(int* value, int attribute, int device)> device_attribute;
  std::function<Status(Context*, int device)> context_retain;
  std::function<Status(int device)> context_release;
  std::function<Status(Context)> context_set_current;
  std::function<Status(std::size_t* free_bytes, std::size_t* total_bytes)> memory_info;
  std::function<Status(DevicePointer*, std::size_t bytes)> allocate;
  std::function<Status(DevicePointer)> free;
  std::function<Status(void* to, DevicePointer from, std::size_t bytes)> copy_to_host;
  std::function<Status(DevicePointer to, const void* from, std::size_t bytes)> copy_to_device;
  std::function<Status(DevicePointer to, DevicePointer from, std::size_t bytes, Stream)> copy_on_device;
  /// Optional, for the rungs that need them: empty where a driver has none.
  std::function<Status(DevicePointer to, const void* from, std::size_t bytes, Stream)> copy_up;
  std::function<Status(void* to, DevicePointer from, std::size_t bytes, Stream)> copy_down;
  std::function<Status(void**, std::size_t bytes)> host_allocate;
  std::function<Status(void*)> host_free;
  std::function<Status(Stream, Event, unsigned flags)> stream_wait_event;
  std::function<Status(DevicePointer, unsigned word, std::size_t words, Stream)> fill_words;
  std::function<Status(Module*, const void* image)> load;
  std::function<Status(Module)> unload;
  std::function<Status(Function*, Module, const char* name)> function;
  std::function<Status(Function, int attribute, int value)> function_set;
  std::function<Status(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                       unsigned block_z, unsigned shared_bytes, Stream, void** arguments, void** extra)>
      launch;
  std::function<Status(Stream*, unsigned flags)> stream_create;
  std::function<Status(Stream)> stream_destroy;
  std::function<Status(Stream)> stream_synchronize;
  std::function<Status(Stream, int mode)> capture_begin;
  std::function<Status(Stream, Graph*)> capture_end;
  std::function<Status(GraphExec*, Graph, unsigned long long flags)> graph_instantiate;
  std::function<Status(GraphExec, Stream)> graph_launch;
  std::function<Status(GraphExec)> graph_exec_destroy;
  std::function<Status(Graph)> graph_destroy;
  std::function<Status(Event*, unsigned flags)> event_create;
  std::function<Status(Event)> event_destroy;
  std::function<Status(Event, Stream)> event_record;
  std::function<Status(float* milliseconds, Event start, Event stop)> event_elapsed;
  std::function<Status(Status, const char** name)> error_name;
};

struct Nvrtc {
  std::function<Status(int* count)> architecture_count;
  std::function<Status(int* capabilities)> architectures;  ///< 90 for sm_90, ascending
  std::function<Status(Program*, const char* source, const char* name, int headers, const char* const* texts,
                       const char* const* names)>
      create;
  std::function<Status(Program*)> destroy;
  std::function<Status(Program, int options, const char* const* option)> compile;
  std::function<Status(Program, std::size_t* bytes)> log_bytes;
  std::function<Status(Program, char* log)> log;
  std::function<Status(Program, std::size_t* bytes)> cubin_bytes;
  std::function<Status(Program, char* cubin)> cubin;
  std::function<Status(Program, std::size_t* bytes)> ptx_bytes;
  std::function<Status(Program, char* ptx)> ptx;
  std::function<const char*(Status)> error_text;
};

struct Blas {
  std::function<Status(BlasHandle*)> create;
  std::function<Status(BlasHandle)> destroy;
  std::function<Status(BlasHandle, Stream)> set_stream;
  std::function<Status(BlasHandle, int transpose_a, int transpose_b, int m, int n, int k, const float* alpha,
                       const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc)>
      sgemm;
  std::function<Status(BlasHandle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
                       const void* a, int a_type, int lda, const void* b, int b_type, int ldb, const void* beta,
                       void* c, int c_type, int ldc, int compute_type, int algorithm)>
      gemm_ex;
};

/// Seconds of a clock that only goes forward.
double host_clock_s();

/// What could be opened on this machine. An empty sentence: the library is there and complete.
struct Machine {
  Driver driver;
  Nvrtc nvrtc;
  Blas blas;
  std::string no_driver, no_nvrtc, no_blas;
  std::function<double()> now_s = host_clock_s;  ///< what runs of the host are timed by
};

}  // namespace kernels::cuda
