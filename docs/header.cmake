# Writes OUT/header.html: this Doxygen's own header, and the switch between light and dark.
file(MAKE_DIRECTORY ${OUT}/own) # away from any Doxyfile, which Doxygen would read
execute_process(COMMAND ${DOXYGEN} -w html header.html footer.html style.css WORKING_DIRECTORY ${OUT}/own
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(READ ${OUT}/own/header.html header)
string(REPLACE "</head>" "<script type=\"text/javascript\" src=\"$relpath^doxygen-awesome-darkmode-toggle.js\"></script>
<script type=\"text/javascript\">DoxygenAwesomeDarkModeToggle.init()</script>
</head>" header "${header}")
file(WRITE ${OUT}/header.html "${header}")
