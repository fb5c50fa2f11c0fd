#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// How well what a person typed names a thing.
namespace app {

/// What can be found, in the order in which they stand where they fit as well.
enum class FoundKind : std::uint8_t { lab, command, lesson, preset, recent, term, output, input };

/// How the words that were typed meet a name, best first.
///  - whole: they are the name;
///  - start: the name begins with them;
///  - phrase: they stand in the name as they are, from the beginning of a word;
///  - words: each of them begins a word of the name, in any order;
///  - inside: three letters or more stand in the name as they are, within a word.
enum class NameFit : std::uint8_t { whole, start, phrase, words, inside, none };

/// Letters without case; what is neither letter nor digit separates words. `typed` must have a letter or a digit.
NameFit name_fit(std::string_view name, std::string_view typed);

/// The best fit of a name and of those by which the thing is known too; those are worth a step less than the name,
/// unless they are typed whole.
NameFit best_fit(std::string_view name, const std::vector<std::string>& also, std::string_view typed);

}  // namespace app
