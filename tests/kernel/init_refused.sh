#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# A guest where the agent cannot work: booted with lockdown=confidentiality, and then without types.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t securityfs security /sys/kernel/security
ip link set lo up
mkdir -p /tmp/out /tmp/none
timeout 30 /decima/decima-agent --local-store-directory=/tmp/none 2>/tmp/out/locked
mount -o bind /tmp/none /sys/kernel/btf
timeout 30 /decima/decima-agent --local-store-directory=/tmp/none 2>/tmp/out/typeless
stty -F /dev/ttyS1 raw
tar -C /tmp/out -c . >/dev/ttyS1
poweroff -f
