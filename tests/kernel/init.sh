#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# What a guest of guest.py does: the checks, then all they left goes out through the second serial
# line, and the machine is switched off.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t securityfs security /sys/kernel/security
ip link set lo up
mkdir /tmp/out
echo "guest: $(uname -r) began after $(cut -d' ' -f1 /proc/uptime) s"
sh /decima/checks.sh /decima /tmp/out
stty -F /dev/ttyS1 raw
tar -C /tmp/out -c . >/dev/ttyS1
echo "guest: done after $(cut -d' ' -f1 /proc/uptime) s"
poweroff -f
