#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIRECTORY - Debian's newest kernels of each line we promise to run on, as DIRECTORY/NAME.
#
# A package is only downloaded and opened: nothing is installed, and neither the apt sources nor the
# lists of this machine are touched. They are asked of the mirror that it uses itself, 5.10 as the
# release before. A kernel that cannot be had is one line, and no failure: the test says so too.
set -euo pipefail
export LC_ALL=C

directory=${1:?DIRECTORY}
kernels='
5.10-cloud   ^linux-image-5\.10\.[0-9.-]+-cloud-amd64$
6.1-cloud    ^linux-image-6\.1\.[0-9.-]+-cloud-amd64$
6.12-cloud   ^linux-image-6\.12\.[0-9.]+\+deb12-cloud-amd64$
6.12-rt      ^linux-image-6\.12\.[0-9.]+\+deb12-rt-amd64$
'

mkdir -p "$directory"
directory=$(realpath "$directory")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,cache}/partial "$work"/cache/archives/partial
options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
	-o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)

# "http://mirror/debian bookworm" becomes a source of it, and one of bullseye.
read_lists() {
	apt-get indextargets --format "\$(REPO_URI) \$(RELEASE)" 'Identifier: Packages' | sort -u |
		while read -r uri suite; do
			case $suite in bookworm | bookworm-security) ;; *) continue ;; esac
			for release in bookworm bullseye; do
				echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
					"$uri $release${suite#bookworm} main"
			done
		done >"$work/sources.list"
	apt-get -q "${options[@]}" update >"$work/log" 2>&1 </dev/null ||
		echo "kernels: some lists of packages cannot be had: $(grep -m1 '^[EW]:' "$work/log")" >&2
}

fetch() {
	local name=$1 pattern=$2 package
	package=$(apt-cache "${options[@]}" search --names-only "$pattern" | cut -d' ' -f1 |
		sort -V | tail -1)
	[ -n "$package" ] || return 1
	(cd "$work" && apt-get -q "${options[@]}" download "$package") >"$work/log" 2>&1 </dev/null || return 1
	mkdir "$work/$name"
	dpkg-deb --fsys-tarfile "$work/$package"_*.deb |
		tar -x -C "$work/$name" --wildcards './boot/vmlinuz-*' || return 1
	mv "$work/$name"/boot/vmlinuz-* "$directory/$name"
	echo "kernels: $name is ${package#linux-image-}"
}

while read -r name pattern; do
	if [ -z "$name" ] || [ -e "$directory/$name" ]; then continue; fi
	if [ ! -e "$work/sources.list" ]; then read_lists; fi
	fetch "$name" "$pattern" || echo "kernels: $name cannot be had from this machine's mirror" >&2
done <<<"$kernels"
