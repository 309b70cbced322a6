// SPDX-License-Identifier: Apache-2.0
/*
 * c11_threads - <threads.h> by POSIX threads, so that ThreadSanitizer sees what librdkafka does.
 *
 * The sanitizer knows pthread_create() and pthread_mutex_lock(), but not thrd_create() and
 * mtx_lock(), which glibc implements beside them: a thread that it did not see begin ends the
 * process. Preloaded before a program under the sanitizer, this makes the one of the other. glibc's
 * types are the same, and are taken as what they are.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "glibc's mtx_t is a mutex");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "glibc's cnd_t is a condition");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "glibc's thrd_t is a thread");

static int result_of(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	case EBUSY:
		return thrd_busy;
	default:
		return thrd_error;
	}
}

struct start {
	thrd_start_t run;
	void *arg;
};

static void *start(void *arg)
{
	struct start begin = *(struct start *)arg;

	free(arg);
	return (void *)(intptr_t)begin.run(begin.arg);
}

int thrd_create(thrd_t *thread, thrd_start_t run, void *arg)
{
	struct start *begin = malloc(sizeof(*begin));

	if (!begin)
		return thrd_nomem;
	*begin = (struct start){ run, arg };

	int error = pthread_create(thread, NULL, start, begin);

	if (error)
		free(begin);
	return result_of(error);
}

int thrd_join(thrd_t thread, int *ret_result)
{
	void *result;
	int error = pthread_join(thread, &result);

	if (!error && ret_result)
		*ret_result = (int)(intptr_t)result;
	return result_of(error);
}

int thrd_detach(thrd_t thread)
{
	return result_of(pthread_detach(thread));
}

_Noreturn void thrd_exit(int result)
{
	pthread_exit((void *)(intptr_t)result);
}

int mtx_init(mtx_t *mutex, int type)
{
	pthread_mutexattr_t attr;
	int error;

	pthread_mutexattr_init(&attr);
	if (type & mtx_recursive)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	error = pthread_mutex_init((pthread_mutex_t *)mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return result_of(error);
}

void mtx_destroy(mtx_t *mutex)
{
	pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int mtx_lock(mtx_t *mutex)
{
	return result_of(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int mtx_trylock(mtx_t *mutex)
{
	return result_of(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

int mtx_unlock(mtx_t *mutex)
{
	return result_of(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

int cnd_init(cnd_t *condition)
{
	return result_of(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

void cnd_destroy(cnd_t *condition)
{
	pthread_cond_destroy((pthread_cond_t *)condition);
}

int cnd_signal(cnd_t *condition)
{
	return result_of(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition)
{
	return result_of(pthread_cond_broadcast((pthread_cond_t *)condition));
}

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	return result_of(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *deadline)
{
	return result_of(pthread_cond_timedwait((pthread_cond_t *)condition,
						(pthread_mutex_t *)mutex, deadline));
}
