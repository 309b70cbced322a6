// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_writer - encodes samples as an OTLP profiles message.
 *
 * The message is built with protobuf-c; otlp_reader.h decodes it. Labels become attributes by the
 * table of profile/labels.h. Source: opentelemetry.proto.profiles.v1development, spec 1.11.
 */
#pragma once

#include "profile/sample_set.h"

/*
 * Encode the samples [first, first + count) with only the series, stacks and labels that they use.
 * If the values of CPU samples are their series' period, only the timestamps are written. The bytes
 * are in the arena. Cannot fail: the caller guarantees that the indexes are valid. Any thread.
 */
str otlp_write(const struct sample_set *set, size_t first, size_t count, struct arena *arena);
