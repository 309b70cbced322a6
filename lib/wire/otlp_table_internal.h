// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_table - the tables of a message's dictionary, for the reader and the writer.
 */
#pragma once

enum otlp_table {
	OTLP_STRINGS,
	OTLP_FUNCTIONS,
	OTLP_MAPPINGS,
	OTLP_LOCATIONS,
	OTLP_STACKS,
	OTLP_ATTRIBUTES,
	OTLP_LINKS,
	OTLP_TABLE_COUNT,
};
