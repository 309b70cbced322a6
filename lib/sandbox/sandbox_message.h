// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox_message - one datagram with descriptors, between a sandboxed process and its owner.
 *
 * Messages are structs of fixed size, since both programs are of one build. Functions of this
 * module hold no state; they may be called from any thread.
 */
#pragma once

#include "base/base.h"

enum { SANDBOX_FDS_MAX = 3 }; /* descriptors that one message may pass */

/*
 * Sends `len` bytes and those of fds[SANDBOX_FDS_MAX] before the first -1; NULL: no descriptor. The
 * descriptors stay the caller's. Does not wait for the receiver. False: the peer has died, or the
 * message cannot be sent.
 */
bool sandbox_message_send(int socket, const void *bytes, size_t len, const int *fds) MUST_CHECK;

/*
 * Waits for a message of `len` bytes. The caller closes the descriptors; one that was not sent is
 * -1. ret_fds NULL: a message with descriptors is malformed. False: the peer closed its socket, or
 * the message is malformed; then its descriptors are closed, and ret_fds is unchanged.
 */
bool sandbox_message_receive(int socket, void *ret_bytes, size_t len, int *ret_fds) MUST_CHECK;
