#include "kernels/opengl/context.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace kernels::opengl {
namespace {

using EglDisplay = void*;
using EglContext = void*;
using EglConfig = void*;
using EglDevice = void*;

/// Values of the EGL 1.5 registry.
constexpr int egl_none = 0x3038, egl_extensions = 0x3055, egl_opengl_bit = 8, egl_renderable_type = 0x3040,
              egl_surface_type = 0x3033, egl_dont_care = -1, egl_major = 0x3098, egl_minor = 0x30fb,
              egl_profile_mask = 0x30fd, egl_core_profile = 1, egl_reset_strategy = 0x31bd,
              egl_lose_context_on_reset = 0x31bf;
constexpr unsigned egl_opengl_api = 0x30a2, egl_platform_surfaceless = 0x31dd, egl_platform_device = 0x313f;

/// EGL as it is used here. It stays loaded: drivers have threads of their own.
struct Egl {
  void* library = nullptr;
  void* (*get_proc)(const char*) = nullptr;
  const char* (*query_string)(EglDisplay, int) = nullptr;
  EglDisplay (*get_display)(void*) = nullptr;
  unsigned (*initialize)(EglDisplay, int*, int*) = nullptr;
  unsigned (*bind_api)(unsigned) = nullptr;
  unsigned (*choose_config)(EglDisplay, const int*, EglConfig*, int, int*) = nullptr;
  EglContext (*create_context)(EglDisplay, EglConfig, EglContext, const int*) = nullptr;
  unsigned (*destroy_context)(EglDisplay, EglContext) = nullptr;
  unsigned (*make_current)(EglDisplay, void*, void*, EglContext) = nullptr;
  EglDisplay (*platform_display)(unsigned, void*, const int*) = nullptr;  // an extension: may be null
  unsigned (*query_devices)(int, EglDevice*, int*) = nullptr;             // an extension: may be null
};

template <class F>
bool take(F*& function, void* address) {
  function = reinterpret_cast<F*>(address);
  return address != nullptr;
}

bool load(Egl& egl) {
  egl.library = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!egl.library) return false;
  const auto symbol = [&](const char* name) { return ::dlsym(egl.library, name); };
  const bool whole =
      take(egl.get_proc, symbol("eglGetProcAddress")) & take(egl.query_string, symbol("eglQueryString")) &
      take(egl.get_display, symbol("eglGetDisplay")) & take(egl.initialize, symbol("eglInitialize")) &
      take(egl.bind_api, symbol("eglBindAPI")) & take(egl.choose_config, symbol("eglChooseConfig")) &
      take(egl.create_context, symbol("eglCreateContext")) & take(egl.destroy_context, symbol("eglDestroyContext")) &
      take(egl.make_current, symbol("eglMakeCurrent"));
  if (!whole) return false;
  take(egl.platform_display, egl.get_proc("eglGetPlatformDisplayEXT"));
  take(egl.query_devices, egl.get_proc("eglQueryDevicesEXT"));
  return true;
}

bool lists(const char* list, std::string_view name) {
  return list && std::string_view(list).find(name) != std::string_view::npos;
}

/// Every device that EGL knows, then Mesa without a surface, then what the system takes by itself.
std::vector<EglDisplay> displays_of(const Egl& egl) {
  std::vector<EglDisplay> found;
  const char* extensions = egl.query_string(nullptr, egl_extensions);
  if (egl.platform_display && egl.query_devices && lists(extensions, "EGL_EXT_platform_device")) {
    std::array<EglDevice, 16> devices{};
    int count = 0;
    if (egl.query_devices(static_cast<int>(devices.size()), devices.data(), &count))
      for (int i = 0; i < count; ++i)
        found.push_back(egl.platform_display(egl_platform_device, devices[static_cast<std::size_t>(i)], nullptr));
  }
  if (egl.platform_display && lists(extensions, "EGL_MESA_platform_surfaceless"))
    found.push_back(egl.platform_display(egl_platform_surfaceless, nullptr, nullptr));
  found.push_back(egl.get_display(nullptr));
  return found;
}

