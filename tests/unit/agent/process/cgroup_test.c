// SPDX-License-Identifier: Apache-2.0
#include "agent/process/cgroup_internal.h"
#include "support/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void finds_path_container_and_unit(void **state)
{
	static const struct {
		const char *text, *path, *container_id, *unit;
	} rows[] = {
		/* v2 */
		{ "0::/system.slice/nginx.service\n", "/system.slice/nginx.service", "",
		  "nginx.service" },
		{ "0::/system.slice/docker-" ID ".scope\n", "/system.slice/docker-" ID ".scope", ID,
		  "" },
		{ "0::/user.slice/user-0.slice/session-3.scope",
		  "/user.slice/user-0.slice/session-3.scope", "", "session-3.scope" },
		{ "0::/user.slice/user-7.slice/user@7.service/app.slice/a.service",
		  "/user.slice/user-7.slice/user@7.service/app.slice/a.service", "",
		  "user@7.service" },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
		  "cri-containerd-" ID ".scope\n",
		  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
		  "cri-containerd-" ID ".scope",
		  ID, "" },
		{ "0::/kubepods/besteffort/pod1-2/crio-" ID, "/kubepods/besteffort/pod1-2/crio-" ID,
		  ID, "" },
		{ "0::/machine.slice/libpod-" ID ".scope/container",
		  "/machine.slice/libpod-" ID ".scope/container", ID, "" },
		{ "0::/machine.slice/libpod-conmon-" ID ".scope",
		  "/machine.slice/libpod-conmon-" ID ".scope", "", "libpod-conmon-" ID ".scope" },
		{ "0::/lxc.payload.web/system.slice/cron.service",
		  "/lxc.payload.web/system.slice/cron.service", "web", "cron.service" },
		{ "0::/", "/", "", "" },
		/* v1 */
		{ "12:pids:/docker/" ID "\n3:cpu,cpuacct:/docker/" ID "\n1:name=systemd:/docker/" ID
		  "\n",
		  "/docker/" ID, ID, "" },
		{ "5:memory:/lxc/web\n1:name=systemd:/\n", "/lxc/web", "web", "" },
		{ "4:memory:/kubepods/burstable/pod1/" ID "\n1:name=systemd:/a.service\n",
		  "/a.service", ID, "a.service" },
		{ "4:memory:/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" ID
		  "\n",
		  "/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" ID, ID,
		  "containerd.service" },
		/* hybrid: systemd's own hierarchy has the path, the unified one is empty */
		{ "4:memory:/\n1:name=systemd:/system.slice/cron.service\n0::/\n",
		  "/system.slice/cron.service", "", "cron.service" },
		{ "7:blkio:/odd/one\n0::/\n", "/odd/one", "", "" },
		/* malformed */
		{ "", "/", "", "" },
		{ "malformed\n::\n1:2\n", "/", "", "" },
		{ "0::/docker/0123456789abcdef", "/docker/0123456789abcdef", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cgroup_names names = cgroup_names_of(str_from(rows[i].text));

		if (!str_eq(names.path, str_from(rows[i].path)) ||
		    !str_eq(names.container_id, str_from(rows[i].container_id)) ||
		    !str_eq(names.unit, str_from(rows[i].unit)))
			fail_msg("%s: path " STR_FMT ", container " STR_FMT ", unit " STR_FMT,
				 rows[i].text, STR_ARG(names.path), STR_ARG(names.container_id),
				 STR_ARG(names.unit));
	}
}

static void the_domain_is_a_user_or_a_container_and_not_a_name_that_users_choose(void **state)
{
	static const struct {
		const char *text, *domain;
	} rows[] = {
		{ "0::/user.slice/user-7.slice/user@7.service/app.slice/a.service",
		  "user-7.slice" },
		{ "0::/user.slice/user-7.slice/user@7.service/user.slice/libpod-" ID ".scope",
		  "user-7.slice" },
		{ "0::/user.slice/user-0.slice/session-3.scope", "" },
		{ "0::/user.slice/user-0.slice/session-3.scope/docker-" ID ".scope", ID },
		{ "0::/system.slice/docker-" ID ".scope/user.slice/user-7.slice", ID },
		{ "0::/system.slice/nginx.service", "" },
		{ "0::/", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cgroup_names names = cgroup_names_of(str_from(rows[i].text));

		assert_true(str_eq(names.domain, str_from(rows[i].domain)));
	}
}

RUN_TESTS(TEST(finds_path_container_and_unit),
	  TEST(the_domain_is_a_user_or_a_container_and_not_a_name_that_users_choose))
