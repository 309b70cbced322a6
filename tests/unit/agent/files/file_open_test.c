// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/files/file_open.h"
#include "support/test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

static char self_path[4096];

/* This program, as in /proc/PID/maps. */
static struct executable_claim claim_of_self(void)
{
	ssize_t len = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	struct stat stat_of;

	assert_true(len > 0);
	assert_int_equal(stat(self_path, &stat_of), 0);
	return (struct executable_claim){ .pid = (uint32_t)getpid(),
					  .path = { self_path, (size_t)len },
					  .inode = stat_of.st_ino,
					  .device_major = major(stat_of.st_dev),
					  .device_minor = minor(stat_of.st_dev) };
}

/* The bounds of a mapping of this program. With AddressSanitizer it is not the first in the file.
 */
static void set_mapping(struct executable_claim *claim)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[sizeof(self_path) + 128];
	bool found = false;

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps)) {
		str rest = str_trim(str_from(line));

		found = str_ends_with(rest, claim->path) &&
			str_hex_to_u64(str_cut(&rest, '-'), &claim->start) &&
			str_hex_to_u64(str_cut(&rest, ' '), &claim->end);
	}
	fclose(maps);
	assert_true(found);
}

static enum file_way way_of(const struct executable_claim *claim, enum file_way from)
{
	struct file_location at;

	file_locate(claim, from, true, &at);
	if (at.file >= 0)
		close(at.file);
	if (at.root >= 0)
		close(at.root);
	assert_false(at.must_wait);
	return at.way;
}

static void finds_a_file_by_its_mapping_and_by_its_path(void **state)
{
	struct executable_claim claim = claim_of_self();

	(void)state;
	assert_int_equal(way_of(&claim, FILE_MAPPING), FILE_PROCESS_ROOT);
	set_mapping(&claim);
	assert_int_equal(way_of(&claim, FILE_MAPPING), FILE_MAPPING);
	assert_int_equal(way_of(&claim, FILE_PROCESS_ROOT), FILE_PROCESS_ROOT);
	claim.parent_pid = (uint32_t)getpid();
	assert_int_equal(way_of(&claim, FILE_PARENT_ROOT), FILE_PARENT_ROOT);
	assert_int_equal(way_of(&claim, FILE_OWN_ROOT), FILE_OWN_ROOT);
}

static void finds_the_file_of_an_exited_process_if_its_identity_is_certain(void **state)
{
	struct executable_claim claim = claim_of_self();

	(void)state;
	claim.pid = UINT32_MAX;
	assert_int_equal(way_of(&claim, FILE_MAPPING), FILE_OWN_ROOT);
	claim.inode++; /* another file is at the path */
	assert_int_equal(way_of(&claim, FILE_MAPPING), FILE_WAY_COUNT);
	claim.build_id = STR("compared by the caller");
	assert_int_equal(way_of(&claim, FILE_MAPPING), FILE_OWN_ROOT);
	claim.path = STR("/no/such/file");
	assert_int_equal(way_of(&claim, FILE_MAPPING), FILE_WAY_COUNT);
}

static void finds_regular_files_only(void **state)
{
	static const char *const paths[] = { "/dev/null", "/tmp", "/proc/self/fd/0" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct executable_claim claim = { .pid = (uint32_t)getpid(),
						  .path = str_from(paths[i]),
						  .build_id = STR("some") };

		assert_int_equal(way_of(&claim, FILE_MAPPING), FILE_WAY_COUNT);
	}
}

/* An absolute symbolic link of a container leads to a file of the container. */
static void looks_up_links_below_the_root(void **state)
{
	char directory[] = "/tmp/decima-file-open-XXXXXX", path[128], link[160];
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/passwd", directory);
	snprintf(link, sizeof(link), "%s/link", directory);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	assert_int_equal(symlink("/passwd", link), 0);
	child = fork();
	if (!child) {
		if (chroot(directory))
			_exit(1);
		pause();
	}

	struct executable_claim claim = { .pid = (uint32_t)child,
					  .path = STR("/link"),
					  .build_id = STR("some") };
	struct file_location at = { .file = -1, .root = -1 };

	for (int i = 0; at.root < 0 && i < 3000; i++) { /* until it has changed its root */
		if (at.file >= 0)
			close(at.file);
		file_locate(&claim, FILE_PROCESS_ROOT, true, &at);
		usleep(10000);
	}
	assert_int_equal(at.way, FILE_PROCESS_ROOT);
	assert_true(at.root >= 0);
	assert_int_equal(at.key.size, 0);
	close(at.file);
	close(at.root);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(link);
	unlink(path);
	rmdir(directory);
}

