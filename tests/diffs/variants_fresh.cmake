# Fails if a variant's diff no longer applies to its step: the programs are then the step itself.
file(GLOB stale ${FOLDER}/*/kernel.cu.stale)
foreach(file IN LISTS stale)
  file(READ ${file} said)
  message(SEND_ERROR "${file}: the diff no longer applies:\n${said}")
endforeach()
