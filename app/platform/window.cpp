#include "app/platform/window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <utility>

namespace app {
namespace {

constexpr double awake_after_event_s = 0.5;  // longer than Dear ImGui's slowest tooltip, 0.4 s
constexpr double longest_sleep_s = 1.0;
constexpr double max_catching_up_s = 0.1;  // a flood of input must not keep the picture from the screen
constexpr double caret_blink_s = 0.2;
constexpr double shortest_frame_s = 1.0 / 240.0;  // where the driver ignores vsync, the loop must not spin

/// Events that Dear ImGui has not looked at yet.
bool input_waits() { return !ImGui::GetCurrentContext()->InputEventsQueue.empty(); }

/// The largest room that a screen has for windows; without one what was asked for.
void fit_on_a_screen(WindowPlace& place) {
  int count = 0, width = 0, height = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int x = 0, y = 0, w = 0, h = 0;
    glfwGetMonitorWorkarea(monitors[i], &x, &y, &w, &h);
    width = std::max(width, w);
    height = std::max(height, h);
  }
  if (width > 0) place.width = std::min(place.width, width);
  if (height > 0) place.height = std::min(place.height, height);
}

std::function<void()> display_lost;  // of the one window; Xlib's handler takes no pointer of ours

/// Xlib calls this where the connection to the server is broken, and exits when it returns, through destructors of
/// what the window's thread still works with.
int on_broken_connection(void*) {
  if (const auto callback = std::exchange(display_lost, {})) callback();
  constexpr std::string_view sentence = "The display went away, so the window is closed.\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(1);
}

/// GLFW has loaded Xlib where it uses it. On Wayland it closes the window by itself.
void watch_connection() {
  using Handler = int (*)(void*);
  void* const xlib = ::dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!xlib) return;
  if (void* const set = ::dlsym(xlib, "XSetIOErrorHandler"))
    reinterpret_cast<Handler (*)(Handler)>(set)(on_broken_connection);
}

}  // namespace

struct Window::Impl {
  GLFWwindow* handle = nullptr;
  std::unique_ptr<UiContext> ui;
  std::atomic<bool> wanted{true};  ///< something happened that deserves a frame
  WindowPlace windowed;            ///< kept while maximized or full screen
  std::function<void(std::vector<std::string>)> drop;
  std::function<void(Image)> capture;
  std::vector<std::string> dropped;
  bool backend_glfw = false, backend_gl = false;

  static Impl& of(GLFWwindow* window) {
    Impl& impl = *static_cast<Impl*>(glfwGetWindowUserPointer(window));
    impl.wanted = true;
    return impl;
  }
  void install_callbacks();
  void remember_place();
  void toggle_fullscreen();
  void draw(const std::function<void()>& frame);
  GLFWmonitor* monitor_under() const;
};

void Window::Impl::install_callbacks() {
  // Before Dear ImGui's own, which call these on.
  glfwSetWindowUserPointer(handle, this);
  glfwSetKeyCallback(handle, [](GLFWwindow* w, int key, int, int action, int) {
    Impl& impl = of(w);
    if (key == GLFW_KEY_F11 && action == GLFW_PRESS) impl.toggle_fullscreen();
    const bool modifier = key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
    if (modifier && action == GLFW_RELEASE && input_waits()) part_input_frames();
  });
  glfwSetCharCallback(handle, [](GLFWwindow* w, unsigned) { of(w); });
  glfwSetCursorPosCallback(handle, [](GLFWwindow* w, double, double) { of(w); });
  glfwSetCursorEnterCallback(handle, [](GLFWwindow* w, int) { of(w); });
  glfwSetMouseButtonCallback(handle, [](GLFWwindow* w, int, int, int) { of(w); });
  glfwSetScrollCallback(handle, [](GLFWwindow* w, double, double) { of(w); });
  glfwSetWindowFocusCallback(handle, [](GLFWwindow* w, int) { of(w); });
  glfwSetWindowRefreshCallback(handle, [](GLFWwindow* w) { of(w); });
  glfwSetWindowContentScaleCallback(handle, [](GLFWwindow* w, float, float) { of(w); });
  glfwSetFramebufferSizeCallback(handle, [](GLFWwindow* w, int, int) { of(w); });
  glfwSetWindowCloseCallback(handle, [](GLFWwindow* w) { of(w); });
  glfwSetWindowPosCallback(handle, [](GLFWwindow* w, int, int) { of(w).remember_place(); });
  glfwSetWindowSizeCallback(handle, [](GLFWwindow* w, int, int) { of(w).remember_place(); });
  glfwSetWindowMaximizeCallback(
      handle, [](GLFWwindow* w, int maximized) { of(w).windowed.maximized = maximized == GLFW_TRUE; });
  glfwSetDropCallback(handle, [](GLFWwindow* w, int count, const char** paths) {
    Impl& impl = of(w);
    impl.dropped.insert(impl.dropped.end(), paths, paths + count);
  });
}

