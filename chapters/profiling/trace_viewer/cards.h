#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/profiling/trace_viewer/lab.h"

/// The findings as cards, and the sentence that answers the lab's question.
namespace chapters::profiling::trace_viewer {

/// Cards in the order of `out.findings`: what each costs in all, its share, and the colour of what is to blame.
std::vector<Card> cards_of(const Outputs& out, const Run& run);

/// Where the time went and who waited, in at most two short sentences.
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);

/// A recorded name in at most `most` bytes, whole characters, without what would break a sentence.
std::string said_name(std::string_view name, std::size_t most);

}  // namespace chapters::profiling::trace_viewer
