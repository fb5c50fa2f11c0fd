#pragma once
#include <string>
#include <string_view>

namespace chapters {

/// At most `most` letters of a name, whole where it is no longer, else its beginning and "...". A sentence takes the
/// names of models, chips and points of the catalog or of a person's own file so, since those may have any length; a
/// backtick in one, which would begin a figure there, becomes an apostrophe.
std::string short_name(std::string_view name, std::size_t most);

}  // namespace chapters
