#include "models/compression/safetensors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "models/base/json_text.h"
#include "models/transformer/json.h"

namespace models {
namespace {

using Json = nlohmann::json;

struct TypeInfo {
  std::string_view name;
  int bits;
};
constexpr std::array<TypeInfo, 22> types{
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
     {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
     {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
     {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};

static_assert(types.size() == static_cast<std::size_t>(TensorType::u64) + 1);

std::optional<TensorType> type_of(std::string_view name) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].name == name) return static_cast<TensorType>(i);
  return {};
}

/// A name out of the file, in quotes, short enough for a sentence and without line ends.
std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 60;
  std::size_t cut = std::min(longest, name.size());
  while (cut > 0 && cut < name.size() && (static_cast<unsigned char>(name[cut]) & 0xC0) == 0x80) --cut;
  std::string out = "\"";
  for (const char c : name.substr(0, cut)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out + (cut < name.size() ? "...\"" : "\"");
}

std::string count(std::uint64_t n) { return std::to_string(n); }

/// One entry of the header, offsets still counted from the start of the data. Returns what is wrong, or nothing.
std::string read_entry(const Json& v, TensorEntry& out) {
  if (!v.is_object()) return "must be an object with dtype, shape and data_offsets";
  for (const auto& [key, value] : v.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      return "has the key " + in_quotes(key) + "; dtype, shape and data_offsets are allowed";
  const auto dtype = v.find("dtype"), shape = v.find("shape"), offsets = v.find("data_offsets");
  if (dtype == v.end() || !dtype->is_string()) return "has no dtype; a name such as \"BF16\" is expected";
  const auto type = type_of(dtype->get_ref<const std::string&>());
  if (!type)
    return "has the dtype " + in_quotes(dtype->get_ref<const std::string&>()) +
           ", which the format does not know; BOOL, F4 to F64, I8 to I64 and U8 to U64 are allowed";
  if (shape == v.end() || !shape->is_array() || shape->size() > 16)
    return "has no shape; a list of up to 16 sizes is expected";
  out.type = *type;
  out.elements = 1;
  constexpr std::int64_t most = std::int64_t{1} << 56;  // times 64 bits stays below 2^63
  for (const Json& size : *shape) {
    if (!size.is_number_unsigned()) return "has a size in its shape that is no whole number from 0 up";
    const auto n = size.get<std::uint64_t>();
    if (n > static_cast<std::uint64_t>(most) || (n > 0 && out.elements > most / static_cast<std::int64_t>(n)))
      return "has a shape of more than 2^56 elements, which no file holds";
    out.shape.push_back(static_cast<std::int64_t>(n));
    out.elements *= static_cast<std::int64_t>(n);
  }
  if (offsets == v.end() || !offsets->is_array() || offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() ||
      !(*offsets)[1].is_number_unsigned())
    return "has no data_offsets; two whole numbers, begin and end, are expected";
  out.begin_bytes = (*offsets)[0].get<std::uint64_t>();
  out.end_bytes = (*offsets)[1].get<std::uint64_t>();
  if (out.end_bytes < out.begin_bytes)
    return "ends at byte " + count(out.end_bytes) + ", before it begins at " + count(out.begin_bytes);
  // F4 and F6 count bits, rounded up to a byte only at 64-bit sums; the format asks for whole bytes.
  const std::uint64_t elements = static_cast<std::uint64_t>(out.elements);
  const std::uint64_t bits = static_cast<std::uint64_t>(tensor_type_bits(out.type));
  if (bits < 8 && elements * bits % 8 != 0)
    return "has " + count(elements) + " elements of " + count(bits) + " bits, which fill no whole number of bytes";
  const std::uint64_t needed = bits < 8 ? elements * bits / 8 : elements * (bits / 8);
  if (out.end_bytes - out.begin_bytes != needed)
    return "takes " + count(out.end_bytes - out.begin_bytes) + " bytes, but its shape and dtype need " + count(needed);
  return {};
}

}  // namespace

std::string_view tensor_type_name(TensorType type) { return types[static_cast<std::size_t>(type)].name; }
int tensor_type_bits(TensorType type) { return types[static_cast<std::size_t>(type)].bits; }

const TensorEntry* TensorFile::find(std::string_view name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const TensorEntry& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

Result<std::uint64_t> safetensors_head_bytes(std::string_view start, std::uint64_t file_bytes,
                                             std::string_view origin) {
  using Outcome = Result<std::uint64_t>;
  const std::string name(origin);
  if (start.size() < 8 || file_bytes < 8)
    return Outcome::fail(name + " has " + count(std::min<std::uint64_t>(start.size(), file_bytes)) +
                         " bytes; a safetensors file begins with 8 that say how long its header is.");
  std::uint64_t header = 0;
  for (std::size_t i = 0; i < 8; ++i)
    header |= static_cast<std::uint64_t>(static_cast<unsigned char>(start[i])) << (8 * i);
  if (header > file_bytes - 8)
    return Outcome::fail(name + " announces a header of " + count(header) + " bytes and has " + count(file_bytes - 8) +
                         " left: it is cut off, or no safetensors file.");
  if (header > longest_json_bytes)
    return Outcome::fail(name + " has a header of " + count(header) + " bytes; at most " + count(longest_json_bytes) +
                         " are read.");
  return Outcome::ok(8 + header);
}

namespace {

/// The entry "__metadata__" of a header.
Status read_metadata(const Json& value, const std::string& name, TensorFile& out) {
  if (!value.is_object()) return Status::fail("__metadata__ of " + name + " must be an object of texts.");
  for (const auto& [what, said] : value.items()) {
    if (!said.is_string())
      return Status::fail("__metadata__ of " + name + " must hold texts alone; " + in_quotes(what) + " is none.");
    out.metadata.emplace_back(what, said.get<std::string>());
  }
  return Status::ok();
}

/// Sorts the tensors by their place and checks that they fill the `data` bytes behind the header without holes.
Status check_places(std::uint64_t data, const std::string& name, std::vector<TensorEntry>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return a.begin_bytes != b.begin_bytes ? a.begin_bytes < b.begin_bytes
           : a.end_bytes != b.end_bytes   ? a.end_bytes < b.end_bytes
                                          : a.name < b.name;
  });
  std::uint64_t covered = 0;
  for (const TensorEntry& t : tensors) {
    if (t.begin_bytes < covered)
      return Status::fail("The tensor " + in_quotes(t.name) + " of " + name + " begins at byte " +
                          count(t.begin_bytes) + " of the data, inside the one before it, which ends at " +
                          count(covered) + ".");
    if (t.begin_bytes > covered)
      return Status::fail("Bytes " + count(covered) + " to " + count(t.begin_bytes) + " of the data of " + name +
                          " belong to no tensor; the format allows no holes.");
    covered = t.end_bytes;
  }
  if (covered > data)
    return Status::fail(name + " has " + count(data) + " bytes of data and its header describes " + count(covered) +
                        ": it is cut off; download it again.");
  if (covered < data)
    return Status::fail(name + " has " + count(data - covered) +
                        " bytes behind its last tensor; the format allows none.");
  return Status::ok();
}

}  // namespace

Result<TensorFile> parse_safetensors(std::string_view head, std::uint64_t file_bytes, std::string_view origin) {
  using Outcome = Result<TensorFile>;
  const std::string name(origin);
  const auto needed = safetensors_head_bytes(head, file_bytes, origin);
  if (!needed) return Outcome::fail(needed.error);
  if (head.size() < *needed)
    return Outcome::fail(name + " ends inside its header: " + count(head.size()) + " of " + count(*needed) +
                         " bytes are there.");
  const std::string_view text = head.substr(8, static_cast<std::size_t>(*needed) - 8);
  if (std::string problem = json_problem(text, "The header of " + name); !problem.empty())
    return Outcome::fail(std::move(problem));
  const Json header = parse_json(text);
  if (!header.is_object())
    return Outcome::fail("The header of " + name + " is not a JSON object with one entry for each tensor.");

  TensorFile out;
  out.header_bytes = *needed;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      if (const Status metadata = read_metadata(value, name, out); !metadata) return Outcome::fail(metadata.error);
      continue;
    }
    TensorEntry entry;
    entry.name = key;
    if (const std::string wrong = read_entry(value, entry); !wrong.empty())
      return Outcome::fail("The tensor " + in_quotes(key) + " of " + name + " " + wrong + ".");
    out.tensors.push_back(std::move(entry));
  }
  if (const Status placed = check_places(file_bytes - *needed, name, out.tensors); !placed)
    return Outcome::fail(placed.error);
  for (TensorEntry& t : out.tensors) {
    t.begin_bytes += *needed;
    t.end_bytes += *needed;
  }
  return Outcome::ok(std::move(out));
}

}  // namespace models