static void a_file_of_a_file_system_of_root_is_local(void **state)
{
	struct executable_claim claim = claim_of_self();
	struct file_location at;
	struct stat opened, own;
	struct err err;

	(void)state;
	file_locate(&claim, FILE_MAPPING, true, &at);
	assert_true(at.is_local);
	assert_int_equal(stat("/proc/self/exe", &own), 0);
	assert_int_equal(at.key.inode, own.st_ino);
	assert_int_equal(at.key.device, own.st_dev);
	assert_int_equal(at.key.size, own.st_size);

	AUTO_FD fd = file_open(at.file, true, &err);

	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(opened.st_ino, own.st_ino);
	close(at.file);
}

static void a_file_that_is_not_local_is_copied(void **state)
{
	AUTO_FD source = memfd_create("source", MFD_CLOEXEC);
	struct stat copied;
	char bytes[6];
	struct err err;

	(void)state;
	assert_int_equal(write(source, "\177ELF..", 6), 6);

	AUTO_FD copy = file_open(source, false, &err);

	assert_true(copy >= 0);
	assert_int_equal(fstat(copy, &copied), 0);
	assert_int_equal(copied.st_size, 6);
	assert_int_equal(pread(copy, bytes, 6, 0), 6);
	assert_memory_equal(bytes, "\177ELF..", 6);

	assert_int_equal(ftruncate(source, FILE_COPY_BYTES_MAX + 1), 0);
	assert_int_equal(file_open(source, false, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

/* A mount that the process's namespace does not list is not trusted: as this memory file. */
static void a_file_of_an_unknown_mount_is_not_local(void **state)
{
	AUTO_FD file = memfd_create("program", MFD_CLOEXEC);
	struct executable_claim claim = { .pid = (uint32_t)getpid(), .build_id = STR("some") };
	struct file_location at;

	(void)state;
	assert_int_equal(ftruncate(file, 4096), 0);

	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	claim.start = (uintptr_t)map;
	claim.end = claim.start + 4096;
	file_locate(&claim, FILE_MAPPING, false, &at);
	assert_int_equal(at.way, FILE_MAPPING);
	assert_false(at.is_local);
	close(at.file);
	munmap(map, 4096);
}

static bool is_trusted(pid_t pid, const char *path)
{
	struct executable_claim claim = { .pid = (uint32_t)pid,
					  .path = str_from(path),
					  .build_id = STR("some") };
	struct file_location at;

	file_locate(&claim, FILE_PROCESS_ROOT, true, &at);
	assert_int_equal(at.way, FILE_PROCESS_ROOT);
	close(at.file);
	if (at.root >= 0)
		close(at.root);
	return at.is_trusted;
}

static void a_file_that_only_root_can_write_is_trusted(void **state)
{
	static const struct {
		uid_t user;
		mode_t mode;
		bool is_trusted;
	} cases[] = { { 0, 0755, true },
		      { 0, 04755, true },
		      { 0, 0775, false },
		      { 0, 0757, false },
		      { 65534, 0755, false } };
	char path[] = "/tmp/decima-file-open-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(fchown(fd, cases[i].user, 0), 0);
		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		assert_int_equal(is_trusted(getpid(), path), cases[i].is_trusted);
	}
	close(fd);
	unlink(path);
}

/* A process in a mount namespace with a file system of its own, which has a file of root. */
static pid_t start_with_mount(const char *directory, const char *file, unsigned long flags)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);

	pid_t child = fork();

	if (!child) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("some", directory, "tmpfs", flags, NULL) ||
		    open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0755) < 0)
			_exit(1);
		byte = 0;
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

/* As on a medium that a user brings. */
static void a_file_of_a_mount_with_nosuid_is_not_trusted(void **state)
{
	char directory[] = "/tmp/decima-file-open-XXXXXX", path[128];

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/program", directory);
	for (int nosuid = 0; nosuid <= 1; nosuid++) {
		pid_t child = start_with_mount(directory, path, nosuid ? MS_NOSUID : 0);

		assert_int_equal(is_trusted(child, path), !nosuid);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	rmdir(directory);
}

RUN_TESTS(TEST(finds_a_file_by_its_mapping_and_by_its_path),
	  TEST(finds_the_file_of_an_exited_process_if_its_identity_is_certain),
	  TEST(finds_regular_files_only), TEST(looks_up_links_below_the_root),
	  TEST(a_file_of_a_file_system_of_root_is_local), TEST(a_file_that_is_not_local_is_copied),
	  TEST(a_file_of_an_unknown_mount_is_not_local),
	  TEST(a_file_that_only_root_can_write_is_trusted),
	  TEST(a_file_of_a_mount_with_nosuid_is_not_trusted))
