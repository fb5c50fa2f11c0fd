#include "models/trace/readers/rocprof.h"

#include <simdjson.h>

#include <algorithm>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/trace/readers/number.h"

namespace models::trace {
namespace {

namespace dom = simdjson::dom;

std::int64_t integer_at(dom::element object, std::string_view key, std::int64_t otherwise) {
  std::int64_t value = 0;
  std::uint64_t large = 0;
  if (object[key].get_int64().get(value) == simdjson::SUCCESS) return value;
  // Handles use all 64 bits; they are only compared.
  return object[key].get_uint64().get(large) == simdjson::SUCCESS ? static_cast<std::int64_t>(large) : otherwise;
}

/// An id written as {"handle": 7}.
std::int64_t handle_at(dom::element object, std::string_view key, std::int64_t otherwise) {
  dom::element inner;
  return object[key].get(inner) == simdjson::SUCCESS ? integer_at(inner, "handle", otherwise) : otherwise;
}

std::string_view text_at(dom::element object, std::string_view key) {
  std::string_view text;
  return object[key].get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

enum class Kind : std::uint8_t { unknown, dispatch, copy, call, marker, host };

struct ListKind {
  std::string_view key;
  Kind kind;
  const char* category;
};

/// The lists of "buffer_records".
constexpr ListKind lists[] = {
    {"kernel_dispatch", Kind::dispatch, "kernel"},
    {"memory_copy", Kind::copy, "gpu_memcpy"},
    {"hip_api", Kind::call, "hip_runtime"},
    {"hsa_api", Kind::call, "hsa_runtime"},
    {"marker_api", Kind::marker, "user_annotation"},
    {"rccl_api", Kind::host, "rccl_api"},
    {"memory_allocation", Kind::host, "memory_allocation"},
    {"rocdecode_api", Kind::host, "rocdecode_api"},
    {"rocjpeg_api", Kind::host, "rocjpeg_api"},
};

std::string copy_name(std::string_view operation) {
  const auto ends = [&](std::string_view with) { return operation.ends_with(with); };
  return ends("HOST_TO_DEVICE")     ? "Memcpy HtoD"
         : ends("DEVICE_TO_HOST")   ? "Memcpy DtoH"
         : ends("DEVICE_TO_DEVICE") ? "Memcpy DtoD"
         : ends("HOST_TO_HOST")     ? "Memcpy HtoH"
                                    : "Memcpy";
}

}  // namespace

/// What stands in front of the records of a process.
struct RocprofReader::Process {
  std::int64_t number = 0;
  std::string pid = "0";
  std::unordered_map<std::int64_t, int> devices;  // by an agent's handle
  std::unordered_map<std::int64_t, std::string> kernels, markers;
  std::vector<std::vector<std::string>> operations;  // by kind and operation
  dom::parser parser;

