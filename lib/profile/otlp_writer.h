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
 * Encode the samples [first, first + count) and no more than they speak of. CPU samples whose value
 * is their series' period go as timestamps only.
 */
str otlp_write(const struct sample_set *set, size_t first, size_t count, struct arena *arena);
