// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kallsyms_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str rest = { (const char *)data, size };
	struct kallsyms table = { 0 };
	str name, module;

	while (rest.len)
		kallsyms_add(&table, str_cut(&rest, '\n'));
	kallsyms_finish(&table);
	for (size_t i = 0; i < table.count; i++)
		if (!kallsyms_find(&table, table.symbols[i].address, &name, &module) || !name.len)
			__builtin_trap();
	kallsyms_done(&table);
	return 0;
}
