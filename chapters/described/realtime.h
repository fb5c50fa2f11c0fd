#pragma once
#include "chapters/mechanism/field.h"
#include "models/realtime/jitter.h"
#include "models/realtime/task_graph_stack.h"

/// Rows that describe a real-time stack: its tasks and what disturbs them.
namespace chapters {

void describe(Fields& fields, models::JitterSource& source);
void describe(Fields& fields, models::StackTask& task);

/// What a stack's tasks run on, in the order of models::StackResource.
const Choices& stack_resource_choices();

}  // namespace chapters
