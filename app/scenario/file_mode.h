#pragma once
#include <string_view>

#include "app/platform/json.h"
#include "chapters/mechanism/lab.h"
#include "models/base/result.h"

/// The choice without which a file, or a text that is pasted, would not count (Details::mode): whoever gives the input
/// chooses it, by whatever way.
namespace app {

/// Chooses what `given`, one of these inputs, needs to count, unless it is empty. Its lab is that of `inputs`.
void choose_mode(const chapters::Fields& inputs, const chapters::Field& given);

/// The choices that the inputs in `given` need and that are not among them: {"machine": "pasted"} for {"file":
/// "a.txt"}. What is empty, or a text that is at its default, asks for nothing. Fails where `given` itself chooses
/// otherwise, with what to leave out.
models::Result<Json> missing_modes(const chapters::Lab& lab, const Json& given);

/// Does this input hold what does not count as the others are set? It is not handed on in a link or a scenario: there
/// it would choose its mode.
bool waits_for_mode(const chapters::Field& input, const chapters::Fields& inputs);

/// The input that takes `value`, given for `input`: the file input beside a text where the value is the path of a file.
const chapters::Field& taker_of(const chapters::Fields& inputs, const chapters::Field& input, std::string_view value);

}  // namespace app
