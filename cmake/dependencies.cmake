# Where third-party code comes from: the sources that .ci/setup.sh unpacked into .deps, otherwise upstream at a pinned commit.
include(FetchContent)
set(RIDGELINE_DEPS "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH "Folder with unpacked imgui and catch2 sources")
foreach(name imgui catch2)
  string(TOUPPER ${name} upper)
  if(EXISTS "${RIDGELINE_DEPS}/${name}" AND NOT FETCHCONTENT_SOURCE_DIR_${upper})
    set(FETCHCONTENT_SOURCE_DIR_${upper} "${RIDGELINE_DEPS}/${name}")
  endif()
endforeach()

FetchContent_Declare(imgui GIT_REPOSITORY https://github.com/ocornut/imgui.git
  GIT_TAG 45acd5e0e82f4c954432533ae9985ff0e1aad6d5 SYSTEM) # v1.92.2b
FetchContent_MakeAvailable(imgui) # has no CMakeLists of its own
file(STRINGS "${imgui_SOURCE_DIR}/imgui.h" imgui_version REGEX "define IMGUI_VERSION_NUM")
string(REGEX MATCH "[0-9]+$" imgui_version "${imgui_version}")
if(imgui_version LESS 19200)
  message(FATAL_ERROR "Dear ImGui ${imgui_version} is too old: 1.92 (19200) or newer is needed; delete ${imgui_SOURCE_DIR} and run ./run again")
endif()

find_package(PkgConfig REQUIRED)
find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)
find_package(glfw3 3.3 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(PNG REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(md4c REQUIRED IMPORTED_TARGET md4c)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal) # inflates traces; zlib packs some for tests and benchmarks
find_package(ZLIB REQUIRED)
find_package(simdjson REQUIRED)
find_package(SQLite3 REQUIRED)

add_library(imgui STATIC
  ${imgui_SOURCE_DIR}/imgui.cpp ${imgui_SOURCE_DIR}/imgui_draw.cpp
  ${imgui_SOURCE_DIR}/imgui_tables.cpp ${imgui_SOURCE_DIR}/imgui_widgets.cpp)
target_include_directories(imgui SYSTEM PUBLIC ${imgui_SOURCE_DIR})
# The test engine's hooks let UI tests find items by label; our four hook functions are in widgets/item_probe.cpp.
target_compile_definitions(imgui PUBLIC IMGUI_ENABLE_TEST_ENGINE IMGUI_DISABLE_OBSOLETE_FUNCTIONS)
# In this archive and not only in widgets, so that whatever links imgui finds the hooks.
target_sources(imgui PRIVATE ${PROJECT_SOURCE_DIR}/widgets/item_probe.cpp)
target_include_directories(imgui PRIVATE ${PROJECT_SOURCE_DIR})
if(NOT RIDGELINE_SANITIZE)
  target_compile_options(imgui PRIVATE -O2)
endif()

add_library(imgui_backends STATIC
  ${imgui_SOURCE_DIR}/backends/imgui_impl_glfw.cpp ${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp)
target_include_directories(imgui_backends SYSTEM PUBLIC ${imgui_SOURCE_DIR}/backends)
target_link_libraries(imgui_backends PUBLIC imgui glfw OpenGL::OpenGL PRIVATE ${CMAKE_DL_LIBS})

if(RIDGELINE_TESTS)
  set(CATCH_INSTALL_DOCS OFF)
  set(CATCH_INSTALL_EXTRAS OFF)
  FetchContent_Declare(catch2 GIT_REPOSITORY https://github.com/catchorg/Catch2.git
    GIT_TAG fa43b77429ba76c462b1898d6cd2f2d7a9416b14 SYSTEM) # v3.7.1
  FetchContent_MakeAvailable(catch2)
  # A hundred small files that all include the same headers: together they compile in a third of the time.
  set_target_properties(Catch2 PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 30)
  target_compile_options(Catch2 PRIVATE -O0 -fno-sanitize=all)
  list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
endif()
