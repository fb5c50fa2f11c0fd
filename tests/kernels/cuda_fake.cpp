#include "tests/kernels/cuda_fake.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/kernels/cuda_emulator.h"

using namespace kernels::cuda;

struct FakeGpu::Text {
  std::string source, file, log;
  std::string arch;
  bool ok = false;
};
struct FakeGpu::Recorded {
  double at_s = 0;
  bool timed = true;
};
struct FakeGpu::Loaded {
  std::string image;
};

namespace {

/// Handles are addresses of the fake's own objects.
template <class Handle, class Object>
Handle handle_of(Object* object) {
  return reinterpret_cast<Handle>(object);
}
template <class Object, class Handle>
Object* object_of(Handle handle) {
  return reinterpret_cast<Object*>(handle);
}

std::string entry_of(const std::string& source, std::size_t& from) {
  const std::size_t at = source.find("__global__", from);
  if (at == std::string::npos) return {};
  const std::size_t open =
      source.find('(', source.find("launch_bounds", at) < source.find("const", at) ? source.find(')', at) : at);
  const std::size_t start = source.rfind(' ', open) + 1;
  from = open;
  return source.substr(start, open - start);
}

}  // namespace

FakeGpu::FakeGpu() = default;

std::int64_t FakeGpu::count(const std::string& call) const { return std::count(calls.begin(), calls.end(), call); }
std::size_t FakeGpu::first(const std::string& call) const {
  return static_cast<std::size_t>(std::find(calls.begin(), calls.end(), call) - calls.begin());
}
std::size_t FakeGpu::last(const std::string& call) const {
  const auto at = std::find(calls.rbegin(), calls.rend(), call);
  return at == calls.rend() ? calls.size() : static_cast<std::size_t>(calls.rend() - at) - 1;
}

Machine FakeGpu::machine() {
  return {driver(), nvrtc(), blas(), "", "", "", [this] { return host_s_; }};
}

/// Writes the call down. Once the context is lost every call fails.
Status FakeGpu::answer(const std::string& call) {
  calls.push_back(call);
  return lost_;
}

void FakeGpu::execute(const std::string& entry, const Launch& shape, void** arguments) {
  const Fault fault = faults.count(entry) ? faults.at(entry) : Fault::none;
  if (!computes) return;
  if (fault == Fault::stale && executed_[entry]++ >= 4) return;  // right while it is checked, then nothing
  cuda_emulator::launch(entry, shape, arguments);
  if (fault == Fault::none) return;
  // (in, out, n) or (a, b, c, n): the faulty kernels of the tests have one input.
  float* out = *static_cast<float**>(arguments[1]);
  const unsigned n = *static_cast<unsigned*>(arguments[2]);
  if (fault == Fault::wrong) out[n / 2] += 0.5f;
  if (fault == Fault::not_a_number) out[n - 1] = std::numeric_limits<float>::quiet_NaN();
  if (fault == Fault::outside) out[n] = 1.0f;
  if (fault == Fault::race && executed_[entry]++ % 2 == 1) out[0] = std::nextafterf(out[0], 2.0f);
}

Status FakeGpu::launch(const std::string& entry, const Launch& shape, void** arguments) {
  if (const Status s = answer("launch " + entry)) return s;
  const Fault fault = faults.count(entry) ? faults.at(entry) : Fault::none;
  if (fault == Fault::too_many_registers) return 701;
  if (fault == Fault::illegal_address) pending_ = 700;  // shows when the host next waits
  const double s = entry == "spin" ? 40e-6 : run_s.count(entry) ? run_s.at(entry) : 50e-6;
  (capturing_ ? captured_s_ : now_s_) += s;
  if (capturing_) {
    Captured& held = captured_.emplace_back(Captured{entry, shape, {}});
    const std::vector<std::size_t> sizes = cuda_emulator::argument_bytes(entry);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto* from = static_cast<const std::byte*>(arguments[i]);
      held.arguments.emplace_back(from, from + sizes[i]);
    }
  } else {
    host_s_ += call_s;
  }
  if (timing_ || capturing_) {
    if (entry != "spin") timed_inputs.push_back(*static_cast<std::uint64_t*>(arguments[0]));
  } else if (fault != Fault::illegal_address) {
    execute(entry, shape, arguments);
  }
  return 0;
}

