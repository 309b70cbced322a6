// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include "base/clock.h"

#include <inttypes.h>

enum { STAYS_PERCENT = 80, LABELS = 8 };

static uint64_t draw(struct host *host, uint64_t limit)
{
	uint64_t z = host->chance += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % limit;
}

static void begin_process(struct host *host, const struct pool *pool, struct host_process *process)
{
	const struct program *program = &pool->programs.items[process->program];

	process->pid = host->next_pid++;
	process->threads = 1 + (uint32_t)draw(host, THREADS_MAX);
	process->pod = str_format(&host->arena, STR_FMT "-%08" PRIx64, STR_ARG(program->comm),
				  draw(host, UINT32_MAX));
	process->container_id =
		str_format(&host->arena, "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64,
			   draw(host, UINT64_MAX), draw(host, UINT64_MAX), draw(host, UINT64_MAX),
			   draw(host, UINT64_MAX));
}

/* A few programs run on all hosts, many programs on some hosts. */
static uint32_t draw_program(struct host *host, const struct pool *pool)
{
	uint64_t a = draw(host, pool->programs.len), b = draw(host, pool->programs.len);

	return (uint32_t)(a < b ? a : b);
}

void host_init(struct host *host, const struct pool *pool, const struct load *load, uint64_t number,
	       uint64_t seed)
{
	*host = (struct host){ .chance = seed * 1000003 + number,
			       .number = number,
			       .next_pid = 1000 };
	host->node = str_format(&host->arena, "host-%04" PRIu64, number);
	for (size_t i = 0; i < load->processes; i++) {
		host->processes[i].program = draw_program(host, pool);
		begin_process(host, pool, &host->processes[i]);
	}
}

/* The version of a program on a host. A rollout takes half of the time between two versions. */
static uint64_t version_at(const struct host *host, const struct load *load, uint32_t program,
			   uint64_t time_ms)
{
	if (!load->deploys && !load->days_a_deploy)
		return 0;

	uint64_t between_ms =
		load->days_a_deploy ? MS_PER_DAY * load->days_a_deploy : MS_PER_DAY / load->deploys;
	uint64_t shift_ms = program * UINT64_C(7919000) % between_ms;
	uint64_t late_ms = host->number * UINT64_C(104729) % 100 * between_ms / 200;

	return (time_ms + shift_ms - late_ms) / between_ms;
}

/* The batch being generated. */
struct batch_builder {
	struct host *host;
	const struct pool *pool;
	const struct load *load;
	struct sample_set *set;
	uint64_t start_ms;
	uint32_t program; /* of the current tick */
};

/* The program's own file has another build id in each version. */
static uint32_t frame_of(struct batch_builder *builder, uint32_t index)
{
	const struct program *program = &builder->pool->programs.items[builder->program];
	struct frame frame = builder->pool->set.frames.items[index];
	uint64_t version =
		version_at(builder->host, builder->load, builder->program, builder->start_ms);

	if (version && frame.build_id.len && str_eq(frame.path, program->exe))
		frame.build_id = str_format(builder->set->arena, "%" PRIx64 STR_FMT, version % 4096,
					    STR_ARG(frame.build_id));
	return sample_set_frame(builder->set, &frame);
}

static uint32_t stack_of(struct batch_builder *builder, uint32_t index)
{
	struct stack stack = builder->pool->set.stacks.items[index];
	uint32_t *frames = arena_array(builder->set->arena, uint32_t, stack.len);

	for (size_t i = 0; i < stack.len; i++)
		frames[i] = frame_of(builder, stack.frames[i]);
	return sample_set_stack(builder->set, frames, stack.len);
}

