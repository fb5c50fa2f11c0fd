#!/bin/sh
# Compiles through ccache: cached_compile.sh SOURCE_FOLDER CCACHE COMPILER ARGUMENT... The cache hits in any folder, since paths
# count from SOURCE_FOLDER, and a precompiled header is a file like any other. A precompiled header that is built again must not
# meet its predecessor: the preprocessor would read that in place of the headers, so that the cache's key would not depend on
# what the headers say now, and the cache would return whatever followed the same predecessor once before.
# OBJECT.cpu gets what the shell's `times` says afterwards: the CPU time that the compiler took, which ./test adds up.
CCACHE_BASEDIR=$1
CCACHE_NOHASHDIR=1
CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_BASEDIR CCACHE_NOHASHDIR CCACHE_SLOPPINESS
ccache=$2
shift 2
object= before=
for argument; do
  case $argument in *.gch) rm -f "$argument" ;; esac
  [ "$before" != -o ] || object=$argument
  before=$argument
done
"$ccache" "$@" || exit
[ -z "$object" ] || times >"$object.cpu"
