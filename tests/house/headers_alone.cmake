# cmake -DROOT=DIR -DOUT=DIR -DHEADERS="a.h;b.h" -DCOMMANDS=compile_commands.json -DLIKE=FILE.cpp -P headers_alone.cmake
# Compiles every header as the first of a file; fails where one leans on what its neighbours include.
# A header that another one includes needs no file of its own: first in the file of the other there is nothing before it, and
# the other one has it before its own code anyway. So the headers stand in chains, in each of which every header includes the
# one before; the file of the last one includes the whole chain, each header twice. That is half the compiler's time. Ninja
# compiles the chains that changed, as compile_commands.json compiles LIKE, without optimizing; ccache knows the objects.
#
# From nothing that is five minutes of a core, a seventh of all that ./test may take, so it is for ./test full; what a header names of
# ours without including it is found at once by a test of the house (own_includes_test), and of the library by std_includes_test.
cmake_minimum_required(VERSION 3.25)
if(NOT DEFINED ENV{RIDGELINE_FULL})
  message("Skipped: ./test full compiles every header alone.")
  return()
endif()

# all_HEADER: every header of HEADERS that it includes, however far away.
foreach(header IN LISTS HEADERS)
  file(STRINGS "${ROOT}/${header}" lines REGEX "^#include \"")
  set("all_${header}" "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" target "${line}")
    if("${target}" IN_LIST HEADERS)
      list(APPEND "all_${header}" "${target}")
    endif()
  endforeach()
endforeach()
set(grows TRUE)
while(grows)
  set(grows FALSE)
  foreach(header IN LISTS HEADERS)
    set(all "${all_${header}}")
    foreach(target IN LISTS "all_${header}")
      list(APPEND all ${all_${target}})
    endforeach()
    list(REMOVE_DUPLICATES all)
    if(NOT all STREQUAL "${all_${header}}")
      set("all_${header}" "${all}")
      set(grows TRUE)
    endif()
  endforeach()
endwhile()

# Who includes most comes first: a header includes more than each of those that it includes.
set(ranked "")
foreach(header IN LISTS HEADERS)
  list(LENGTH "all_${header}" count)
  math(EXPR count "${count} + 10000")
  list(APPEND ranked "${count} ${header}")
endforeach()
list(SORT ranked ORDER DESCENDING)
list(TRANSFORM ranked REPLACE "^[0-9]+ " "")

set(chained "")
set(ninja "")
set(objects "")
file(STRINGS "${COMMANDS}" command REGEX "\"command\":.* -c [^ ]*${LIKE}\"")
string(REGEX REPLACE "^ *\"command\": \"(.*) -o [^ ]+ -c .*$" "\\1" command "${command}")
string(REPLACE "\\\"" "\"" command "${command}")
foreach(last IN LISTS ranked)
  if(NOT last IN_LIST chained)
    set(text "#include \"${last}\"\n#include \"${last}\"\n")
    set(first "${last}")
    foreach(header IN LISTS ranked)
      if(header IN_LIST "all_${first}" AND NOT header IN_LIST chained)
        set(text "#include \"${header}\"\n#include \"${header}\"\n${text}")
        list(APPEND chained "${header}")
        set(first "${header}")
      endif()
    endforeach()
    file(CONFIGURE OUTPUT "${OUT}/${last}.cpp" CONTENT "${text}" @ONLY) # leaves a file alone whose text is this
    string(APPEND ninja "build ${last}.o: compile ${last}.cpp\n")
    string(APPEND objects " ${last}.o")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${OUT}/build.ninja" @ONLY CONTENT "rule compile
  command = cd ${DIRECTORY} && @command@ -O0 -g0 -MD -MF ${OUT}/$out.d -o ${OUT}/$out -c ${OUT}/$in
  depfile = $out.d
  deps = gcc
  description = $in
@ninja@
build all: phony@objects@
default all
")
execute_process(COMMAND "${NINJA}" -C "${OUT}" -k 0 COMMAND_ERROR_IS_FATAL ANY)
