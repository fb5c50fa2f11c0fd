#pragma once
#include <string>
#include <string_view>

#include "kernels/opengl/api.h"

namespace kernels::opengl {

/// Opens a context of its own on the calling thread, without a window and without a surface, through EGL, which is
/// loaded at run time. The first GPU with compute shaders is taken, a software renderer only where there is no other.
///
/// Kernels run in the worker process and not in the window's context: a dispatch that hangs, or a driver that resets
/// the device, ends that process and no frame waits for it; the window, with what the learner has typed, goes on. The
/// terminal calls the same code, so that both measure alike.
Machine open_machine();

/// Does GL_RENDERER name a program that draws on the CPU?
bool is_software(std::string_view renderer);

/// Can the driver run compute shaders: OpenGL 4.3, or both extensions? Otherwise one sentence.
std::string why_no_compute(const Gl& gl);

}  // namespace kernels::opengl
