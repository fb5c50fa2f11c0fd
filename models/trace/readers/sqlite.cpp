#include "models/trace/readers/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <new>
#include <unordered_map>

#include "models/trace/readers/number.h"

namespace models::trace {
namespace {

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

// A GlobalId packs hardware, virtual machine, process and thread: 24 bits of process above 24 of thread.
std::int64_t process_of(std::int64_t global) { return (global >> 24) & 0xFFFFFF; }
std::int64_t thread_of(std::int64_t global) { return global & 0xFFFFFF; }

std::string text(const Statement& s, int column) {
  if (sqlite3_column_type(s.get(), column) == SQLITE_NULL) return {};
  const auto* p = sqlite3_column_text(s.get(), column);
  if (!p && sqlite3_errcode(sqlite3_db_handle(s.get())) == SQLITE_NOMEM) throw std::bad_alloc();
  return p ? std::string(reinterpret_cast<const char*>(p),
                         static_cast<std::size_t>(sqlite3_column_bytes(s.get(), column)))
           : std::string();
}

/// What sqlite3_step says, unless there is no memory.
int row_status(const Statement& s) {
  const int status = sqlite3_step(s.get());
  if (status == SQLITE_NOMEM) throw std::bad_alloc();
  return status;
}

class Database {
 public:
  explicit Database(Source& source) {
    sqlite3* db = nullptr;
    const int opened = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(db);
    if (opened == SQLITE_NOMEM) throw std::bad_alloc();
    if (opened != SQLITE_OK) return;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_progress_handler(
        db, 100'000, [](void* s) { return static_cast<Source*>(s)->cancelled() ? 1 : 0; }, &source);
    const auto bytes = static_cast<sqlite3_int64>(source.end());
    const int taken = sqlite3_deserialize(db, "main", reinterpret_cast<unsigned char*>(source.data()), bytes, bytes,
                                          SQLITE_DESERIALIZE_READONLY);
    if (taken == SQLITE_NOMEM) throw std::bad_alloc();
    good_ = taken == SQLITE_OK;
  }

  bool good() const { return good_; }

  Statement prepare(const std::string& sql) {
    sqlite3_stmt* s = nullptr;
    const int status = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &s, nullptr);
    Statement prepared(s);
    if (status == SQLITE_NOMEM) throw std::bad_alloc();
    if (status != SQLITE_OK)
      damaged = damaged || sqlite3_errcode(db_.get()) == SQLITE_CORRUPT || sqlite3_errcode(db_.get()) == SQLITE_NOTADB;
    return prepared;
  }

  /// SELECT of these columns, with NULL for those that the table lacks. Null when it is no table of this file: views
  /// are not run.
  Statement select(const std::string& table, std::initializer_list<const char*> columns) {
    Statement is_table = prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + table +
                                 "' AND sql NOT LIKE 'CREATE VIRTUAL%'");
    if (!is_table || row_status(is_table) != SQLITE_ROW) return nullptr;
    std::vector<std::string> there;
    Statement info = prepare("PRAGMA table_info(" + table + ")");
    while (info && row_status(info) == SQLITE_ROW) there.push_back(text(info, 1));
    std::string sql;
    for (const char* column : columns) {
      sql += sql.empty() ? "SELECT " : ", ";
      sql += std::find(there.begin(), there.end(), column) != there.end() ? "\"" + std::string(column) + "\"" : "NULL";
    }
    return prepare(sql + " FROM " + table);
  }

  bool step(const Statement& s) {
    if (!s) return false;
    const int status = row_status(s);
    if (status != SQLITE_ROW && status != SQLITE_DONE) damaged = true;
    return status == SQLITE_ROW;
  }

  bool damaged = false;

