#pragma once
// PIDDM_CLONES before a function compiles it for several instruction sets; the one the CPU has is taken at run time.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PIDDM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PIDDM_CLONES
#endif
