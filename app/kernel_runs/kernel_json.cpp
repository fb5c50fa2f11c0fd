#include "app/kernel_runs/kernel_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/platform/json.h"
#include "app/scenario/sentences.h"

namespace app {
namespace {

using EventKind = KernelEvent::Kind;

constexpr std::string_view kinds[] = {"progress", "result", "device", "roof", "note", "turn", "done"};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json diagnostics_json(const std::vector<kernels::Diagnostic>& all) {
  Json list = Json::array();
  for (const auto& d : all) list.push_back({{"line", d.line}, {"text", d.text}, {"error", d.error}});
  return list;
}

Json report_json(const kernels::KernelReport& r) {
  return {{"arch", r.arch},
          {"registers_per_thread", r.registers_per_thread},
          {"spill_store_bytes", r.spill_store_bytes},
          {"spill_load_bytes", r.spill_load_bytes},
          {"shared_bytes", r.shared_bytes},
          {"block_threads", r.block_threads}};
}

void add_result(Json& j, const kernels::Result& r) {
  j["ladder"] = r.ladder;
  j["rung"] = r.rung;
  j["size"] = r.size;
  j["time_s"] = number(r.time_s);
  j["spread_s"] = number(r.spread_s);
  j["samples"] = r.samples;
  j["flops"] = number(r.flops);
  j["bytes"] = number(r.bytes);
  j["error"] = number(r.error);
  j["error_bound"] = number(r.error_bound);
  j["compiled"] = r.compiled;
  if (r.checked) j["checked"] = true;
  j["failure"] = r.failure;
  j["diagnostics"] = diagnostics_json(r.diagnostics);
  j["report"] = report_json(r.report);
}

/// Takes members of an object that may be anything, and keeps the first fault.
class Members {
 public:
  Members(const Json& object, std::string& fault) : object_(object), fault_(fault) {
    if (!object.is_object()) blame("the line", "an object");
  }

  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }
  void take(const char* key, std::string& out) {
    const Json* v = find(key, "a text");
    if (!v) return;
    if (v->is_string())
      out = v->get_ref<const std::string&>();
    else
      blame(key, "a text");
  }
  void take(const char* key, bool& out) {
    const Json* v = find(key, "true or false");
    if (!v) return;
    if (v->is_boolean())
      out = v->get<bool>();
    else
      blame(key, "true or false");
  }
  void take(const char* key, double& out) {
    const Json* v = find(key, "a number");
    if (!v) return;
    if (v->is_null())
      out = std::numeric_limits<double>::quiet_NaN();
    else if (v->is_number())
      out = v->get<double>();
    else
      blame(key, "a number");
  }
  /// Whole, within the range of `Int`.
  template <class Int>
  requires std::is_integral_v<Int>
  void take(const char* key, Int& out) {
    const Json* v = find(key, "a whole number");
    if (!v) return;
    const bool big = v->is_number_unsigned() &&
                     v->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Int>::max());
    const bool small = v->is_number_integer() && !v->is_number_unsigned() &&
                       (v->get<std::int64_t>() < 0 &&
                        (std::is_unsigned_v<Int> ||
                         v->get<std::int64_t>() < static_cast<std::int64_t>(std::numeric_limits<Int>::min())));
    if (!v->is_number_integer() || big || small)
      blame(key, "a whole number that fits");
    else
      out = v->get<Int>();
  }
  void take(const char* key, std::vector<std::string>& out) {
    for (const Json& item : list(key)) {
      if (item.is_string())
        out.push_back(item.get_ref<const std::string&>());
      else
        blame(key, "a list of texts");
    }
  }
  /// Index of the member's text in `names`.
  template <std::size_t n>
  std::size_t choice(const char* key, const std::string_view (&names)[n]) {
    std::string text;
    take(key, text);
    for (std::size_t i = 0; i < n; ++i)
      if (text == names[i]) return i;
    blame(key, "one that is known");
    return 0;
  }
  const Json& list(const char* key) {
    static const Json empty = Json::array();
    const Json* v = find(key, "a list");
    if (v && v->is_array()) return *v;
    if (v) blame(key, "a list");
    return empty;
  }
  const Json& object(const char* key) {
    static const Json empty = Json::object();
    const Json* v = find(key, "an object");
    return v ? *v : empty;
  }

 private:
  const Json* find(const char* key, const char* expected) {
    if (!object_.is_object()) return nullptr;
    const auto at = object_.find(key);
    if (at != object_.end()) return &*at;
    blame(key, expected);
    return nullptr;
  }
  void blame(const char* key, const char* expected) {
    if (fault_.empty()) fault_ = std::string(key) + " is not " + expected;
  }
  const Json& object_;
  std::string& fault_;
};

