#ifndef MYNAH_LIB_FUZZER_H
#define MYNAH_LIB_FUZZER_H
#include <stddef.h>
#include <stdint.h>

/// The entry point for a program with its own main; `-sanitize=fuzzer` links it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));

#endif
