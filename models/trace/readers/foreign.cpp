#include "models/trace/readers/foreign.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace models::trace {
namespace {

using std::string_view_literals::operator""sv;

bool ends_like(std::string_view name, std::string_view lower) {
  if (name.size() < lower.size()) return false;
  name.remove_prefix(name.size() - lower.size());
  for (std::size_t i = 0; i < lower.size(); ++i)
    if ((name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]) != lower[i]) return false;
  return true;
}

/// A number of Protocol Buffers: seven bits a byte, the lowest first.
std::optional<std::uint64_t> take_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 10 && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    value |= std::uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      text.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

enum class Protobuf : std::uint8_t { none, xplane, perfetto };

/// Both begin with their field 1, repeated and of some length: XSpace.planes, whose own first fields are an id and a
/// name, and Perfetto's Trace.packet, which has other fields in front and no text of that kind.
Protobuf protobuf_of(std::string_view head) {
  if (head.empty() || head.front() != '\n') return Protobuf::none;
  head.remove_prefix(1);
  const auto length = take_varint(head);
  if (!length || *length == 0) return Protobuf::none;
  std::string_view inside = head.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*length, head.size())));
  for (int fields = 0; fields < 4 && !inside.empty(); ++fields) {
    const auto tag = take_varint(inside);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 1000) return Protobuf::none;
    const std::uint64_t field = *tag >> 3, wire = *tag & 7;
    if (wire == 0) {
      if (!take_varint(inside)) return Protobuf::none;
      if (field != 1) return Protobuf::perfetto;
      continue;
    }
    if (wire != 2) return wire == 1 || wire == 5 ? Protobuf::perfetto : Protobuf::none;
    const auto bytes = take_varint(inside);
    if (!bytes) return Protobuf::none;
    const std::string_view text = inside.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*bytes, 12)));
    const bool plane = text.starts_with("/device:") || text.starts_with("/host:") || text.starts_with("Task Env") ||
                       text.starts_with("Custom") || text.starts_with("#Chip");
    return field == 2 && plane ? Protobuf::xplane : Protobuf::perfetto;
  }
  return Protobuf::none;
}

}  // namespace

std::string foreign_format(std::string_view head, std::string_view name, bool inflated) {
  const bool binary = head.find('\0') != std::string_view::npos || (!head.empty() && (head.front() & 0x80) != 0);
  if (head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv))
    return "This is a zip archive: unpack it and open the recording inside.";
  if (head.starts_with("\x28\xB5\x2F\xFD"sv))
    return "This file is compressed with Zstandard: unpack it with zstd -d and open what comes out.";
  if (head.starts_with("\xFD\x37zXZ\0"sv))
    return "This file is compressed with xz: unpack it with xz -d and open what comes out.";
  if (head.starts_with("BZh") && binary)
    return "This file is compressed with bzip2: unpack it with bzip2 -d and open what comes out.";
  if (head.size() > 262 && head.substr(257, 5) == "ustar")
    return std::string(inflated ? "This is a tar archive in a gz" : "This is a tar archive") +
           ": unpack it with tar -xf and open the recordings inside, one for each rank.";
  if (head.starts_with("NVR\0"sv) || (ends_like(name, ".ncu-rep") && binary))
    return "This is a report of Nsight Compute, which has counters of single kernels and no timeline: record the run "
           "with Nsight Systems and open what nsys export --type sqlite writes.";
  if ((ends_like(name, ".nsys-rep") || ends_like(name, ".qdrep")) && !head.starts_with("{"))
    return "This is a report of Nsight Systems in its own format: nsys export --type sqlite writes a file that can be "
           "opened.";
  if (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return "This is a pickle of Python, which is a program and is not run here. A recording is written as JSON by "
           "export_chrome_trace of the PyTorch profiler; a memory snapshot or a flight recorder's dump is no "
           "recording.";
  const Protobuf protobuf = protobuf_of(head);
  if (protobuf == Protobuf::xplane || (ends_like(name, ".xplane.pb") && !head.starts_with("{")))
    return "This is an XPlane of TensorFlow or JAX: open the .trace.json.gz next to it, or have xprof convert it to "
           "the "
           "trace viewer's JSON.";
  if (protobuf == Protobuf::perfetto || ((ends_like(name, ".pftrace") || ends_like(name, ".perfetto-trace")) && binary))
    return "This is a recording in Perfetto's own format: traceconv json writes it as JSON that can be opened.";
  return {};
}

}  // namespace models::trace