/// Copies to and from the host are done at once, and take their time one after the other.
void FakeGpu::add_host_copies(Driver& d) {
  const auto take = [this](const void* host, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(host);
    const bool pinned = std::any_of(pinned_.begin(), pinned_.end(), [&](const auto& array) {
      return at >= array.first && at + bytes <= array.first + array.second;
    });
    host_s_ += static_cast<double>(bytes) / (pinned ? link_bytes_per_s : pageable_bytes_per_s);
  };
  d.copy_up = [this, take](DevicePointer to, const void* from, std::size_t bytes, Stream) {
    take(from, bytes);
    if (answer("copy up") == 0 && computes) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return lost_;
  };
  d.copy_down = [this, take](void* to, DevicePointer from, std::size_t bytes, Stream) {
    take(to, bytes);
    if (answer("copy down") == 0 && computes) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return lost_;
  };
  d.stream_wait_event = [this](Stream, Event, unsigned) { return answer("wait for event"); };
  if (!has_pinned_memory) return;
  d.host_allocate = [this](void** at, std::size_t bytes) {
    auto* memory = new std::byte[bytes];
    pinned_[memory] = bytes;
    *at = memory;
    return ++open["pinned memory"], answer("pin");
  };
  d.host_free = [this](void* at) {
    auto* memory = static_cast<std::byte*>(at);
    pinned_.erase(memory);
    delete[] memory;
    return --open["pinned memory"], lost_;
  };
}