/// A context that is current for as long as this lives.
struct Current {
  Egl egl;
  EglDisplay display = nullptr;
  EglContext context = nullptr;
  Current() = default;
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (!context) return;
    egl.make_current(display, nullptr, nullptr, nullptr);
    egl.destroy_context(display, context);
  }
};

/// The newest core context that the driver makes: 4.3 with news of resets, 4.3, then 3.3, which says what is missing.
EglContext create_context(const Egl& egl, EglDisplay display) {
  if (!lists(egl.query_string(display, egl_extensions), "EGL_KHR_surfaceless_context")) return nullptr;
  if (!egl.bind_api(egl_opengl_api)) return nullptr;
  const int wanted[] = {egl_renderable_type, egl_opengl_bit, egl_surface_type, egl_dont_care, egl_none};
  EglConfig config = nullptr;
  int count = 0;
  if (!egl.choose_config(display, wanted, &config, 1, &count) || count == 0) config = nullptr;
  const int robust[] = {
      egl_major, 4, egl_minor, 3, egl_profile_mask, egl_core_profile, egl_reset_strategy, egl_lose_context_on_reset,
      egl_none};
  const int plain[] = {egl_major, 4, egl_minor, 3, egl_profile_mask, egl_core_profile, egl_none};
  const int old[] = {egl_major, 3, egl_minor, 3, egl_profile_mask, egl_core_profile, egl_none};
  for (const int* attributes : {robust, plain, old})
    if (EglContext made = egl.create_context(display, config, nullptr, attributes)) return made;
  return nullptr;
}

std::shared_ptr<Current> open_on(const Egl& egl, EglDisplay display) {
  auto opened = std::make_shared<Current>();
  opened->egl = egl;
  opened->display = display;
  if (!display || !egl.initialize(display, nullptr, nullptr)) return nullptr;
  opened->context = create_context(egl, display);
  if (!opened->context || !egl.make_current(display, nullptr, nullptr, opened->context)) return nullptr;
  return opened;
}

/// The name of the first function that is missing; null: all are there.
const char* bind(Gl& gl, void* (*get)(const char*)) {
  const char* missing = nullptr;
  const auto need = [&](auto& function, const char* name) {
    if (!take(function, get(name)) && !missing) missing = name;
  };
  need(gl.get_string, "glGetString");
  need(gl.get_string_at, "glGetStringi");
  need(gl.get_integer, "glGetIntegerv");
  need(gl.get_integer_at, "glGetIntegeri_v");
  need(gl.get_error, "glGetError");
  need(gl.create_shader, "glCreateShader");
  need(gl.shader_source, "glShaderSource");
  need(gl.compile_shader, "glCompileShader");
  need(gl.get_shader, "glGetShaderiv");
  need(gl.get_shader_log, "glGetShaderInfoLog");
  need(gl.delete_shader, "glDeleteShader");
  need(gl.create_program, "glCreateProgram");
  need(gl.attach_shader, "glAttachShader");
  need(gl.link_program, "glLinkProgram");
  need(gl.get_program, "glGetProgramiv");
  need(gl.get_program_log, "glGetProgramInfoLog");
  need(gl.use_program, "glUseProgram");
  need(gl.delete_program, "glDeleteProgram");
  need(gl.uniform_location, "glGetUniformLocation");
  need(gl.uniform_uint, "glUniform1ui");
  need(gl.make_buffers, "glGenBuffers");
  need(gl.delete_buffers, "glDeleteBuffers");
  need(gl.bind_buffer, "glBindBuffer");
  need(gl.bind_buffer_range, "glBindBufferRange");
  need(gl.buffer_data, "glBufferData");
  need(gl.write_buffer, "glBufferSubData");
  need(gl.read_buffer, "glGetBufferSubData");
  need(gl.copy_buffer, "glCopyBufferSubData");
  need(gl.flush, "glFlush");
  need(gl.finish, "glFinish");
  need(gl.make_queries, "glGenQueries");
  need(gl.delete_queries, "glDeleteQueries");
  need(gl.query_counter, "glQueryCounter");
  need(gl.get_query, "glGetQueryiv");
  need(gl.get_query_result, "glGetQueryObjectui64v");
  // What is newer is asked for, and why_no_compute says whether it may be called.
  take(gl.dispatch, get("glDispatchCompute"));
  take(gl.memory_barrier, get("glMemoryBarrier"));
  return missing;
}

