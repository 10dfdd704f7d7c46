# cmake -DINPUT=FILE -DOUTPUT=FILE -P EmbedBytes.cmake: the bytes of a file as initialisers of an array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