void Window::Impl::remember_place() {
  if (glfwGetWindowMonitor(handle) || glfwGetWindowAttrib(handle, GLFW_MAXIMIZED) ||
      glfwGetWindowAttrib(handle, GLFW_ICONIFIED))
    return;
  glfwGetWindowPos(handle, &windowed.x, &windowed.y);
  glfwGetWindowSize(handle, &windowed.width, &windowed.height);
}

GLFWmonitor* Window::Impl::monitor_under() const {
  int x = 0, y = 0, width = 0, height = 0, count = 0;
  glfwGetWindowPos(handle, &x, &y);
  glfwGetWindowSize(handle, &width, &height);
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int left = 0, top = 0;
    glfwGetMonitorPos(monitors[i], &left, &top);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    const int cx = x + width / 2, cy = y + height / 2;
    if (mode && cx >= left && cx < left + mode->width && cy >= top && cy < top + mode->height) return monitors[i];
  }
  return glfwGetPrimaryMonitor();
}

void Window::Impl::toggle_fullscreen() {
  if (glfwGetWindowMonitor(handle)) {
    glfwSetWindowMonitor(handle, nullptr, std::max(windowed.x, 0), std::max(windowed.y, 0), windowed.width,
                         windowed.height, GLFW_DONT_CARE);
    return;
  }
  remember_place();
  GLFWmonitor* monitor = monitor_under();
  const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
  if (mode) glfwSetWindowMonitor(handle, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

void Window::Impl::draw(const std::function<void()>& frame) {
  // Dear ImGui takes one press or release a frame, so that none is missed. Where painting is slow (a software renderer)
  // a fast typist would be ahead of it by seconds: until the queue is empty, frames are built and not painted.
  const double begun_s = glfwGetTime();
  do {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    frame();
    ImGui::Render();
  } while (input_waits() && glfwGetTime() - begun_s < max_catching_up_s);
  int width = 0, height = 0;
  glfwGetFramebufferSize(handle, &width, &height);
  glViewport(0, 0, width, height);
  const ImVec4 background = ImGui::ColorConvertU32ToFloat4(widgets::theme().background);
  glClearColor(background.x, background.y, background.z, 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (capture && width > 0 && height > 0) {
    const auto row_bytes = 4 * static_cast<std::ptrdiff_t>(width);
    std::vector<std::uint8_t> bottom_up(static_cast<std::size_t>(row_bytes * height));
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, bottom_up.data());
    Image image{width, height, std::vector<std::uint8_t>(bottom_up.size())};
    for (std::ptrdiff_t row = 0; row < height; ++row)
      std::copy_n(bottom_up.begin() + (height - 1 - row) * row_bytes, row_bytes, image.rgba.begin() + row * row_bytes);
    for (std::size_t alpha = 3; alpha < image.rgba.size(); alpha += 4) image.rgba[alpha] = 255;
    std::exchange(capture, {})(std::move(image));
  }
  glfwSwapBuffers(handle);
}

void part_input_frames() {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiKey_F24, true);
  io.AddKeyEvent(ImGuiKey_F24, false);
}

bool display_available() {
  if (!glfwInit()) return false;
  glfwTerminate();
  return true;
}

Window::Window(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

models::Result<std::unique_ptr<Window>> Window::create(const std::string& title, WindowPlace place) {
  using Made = models::Result<std::unique_ptr<Window>>;
  if (!glfwInit())
    return Made::fail(
        "No window can be opened: there is no display; set DISPLAY, or use `ridgeline render` or `ridgeline tour`, "
        "which "
        "need none.");
  // Below this nothing can be read, and what divides the room would come to items without a size.
  constexpr int least_width = 320, least_height = 240;
  fit_on_a_screen(place);
  place.width = std::clamp(place.width, least_width, 16384);
  place.height = std::clamp(place.height, least_height, 16384);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_MAXIMIZED, place.maximized ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, place.x < 0 && place.y < 0 ? GLFW_TRUE : GLFW_FALSE);
  std::unique_ptr<Window> made(new Window(std::make_unique<Impl>()));
  Impl& impl = *made->impl_;
  impl.handle = glfwCreateWindow(place.width, place.height, title.c_str(), nullptr, nullptr);
  if (!impl.handle) {
    const char* reason = nullptr;
    glfwGetError(&reason);
    return Made::fail(std::string("No window with OpenGL 3.3 can be opened") +
                      (reason ? " (" + std::string(reason) + ")" : "") +
                      ": install libgl1-mesa-dri, which has a software renderer.");
  }
  glfwSetWindowSizeLimits(impl.handle, least_width, least_height, GLFW_DONT_CARE, GLFW_DONT_CARE);
  if (place.x >= 0 && place.y >= 0 && !place.maximized) glfwSetWindowPos(impl.handle, place.x, place.y);
  impl.windowed = place;
  glfwMakeContextCurrent(impl.handle);
  glfwSwapInterval(1);
  impl.install_callbacks();
  impl.remember_place();
  impl.ui = std::make_unique<UiContext>();
  impl.backend_glfw = ImGui_ImplGlfw_InitForOpenGL(impl.handle, true);
  impl.backend_gl = impl.backend_glfw && ImGui_ImplOpenGL3_Init("#version 330 core");
  if (!impl.backend_gl)
    return Made::fail("No window can be opened: its OpenGL driver offers no 3.3 functions; install libgl1-mesa-dri.");
  return Made::ok(std::move(made));
}

Window::~Window() {
  display_lost = {};
  if (impl_->ui) ImGui::SetCurrentContext(impl_->ui->get());
  if (impl_->backend_gl) ImGui_ImplOpenGL3_Shutdown();
  if (impl_->backend_glfw) ImGui_ImplGlfw_Shutdown();
  impl_->ui.reset();
  if (impl_->handle) glfwDestroyWindow(impl_->handle);
  glfwTerminate();
}

void Window::run(const std::function<void()>& frame, const std::function<bool()>& animating) {
  glfwMakeContextCurrent(impl_->handle);
  ImGui::SetCurrentContext(impl_->ui->get());
  double awake_until_s = glfwGetTime() + awake_after_event_s, last_frame_s = 0;
  while (!glfwWindowShouldClose(impl_->handle)) {
    const bool hidden = glfwGetWindowAttrib(impl_->handle, GLFW_ICONIFIED) == GLFW_TRUE;
    const bool caret = ImGui::GetIO().WantTextInput;
    const bool moving = animating && animating();
    if (hidden || !(moving || input_waits() || glfwGetTime() < awake_until_s)) {
      glfwWaitEventsTimeout(caret && !hidden ? caret_blink_s : longest_sleep_s);
    } else if (const double early_s = last_frame_s + shortest_frame_s - glfwGetTime(); early_s > 0) {
      glfwWaitEventsTimeout(early_s);
    } else {
      glfwPollEvents();
    }
    last_frame_s = glfwGetTime();
    const bool event = impl_->wanted.exchange(false);
    if (event) awake_until_s = glfwGetTime() + awake_after_event_s;
    if (!impl_->dropped.empty()) {
      const std::vector<std::string> paths = std::exchange(impl_->dropped, {});
      if (impl_->drop) impl_->drop(paths);
    }
    const bool due = moving || caret || input_waits() || glfwGetTime() < awake_until_s;
    if (due && !hidden) impl_->draw(frame);
  }
}

void Window::wake() {
  impl_->wanted = true;
  glfwPostEmptyEvent();
}

void Window::close() {
  glfwSetWindowShouldClose(impl_->handle, GLFW_TRUE);
  wake();
}

void Window::on_display_lost(std::function<void()> callback) {
  display_lost = std::move(callback);
  watch_connection();
}

void Window::on_drop(std::function<void(std::vector<std::string>)> callback) { impl_->drop = std::move(callback); }

void Window::capture_next(std::function<void(Image)> callback) {
  impl_->capture = std::move(callback);
  wake();
}

void Window::set_title(const std::string& title) { glfwSetWindowTitle(impl_->handle, title.c_str()); }
void Window::toggle_fullscreen() { impl_->toggle_fullscreen(); }
WindowPlace Window::place() const { return impl_->windowed; }

float Window::content_scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(impl_->handle, &x, &y);
  return std::isfinite(x) && x > 0 ? std::clamp(x, 0.5f, 4.0f) : 1.0f;
}

const widgets::Fonts& Window::fonts() const { return impl_->ui->fonts(); }

}  // namespace app
