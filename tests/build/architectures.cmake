# Every CUDA file of the build, as COMMANDS lists them, is compiled for architectures that were asked for: none for
# the compiler's default.
cmake_policy(VERSION 3.20)
file(READ ${COMMANDS} text)
string(REPLACE ";" "," text "${text}")
string(REGEX REPLACE "[][]" "" text "${text}") # brackets would hold a list together
string(REGEX MATCHALL "\"command\": [^\n]* -x cu [^\n]*" lines "${text}")
set(count 0)
foreach(line IN LISTS lines)
  math(EXPR count "${count} + 1")
  if(NOT line MATCHES "--generate-code=arch=compute_[0-9]")
    message(SEND_ERROR "no architecture: ${line}")
  endif()
endforeach()
message("${count} CUDA files")
if(count LESS 10)
  message(SEND_ERROR "too few to be all of them")
endif()
