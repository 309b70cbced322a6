// SPDX-License-Identifier: Apache-2.0
#include "walks.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <string.h>

enum { REGISTERS = 17 }; /* of x86-64, by DWARF number; the last is the pc */

/* The sample being walked: the callbacks of libdwfl read from it. */
struct current {
	const struct capture_event *sample;
	struct walked *ret;
};

static struct current now;

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	(void)arg;
	if (*thread)
		return 0;
	*thread = &now;
	return (pid_t)now.sample->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)arg;
	*thread = &now;
	return tid == (pid_t)now.sample->tid;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	uint64_t at = now.sample->registers.general[7];
	str stack = now.sample->stack;

	(void)dwfl;
	(void)arg;
	now.ret->read_below |= address < at;
	if (address < at || address - at > stack.len || stack.len - (address - at) < sizeof(*ret))
		return false;
	memcpy(ret, stack.ptr + (address - at), sizeof(*ret));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word values[REGISTERS];

	(void)arg;
	memcpy(values, now.sample->registers.general, sizeof(values));
	values[16] = now.sample->registers.pc;
	return dwfl_thread_state_registers(thread, 0, REGISTERS, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/* Installed debug files are not used: an agent does not have them. */
static int no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)module;
	(void)data;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)ret;
	return -1;
}

static int no_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file,
		   Elf **elf)
{
	(void)module;
	(void)data;
	(void)name;
	(void)base;
	(void)file;
	(void)elf;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = no_file,
	.find_debuginfo = no_debug_file,
	.section_address = dwfl_offline_section_address,
};

/*
 * Reports each file once, at its first mapping. Node maps its own code a second time at another
 * address, where it has no rows. If libdwfl gets a non-relocatable file at a second address, it
 * finds no rows at the first one either.
 */
static Dwfl *report(struct process_places *process)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	for (size_t i = 0; i < process->places.len; i++) {
		const struct place *place = &process->places.items[i];
		bool is_known = place->module->fd < 0;

		for (size_t j = 0; j < i && !is_known; j++)
			is_known = process->places.items[j].module == place->module;
		if (!is_known)
			dwfl_report_elf(dwfl, place->module->path, place->module->path,
					dup(place->module->fd), place->bias, true);
	}
	dwfl_report_end(dwfl, NULL, NULL);
	dwfl_attach_state(dwfl, NULL, (pid_t)process->pid, &thread_callbacks, NULL);
	return dwfl;
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct walked *ret = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	ret->frames[ret->count++] = pc;
	return ret->count == WALK_FRAMES_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

void walk_dwfl(struct process_places *process, const struct capture_event *sample,
	       struct walked *ret)
{
	if (process->reported != process->changed) {
		if (process->dwfl)
			dwfl_end(process->dwfl);
		process->dwfl = report(process);
		process->reported = process->changed;
	}
	now = (struct current){ .sample = sample, .ret = ret };
	ret->count = 0;
	ret->read_below = false;
	dwfl_errno();

	int status = dwfl_getthread_frames(process->dwfl, (pid_t)sample->tid, on_frame, ret);

	ret->is_complete = status == 0;
	ret->end = status == 0 ? "complete" : "too deep";
	if (status < 0)
		ret->end = dwfl_errmsg(-1);
}
