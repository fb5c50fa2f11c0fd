#include "models/trace/text/bytes.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace models::trace {
namespace {

constexpr std::size_t input_bytes = 256 << 10;
constexpr std::string_view gone = "The recording's text is not there any more: choose the file again.";
constexpr std::string_view damaged = "The compressed file is damaged.";
constexpr std::string_view cut_short = "The compressed file ends too early.";

}  // namespace

Bytes in_memory(std::string all) {
  const auto held = std::make_shared<const std::string>(std::move(all));
  return {held->size(), [held](std::uint64_t offset, char* to, std::size_t bytes) {
            std::memcpy(to, held->data() + offset, bytes);
            return Status::ok();
          }};
}

struct Inflater::Place {
  inflate_state state;
  std::uint64_t file_at, text_at;
};

struct Inflater::State {
  inflate_state state;
  std::unique_ptr<std::uint8_t[]> input = std::make_unique<std::uint8_t[]>(input_bytes);
};

Inflater::Inflater(const Bytes& bytes) : bytes_(bytes), state_(std::make_unique<State>()) {
  isal_inflate_init(&state_->state);
  state_->state.crc_flag = ISAL_GZIP;
}

Inflater::Inflater(const Bytes& bytes, const Place& from)
    : bytes_(bytes), state_(std::make_unique<State>()), file_at_(from.file_at), text_at_(from.text_at) {
  state_->state = from.state;
}

Inflater::~Inflater() = default;

// What is buffered of the input lies in the state; what is not begins at the file's next byte again.
std::shared_ptr<const Inflater::Place> Inflater::place() const {
  auto out = std::make_shared<Place>();
  out->state = state_->state;
  out->state.next_in = out->state.next_out = nullptr;
  out->state.avail_in = out->state.avail_out = 0;
  out->file_at = file_at_ - state_->state.avail_in;
  out->text_at = text_at_;
  return out;
}

/// More input, where there is more. False at the end of the file, and when it cannot be read.
bool Inflater::fill() {
  inflate_state& s = state_->state;
  if (s.avail_in > 0) return true;
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_.size - file_at_, input_bytes));
  if (part == 0) return false;
  if (Status got = bytes_.read(file_at_, reinterpret_cast<char*>(state_->input.get()), part); !got) {
    status_ = std::move(got);
    return false;
  }
  file_at_ += part;
  s.next_in = state_->input.get();
  s.avail_in = static_cast<std::uint32_t>(part);
  return true;
}

std::size_t Inflater::read(char* to, std::size_t most) {
  inflate_state& s = state_->state;
  std::size_t done = 0;
  while (!ended_ && done < most) {
    const bool dry = !fill();
    if (s.block_state == ISAL_BLOCK_FINISH) {
      // A gz may be several, one after the other; padding after the last is none.
      ended_ = dry || *s.next_in != 0x1f;
      if (ended_) break;
      isal_inflate_reset(&s);
      s.crc_flag = ISAL_GZIP;
    }
    const auto room = static_cast<std::uint32_t>(std::min<std::size_t>(most - done, std::size_t{1} << 30));
    const std::uint32_t input = s.avail_in;
    s.next_out = reinterpret_cast<std::uint8_t*>(to) + done;
    s.avail_out = room;
    const int status = isal_inflate(&s);
    const std::size_t got = room - s.avail_out;
    done += got;
    text_at_ += got;
    if (status != ISAL_DECOMP_OK) {
      ended_ = true;
      if (status_) status_ = Status::fail(std::string(damaged));
    } else if (got == 0 && s.avail_in == input && s.block_state != ISAL_BLOCK_FINISH) {
      ended_ = true;
      if (status_) status_ = Status::fail(std::string(dry ? cut_short : damaged));
    }
  }
  return done;
}

Text::Text(Bytes bytes) : bytes_(std::move(bytes)), size_(bytes_.size) {}
Text::~Text() = default;

void Text::add_place(std::shared_ptr<const Inflater::Place> place) { places_.push_back(std::move(place)); }

/// Makes the piece of a gz that holds `offset` the one at hand. That the gz is damaged behind `offset` is no failure.
Status Text::load(std::uint64_t offset) const {
  if (offset >= piece_at_ && offset - piece_at_ < piece_.size()) return Status::ok();
  const auto after = std::upper_bound(places_.begin(), places_.end(), offset,
                                      [](std::uint64_t at, const auto& place) { return at < place->text_at; });
  if (after == places_.begin()) return Status::fail(std::string(gone));
  const std::uint64_t end = after == places_.end() ? size_ : (*after)->text_at;
  Inflater inflater(bytes_, **std::prev(after));
  piece_at_ = inflater.text_at();
  piece_.resize(static_cast<std::size_t>(end - piece_at_));
  piece_.resize(inflater.read(piece_.data(), piece_.size()));
  if (offset - piece_at_ < piece_.size()) return Status::ok();
  return inflater.status() ? Status::fail(std::string(gone)) : inflater.status();
}

Result<std::string> Text::part(std::uint64_t offset, std::uint64_t bytes) const {
  using Part = Result<std::string>;
  if (offset > size_ || bytes > size_ - offset) return Part::fail(std::string(gone));
  std::string out;
  if (places_.empty()) {
    out.resize(static_cast<std::size_t>(bytes));
    const Status read = bytes_.read(offset, out.data(), out.size());
    return read ? Part::ok(std::move(out)) : Part::fail(read.error);
  }
  const std::lock_guard lock(mutex_);
  while (bytes > 0) {
    if (const Status loaded = load(offset); !loaded) return Part::fail(loaded.error);
    const std::uint64_t from = offset - piece_at_, some = std::min<std::uint64_t>(bytes, piece_.size() - from);
    out.append(piece_, static_cast<std::size_t>(from), static_cast<std::size_t>(some));
    offset += some;
    bytes -= some;
  }
  return Part::ok(std::move(out));
}

Result<std::string> Text::all() const {
  using All = Result<std::string>;
  std::string out(static_cast<std::size_t>(size_), '\0');
  if (places_.empty()) {
    const Status read = bytes_.read(0, out.data(), out.size());
    return read ? All::ok(std::move(out)) : All::fail(read.error);
  }
  Inflater inflater(bytes_);
  if (inflater.read(out.data(), out.size()) == out.size()) return All::ok(std::move(out));
  return All::fail(inflater.status() ? std::string(gone) : inflater.status().error);
}

std::size_t Text::resident_bytes() const {
  const std::lock_guard lock(mutex_);
  return places_.size() * (sizeof(Inflater::Place) + sizeof(void*)) + piece_.capacity();
}

}  // namespace models::trace
