#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Install the Debian 12 packages that Decima's build, stack and tests need and that are missing.
#
#     tools/deps.sh [GROUP...]     without a group: all except kernels and docker
#
# "package=command" means that the command may also come from elsewhere. If no package is missing, this
# ends at once and does not need root. No service is left running: tools/stack.py starts the servers
# of the stack and the tests, on ports of their own.
# shellcheck disable=SC2034  # the groups are read by name
set -euo pipefail
export LC_ALL=C

building=(
	build-essential=cc pkg-config meson ninja-build
	clang-14 llvm-14 libclang-rt-14-dev bpftool
	libbpf-dev libelf-dev libdw-dev librdkafka-dev libprotobuf-c-dev protobuf-c-compiler
	libpq-dev libmicrohttpd-dev libzstd-dev libxxhash-dev libpcre2-dev libjansson-dev
	zlib1g-dev libssl-dev libcurl4-openssl-dev libdebuginfod-dev libhiredis-dev libiberty-dev liblzma-dev
	libseccomp-dev
	python3
)
page=(nodejs=node npm=npm)
running=( # PostgreSQL, Redis, Kafka, whose jars come from Maven
	postgresql-15 redis-server maven=mvn openjdk-17-jre-headless=java
)
testing=(
	libcmocka-dev protobuf-compiler python3-pytest python3-psycopg python3-confluent-kafka
	python3-redis python3-protobuf chromium elfutils binutils curl prometheus=promtool debuginfod gdb
	python3-fusepy
	libc6-dbg libstdc++6-12-dbg dwz linux-perf=perf
	bc jq luajit ocaml-nox=ocamlopt ruby sqlite3 tcl=tclsh # programs whose stacks are walked
	musl-tools=musl-gcc libc6-arm64-cross libstdc++6-arm64-cross rustc=rustc golang-go=go golang-1.19-go=/usr/lib/go-1.19/bin/go openjdk-17-jdk-headless=javac
)
checking=(clang-format-14 clang-tidy-14 shellcheck cppcheck gcovr git linux-libc-dev-arm64-cross)
kernels=(qemu-system-x86=qemu-system-x86_64 busybox-static) # to boot other kernels: make test-kernels
docker=(runc iptables mmdebstrap xz-utils) # to run an engine for `make test-compose` if none is running

packages=()
for group in "${@:-building page running testing checking}"; do
	for name in $group; do
		case $name in building | page | running | testing | checking | kernels | docker) ;; *)
			echo "deps: there is no group $name" >&2
			exit 1 ;;
		esac
		declare -n listed=$name
		packages+=("${listed[@]}")
	done
done

# The packages that dpkg has not installed and whose command does not exist either.
missing() {
	local item package installed
	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]%%=*}" 2>/dev/null || true)
	for item in "${packages[@]}"; do
		package=${item%%=*}
		case $'\n'$installed$'\n' in *$'\n'"installed $package"$'\n'*) continue ;; esac
		case $item in *=*) if command -v "${item#*=}" >/dev/null; then continue; fi ;; esac
		echo "$package"
	done
}

die() {
	echo "deps: $*" >&2
	exit 1
}

command -v dpkg-query >/dev/null || die "this is not Debian: install by hand what tools/deps.sh lists"
mapfile -t wanted < <(missing)
if [ ${#wanted[@]} -eq 0 ]; then exit 0; fi
[ "$(id -u)" -eq 0 ] || die "these packages are missing, and only root can install them: ${wanted[*]}"

exec 9>/run/lock/decima-deps.lock
flock -n 9 || { echo "deps: another process is installing, waiting for it"; flock 9; }
mapfile -t wanted < <(missing)
if [ ${#wanted[@]} -eq 0 ]; then exit 0; fi

# During the installation a policy prevents packages from starting their services, and PostgreSQL from
# creating a cluster. Both are removed at the end; leftovers of a killed run are removed first.
policy=/usr/sbin/policy-rc.d
saved=$policy.before-decima
cluster=/etc/postgresql-common/createcluster.d/decima.conf
restore() {
	if grep -qs 'made by decima' $policy; then rm -f $policy; fi
	if [ -e $saved ]; then mv $saved $policy; fi
	rm -f $cluster
}
restore
trap restore EXIT
trap 'exit 130' INT TERM HUP
if [ -e $policy ]; then mv $policy $saved; fi
printf '#!/bin/sh\n# made by decima for the time of one apt-get install\nexit 101\n' >$policy
chmod 755 $policy
mkdir -p ${cluster%/*}
echo 'create_main_cluster = false' >$cluster
mkdir -p /usr/share/man/man1 # missing in slim images, but Java's postinst needs it

log=$(mktemp)
install() {
	DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -y \
		-o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold \
		install --no-install-recommends "${wanted[@]}" </dev/null >"$log" 2>&1
}
echo "deps: installing ${#wanted[@]} packages: ${wanted[*]}"
if ! install; then
	echo "deps: installation failed, retrying after apt-get update"
	apt-get -q -o DPkg::Lock::Timeout=300 update </dev/null >"$log" 2>&1 ||
		{ tail -15 "$log" >&2; die "apt-get update failed (log: $log)"; }
	install || { tail -15 "$log" >&2; die "apt-get install failed (log: $log)"; }
fi
rm -f "$log"
echo "deps: done in $SECONDS s"
