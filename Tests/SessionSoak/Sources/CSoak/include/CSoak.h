#pragma once
#include <stddef.h>

/// How many bytes of the heap are in use, as the allocator counts them.
size_t soak_heap_bytes(void);