 private:
  std::unique_ptr<sqlite3, Close> db_;
  bool good_ = false;
};

std::int64_t integer(const Statement& s, int column) { return sqlite3_column_int64(s.get(), column); }
bool given(const Statement& s, int column) { return sqlite3_column_type(s.get(), column) != SQLITE_NULL; }
const char* copy_name(std::int64_t kind) {
  switch (kind) {
    case 1:
      return "Memcpy HtoD";
    case 2:
      return "Memcpy DtoH";
    case 8:
      return "Memcpy DtoD";
    case 10:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

class Export {
 public:
  Export(Source& source, Trace& trace, Builder& builder)
      : source_(source), db_(source), trace_(trace), builder_(builder) {}

  Status read() {
    if (!db_.good())
      return Status::fail("This SQLite file cannot be opened: export it again with nsys export --type sqlite.");
    read_names();
    read_rows();
    if (source_.cancelled()) return Status::ok();
    if (db_.damaged)
      trace_.losses.push_back("The SQLite file is damaged or was cut: the rows before the damage were kept.");
    if (trace_.records > 0) return Status::ok();
    return Status::fail(
        db_.damaged ? "This SQLite file is damaged and no row of it can be read: export it again with nsys export "
                      "--type sqlite."
                    : "This SQLite file has no CUDA activity of Nsight Systems: export a report that traced CUDA "
                      "with nsys export --type sqlite.");
  }

 private:
  void read_names() {
    for (auto s = db_.select("StringIds", {"id", "value"}); db_.step(s);) strings_[integer(s, 0)] = text(s, 1);
    for (auto s = db_.select("META_DATA_EXPORT", {"name", "value"}); db_.step(s);)
      if (text(s, 0) == "EXPORT_SCHEMA_VERSION" || text(s, 0) == "EXPORT_PRODUCT_VERSION")
        trace_.metadata.emplace_back(text(s, 0), "\"" + text(s, 1) + "\"");
    for (auto s = db_.select("TARGET_INFO_GPU", {"name"}); db_.step(s) && trace_.device_names.size() < 4096;)
      trace_.device_names.push_back(text(s, 0));
    for (auto s = db_.select("PROCESSES", {"globalPid", "name"}); db_.step(s);)
      builder_.name_process(std::to_string(process_of(integer(s, 0))), text(s, 1));
    for (auto s = db_.select("ThreadNames", {"globalTid", "nameId"}); db_.step(s);)
      builder_.name_thread(std::to_string(process_of(integer(s, 0))), std::to_string(thread_of(integer(s, 0))),
                           string(integer(s, 1)));
  }

  void read_rows() {
    device_rows("CUPTI_ACTIVITY_KIND_KERNEL", "kernel", "demangledName", "shortName");
    source_.report(source_.end() / 3);
    device_rows("CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", "copyKind", "bytes");
    device_rows("CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "value", "bytes");
    device_rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "cuda_sync", "syncType", "eventId");
    for (auto s = db_.select("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"});
         db_.step(s);) {
      const std::int64_t global = integer(s, 2);
      host_row("cuda_runtime", string(integer(s, 4)), integer(s, 0), integer(s, 1), global, correlation(global, s, 3));
    }
    source_.report(source_.end() * 2 / 3);
    for (auto s = db_.select("NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"});
         db_.step(s);) {
      if (!given(s, 1)) continue;  // marks and domains
      host_row("nvtx", given(s, 3) ? text(s, 3) : string(integer(s, 4)), integer(s, 0), integer(s, 1), integer(s, 5),
               -1);
    }
  }

  std::string string(std::int64_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? "(no name " + std::to_string(id) + ")" : found->second;
  }
  /// Correlation numbers are a process's own: made one across processes.
  static std::int64_t correlation(std::int64_t global, const Statement& s, int column) {
    return given(s, column) ? (process_of(global) << 32) | (integer(s, column) & 0xFFFFFFFF) : -1;
  }

  void device_rows(const char* table, const char* category, const char* what, const char* other) {
    const std::string_view kind = category;
    for (auto s =
             db_.select(table, {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", what, other});
         db_.step(s);) {
      const std::int64_t pid = process_of(integer(s, 5));
      std::int64_t device = integer(s, 2), stream = integer(s, 3);
      if (kind == "cuda_sync") {
        // The column says device 0 for every process; the process knows its device.
        if (const auto found = device_of_.find(pid); found != device_of_.end()) device = found->second;
        if (stream == 4294967295) stream = -1;
      } else {
        device_of_.try_emplace(pid, device);
      }
      Record r = row(category, integer(s, 0), integer(s, 1));
      const std::string name = kind == "kernel"       ? string(given(s, 6) ? integer(s, 6) : integer(s, 7))
                               : kind == "gpu_memcpy" ? copy_name(integer(s, 6))
                               : kind == "gpu_memset" ? "Memset"
                                                      : "Synchronize";
      const std::string pid_text = std::to_string(pid), device_text = std::to_string(device),
                        stream_text = std::to_string(stream);
      r.name = name;
      r.pid = pid_text;
      r.tid = stream_text;
      r.device = device_text;
      r.stream = stream_text;
      r.correlation = correlation(integer(s, 5), s, 4);
      builder_.add(r);
    }
  }

  void host_row(const char* category, const std::string& name, std::int64_t start, std::int64_t end,
                std::int64_t global, std::int64_t with) {
    Record r = row(category, start, end);
    const std::string pid = std::to_string(process_of(global)), tid = std::to_string(thread_of(global));
    r.name = name;
    r.pid = pid;
    r.tid = tid;
    r.correlation = with;
    builder_.add(r);
  }

  static Record row(const char* category, std::int64_t start, std::int64_t end) {
    Record r;
    r.phase = 'X';
    r.category = category;
    r.has_category = true;
    r.has_time = start >= -max_time_ns && start <= max_time_ns && end >= -max_time_ns && end <= max_time_ns;
    r.time_ns = start;
    r.duration_ns = r.has_time ? end - start : 0;
    return r;
  }

  Source& source_;
  Database db_;
  Trace& trace_;
  Builder& builder_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::unordered_map<std::int64_t, std::int64_t> device_of_;  // by process
};

}  // namespace

Status read_sqlite(Source& source, Trace& trace, Builder& builder) {
  Export reader(source, trace, builder);
  return reader.read();
}

}  // namespace models::trace
