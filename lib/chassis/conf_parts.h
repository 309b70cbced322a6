// SPDX-License-Identifier: Apache-2.0
/*
 * conf_parts - what the files of conf share: a value's text into its field, and the table in print.
 */
#pragma once

#include "chassis/conf.h"

/* Parse the text as the key's type says and put it where the key points to. */
bool conf_assign(void *settings, const struct conf_key *key, const char *text,
		 struct err *err) MUST_CHECK;

/* DECIMA_KAFKA_BROKERS of kafka-brokers; returns `name`. */
const char *conf_environment_name(const struct conf_key *key, char *name, size_t cap);

/* Both on stdout. */
void conf_print_help(const struct conf_program *program);
void conf_print_markdown(const struct conf_program *program);
