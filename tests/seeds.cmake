# A program of examples/seeds prints the file beside it, to the last byte; its picture, if it draws one, goes to PICTURE.
execute_process(COMMAND ${PROGRAM} ${PICTURE} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${PAGE} page)
if(NOT printed STREQUAL page)
  message(FATAL_ERROR "${PROGRAM} prints other than ${PAGE}:\n${printed}")
endif()
