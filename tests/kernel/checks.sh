#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# checks.sh PROGRAMS OUT - what is asked of each kernel, by the shell of the guest or of this machine.
#
# PROGRAMS holds decima-agent and its builder of tables, burn, spawn, chains and busybox; into OUT go
# the profiles, the agent's log and exit status, its last metrics, and what the programs said of
# themselves. test_kernels.py judges.
set -u
programs=$1 out=$2
address=127.0.0.1:${3:-7071}
cd "$programs" || exit 1
mkdir -p "$out/profiles"

./decima-agent --local-store-directory="$out/profiles" --profiling-duration=2s \
	--http-address="$address" --log-level=debug 2>"$out/agent.log" &
agent=$!
waited=0
until ./decima-agent --http-address="$address" --healthcheck 2>/dev/null; do
	waited=$((waited + 1))
	if [ $waited -gt 300 ] || ! kill -0 $agent 2>/dev/null; then break; fi
	sleep 0.2
done

if kill -0 $agent 2>/dev/null; then
	./burn 5 >"$out/burn.json"
	./spawn 5 50 sh -c true >"$out/spawn.json"
	for try in 1 2 3 4 5 6 7 8 9 10; do # until the tables of chains and what it maps are loaded
		./chains calls 1
		sleep 2.5
		./busybox wget -q -O - "http://$address/metrics" |
			grep -q '^decima_agent_unwind_tables_waiting 0$' && break
		echo "tables are still waited for, try $try"
	done
	for kind in recursion/60 recursion/150 recursion/400 signal/1 kernel/1; do
		./chains "${kind%/*}" 2 "${kind#*/}" &
		echo $! >"$out/chains-${kind%/*}-${kind#*/}"
		wait $!
	done
	sleep 2.5 # an interval's end, so that the metrics speak of all of it
	./busybox wget -q -O "$out/metrics" "http://$address/metrics"
	kill -TERM $agent 2>/dev/null
fi
wait $agent
echo $? >"$out/status"
uname -r >"$out/release"
