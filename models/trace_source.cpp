#include "models/trace_source.h"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace models::trace {
namespace {

constexpr std::size_t chunk_bytes = 1 << 20;
constexpr std::size_t chunks_ahead = 8;
constexpr std::size_t most_ratio = 1032;  // deflate cannot shrink further: zlib.net, technical details

/// The size that the end of a gz states, modulo 2^32; believed only as far as deflate can reach.
std::size_t stated_bytes(const std::string& bytes) {
  if (bytes.size() < 18) return 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[bytes.size() - 4 + i])) << (8 * i);
  return size / most_ratio <= bytes.size() ? size : 0;
}

}  // namespace

struct Source::Inflater {
  explicit Inflater(std::string all) : bytes(std::move(all)), thread([this] { run(); }) {}
  ~Inflater() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    thread.join();
  }

  void run() {
    z_stream z{};
    if (inflateInit2(&z, 15 + 32) != Z_OK) return finish("zlib could not start");
    std::size_t given = 0;
    std::string why;
    for (bool going = true; going;) {
      std::string out;
      out.resize(chunk_bytes);
      z.next_out = reinterpret_cast<Bytef*>(out.data());
      z.avail_out = static_cast<uInt>(out.size());
      while (going && z.avail_out > 0) {
        if (z.avail_in == 0) {
          const std::size_t part = std::min(bytes.size() - given, chunk_bytes);
          z.next_in = reinterpret_cast<Bytef*>(bytes.data() + given);
          z.avail_in = static_cast<uInt>(part);
          given += part;
          consumed = given;
        }
        const bool dry = z.avail_in == 0;
        const int status = inflate(&z, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
          // A gz may be several, one after the other.
          const bool again = (z.avail_in > 0 || given < bytes.size()) && inflateReset(&z) == Z_OK && next_member(z);
          if (!again) going = false;
        } else if (status != Z_OK) {
          going = false;
          why = dry || status == Z_BUF_ERROR ? "The compressed file ends too early" : "The compressed file is damaged";
        }
      }
      out.resize(out.size() - z.avail_out);
      if (!push(std::move(out))) break;
    }
    inflateEnd(&z);
    finish(std::move(why));
  }

  /// Whether another gz member follows; trailing zeros and other padding do not count.
  static bool next_member(const z_stream& z) { return z.avail_in == 0 || *z.next_in == 0x1f; }

  bool push(std::string chunk) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stop || chunks.size() < chunks_ahead; });
    if (stop) return false;
    chunks.push_back(std::move(chunk));
    changed.notify_all();
    return true;
  }
  void finish(std::string why) {
    const std::lock_guard lock(mutex);
    error = std::move(why);
    done = true;
    changed.notify_all();
  }
  /// Empty: there is no more.
  std::string take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done || !chunks.empty(); });
    if (chunks.empty()) return {};
    std::string chunk = std::move(chunks.front());
    chunks.pop_front();
    changed.notify_all();
    return chunk;
  }

  std::string bytes;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> chunks;
  std::string error;
  bool done = false, stop = false;
  std::atomic<std::size_t> consumed{0};
  std::thread thread;  // last: it uses all of the above
};

Source::Source(std::string bytes, const Progress& progress) : progress_(progress) {
  if (bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b') {
    text.reserve(stated_bytes(bytes) + 64);
    inflater_ = std::make_unique<Inflater>(std::move(bytes));
  } else {
    text = std::move(bytes);
  }
}

Source::~Source() = default;

bool Source::more() {
  if (!inflater_ || cancelled()) return false;
  const std::string chunk = inflater_->take();
  text += chunk;
  return !chunk.empty();
}

std::string Source::loss() const {
  if (!inflater_) return {};
  const std::lock_guard lock(inflater_->mutex);
  return inflater_->error;
}

bool Source::cancelled() {
  if (!cancelled_ && progress_.cancelled) cancelled_ = progress_.cancelled();
  return cancelled_;
}

void Source::report(std::size_t at) {
  if (!progress_.report) return;
  double done = static_cast<double>(at), all = static_cast<double>(std::max<std::size_t>(text.size(), 1));
  if (inflater_) done = static_cast<double>(inflater_->consumed.load()), all = static_cast<double>(std::max<std::size_t>(inflater_->bytes.size(), 1));
  progress_.report(std::min(0.9 * done / all, 0.9));  // the last tenth is for sorting
}

}  // namespace models::trace