Driver FakeGpu::driver() {
  Driver d;
  d.init = [this](unsigned) { return answer("init") != 0 ? lost_ : init_status; };
  d.driver_version = [](int* v) { return *v = 13000, 0; };
  d.device_count = [this](int* n) { return *n = devices, 0; };
  d.device_get = [](int* device, int) { return *device = 0, 0; };
  d.device_name = [](char* name, int length, int) {
    return std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length)), 0;
  };
  d.device_attribute = [this](int* value, int which, int) {
    *value = which == attribute_capability_major              ? capability / 10
             : which == attribute_capability_minor            ? capability % 10
             : which == attribute_multiprocessors             ? 4
             : which == attribute_l2_bytes                    ? l2_bytes
             : which == attribute_execution_timeout           ? (watchdog ? 1 : 0)
             : which == attribute_multiprocessor_threads      ? 2048
             : which == attribute_multiprocessor_shared_bytes ? 228 << 10
                                                              : 1'000'000;
    return 0;
  };
  d.context_retain = [this](Context* c, int) {
    return *c = handle_of<Context>(this), ++open["context"], answer("context");
  };
  d.context_release = [this](int) { return --open["context"], answer("release"); };
  d.context_set_current = [this](Context) { return lost_; };
  d.memory_info = [this](std::size_t* free, std::size_t* total) {
    return *free = memory_bytes - used_, *total = memory_bytes, lost_;
  };
  d.allocate = [this](DevicePointer* p, std::size_t bytes) -> Status {
    if (const Status s = answer("allocate")) return s;
    if (used_ + bytes > memory_bytes) return 2;
    auto words =
        std::make_unique_for_overwrite<std::uint32_t[]>(bytes / 4 + 4);  // touched only if used: some are large
    *p = reinterpret_cast<DevicePointer>(words.get()) + 15;
    *p -= *p % 16;
    used_ += bytes;
    arrays_[*p] = {std::move(words), bytes};
    ++open["memory"];
    return 0;
  };
  d.free = [this](DevicePointer p) {
    if (const auto at = arrays_.find(p); at != arrays_.end()) {
      used_ -= at->second.bytes;
      arrays_.erase(at);
      --open["memory"];
    }
    return answer("free");
  };
  d.copy_to_host = [this](void* to, DevicePointer from, std::size_t bytes) {
    if (answer("download") == 0) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return lost_;
  };
  d.copy_to_device = [this](DevicePointer to, const void* from, std::size_t bytes) {
    if (answer("upload") == 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return lost_;
  };
  add_host_copies(d);
  d.copy_on_device = [this](DevicePointer, DevicePointer, std::size_t bytes, Stream) {
    now_s_ += 2 * static_cast<double>(bytes) / 1e12;  // a copy at 1 TB/s, reading and writing
    return answer("copy");
  };
  d.fill_words = [this](DevicePointer p, unsigned word, std::size_t words, Stream) {
    if (answer("fill") == 0) std::fill_n(reinterpret_cast<std::uint32_t*>(p), words, word);
    return lost_;
  };
  d.load = [this](Module* m, const void* image) {
    *m = handle_of<Module>(new Loaded{static_cast<const char*>(image)});
    ++open["module"];
    return answer("load");
  };
  d.unload = [this](Module m) {
    delete object_of<Loaded>(m);
    --open["module"];
    return answer("unload");
  };
  d.function = [this](Function* f, Module m, const char* name) -> Status {
    const std::string& image = object_of<Loaded>(m)->image;
    for (std::size_t from = 0;;) {
      const std::string entry = entry_of(image, from);
      if (entry.empty()) return 500;
      if (entry != name) continue;
      functions_.push_back(std::make_unique<std::string>(entry));
      *f = handle_of<Function>(functions_.back().get());
      return lost_;
    }
  };
  d.function_set = [this](Function, int, int value) { return answer("allow " + std::to_string(value)); };
  d.launch = [this](Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned,
                    unsigned shared_bytes, Stream, void** arguments, void**) {
    return launch(*object_of<std::string>(f),
                  {
                      .grid_x = gx,
                      .grid_y = gy,
                      .block_x = bx,
                      .block_y = by,
                      .grid_z = gz,
                      .shared_bytes = shared_bytes,
                  },
                  arguments);
  };
  d.stream_create = [this](Stream* s, unsigned) { return *s = handle_of<Stream>(this), ++open["stream"], lost_; };
  d.stream_destroy = [this](Stream) { return --open["stream"], lost_; };
  d.stream_synchronize = [this](Stream) {
    if (pending_ != 0) lost_ = pending_;
    host_s_ += wake_s;
    return answer("synchronize");
  };
  d.capture_begin = [this](Stream, int) -> Status {
    if (!capture_works) return 801;
    capturing_ = true;
    captured_s_ = 0;
    captured_.clear();
    return answer("capture");
  };
  d.capture_end = [this](Stream, Graph* g) {
    capturing_ = false;
    ++open["graph"];
    return *g = handle_of<Graph>(this), lost_;
  };
  d.graph_instantiate = [this](GraphExec* e, Graph, unsigned long long) {
    return *e = handle_of<GraphExec>(this), ++open["exec"], lost_;
  };
  d.graph_launch = [this](GraphExec, Stream) {
    now_s_ += captured_s_;
    host_s_ += call_s + captured_s_;
    if (!timing_)
      for (Captured& held : captured_) {
        std::vector<void*> arguments;
        for (auto& bytes : held.arguments) arguments.push_back(bytes.data());
        execute(held.entry, held.shape, arguments.data());
      }
    return answer("graph");
  };
  d.graph_exec_destroy = [this](GraphExec) { return --open["exec"], lost_; };
  d.graph_destroy = [this](Graph) { return --open["graph"], lost_; };
  d.event_create = [this](Event* e, unsigned flags) {
    *e = handle_of<Event>(new Recorded{.timed = flags != event_without_time});
    return ++open["event"], lost_;
  };
  d.event_destroy = [this](Event e) {
    delete object_of<Recorded>(e);
    return --open["event"], lost_;
  };
  d.event_record = [this](Event e, Stream) {
    object_of<Recorded>(e)->at_s = now_s_;
    if (!object_of<Recorded>(e)->timed) return answer("mark");
    timing_ = !timing_;
    return answer("record");
  };
  d.event_elapsed = [this](float* ms, Event a, Event b) {
    *ms = static_cast<float>((object_of<Recorded>(b)->at_s - object_of<Recorded>(a)->at_s) * 1e3);
    return lost_;
  };
  d.error_name = [](Status s, const char** name) {
    *name = s == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : s == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OTHER";
    return 0;
  };
  return d;
}