static uint32_t series_of(struct batch_builder *builder, const struct host_process *process,
			  const struct sample *recorded)
{
	const struct program *program = &builder->pool->programs.items[process->program];
	const struct series *series = &builder->pool->set.series.items[recorded->series];
	struct label *items = arena_array(builder->set->arena, struct label, LABELS);
	size_t len = 0;

	items[len++] = (struct label){ STR("node"), builder->host->node };
	items[len++] = (struct label){ STR("comm"), program->comm };
	if (program->exe.len)
		items[len++] = (struct label){ STR("exe"), program->exe };
	if (builder->load->with_pods) {
		items[len++] = (struct label){ STR("pod"), process->pod };
		items[len++] = (struct label){ STR("namespace"), STR("production") };
		items[len++] = (struct label){ STR("container_id"), process->container_id };
	}
	return sample_set_series(builder->set, series->type, labels_of(items, len), series->period);
}

static uint32_t labels_of_sample(struct batch_builder *builder, const struct host_process *process,
				 uint32_t thread, uint32_t cpu, const struct sample *recorded)
{
	struct arena *arena = builder->set->arena;
	struct label *items = arena_array(arena, struct label, LABELS);
	str name = labels_get(builder->pool->set.label_sets.items[recorded->labels],
			      STR("thread_name"));

	items[0] = (struct label){ STR("cpu"), str_format(arena, "%" PRIu32, cpu) };
	items[1] = (struct label){ STR("pid"), str_format(arena, "%" PRIu32, process->pid) };
	items[2] = (struct label){ STR("thread_id"),
				   str_format(arena, "%" PRIu32, process->pid + thread) };
	items[3] = (struct label){ STR("thread_name"), name };
	return sample_set_labels(builder->set, labels_of(items, name.len ? 4 : 3));
}

static void tick(struct batch_builder *builder, uint32_t cpu, uint64_t time_ms)
{
	struct host *host = builder->host;
	uint32_t *running = &host->running[cpu].process, *thread = &host->running[cpu].thread;

	if (draw(host, 100) >= STAYS_PERCENT) {
		*running = (uint32_t)draw(host, builder->load->processes);
		*thread = (uint32_t)draw(host, host->processes[*running].threads);
	}

	const struct host_process *process = &host->processes[*running];
	const struct program *program = &builder->pool->programs.items[process->program];
	const struct sample *recorded =
		&builder->pool->set.samples.items[program->samples[draw(host, program->count)]];

	builder->program = process->program;
	sample_set_add(
		builder->set,
		(struct sample){
			.series = series_of(builder, process, recorded),
			.stack = stack_of(builder, recorded->stack),
			.labels = labels_of_sample(builder, process, *thread, cpu, recorded),
			.value = (int64_t)builder->pool->set.series.items[recorded->series].period,
			.time_ms = time_ms,
		});
}

static void restart_some(struct host *host, const struct pool *pool, const struct load *load,
			 uint64_t span_ms)
{
	for (size_t i = 0; i < load->processes; i++) {
		struct host_process *process = &host->processes[i];

		if (draw(host, 100 * MS_PER_HOUR) < load->restarts_percent * span_ms)
			begin_process(host, pool, process);
	}
}

void host_batch(struct host *host, const struct pool *pool, const struct load *load,
		const struct span *span, struct sample_set *set)
{
	uint64_t start_ms = span->start_ms;
	struct batch_builder builder = {
		.host = host, .pool = pool, .load = load, .set = set, .start_ms = start_ms
	};
	uint64_t period_us = 1000000 / load->hz;

	restart_some(host, pool, load, span->passed_ms);
	for (uint32_t cpu = 0; cpu < load->cpus; cpu++) {
		uint64_t phase_us = (cpu * UINT64_C(2654435761)) % period_us;
		uint64_t first = (start_ms * 1000 - phase_us + period_us - 1) / period_us;

		for (uint64_t n = first;
		     n * period_us + phase_us < (start_ms + span->len_ms) * 1000; n++)
			if (draw(host, 100) < load->busy_percent)
				tick(&builder, cpu,
				     (n * period_us + phase_us + draw(host, 1000)) / 1000);
	}
}
