# Writes OUT: ORIGINAL with DIFF applied. If it does not apply, OUT is the original and OUT.stale says why:
# the test then fails, but a student's edit of a step does not break the build.
file(REMOVE ${OUT}.stale)
get_filename_component(directory ${OUT} DIRECTORY)
file(MAKE_DIRECTORY ${directory})
execute_process(COMMAND patch --fuzz=0 --silent --output=${OUT} --reject-file=- ${ORIGINAL} ${DIFF}
                OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(WRITE ${OUT}.stale "${said}")
  configure_file(${ORIGINAL} ${OUT} COPYONLY)
endif()
