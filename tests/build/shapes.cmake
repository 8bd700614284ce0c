# Lines that are not of the form of shapes.txt stop the configuration: shapes.cmake with SOURCE and FOLDER.
cmake_policy(VERSION 3.20)
foreach(line IN ITEMS "a 1 2" "a 1 2 3" "a 1 2 x set src" "a -1 2 3 set src" "a 1 2 2147483393 set" "a - 2 3 set -"
                      "a 1 2 99999999999999999999 set" "a - 8589934593 - set -")
  file(WRITE ${FOLDER}/shapes.txt "# comment\n\n${line}\n")
  file(WRITE ${FOLDER}/read.cmake "include(${SOURCE}/common/cmake/Shapes.cmake)\nshapes_read(${FOLDER}/shapes.txt)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -P ${FOLDER}/read.cmake ERROR_VARIABLE said RESULT_VARIABLE status)
  string(REGEX REPLACE "[ \n]+" " " said "${said}") # CMake wraps its messages where the path makes them long
  if(status EQUAL 0 OR NOT said MATCHES "wanted: name")
    message(SEND_ERROR "'${line}' was not refused: ${said}")
  endif()
endforeach()
include(${SOURCE}/common/cmake/Shapes.cmake)
file(WRITE ${FOLDER}/shapes.txt "# comment\n\na 1 2 3 set,more -\nb - 8589934592 - set\n")
shapes_read(${FOLDER}/shapes.txt)
if(NOT SHAPES_C STREQUAL "    {{\"a\", 1, 2, 3, SHAPE_GEMM}, \"set,more\"},\n    {{\"b\", 0, 8589934592, 0, SHAPE_VECTOR}, \"set\"},\n")
  message(SEND_ERROR "read as: ${SHAPES_C}")
endif()
