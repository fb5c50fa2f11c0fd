#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "chapters/precision/number_line/lab.h"
#include "models/compression/safetensors.h"

namespace chapters::precision::number_line {
namespace {

using models::TensorEntry;

/// What a file holds, and the numbers of the tensors that were looked at.
struct Opened {
  models::TensorFile file;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::shared_ptr<const std::vector<float>>, std::less<>> numbers;
};

constexpr std::int64_t most_numbers = 1 << 20, stretch = 1 << 14;

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

/// The tensor asked for, or the largest of floats; null with a sentence in `error`.
const TensorEntry* pick(const models::TensorFile& file, const std::string& name, std::string& error) {
  if (!name.empty()) {
    const TensorEntry* found = file.find(name);
    if (found && found->elements > 0) return found;
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(file.tensors.size(), 3); ++i)
      some += (i ? ", " : "") + file.tensors[i].name;
    error = found ? "The tensor " + name + " is empty."
                  : "The file has no tensor " + name + ": it has " + std::to_string(file.tensors.size()) +
                        ", among them " + some + ".";
    return nullptr;
  }
  const TensorEntry* best = nullptr;
  for (const TensorEntry& t : file.tensors)
    if (holds_floats(t) && (!best || t.elements > best->elements)) best = &t;
  if (!best) error = "The file has no tensor of floats: choose another, or name a tensor.";
  return best;
}

/// At most `most_numbers` of a tensor, in stretches spread evenly over it, sorted. NaN is left out.
std::shared_ptr<const std::vector<float>> sample(const FileBytes& bytes, const TensorEntry& t, Progress& progress,
                                                 std::string& error) {
  auto out = std::make_shared<std::vector<float>>();
  const int bits = models::tensor_type_bits(t.type);
  const std::int64_t stretches = (std::min(t.elements, most_numbers) + stretch - 1) / stretch;
  std::vector<double> decoded;
  for (std::int64_t i = 0; i < stretches && !progress.cancelled; ++i) {
    // Whole bytes: stretches begin at multiples of eight elements
    const std::int64_t first =
        t.elements <= most_numbers
            ? i * stretch
            : static_cast<std::int64_t>(static_cast<double>(t.elements - stretch) * static_cast<double>(i) /
                                        static_cast<double>(stretches)) /
                  8 * 8;
    const std::int64_t n = std::min(stretch, t.elements - first);
    std::string part;
    if (error =
            bytes.read_part(t.begin_bytes + static_cast<std::uint64_t>(first) * static_cast<std::uint64_t>(bits) / 8,
                            (static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(bits) + 7) / 8, part);
        !error.empty())
      return nullptr;
    decoded.resize(static_cast<std::size_t>(n));
    decoded.resize(models::decode_tensor(t.type, part, decoded));
    for (const double v : decoded)
      if (!std::isnan(v)) out->push_back(static_cast<float>(v));
    progress.fraction = static_cast<double>(i + 1) / static_cast<double>(stretches);
  }
  std::sort(out->begin(), out->end());
  return out;
}

}  // namespace

std::string load_numbers(const Inputs& in, Outputs& o, Progress& progress) {
  const FileBytes& bytes = *in.file.bytes;
  std::string error;
  const auto opened = bytes.made<Opened>([&]() -> std::shared_ptr<const Opened> {
    std::string head;
    if (error = bytes.read_part(0, std::min<std::uint64_t>(bytes.size_bytes, 8), head); !error.empty()) return nullptr;
    const auto needed = models::safetensors_head_bytes(head, bytes.size_bytes, bytes.path);
    if (!needed) return error = needed.error, nullptr;
    if (error = bytes.read_part(0, *needed, head); !error.empty()) return nullptr;
    auto parsed = models::parse_safetensors(head, bytes.size_bytes, bytes.path);
    if (!parsed) return error = parsed.error, nullptr;
    auto fresh = std::make_shared<Opened>();
    fresh->file = std::move(*parsed);
    return fresh;
  });
  if (!opened) return error.empty() ? "The file " + bytes.path + " was not read." : error;
  const TensorEntry* t = pick(opened->file, in.tensor, error);
  if (!t) return error;
  const std::lock_guard lock(opened->mutex);
  auto& kept = opened->numbers[t->name];
  if (!kept) {
    kept = sample(bytes, *t, progress, error);
    if (!kept || progress.cancelled) opened->numbers.erase(t->name);
    if (!error.empty()) return error;
  }
  const auto found = opened->numbers.find(t->name);
  if (found == opened->numbers.end() || found->second->empty())
    return "The tensor " + t->name + " has no number to show.";
  o.numbers = found->second;
  o.tensor.spread = models::ValueSpread::tensor;
  o.tensor.sorted = *o.numbers;
  o.spread_text = t->name + " (" + std::string(models::tensor_type_name(t->type)) + ", " + std::to_string(t->elements) +
                  " numbers)";
  return {};
}

}  // namespace chapters::precision::number_line
