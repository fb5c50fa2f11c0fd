#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "chapters/precision/number_line/lab.h"

namespace chapters::precision::number_line {
namespace {

using models::TensorEntry;
using Sampled = models::Result<std::shared_ptr<const TensorSample>>;

/// What a file holds, and the samples of the tensors that were looked at.
struct Opened {
  models::TensorFile file;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::shared_ptr<const TensorSample>, std::less<>> samples;
};

constexpr std::int64_t max_numbers = 1 << 20, stretch = 1 << 14;

bool holds_floats(const TensorEntry& t) {
  switch (t.type) {
    case models::TensorType::f16:
    case models::TensorType::bf16:
    case models::TensorType::f32:
    case models::TensorType::f64:
    case models::TensorType::f8_e4m3:
    case models::TensorType::f8_e5m2:
      return t.elements > 0;
    default:
      return false;
  }
}

/// The tensor asked for, or the largest of floats.
models::Result<const TensorEntry*> pick(const models::TensorFile& file, const std::string& name) {
  using Picked = models::Result<const TensorEntry*>;
  if (!name.empty()) {
    const TensorEntry* found = file.find(name);
    if (found && found->elements > 0) return Picked::ok(found);
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(file.tensors.size(), 3); ++i)
      some += (i ? ", " : "") + file.tensors[i].name;
    return Picked::fail(found ? "The tensor " + name + " is empty."
                              : "The file has no tensor " + name + ": it has " + std::to_string(file.tensors.size()) +
                                    ", among them " + some + ".");
  }
  const TensorEntry* best = nullptr;
  for (const TensorEntry& t : file.tensors)
    if (holds_floats(t) && (!best || t.elements > best->elements)) best = &t;
  if (!best) return Picked::fail("The file has no tensor of floats: choose another, or name a tensor.");
  return Picked::ok(best);
}

/// At most `max_numbers` of a tensor, in stretches spread evenly over it, sorted. NaN is left out.
Sampled take_sample(const FileBytes& bytes, const TensorEntry& t, Progress& progress) {
  auto out = std::make_shared<TensorSample>();
  out->entry = t;
  const int bits = models::tensor_type_bits(t.type);
  const std::int64_t stretches = (std::min(t.elements, max_numbers) + stretch - 1) / stretch;
  std::vector<double> decoded;
  for (std::int64_t i = 0; i < stretches && !progress.cancelled; ++i) {
    // Stretches begin at multiples of eight elements, which is at whole bytes.
    const std::int64_t first =
        t.elements <= max_numbers ? i * stretch
                                  : static_cast<std::int64_t>(static_cast<double>(t.elements - stretch) *
                                                              static_cast<double>(i) / static_cast<double>(stretches)) /
                                        8 * 8;
    const std::int64_t n = std::min(stretch, t.elements - first);
    std::string part;
    const models::Status read =
        bytes.read_part(t.begin_bytes + static_cast<std::uint64_t>(first) * static_cast<std::uint64_t>(bits) / 8,
                        (static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(bits) + 7) / 8, part);
    if (!read) return Sampled::fail(read.error);
    decoded.resize(static_cast<std::size_t>(n));
    decoded.resize(models::decode_tensor(t.type, part, decoded));
    for (const double v : decoded)
      if (!std::isnan(v)) out->sorted.push_back(static_cast<float>(v));
    progress.fraction = static_cast<double>(i + 1) / static_cast<double>(stretches);
  }
  std::sort(out->sorted.begin(), out->sorted.end());
  return Sampled::ok(std::move(out));
}

/// The tensors of a file, from its header.
models::Result<std::shared_ptr<const Opened>> open_file(const FileBytes& bytes) {
  using Parsed = models::Result<std::shared_ptr<const Opened>>;
  std::string head;
  if (const models::Status read = bytes.read_part(0, std::min<std::uint64_t>(bytes.size_bytes, 8), head); !read)
    return Parsed::fail(read.error);
  const auto needed = models::safetensors_head_bytes(head, bytes.size_bytes, bytes.path);
  if (!needed) return Parsed::fail(needed.error);
  if (const models::Status read = bytes.read_part(0, *needed, head); !read) return Parsed::fail(read.error);
  auto parsed = models::parse_safetensors(head, bytes.size_bytes, bytes.path);
  if (!parsed) return Parsed::fail(parsed.error);
  auto opened = std::make_shared<Opened>();
  opened->file = std::move(*parsed);
  return Parsed::ok(std::move(opened));
}

}  // namespace

Sampled load_sample(const Inputs& in, Progress& progress) {
  const FileBytes& bytes = *in.file.bytes;
  std::string error;
  const auto opened = bytes.made<Opened>([&]() -> std::shared_ptr<const Opened> {
    auto read = open_file(bytes);
    error = read.error;
    return read ? std::move(*read) : nullptr;
  });
  if (!opened) return Sampled::fail(error.empty() ? "The file " + bytes.path + " was not read." : error);
  const auto picked = pick(opened->file, in.tensor);
  if (!picked) return Sampled::fail(picked.error);
  const TensorEntry& entry = **picked;
  const std::lock_guard lock(opened->mutex);
  std::shared_ptr<const TensorSample> sample;
  if (const auto kept = opened->samples.find(entry.name); kept != opened->samples.end()) {
    sample = kept->second;
  } else {
    auto taken = take_sample(bytes, entry, progress);
    if (!taken) return taken;
    sample = std::move(*taken);
    if (progress.cancelled) sample = nullptr;
    if (sample) opened->samples.emplace(entry.name, sample);
  }
  if (!sample || sample->sorted.empty()) return Sampled::fail("The tensor " + entry.name + " has no number to show.");
  return Sampled::ok(std::move(sample));
}

}  // namespace chapters::precision::number_line
