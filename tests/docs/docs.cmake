# The pages are fresh, their links and the site's are whole, its pages look right, and the exercises' solutions verify.
find_package(Python3 3.10 COMPONENTS Interpreter)
set(skip ${CMAKE_CURRENT_SOURCE_DIR}/skip.sh) # prints why a test is skipped
if(NOT Python3_FOUND)
  overlap_test(docs.fresh cpu 60 sh ${skip} "no Python 3")
else()
  overlap_test(docs.fresh cpu 60 ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/docs/fresh.py --check)
  overlap_test(docs.links cpu 60 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/site/links.py)
  if(TARGET site)
    # Doxygen's warnings are errors (Doxyfile, WARN_AS_ERROR).
    overlap_test(site.build cpu 300 ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target site)
    overlap_test(site.links cpu 60 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/site/links.py ${CMAKE_BINARY_DIR}/docs/site)
    overlap_test(site.pages cpu 600 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/site/pages.py ${CMAKE_BINARY_DIR}/docs/site)
    set_tests_properties(site.build PROPERTIES FIXTURES_SETUP site)
    set_tests_properties(site.links site.pages PROPERTIES FIXTURES_REQUIRED site)
    set_tests_properties(site.build site.pages PROPERTIES COST 1000) # the longest, so the first
  else()
    foreach(test IN ITEMS build links pages)
      overlap_test(site.${test} cpu 60 sh ${skip} "no Doxygen, so no site")
    endforeach()
  endif()
endif()

include(${CMAKE_CURRENT_SOURCE_DIR}/diffs/solutions.cmake)