  std::string operation(dom::element record) const {
    const std::int64_t kind = integer_at(record, "kind", -1), number_of = integer_at(record, "operation", -1);
    const auto among = [](std::int64_t i, const auto& all) {
      return i >= 0 && i < static_cast<std::int64_t>(all.size());
    };
    if (among(kind, operations) && among(number_of, operations[static_cast<std::size_t>(kind)]))
      return operations[static_cast<std::size_t>(kind)][static_cast<std::size_t>(number_of)];
    return "operation " + std::to_string(number_of);
  }
  int device(dom::element object, std::string_view key) const {
    const auto found = devices.find(handle_at(object, key, -1));
    return found == devices.end() ? -1 : found->second;
  }
  /// Where a record's work ran and what it is called. False: it says nothing of its work.
  struct Work {
    std::string name;
    int gpu = -1;
    std::int64_t queue = -1;
  };
  bool work_of(dom::element record, Kind kind, std::int64_t correlation, Work& work) const;
};

bool RocprofReader::Process::work_of(dom::element record, Kind kind, std::int64_t correlation, Work& work) const {
  work.queue = handle_at(record, "stream_id", -1);
  if (kind == Kind::dispatch) {
    dom::element dispatch;
    if (record["dispatch_info"].get(dispatch) != simdjson::SUCCESS) return false;
    const std::int64_t kernel = integer_at(dispatch, "kernel_id", -1);
    const auto found = kernels.find(kernel);
    work.name = found == kernels.end() ? "kernel " + std::to_string(kernel) : found->second;
    work.gpu = device(dispatch, "agent_id");
    if (work.queue < 0) work.queue = handle_at(dispatch, "queue_id", -1);
  } else if (kind == Kind::copy) {
    work.name = copy_name(operation(record));
    work.gpu = device(record, "dst_agent_id");
    if (work.gpu < 0) work.gpu = device(record, "src_agent_id");
  } else {
    const auto message = markers.find(kind == Kind::marker ? correlation & ((std::int64_t{1} << 40) - 1) : -1);
    work.name = message != markers.end() ? message->second : operation(record);
  }
  return true;
}

RocprofReader::RocprofReader(Source& source, Scanner& scan, Trace& trace, Builder& builder)
    : source_(source), scan_(scan), trace_(trace), builder_(builder) {}
RocprofReader::~RocprofReader() = default;

bool RocprofReader::read() {
  if (scan_.peek() == '{') return read_process();
  ++scan_.at;
  for (;;) {
    const Scanner::Next next = scan_.next_of(']');
    if (next == Scanner::Next::end) return true;
    if (next == Scanner::Next::comma) continue;
    if (scan_.peek() != '{' || !read_process()) return false;
  }
}

bool RocprofReader::take_key(std::string& key) {
  const std::size_t begin = scan_.keep = scan_.at;
  if (scan_.peek() != '"' || scan_.skip_value(0) != Scanner::End::whole) return false;
  key = source_.view(begin + 1, scan_.at - 1);
  scan_.keep = Scanner::nothing;
  return scan_.take(':');
}

bool RocprofReader::skip(std::size_t& begin) {
  scan_.keep = Scanner::nothing;
  if (scan_.peek() == 0) return false;
  begin = scan_.keep = scan_.at;
  return scan_.skip_value(0) == Scanner::End::whole && scan_.at > begin;
}

template <class Body>
bool RocprofReader::each_member(const Body& body) {
  ++scan_.at;
  while (!source_.cancelled()) {
    const Scanner::Next next = scan_.next_of('}');
    if (next == Scanner::Next::end) return true;
    if (next == Scanner::Next::comma) continue;
    std::string key;
    if (!take_key(key) || !body(key)) return false;
  }
  return false;
}

bool RocprofReader::read_process() {
  process_ = std::make_unique<Process>();
  process_->number = processes_++;
  return each_member([&](const std::string& key) {
    if (key == "buffer_records" && scan_.peek() == '{') return read_records();
    std::size_t begin = 0;
    if (!skip(begin)) return false;
    header(key, source_.view(begin, scan_.at));
    return true;
  });
}

bool RocprofReader::read_records() {
  return each_member([&](const std::string& key) {
    std::size_t begin = 0;
    return scan_.peek() == '[' ? read_list(key) : skip(begin);
  });
}

bool RocprofReader::read_list(std::string_view kind) {
  ++scan_.at;
  std::size_t reported = 0;
  while (!source_.cancelled()) {
    if (scan_.at - reported > (1 << 20)) source_.report(reported = scan_.at);
    const Scanner::Next next = scan_.next_of(']');
    if (next == Scanner::Next::end) return true;
    if (next == Scanner::Next::comma) continue;
    std::size_t begin = 0;
    if (!skip(begin)) return false;
    record(kind, begin, scan_.at);
  }
  return false;
}

void RocprofReader::header(std::string_view key, std::string_view json) {
  if (key != "metadata" && key != "agents" && key != "strings" && key != "kernel_symbols") return;
  Process& p = *process_;
  dom::element all;
  dom::array list;
  const auto error = p.parser.parse(json.data(), json.size()).get(all);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error != simdjson::SUCCESS) {
    ++lost_;
    return;
  }
  if (key == "metadata") {
    if (const std::int64_t pid = integer_at(all, "pid", -1); pid >= 0) p.pid = std::to_string(pid);
  } else if (key == "agents") {
    if (all.get_array().get(list) != simdjson::SUCCESS) return;
    int gpus = 0;
    for (const dom::element agent : list) {
      if (integer_at(agent, "type", 0) != 2 || gpus >= 4096) continue;  // 1: a processor of the host
      p.devices[handle_at(agent, "id", -1)] = gpus++;
      if (p.number > 0) continue;
      const std::string_view product = text_at(agent, "product_name");
      trace_.device_names.emplace_back(product.empty() ? text_at(agent, "name") : product);
    }
  } else if (key == "kernel_symbols") {
    if (all.get_array().get(list) != simdjson::SUCCESS) return;
    for (const dom::element symbol : list) {
      std::string_view name = text_at(symbol, "formatted_kernel_name");
      if (name.empty()) name = text_at(symbol, "demangled_kernel_name");
      if (name.empty()) name = text_at(symbol, "kernel_name");
      if (name.ends_with(".kd")) name.remove_suffix(3);  // the descriptor's symbol, not the kernel's
      if (!name.empty()) p.kernels[integer_at(symbol, "kernel_id", -1)] = name;
    }
  } else {
    if (all["buffer_records"].get_array().get(list) == simdjson::SUCCESS)
      for (const dom::element kind : list) {
        auto& names = p.operations.emplace_back();
        dom::array operations;
        if (kind["operations"].get_array().get(operations) != simdjson::SUCCESS) continue;
        for (const dom::element operation : operations) {
          std::string_view name;
          if (operation.get_string().get(name) != simdjson::SUCCESS) name = {};
          names.emplace_back(name);
        }
      }
    if (all["marker_api"].get_array().get(list) == simdjson::SUCCESS)
      for (const dom::element message : list) p.markers[integer_at(message, "key", -1)] = text_at(message, "value");
  }
}

void RocprofReader::record(std::string_view key, std::size_t begin, std::size_t end) {
  const auto* const list =
      std::find_if(std::begin(lists), std::end(lists), [&](const auto& l) { return l.key == key; });
  if (list == std::end(lists)) {
    ++not_shown_;
    return;
  }
  Process& p = *process_;
  dom::element json;
  static_assert(Source::padding >= simdjson::SIMDJSON_PADDING);
  const auto error = p.parser.parse(source_.at(begin), end - begin, false).get(json);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error != simdjson::SUCCESS || !json.is_object()) {
    ++lost_;
    return;
  }
  constexpr std::int64_t nowhere = INT64_MIN;
  const std::int64_t start_ns = integer_at(json, "start_timestamp", nowhere),
                     end_ns = integer_at(json, "end_timestamp", nowhere);
  Record r;
  r.phase = 'X';
  r.category = list->category;
  r.has_category = true;
  const auto allowed = [](std::int64_t ns) { return ns >= -max_time_ns && ns <= max_time_ns; };
  r.has_time = allowed(start_ns) && allowed(end_ns);
  r.time_ns = start_ns;
  r.duration_ns = r.has_time ? end_ns - start_ns : 0;
  r.args_offset = begin;
  r.args_bytes = end - begin > 0xFFFFFFFF ? 0 : static_cast<std::uint32_t>(end - begin);
  dom::element correlation;
  if (json["correlation_id"].get(correlation) == simdjson::SUCCESS)
    if (const std::int64_t id = integer_at(correlation, "internal", -1); id >= 0 && id < std::int64_t{1} << 40)
      r.correlation = (std::min<std::int64_t>(p.number, 1 << 20) << 40) | id;
  Process::Work work;
  if (!p.work_of(json, list->kind, r.correlation, work)) {
    ++lost_;
    return;
  }
  std::string device, stream;
  const std::string tid = std::to_string(integer_at(json, "thread_id", 0));
  if (list->kind == Kind::dispatch || list->kind == Kind::copy) {
    device = std::to_string(std::max(work.gpu, 0));
    stream = std::to_string(work.queue);
    r.device = device;
    r.stream = stream;
  }
  r.name = work.name;
  r.pid = p.pid;
  r.tid = r.stream.empty() ? std::string_view(tid) : r.stream;
  builder_.add(r);
}

void RocprofReader::say_losses() const {
  const auto many = [](std::int64_t n, const char* one, const char* more) {
    return std::to_string(n) + " " + (n == 1 ? one : more);
  };
  if (lost_ > 0)
    trace_.losses.push_back(many(lost_, "record of rocprofv3 is", "records of rocprofv3 are") + " damaged and " +
                            (lost_ == 1 ? "was" : "were") + " left out.");
  if (not_shown_ > 0)
    trace_.losses.push_back(many(not_shown_, "record", "records") + " of rocprofv3 " +
                            (not_shown_ == 1 ? "is" : "are") +
                            " of another kind than dispatches, copies, calls and markers and " +
                            (not_shown_ == 1 ? "is" : "are") + " not shown.");
}

}  // namespace models::trace
