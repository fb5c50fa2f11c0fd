#include "models/trace/text/source.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <thread>

namespace models::trace {
namespace {

constexpr std::size_t chunk_bytes = 512 << 10;  // stays in a core's cache from the copy to the parser
constexpr std::size_t chunks_ahead = 8;
constexpr std::size_t max_ratio = 1032;  // deflate cannot shrink further: zlib.net, technical details

/// The size that the end of a gz states, modulo 2^32; believed only as far as deflate can reach.
std::size_t stated_bytes(const Bytes& bytes) {
  unsigned char tail[4]{};
  if (bytes.size < 18 || !bytes.read(bytes.size - 4, reinterpret_cast<char*>(tail), 4)) return 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= static_cast<std::size_t>(tail[i]) << (8 * i);
  return size / max_ratio <= bytes.size ? size : 0;
}

}  // namespace

struct Source::Unpacking {
  explicit Unpacking(Text& to) : text(to), thread([this] { run(); }) {}
  ~Unpacking() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    thread.join();
  }

  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  void run() {
    std::string why;
    try {
      Inflater inflater(text.bytes());
      std::uint64_t next_place = 0;
      Chunk chunk;
      do {
        if (inflater.text_at() >= next_place) {
          text.add_place(inflater.place());
          next_place = inflater.text_at() + place_distance_bytes;
        }
        chunk = empty();
        chunk.size = inflater.read(chunk.bytes.get(), chunk_bytes);
        consumed = inflater.taken();
        if (chunk.size == 0 || !push(std::move(chunk))) break;
      } while (true);
      text.set_size(inflater.text_at());
      why = inflater.status().error;
    } catch (const std::bad_alloc&) {
      why = "There is no memory left to unpack the compressed file.";
    }
    const std::lock_guard lock(mutex);
    error = std::move(why);
    done = true;
    changed.notify_all();
  }

  Chunk empty() {
    const std::lock_guard lock(mutex);
    if (used.empty()) return {std::make_unique<char[]>(chunk_bytes)};
    Chunk chunk = std::move(used.back());
    used.pop_back();
    return chunk;
  }
  bool push(Chunk chunk) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stop || chunks.size() < chunks_ahead; });
    if (stop) return false;
    chunks.push_back(std::move(chunk));
    changed.notify_all();
    return true;
  }
  /// Without bytes: there is no more.
  Chunk take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done || !chunks.empty(); });
    if (chunks.empty()) return {};
    Chunk chunk = std::move(chunks.front());
    chunks.pop_front();
    changed.notify_all();
    return chunk;
  }
  void give_back(Chunk chunk) {
    const std::lock_guard lock(mutex);
    used.push_back(std::move(chunk));
  }

  Text& text;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Chunk> chunks;
  std::vector<Chunk> used;
  std::string error;
  bool done = false, stop = false;
  std::atomic<std::uint64_t> consumed{0};
  std::thread thread;  // last: it uses all of the above
};

Source::Source(Bytes bytes, const Progress& progress)
    : text_(std::make_shared<Text>(std::move(bytes))), progress_(progress) {
  char magic[2]{};
  const Bytes& all = text_->bytes();
  make_room(0, 0);
  if (all.size < 2 || !all.read(0, magic, 2)) magic[0] = 0;
  const bool gz = magic[0] == '\x1f' && magic[1] == '\x8b';
  expected_ = gz ? stated_bytes(all) : static_cast<std::size_t>(all.size);
  if (gz) unpacking_ = std::make_unique<Unpacking>(*text_);
}

Source::~Source() = default;

/// Room for `more_bytes` behind what is kept. Grown in place where the system can, so that no second copy is held.
void Source::make_room(std::size_t keep_from, std::size_t more_bytes) {
  const std::size_t drop = std::clamp(keep_from, begin_, end()) - begin_;
  if (drop > 0) {
    std::memmove(buffer_.get(), buffer_.get() + drop, size_ - drop);
    begin_ += drop;
    size_ -= drop;
  }
  const std::size_t needed = size_ + more_bytes + padding;
  if (needed > capacity_) {
    const std::size_t capacity = std::max(needed + needed / 2, chunk_bytes + (64 << 10));
    auto* const grown = static_cast<char*>(std::realloc(buffer_.get(), capacity));
    if (!grown) throw std::bad_alloc();
    static_cast<void>(buffer_.release());
    buffer_.reset(grown);
    capacity_ = capacity;
  }
  buffer_.get()[size_] = 0;
}

bool Source::more(std::size_t keep_from) {
  if (cancelled()) return false;
  std::size_t got = 0;
  if (unpacking_) {
    Unpacking::Chunk chunk = unpacking_->take();
    got = chunk.size;
    if (got == 0) return false;
    make_room(keep_from, got);
    std::memcpy(buffer_.get() + size_, chunk.bytes.get(), got);
    unpacking_->give_back(std::move(chunk));
  } else {
    const Bytes& all = text_->bytes();
    got = static_cast<std::size_t>(std::min<std::uint64_t>(all.size - end(), chunk_bytes));
    if (got == 0 || !loss_.empty()) return false;
    make_room(keep_from, got);
    if (const Status read = all.read(end(), buffer_.get() + size_, got); !read) {
      loss_ = read.error;
      buffer_.get()[size_] = 0;
      return false;
    }
  }
  size_ += got;
  std::memset(buffer_.get() + size_, 0, padding);
  return true;
}

std::string Source::loss() const {
  if (!unpacking_) return loss_;
  const std::lock_guard lock(unpacking_->mutex);
  return unpacking_->error;
}

bool Source::cancelled() {
  if (!cancelled_ && progress_.cancelled) cancelled_ = progress_.cancelled();
  return cancelled_;
}

void Source::report(std::size_t at) {
  if (!progress_.report) return;
  const double done = static_cast<double>(unpacking_ ? unpacking_->consumed.load() : at);
  const double all = static_cast<double>(std::max<std::uint64_t>(text_->bytes().size, 1));
  progress_.report(std::min(0.9 * done / all, 0.9));  // the last tenth is for sorting
}

}  // namespace models::trace
