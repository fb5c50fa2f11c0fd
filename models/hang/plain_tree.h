#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// Values as a JSON text or a pickle holds them: numbers, texts, lists and dictionaries, in one list of nodes. A pickle
/// may refer to one node many times, and to one that holds it.
namespace models::hang {

struct PlainNode {
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, dictionary };
  Kind kind = Kind::none;
  std::int64_t integer = 0;  ///< for a boolean 0 or 1
  double real = 0;
  std::string text;
  std::vector<std::int32_t> items;  ///< nodes; of a dictionary key, value, key, value
};

struct PlainTree {
  std::vector<PlainNode> nodes;
  std::int32_t root = -1;

  const PlainNode& at(std::int32_t node) const { return nodes[static_cast<std::size_t>(node)]; }
  /// The value of a text key, the last one where it stands twice; -1: there is none, or `node` is no dictionary.
  std::int32_t value(std::int32_t node, std::string_view key) const;
};

/// What one tree may hold, so that memory stays within a small multiple of the bytes read.
inline constexpr std::size_t max_plain_nodes = 4'000'000;
inline constexpr std::size_t max_plain_bytes = std::size_t{64} << 20;
inline constexpr int max_plain_depth = 64;

/// A JSON text. Fails with where it is no JSON, or what it has too much of.
Result<PlainTree> read_plain_json(std::string_view text);

/// A pickle of plain values, protocols 2 to 5, as PyTorch's flight recorder writes it. Nothing is ever run: an opcode
/// that names or calls code is refused, and so is everything else that plain values do not need.
/// Source of the opcodes: the module pickletools of Python's standard library.
Result<PlainTree> read_plain_pickle(std::string_view bytes);

/// True for what begins as a pickle of protocol 2 or newer.
bool begins_as_pickle(std::string_view bytes);

}  // namespace models::hang
