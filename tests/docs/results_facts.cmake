# The results that programs time on a GPU hold what a reader needs to repeat them.
file(GLOB files ${FOLDER}/*-ladder.csv ${FOLDER}/*-variants.csv ${FOLDER}/*-pad1.csv ${FOLDER}/*-warm.csv)
list(FILTER files EXCLUDE REGEX "-profile-variants")
if(NOT files)
  message(SEND_ERROR "no results in ${FOLDER}")
endif()
foreach(file IN LISTS files)
  file(READ ${file} text)
  foreach(fact IN ITEMS "date: 20" "device: [^,]+, sm_[0-9]+, [0-9]+ SMs" "clocks [^\n]*: [0-9]+ MHz" "power limit: [0-9.]+ W"
                        "driver: [0-9.]+[^\n]*CUDA runtime: [0-9.]+[^\n]*library: cuBLAS [0-9.]+" "timing: [^\n]*warm-up[^\n]*L2"
                        "seed: [0-9]+")
    if(NOT text MATCHES "# [^\n]*${fact}")
      message(SEND_ERROR "${file}: lacks '${fact}'")
    endif()
  endforeach()
endforeach()
