#include "models/memory/snapshot_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "models/base/json_text.h"

namespace models::memory {
namespace {

using nlohmann::json;

constexpr std::uint64_t max_text_bytes = std::uint64_t{512} << 20, least_unpacked_bytes = std::uint64_t{16} << 20;
constexpr std::uint64_t max_ratio = 200;
constexpr std::size_t max_values = 4'000'000, max_depth = 32, longest_name = 60;

/// In alphabetical order. Inside of allocator_settings every key counts.
constexpr std::array<std::string_view, 19> wanted{
    "action",        "addr",   "address",       "allocated_size", "allocator_settings", "blocks",       "device",
    "device_traces", "frames", "is_expandable", "name",           "segment_pool_id",    "segment_type", "segments",
    "size",          "state",  "stream",        "time_us",        "total_size"};
static_assert(std::is_sorted(wanted.begin(), wanted.end()));

class SnapshotValue : public JsonVisitor {
 public:
  explicit SnapshotValue(std::size_t max_history) : max_history_(max_history) {}
  const std::string& fault() const { return fault_; }
  bool began() const { return began_; }  ///< what a snapshot has was read
  json take() { return std::move(root_); }

  bool open(bool object) override {
    if (++depth_ > max_depth) return stop("The file nests deeper than a memory snapshot does.");
    if (left_out_ > 0 || leaves_out()) {
      ++left_out_;
      return true;
    }
    Open next;
    next.part = part_of_next(object);
    next.at = put(object ? json::object() : json::array());
    if (!next.at) return false;
    open_.push_back(next);
    return true;
  }
  bool close() override {
    --depth_;
    if (left_out_ > 0) {
      --left_out_;
      return true;
    }
    open_.pop_back();
    if (!open_.empty() && open_.back().part == Part::frames) judge_frame();
    return true;
  }
  bool key(std::string& key) override {
    if (left_out_ > 0) return true;
    began_ = began_ || key == "segments" || key == "device_traces";
    skips_ = open_.back().part != Part::settings && !std::binary_search(wanted.begin(), wanted.end(), key);
    key_ = std::move(key);
    return true;
  }
  bool scalar(json&& scalar) override {
    if (left_out_ > 0 || leaves_out()) return true;
    return put(std::move(scalar)) != nullptr;
  }

 private:
  enum class Part : unsigned char { other, settings, traces, history, frames };
  struct Open {
    json* at = nullptr;
    Part part = Part::other;
    bool named = false;  ///< a frame with a name was found
  };

  bool stop(std::string why) {
    fault_ = std::move(why);
    return false;
  }
  /// Takes the word of the key, which is for one value.
  bool leaves_out() {
    return std::exchange(skips_, false) || (!open_.empty() && open_.back().part == Part::frames && open_.back().named);
  }
  Part part_of_next(bool object) const {
    if (open_.empty()) return Part::other;
    const Open& into = open_.back();
    if (into.part == Part::settings) return Part::settings;
    if (into.part == Part::traces && !object) return Part::history;
    if (!into.at->is_object()) return Part::other;
    if (key_ == "allocator_settings" && object) return Part::settings;
    if (key_ == "device_traces" && !object && open_.size() == 1) return Part::traces;
    return key_ == "frames" && !object ? Part::frames : Part::other;
  }
  json* put(json&& value) {
    if (++values_ > max_values) {
      stop("The snapshot holds more than 4,000,000 values; record fewer entries with max_entries.");
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& into = *open_.back().at;
    if (into.is_object()) return &(into[key_] = std::move(value));
    if (open_.back().part == Part::history && into.size() >= max_history_) {
      stop("The snapshot's history has more than 200,000 entries; record fewer with max_entries.");
      return nullptr;
    }
    into.push_back(std::move(value));
    return &into.back();
  }
  /// The frame that was read last stays where it names a function of Python, whose names are short.
  void judge_frame() {
    json& frames = *open_.back().at;
    const json& frame = frames.back();
    const auto name = frame.is_object() ? frame.find("name") : frame.end();
    const bool good = frame.is_object() && name != frame.end() && name->is_string() &&
                      !name->get_ref<const std::string&>().empty() &&
                      name->get_ref<const std::string&>().size() <= longest_name;
    open_.back().named = good;
    if (!good) frames.erase(frames.size() - 1);
  }

  std::size_t max_history_, depth_ = 0, left_out_ = 0, values_ = 0;  ///< left_out_: open brackets of what is left out
  bool began_ = false;
  bool skips_ = false;  ///< the value of the key that was read last
  json root_ = json(json::value_t::discarded);
  std::vector<Open> open_;
  std::string key_, fault_;
};

Result<std::string> unpacked(const trace::Bytes& bytes) {
  using Text = Result<std::string>;
  const std::uint64_t most = std::min(max_text_bytes, std::max(least_unpacked_bytes, max_ratio * bytes.size));
  trace::Inflater inflater(bytes);
  std::string text, part(1 << 20, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) {
    if (text.size() + n > most)
      return Text::fail(most < max_text_bytes
                            ? "It unpacks to more than 200 times its size, which no recording does; record it again."
                            : "It is larger than 512 MiB when it is unpacked; record fewer entries.");
    text.append(part, 0, n);
  }
  if (!inflater.status()) return Text::fail(inflater.status().error);
  return Text::ok(std::move(text));
}

}  // namespace

Result<std::string> whole_recording_text(const trace::Bytes& bytes) {
  using Text = Result<std::string>;
  char head[2] = {};
  if (bytes.size < 2) return Text::fail("The file is empty; choose a recording.");
  if (const Status read = bytes.read(0, head, 2); !read) return Text::fail(read.error);
  if (head[0] == '\x1f' && head[1] == '\x8b') return unpacked(bytes);
  if (bytes.size > max_text_bytes) return Text::fail("It is larger than 512 MiB; record fewer entries.");
  std::string text(static_cast<std::size_t>(bytes.size), '\0');
  if (const Status read = bytes.read(0, text.data(), text.size()); !read) return Text::fail(read.error);
  return Text::ok(std::move(text));
}

Result<json> parse_snapshot_json(std::string_view text, std::size_t max_history) {
  using Out = Result<json>;
  SnapshotValue value(max_history);
  const JsonFailure failure = visit_json(text, value);
  if (!value.fault().empty()) return Out::fail(value.fault());
  if (failure.kind == JsonFailure::Kind::none)
    if (json root = value.take(); root.is_object()) return Out::ok(std::move(root));
  if (failure.kind != JsonFailure::Kind::none && value.began())
    return Out::fail("The JSON ends early or is damaged; write it again.");
  return Out::fail("This is no memory snapshot: give the dictionary of torch.cuda.memory._snapshot() as JSON.");
}

}  // namespace models::memory