Nvrtc FakeGpu::nvrtc() {
  Nvrtc n;
  n.architecture_count = [](int* count) { return *count = 4, 0; };
  n.architectures = [](int* list) {
    for (const int a : {75, 80, 90, 120}) *list++ = a;
    return 0;
  };
  n.create = [](Program* p, const char* source, const char* file, int, const char* const*, const char* const*) {
    *p = handle_of<Program>(new Text{source, file, {}, {}, false});
    return 0;
  };
  n.destroy = [](Program* p) {
    delete object_of<Text>(*p);
    *p = nullptr;
    return 0;
  };
  n.compile = [this](Program p, int count, const char* const* given) {
    Text& t = *object_of<Text>(p);
    calls.push_back("compile " + t.file);
    options.assign(given, given + count);
    t.arch = options[0].substr(6);
    const bool no_cache = std::find(options.begin(), options.end(), "-no-cache") != options.end();
    if (no_cache && !knows_no_cache) return 5;
    std::size_t mistake = t.source.find("mistake");
    if (mistake != std::string::npos) {
      const auto line = 1 + std::count(t.source.begin(), t.source.begin() + static_cast<std::ptrdiff_t>(mistake), '\n');
      t.log = t.file + "(" + std::to_string(line) +
              "): error: identifier \"mistake\" is undefined\n    mistake;\n    ^\n\n1 error detected.\n";
      return 6;
    }
    const bool remembered = knows_no_cache && !no_cache && !compiled.insert(t.source).second;
    for (std::size_t from = 0; !remembered;) {
      const std::string entry = entry_of(t.source, from);
      if (entry.empty()) break;
      t.log += "ptxas info    : Compiling entry function '" + entry + "' for '" + t.arch +
               "'\nptxas info    : Used 32 registers, used 0 barriers, 128 bytes smem\n";
    }
    t.ok = true;
    return 0;
  };
  n.log_bytes = [](Program p, std::size_t* bytes) { return *bytes = object_of<Text>(p)->log.size() + 1, 0; };
  n.log = [](Program p, char* out) {
    return std::memcpy(out, object_of<Text>(p)->log.c_str(), object_of<Text>(p)->log.size() + 1), 0;
  };
  n.cubin_bytes = [](Program p, std::size_t* bytes) { return *bytes = object_of<Text>(p)->source.size() + 1, 0; };
  n.cubin = [](Program p, char* out) {
    return std::memcpy(out, object_of<Text>(p)->source.c_str(), object_of<Text>(p)->source.size() + 1), 0;
  };
  n.ptx_bytes = n.cubin_bytes;
  n.ptx = n.cubin;
  n.error_text = [](Status) { return "NVRTC_ERROR_COMPILATION"; };
  return n;
}

Blas FakeGpu::blas() {
  Blas b;
  b.create = [this](BlasHandle* h) { return *h = handle_of<BlasHandle>(this), ++open["blas"], 0; };
  b.destroy = [this](BlasHandle) { return --open["blas"], 0; };
  b.set_stream = [](BlasHandle, Stream) { return 0; };
  b.sgemm = [this](BlasHandle, int, int, int m, int n, int k, const float*, const float*, int, const float*, int,
                   const float*, float*, int) {
    calls.push_back("sgemm");
    now_s_ += 2.0 * m * n * k / 50e12;
    return 0;
  };
  b.gemm_ex = [this](BlasHandle, int, int, int m, int n, int k, const void*, const void*, int, int, const void*, int,
                     int, const void*, void*, int, int, int, int) {
    calls.push_back("gemm_ex");
    now_s_ += 2.0 * m * n * k / 700e12;
    return 0;
  };
  return b;
}
