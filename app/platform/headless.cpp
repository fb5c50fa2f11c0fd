#include "app/platform/headless.h"

// EGL's headers would pull in X11, whose macros (None, Status, Bool) clash with half of the world.
#define EGL_NO_X11
#define MESA_EGL_NO_X11_HEADERS
#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>

namespace app {
namespace {

template <class Function>
Function egl_function(const char* name) {
  return reinterpret_cast<Function>(eglGetProcAddress(name));
}

bool has_extension(const char* list, std::string_view name) {
  return list && std::string_view(list).find(name) != std::string_view::npos;
}

/// Every display worth trying, best first: surfaceless Mesa needs neither a GPU nor a display.
std::vector<EGLDisplay> candidate_displays() {
  std::vector<EGLDisplay> displays;
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const auto get_platform_display = egl_function<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  if (get_platform_display && has_extension(extensions, "EGL_MESA_platform_surfaceless"))
    displays.push_back(get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr));
  const auto query_devices = egl_function<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  if (get_platform_display && query_devices && has_extension(extensions, "EGL_EXT_platform_device")) {
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (query_devices(static_cast<EGLint>(devices.size()), devices.data(), &count))
      for (EGLint i = 0; i < count; ++i)
        displays.push_back(
            get_platform_display(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(i)], nullptr));
  }
  displays.push_back(eglGetDisplay(EGL_DEFAULT_DISPLAY));
  return displays;
}

/// An OpenGL 3.3 core context without a surface, or EGL_NO_CONTEXT.
EGLContext create_context(EGLDisplay display) {
  if (!has_extension(eglQueryString(display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context")) return EGL_NO_CONTEXT;
  if (!eglBindAPI(EGL_OPENGL_API)) return EGL_NO_CONTEXT;
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_NONE};
  EGLConfig config = EGL_NO_CONFIG_KHR;
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) config = EGL_NO_CONFIG_KHR;
  const EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  return eglCreateContext(display, config, EGL_NO_CONTEXT, version);
}

constexpr const char* no_egl =
    "No picture can be drawn without a window: no EGL driver offers OpenGL 3.3; install libegl1 and libgl1-mesa-dri "
    "(a software renderer is among them), or run where there is a display.";

/// Mesa's software renderer waits for ever for threads that could not be started, unless it is told to use none.
void draw_without_threads_where_none_start() {
  try {
    std::thread([] {}).join();
  } catch (const std::system_error&) {
    ::setenv("LP_NUM_THREADS", "0", 0);
  }
}

}  // namespace

struct Headless::Gl {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  GLuint framebuffer = 0, colour = 0;
  bool backend = false;

  bool current() const { return eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE; }
  void drop_target() {
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &colour);
    framebuffer = colour = 0;
  }
};

Headless::Headless() : gl_(std::make_unique<Gl>()) {}

models::Result<std::unique_ptr<Headless>> Headless::create(int width, int height) {
  using Made = models::Result<std::unique_ptr<Headless>>;
  std::unique_ptr<Headless> made(new Headless);
  Gl& gl = *made->gl_;
  draw_without_threads_where_none_start();
  for (const EGLDisplay display : candidate_displays()) {
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr)) continue;
    gl.display = display;
    gl.context = create_context(display);
    if (gl.context != EGL_NO_CONTEXT && gl.current()) break;
    if (gl.context != EGL_NO_CONTEXT) eglDestroyContext(display, gl.context);
    gl.context = EGL_NO_CONTEXT;
  }
  if (gl.context == EGL_NO_CONTEXT) return Made::fail(no_egl);
  if (auto sized = made->resize(width, height); !sized) return Made::fail(std::move(sized.error));
  made->ui_ = std::make_unique<UiContext>();
  gl.backend = ImGui_ImplOpenGL3_Init("#version 330 core");
  if (!gl.backend) return Made::fail(no_egl);
  return Made::ok(std::move(made));
}

Headless::~Headless() {
  if (gl_->context == EGL_NO_CONTEXT) return;
  make_current();
  if (gl_->backend) ImGui_ImplOpenGL3_Shutdown();
  ui_.reset();
  gl_->drop_target();
  eglMakeCurrent(gl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(gl_->display, gl_->context);
  // The display stays initialised: EGL hands the same one to every caller in the process, and another Headless may use
  // it.
}

void Headless::make_current() const {
  gl_->current();
  if (ui_) ImGui::SetCurrentContext(ui_->get());
}

models::Status Headless::resize(int width, int height) {
  make_current();
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  const std::string size = std::to_string(width) + "x" + std::to_string(height);
  if (width < 1 || height < 1 || width > largest || height > largest)
    return models::Status::fail("No picture of " + size + " pixels can be drawn: each side must be 1 to " +
                                std::to_string(largest) + ".");
  Gl fresh;
  glGenFramebuffers(1, &fresh.framebuffer);
  glGenRenderbuffers(1, &fresh.colour);
  glBindRenderbuffer(GL_RENDERBUFFER, fresh.colour);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, fresh.framebuffer);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, fresh.colour);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE || glGetError() != GL_NO_ERROR) {
    fresh.drop_target();
    return models::Status::fail("No picture of " + size +
                                " pixels can be drawn: the driver has no memory for it; choose a smaller size.");
  }
  gl_->drop_target();
  gl_->framebuffer = fresh.framebuffer;
  gl_->colour = fresh.colour;
  width_ = width;
  height_ = height;
  return models::Status::ok();
}

void Headless::begin_frame() {
  make_current();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
  io.DeltaTime = 1.0f / 60.0f;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void Headless::end_frame() {
  make_current();
  ImGui::Render();
  glBindFramebuffer(GL_FRAMEBUFFER, gl_->framebuffer);
  glViewport(0, 0, width_, height_);
  const ImVec4 background = ImGui::ColorConvertU32ToFloat4(widgets::theme().background);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(background.x, background.y, background.z, 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

std::vector<std::uint8_t> Headless::pixels() const {
  make_current();
  const std::size_t row_bytes = 4 * static_cast<std::size_t>(width_), rows = static_cast<std::size_t>(height_);
  std::vector<std::uint8_t> bottom_up(row_bytes * rows), out(row_bytes * rows);
  glBindFramebuffer(GL_FRAMEBUFFER, gl_->framebuffer);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, bottom_up.data());
  for (std::size_t row = 0; row < rows; ++row)
    std::copy_n(bottom_up.begin() + static_cast<std::ptrdiff_t>((rows - 1 - row) * row_bytes), row_bytes,
                out.begin() + static_cast<std::ptrdiff_t>(row * row_bytes));
  for (std::size_t alpha = 3; alpha < out.size(); alpha += 4) out[alpha] = 255;
  return out;
}

std::string Headless::renderer() const {
  make_current();
  const GLubyte* name = glGetString(GL_RENDERER);
  return name ? reinterpret_cast<const char*>(name) : "";
}

}  // namespace app