/// Mesa's software renderer waits for ever for threads that could not be started, unless it is told to use none.
void draw_without_threads_where_none_start() {
  try {
    std::thread([] {}).join();
  } catch (const std::system_error&) {
    ::setenv("LP_NUM_THREADS", "0", 0);
  }
}

std::string text_of(const Gl& gl, Enum what) {
  const unsigned char* text = gl.get_string(what);
  return text ? reinterpret_cast<const char*>(text) : "";
}

bool has_extension(const Gl& gl, std::string_view name) {
  int count = 0;
  gl.get_integer(gl_extension_count, &count);
  for (int i = 0; i < count; ++i) {
    const unsigned char* text = gl.get_string_at(gl_extensions, static_cast<unsigned>(i));
    if (text && name == reinterpret_cast<const char*>(text)) return true;
  }
  return false;
}

}  // namespace

bool is_software(std::string_view renderer) {
  return renderer.starts_with("llvmpipe") || renderer.starts_with("softpipe") || renderer.starts_with("swrast") ||
         renderer.starts_with("SwiftShader");
}

std::string why_no_compute(const Gl& gl) {
  int major = 0, minor = 0;
  gl.get_integer(gl_major_version, &major);
  gl.get_integer(gl_minor_version, &minor);
  const bool core = major > 4 || (major == 4 && minor >= 3);
  const bool extended =
      !core && has_extension(gl, "GL_ARB_compute_shader") && has_extension(gl, "GL_ARB_shader_storage_buffer_object");
  if ((core || extended) && gl.dispatch && gl.memory_barrier) return {};
  return "The driver of " + text_of(gl, gl_renderer) + " offers OpenGL " + std::to_string(major) + "." +
         std::to_string(minor) +
         ", and compute kernels need 4.3 or the extensions GL_ARB_compute_shader and "
         "GL_ARB_shader_storage_buffer_object: install a newer driver, or take the ladders of the CPU.";
}

Machine open_machine() {
  Machine machine;
  Egl egl;
  if (!load(egl)) {
    machine.none = "No EGL was found, through which OpenGL is opened: install libegl1 and a driver (libgl1-mesa-dri).";
    return machine;
  }
  draw_without_threads_where_none_start();
  for (const EglDisplay display : displays_of(egl)) {
    auto opened = open_on(egl, display);
    if (!opened) continue;
    Machine found;
    found.context = opened;
    if (const char* missing = bind(found.gl, egl.get_proc))
      found.none = std::string("The OpenGL driver lacks ") + missing + ": install a newer one.";
    else
      found.none = why_no_compute(found.gl);
    if (found.none.empty() && !take(found.gl.reset_status, egl.get_proc("glGetGraphicsResetStatus")))
      take(found.gl.reset_status, egl.get_proc("glGetGraphicsResetStatusKHR"));
    const bool good = found.none.empty(), hardware = good && !is_software(text_of(found.gl, gl_renderer));
    // Kept as it is found: a GPU ends the search, software stays until a GPU comes, a refusal until either does.
    if (hardware || (good && (!machine.context || !machine.none.empty())) || !machine.context) {
      machine = std::move(found);
    } else {
      found.context.reset();
    }
    opened.reset();
    if (hardware) break;
  }
  if (!machine.context) {
    machine.none =
        "No OpenGL driver could be opened without a window: install a driver for the GPU, or libgl1-mesa-dri.";
    return machine;
  }
  const auto& chosen = *static_cast<const Current*>(machine.context.get());
  chosen.egl.make_current(chosen.display, nullptr, nullptr, chosen.context);  // others were current meanwhile
  return machine;
}

}  // namespace kernels::opengl