kernels::Result result_of(Members& m, std::string& fault) {
  kernels::Result r;
  m.take("ladder", r.ladder);
  m.take("rung", r.rung);
  m.take("size", r.size);
  m.take("time_s", r.time_s);
  m.take("spread_s", r.spread_s);
  m.take("samples", r.samples);
  m.take("flops", r.flops);
  m.take("bytes", r.bytes);
  m.take("error", r.error);
  m.take("error_bound", r.error_bound);
  m.take("compiled", r.compiled);
  if (m.has("checked")) m.take("checked", r.checked);
  m.take("failure", r.failure);
  for (const Json& item : m.list("diagnostics")) {
    Members d(item, fault);
    auto& diagnostic = r.diagnostics.emplace_back();
    d.take("line", diagnostic.line);
    d.take("text", diagnostic.text);
    d.take("error", diagnostic.error);
  }
  Members report(m.object("report"), fault);
  report.take("arch", r.report.arch);
  report.take("registers_per_thread", r.report.registers_per_thread);
  report.take("spill_store_bytes", r.report.spill_store_bytes);
  report.take("spill_load_bytes", r.report.spill_load_bytes);
  report.take("shared_bytes", r.report.shared_bytes);
  report.take("block_threads", r.report.block_threads);
  return r;
}

/// The line as JSON. Fails with a clause.
models::Result<Json> parse_line(std::string_view line) {
  constexpr int max_depth = 8;
  if (line.size() > max_kernel_line_bytes) return models::Result<Json>::fail("it is longer than 1 MiB");
  if (!shallow_enough(line, max_depth)) return models::Result<Json>::fail("it nests too deep");
  auto parsed = parse_json(line, max_depth);
  if (!parsed) parsed.error = "it is not JSON";
  return parsed;
}

template <class T>
models::Result<T> finish(std::string_view what, std::string_view line, const std::string& fault, T value) {
  if (fault.empty()) return models::Result<T>::ok(std::move(value));
  return models::Result<T>::fail(std::string(what) + " cannot be read (" + fault + "): " + excerpt(line) + ".");
}

}  // namespace

std::string to_line(const KernelEvent& e) {
  Json j = {{"event", kinds[static_cast<std::size_t>(e.kind)]}};
  switch (e.kind) {
    case EventKind::progress:
      j["fraction"] = number(e.fraction);
      break;
    case EventKind::result:
      add_result(j, e.result);
      break;
    case EventKind::device:
      j["device"] = kernels::id_of(e.device);
      j["name"] = e.name;
      break;
    case EventKind::roof:
      j["id"] = e.roof.id;
      j["title"] = e.roof.title;
      j["unit"] = e.roof.unit;
      j["value"] = number(e.roof.value);
      break;
    case EventKind::note:
      j["note"] = e.note;
      break;
    case EventKind::turn:
      j["place"] = e.turn.place;
      j["is_b"] = e.turn.is_b;
      j["time_s"] = number(e.turn.time_s);
      break;
    case EventKind::done:
      j["failure"] = e.failure;
      break;
  }
  return to_text(j);
}

models::Result<KernelEvent> parse_kernel_event(std::string_view line) {
  KernelEvent e;
  const auto j = parse_line(line);
  std::string fault = j.error;
  if (j) {
    Members m(*j, fault);
    e.kind = static_cast<EventKind>(m.choice("event", kinds));
    if (fault.empty()) switch (e.kind) {
        case EventKind::progress:
          m.take("fraction", e.fraction);
          break;
        case EventKind::result:
          e.result = result_of(m, fault);
          break;
        case EventKind::device:
          e.device = static_cast<kernels::Device>(m.choice("device", kernels::device_ids));
          m.take("name", e.name);
          break;
        case EventKind::roof:
          m.take("id", e.roof.id);
          m.take("title", e.roof.title);
          m.take("unit", e.roof.unit);
          m.take("value", e.roof.value);
          break;
        case EventKind::note:
          m.take("note", e.note);
          break;
        case EventKind::turn:
          m.take("place", e.turn.place);
          m.take("is_b", e.turn.is_b);
          m.take("time_s", e.turn.time_s);
          break;
        case EventKind::done:
          m.take("failure", e.failure);
          break;
      }
  }
  return finish("What the kernel process said", line, fault, std::move(e));
}

std::string to_line(const kernels::Request& r) {
  return to_text(Json{{"ladder", r.ladder},
                      {"rungs", r.rungs},
                      {"size", r.size},
                      {"cold", r.cold},
                      {"seed", r.seed},
                      {"seconds_per_rung", number(r.seconds_per_rung)},
                      {"edited_rung", r.edited_rung},
                      {"edited_source", r.edited_source}});
}

models::Result<kernels::Request> parse_kernel_request(std::string_view line) {
  kernels::Request r;
  const auto j = parse_line(line);
  std::string fault = j.error;
  if (j) {
    Members m(*j, fault);
    m.take("ladder", r.ladder);
    m.take("rungs", r.rungs);
    m.take("size", r.size);
    m.take("cold", r.cold);
    m.take("seed", r.seed);
    m.take("seconds_per_rung", r.seconds_per_rung);
    m.take("edited_rung", r.edited_rung);
    m.take("edited_source", r.edited_source);
  }
  return finish("The kernel request", line, fault, std::move(r));
}

}  // namespace app
