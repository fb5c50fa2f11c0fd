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
# Puts INSTEAD where the text of the variable TEXT has FROM up to and with END; a text without them stays as it is.
function(cut_text TEXT FROM END INSTEAD)
  string(FIND "${${TEXT}}" "${FROM}" from)
  string(FIND "${${TEXT}}" "${END}" to)
  if(from LESS 1 OR NOT to GREATER from)
    return()
  endif()
  string(LENGTH "${END}" length)
  math(EXPR to "${to} + ${length}")
  string(SUBSTRING "${${TEXT}}" 0 ${from} head)
  string(SUBSTRING "${${TEXT}}" ${to} -1 tail)
  set(${TEXT} "${head}${INSTEAD}${tail}" PARENT_SCOPE)
endfunction()

# json: nlohmann_json with two changes. Its user-defined literals are left out: nothing here uses them, and they compile the
# whole parser in each file that sees the header, a tenth of the time of a build. And a value is destroyed without asking for
# memory: the library moves what is inside onto a vector so that deep values need no deep stack, in a destructor, which ends
# the program where there is no memory for the vector. Every text is refused beyond 64 levels before it is parsed, so here it
# recurses; and what was left without its list or its members, since there was no memory for them, has nothing to destroy.
# Where the header looks different it is taken as it is.
add_library(json INTERFACE)
target_link_libraries(json INTERFACE nlohmann_json::nlohmann_json)
get_target_property(json_folders nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
find_file(json_header nlohmann/json.hpp PATHS ${json_folders} /usr/include /usr/local/include NO_DEFAULT_PATH)
if(json_header)
  file(READ ${json_header} json_text)
  set(json_was "${json_text}")
  cut_text(json_text "                // flatten the current json_value to a heap-allocated stack\n"
    "                    // since it doesn't have any children\n                }\n"
    "                if (t == value_t::array ? array == nullptr : object == nullptr) return;\n")
  cut_text(json_text "inline namespace literals\n" "}  // namespace literals\n" "")
  string(REPLACE "#if JSON_USE_GLOBAL_UDLS\n" "#if 0\n" json_text "${json_text}")
  if(NOT json_text STREQUAL json_was)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/json/nlohmann/json.hpp CONTENT "${json_text}" @ONLY)
    target_include_directories(json SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/json)
  endif()
endif()
find_package(PNG REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(md4c REQUIRED IMPORTED_TARGET md4c)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal) # inflates traces; zlib packs some for tests and benchmarks
find_package(ZLIB REQUIRED)
find_package(simdjson REQUIRED)
find_package(SQLite3 REQUIRED)

set(imgui_sources ${imgui_SOURCE_DIR}/imgui.cpp ${imgui_SOURCE_DIR}/imgui_draw.cpp ${imgui_SOURCE_DIR}/imgui_tables.cpp
  ${imgui_SOURCE_DIR}/imgui_widgets.cpp)
add_library(imgui STATIC ${imgui_sources})
target_include_directories(imgui SYSTEM PUBLIC ${imgui_SOURCE_DIR})
# The test engine's hooks let UI tests find items by label; our four hook functions are in widgets/base/item_probe.cpp.
target_compile_definitions(imgui PUBLIC IMGUI_ENABLE_TEST_ENGINE IMGUI_DISABLE_OBSOLETE_FUNCTIONS)
# In this archive and not only in widgets, so that whatever links imgui finds the hooks.
target_sources(imgui PRIVATE ${PROJECT_SOURCE_DIR}/widgets/base/item_probe.cpp)
target_include_directories(imgui PRIVATE ${PROJECT_SOURCE_DIR})
if(NOT RIDGELINE_SANITIZE)
  target_compile_options(imgui PRIVATE -O2)
endif()
if(RIDGELINE_SANITIZED_TESTS)
  # AddressSanitizer looks at the file that edits our buffers. The others keep what they need in memory of their own, whose use
  # by our code is seen without them, and a frame of a test is twice as fast.
  add_library(imgui_sanitized OBJECT ${imgui_SOURCE_DIR}/imgui_widgets.cpp)
  target_include_directories(imgui_sanitized SYSTEM PRIVATE ${imgui_SOURCE_DIR})
  target_compile_definitions(imgui_sanitized PRIVATE IMGUI_ENABLE_TEST_ENGINE IMGUI_DISABLE_OBSOLETE_FUNCTIONS)
  target_compile_options(imgui_sanitized PRIVATE ${RIDGELINE_SANITIZERS} -fno-sanitize=undefined -O1)
endif()
# A room like ours to ridgeline_program: its twin is linked where widgets' is.
set_property(GLOBAL PROPERTY RIDGELINE_ROOMS_imgui imgui)
set_property(GLOBAL PROPERTY RIDGELINE_PUBLIC_imgui imgui)
set_property(GLOBAL PROPERTY RIDGELINE_LINKS_imgui imgui)

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
  target_compile_options(Catch2 PRIVATE -O0 -U_FORTIFY_SOURCE -fno-sanitize=all)
  list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
endif()
