/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of repeat_section.hpp for Concurrency Kit's locks. Its headers are C only, and a call
 * from C++ into a wrapper a lock would measure the call: so the loop itself is C and the locks are
 * inlined in it, as they are for every other peer.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each works on one lock of its own on the calling thread's stack. */
void ck_spinlock_repeat(uint64_t* counter, uint64_t times);
void ck_ticket_repeat(uint64_t* counter, uint64_t times);
void ck_mcs_repeat(uint64_t* counter, uint64_t times);

#ifdef __cplusplus
}
#endif
