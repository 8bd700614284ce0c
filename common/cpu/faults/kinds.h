/**
 * @file kinds.h
 * Every kind of fault that the CPU device reports. A new one is a line here, and one in docs/records.md.
 */
#pragma once

/// X(name, id, words, usual mend). Each {} of the words stands for a part of the report.
#define CPU_FAULTS(X)                                                                                        \
    X(barrier_divergent, "barrier.divergent", "divergent barrier: others of the block wait at {}", "")       \
    X(deadlock, "deadlock", "deadlock: {} of {} threads wait at {}, the first is {}; {} have exited", "")    \
    X(warp_mask, "warp.mask", "{} whose mask {} leaves out the calling lane {}", "")                         \
    X(warp_mixed, "warp.mixed", "{} while other lanes of the warp wait at {} in {}", "")                     \
    X(warp_width, "warp.width", "{} with a width of {}: not a power of two up to 32", "")                    \
    X(copy_size, "copy.size", "asynchronous copy of {} bytes: only 4, 8 and 16 exist", "")                   \
    X(copy_zero_fill, "copy.zero_fill", "asynchronous copy of {} bytes zero-fills {}", "")                   \
    X(copy_to_misaligned, "copy.to_misaligned", "asynchronous copy of {} bytes to a misaligned address", "") \
    X(copy_from_misaligned, "copy.from_misaligned",                                                          \
      "asynchronous copy of {} bytes from a misaligned address", "")                                         \
    X(copy_not_shared, "copy.not_shared", "asynchronous copy to an address that is not in shared memory",    \
      "")                                                                                                    \
    X(copy_bounds, "copy.bounds", "asynchronous copy reads {}", "")                                          \
    X(copy_never_committed, "copy.never_committed", "asynchronous copy that was never committed", "")        \
    X(copy_never_waited_for, "copy.never_waited_for", "asynchronous copy that was never waited for", "")     \
    X(atomic_misaligned, "atomic.misaligned",                                                                \
      "atomic of {} bytes at an address that is not a multiple of it", "")                                   \
    X(wmma_misaligned, "wmma.misaligned", "WMMA at an address that is not a multiple of 32 bytes", "")       \
    X(wmma_leading_dimension, "wmma.leading_dimension",                                                      \
      "WMMA with a leading dimension of {}: not a multiple of {}", "")                                       \
    X(wmma_unrounded_tf32, "wmma.unrounded_tf32",                                                            \
      "mma_sync of {}, which is not rounded to tf32: the Tensor Core cuts it off",                           \
      "__float_to_tf32() of every element, between load_matrix_sync and mma_sync")                           \
    /* Accesses: {} is "read", "write" or "access", and then what lies at the address. */                    \
    X(bounds_global, "bounds.global", "{} {}", "")                                                           \
    X(bounds_freed, "bounds.freed", "{} {}", "")                                                             \
    X(bounds_null, "bounds.null", "{} {}", "")                                                               \
    X(bounds_not_device, "bounds.not_device", "{} {}", "")                                                   \
    X(bounds_shared, "bounds.shared", "access past the {} bytes of dynamic shared memory", "")               \
    X(bounds_smem, "bounds.smem", "write to byte {} of smem, beyond the {} bytes that the launch asked for", \
      "")                                                                                                    \
    /* What ends the process. That of host code has "host." before its id. */                                \
    X(crash_timeout, "crash.timeout", "still running after {} s (CPU_DEVICE_TIMEOUT)", "")                   \
    X(crash_cpu_time, "crash.cpu_time", "still running when its time was up", "")                            \
    X(crash_illegal, "crash.illegal",                                                                        \
      "what the compiler knew to be wrong, such as a division by a constant zero", "")                       \
    X(crash_abort, "crash.abort", "abort(), which a failed assert() or an exception calls", "")              \
    X(crash_division, "crash.division", "integer division by zero", "")                                      \
    X(crash_misaligned, "crash.misaligned", "misaligned access: a vector lies at a multiple of its size",    \
      "")                                                                                                    \
    X(crash_stack_overflow, "crash.stack_overflow",                                                          \
      "stack overflow: too much local memory or too deep a recursion", "")                                   \
    /* Races: {} is the memory, and the place of the other access. */                                        \
    X(race_read_in_flight, "race.read_of_copy_in_flight",                                                    \
      "race in {}: read of what an asynchronous copy is still writing, issued at {}",                        \
      "wait for the copy (__pipeline_wait_prior) before the read")                                           \
    X(race_write_in_flight, "race.write_over_copy_in_flight",                                                \
      "race in {}: write over what an asynchronous copy is still writing, issued at {}",                     \
      "wait for the copy (__pipeline_wait_prior) before the write")                                          \
    X(race_read_of_copy, "race.read_of_copy_waited_for_elsewhere",                                           \
      "race in {}: read of an asynchronous copy that only its own thread has waited for, issued at {}",      \
      "a barrier after the wait and before the read")                                                        \
    X(race_copy_over_read, "race.copy_over_read",                                                            \
      "race in {}: asynchronous copy over what may still be read at {}",                                     \
      "a barrier between the read and the copy, or one more buffer")                                         \
    X(race_copy_over_write, "race.copy_over_write",                                                          \
      "race in {}: asynchronous copy over what another thread wrote at {}",                                  \
      "a barrier between the write and the copy")                                                            \
    X(race_read_write, "race.read_write", "race in {}: read and write that nothing orders, the other at {}", \
      "__syncthreads() between them")                                                                        \
    X(race_read_write_in_warp, "race.read_write_in_warp",                                                    \
      "race in {}: read and write that nothing orders, the other at {}",                                     \
      "__syncwarp() or __syncthreads() between them; a shuffle or mma_sync orders no memory")                \
    X(race_write_write, "race.write_write", "race in {}: two writes that nothing orders, the other at {}",   \
      "__syncthreads() between them")                                                                        \
    X(race_write_write_in_warp, "race.write_write_in_warp",                                                  \
      "race in {}: two writes that nothing orders, the other at {}",                                         \
      "__syncwarp() or __syncthreads() between them; a shuffle or mma_sync orders no memory")                \
    X(race_blocks, "race.between_blocks",                                                                    \
      "race in {}: accesses of two blocks that nothing orders, the other at {}",                             \
      "write, __threadfence(), atomic flag; atomic flag, __threadfence(), read; or atomics only, or two "    \
      "launches")
