#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/base/result.h"

namespace models::trace {

/// The bytes of a recording, wherever they lie: a file, or memory.
struct Bytes {
  std::uint64_t size = 0;
  /// Copies `bytes` bytes from `offset` on, all inside `size`. Threads may call it at the same time.
  std::function<Status(std::uint64_t offset, char* to, std::size_t bytes)> read;
};
Bytes in_memory(std::string bytes);

/// Inflates a gz, several one after the other too, from its beginning or from a place saved before.
class Inflater {
 public:
  /// The state of inflating at one place, about 85 KiB: from there on the rest can be read again.
  struct Place;

  explicit Inflater(const Bytes& bytes);
  Inflater(const Bytes& bytes, const Place& from);
  ~Inflater();
  /// Up to `most` bytes of the text; fewer at the end alone, and then status() says whether it is the true end. What
  /// was read before a failure is good.
  std::size_t read(char* to, std::size_t most);
  std::shared_ptr<const Place> place() const;
  std::uint64_t text_at() const { return text_at_; }  ///< bytes of text before the next
  std::uint64_t taken() const { return file_at_; }    ///< compressed bytes taken from the file
  /// Fails once no more can be read although the gz has not ended: it is damaged, cut, or cannot be read.
  const Status& status() const { return status_; }

 private:
  struct State;
  bool fill();
  const Bytes& bytes_;
  std::unique_ptr<State> state_;
  std::uint64_t file_at_ = 0, text_at_ = 0;
  bool ended_ = false;
  Status status_;
};

/// The uncompressed text of a recording, read again in parts: of a gz by inflating from the saved place before them.
/// The piece of a gz that was read last is kept, at most 16 MiB and a little. Threads may share it.
class Text {
 public:
  explicit Text(Bytes bytes);
  ~Text();
  const Bytes& bytes() const { return bytes_; }
  /// While the text is read first. Places come in order, the first at 0.
  void add_place(std::shared_ptr<const Inflater::Place> place);
  void set_size(std::uint64_t size) { size_ = size; }
  std::uint64_t size() const { return size_; }
  /// Fails when the part is not there, or not any more.
  Result<std::string> part(std::uint64_t offset, std::uint64_t bytes) const;
  /// All of it at once, for who needs parts of it in any order. Fails when it is not there any more.
  Result<std::string> all() const;
  std::size_t resident_bytes() const;

 private:
  Status load(std::uint64_t offset) const;
  Bytes bytes_;
  std::uint64_t size_ = 0;
  std::vector<std::shared_ptr<const Inflater::Place>> places_;  ///< empty: the bytes are the text
  mutable std::mutex mutex_;
  mutable std::uint64_t piece_at_ = 0;
  mutable std::string piece_;
};

/// Text between two saved places of a gz.
inline constexpr std::uint64_t place_distance_bytes = 16 << 20;

}  // namespace models::trace
