#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace models::trace {

/// The bytes of a text of up to 8 in one number: with the size, no two texts share one.
inline std::uint64_t packed(std::string_view text) {
  const std::size_t n = text.size();
  const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(text[i])}; };
  if (n < 4) return n == 0 ? 0 : byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
  std::uint32_t first = 0, last = 0;
  std::memcpy(&first, text.data(), sizeof first);
  std::memcpy(&last, text.data() + n - sizeof last, sizeof last);
  return first | std::uint64_t{last} << 32;
}

/// The numbers that a few lists of short texts were last given, found without a look at the texts: each list has one
/// place, and the next that belongs there takes it.
template <std::size_t Words>
class Recent {
 public:
  using Key = std::array<std::uint64_t, Words>;
  /// The number of this key, or that of `otherwise()`, which must be the same as long as this is.
  template <class Otherwise>
  std::uint32_t operator()(const Key& key, const Otherwise& otherwise) {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : key) hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    Place& place = places_[hash >> 58];
    if (!place.taken || place.key != key) {
      place.number = otherwise();
      place.key = key;
      place.taken = true;
    }
    return place.number;
  }

 private:
  struct Place {
    Key key{};
    std::uint32_t number = 0;
    bool taken = false;
  };
  std::array<Place, 64> places_{};
};

/// Text to number, once each; views stay good while no text is added. A table of its own, with the hash beside the
/// number: it is asked for every event, and a text that is not the one looked for is rarely touched.
class Interner {
 public:
  explicit Interner(std::vector<std::string>& texts) : texts_(texts) {}

  std::uint32_t operator()(std::string_view text) {
    const std::uint64_t hash = hash_of(text);
    if (slots_.empty()) slots_.resize(least_slots);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.id == nothing) return add(text, hash);
      if (slot.hash == hash && same(texts_[slot.id], text)) return slot.id;
    }
  }

 private:
  static constexpr std::uint32_t nothing = UINT32_MAX;
  static constexpr std::size_t least_slots = 256;  // a power of two, and so are all sizes

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = nothing;
  };

  static std::uint64_t eight(const char* p) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, p, sizeof bytes);
    return bytes;
  }
  /// The halves of a product of 128 bits, folded: every bit of both factors reaches every bit.
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    __extension__ typedef unsigned __int128 Wide;
    const auto product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  static std::uint64_t hash_of(std::string_view text) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15, other = 0xD6E8FEB86659FD93;
    std::uint64_t hash = text.size() * odd;
    const char* p = text.data();
    std::size_t left = text.size();
    std::uint64_t beside = hash;  // two products at once, since each takes longer than to begin the next
    for (; left > 32; p += 32, left -= 32) {
      hash = mix(eight(p) ^ odd ^ hash, eight(p + 8) ^ other);
      beside = mix(eight(p + 16) ^ odd ^ beside, eight(p + 24) ^ other);
    }
    if (text.size() > 32) hash ^= beside * odd;
    for (; left > 16; p += 16, left -= 16) hash = mix(eight(p) ^ odd ^ hash, eight(p + 8) ^ other);
    std::uint64_t first = 0, last = 0;  // of the up to 16 bytes left, which may overlap
    if (left >= 8) {
      first = eight(p);
      last = eight(p + left - 8);
    } else {
      for (std::size_t i = 0; i < left; ++i) first = first << 8 | static_cast<unsigned char>(p[i]);
    }
    return mix(first ^ odd ^ hash, last ^ other);
  }

  static bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() < 8 || a.size() > 16) return a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
    const std::size_t last = a.size() - 8;
    return eight(a.data()) == eight(b.data()) && eight(a.data() + last) == eight(b.data() + last);
  }

  std::uint32_t add(std::string_view text, std::uint64_t hash) {
    const auto id = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
    if (2 * (++used_) > slots_.size()) {
      std::vector<Slot> before(2 * slots_.size());
      before.swap(slots_);
      for (const Slot& slot : before)
        if (slot.id != nothing) place(slot);
    }
    place({hash, id});
    return id;
  }
  void place(const Slot& slot) {
    std::size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].id != nothing) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }

  std::vector<std::string>& texts_;
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace models::trace
