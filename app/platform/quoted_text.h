#pragma once
#include <filesystem>
#include <string>
#include <string_view>

/// Texts of others, fit to be quoted in a sentence.
namespace app {

/// On one line and in UTF-8: a control character becomes a space, a byte that is part of no character "?".
std::string printable(std::string_view text);

/// A sentence to be said: printable, and with a full stop where it has no end of its own.
std::string whole_sentence(std::string_view text);

/// A path, printable. One of more than 80 bytes is cut in its middle, since it begins and ends with what tells it
/// apart.
std::string path_text(const std::filesystem::path& path);

}  // namespace app
