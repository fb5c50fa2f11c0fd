#pragma once
#include "chapters/roofline/roofline/lab.h"

namespace chapters::roofline::roofline {

/// What the picture says in words: the answer, the learner's own dot, and what could be gained from where it stands.
void say_answer(const Inputs& in, const Outputs& out, const Run& run, Picture& pic);

}  // namespace chapters::roofline::roofline
