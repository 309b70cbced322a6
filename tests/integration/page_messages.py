# SPDX-License-Identifier: Apache-2.0
"""page_messages - profiles for tests of the web page: frames with and without symbols, several
binaries and services."""
import math
import random

from otlp_messages import CPU, PERIOD, Message

KERNEL = "[kernel]"


def page_message(protos, comm, stacks, node="web-1", path=None, build_id="c0ffee" * 6, at_ms=0,
                 apart_ms=1):
    """ProfilesData of one process.

    `stacks` is [((root, ..., leaf), ticks)]. A frame is a name, (name, file), (name, file, path of
    another binary), or an address in `path`. The last sample is at at_ms; samples are apart_ms
    milliseconds apart.
    """
    message = Message(protos)
    dictionary, string = message.dictionary, message.string
    path = path or f"/usr/bin/{comm}"
    locations, mappings = {}, {path: 1}

    def mapping(binary):
        if binary not in mappings:
            mappings[binary] = len(dictionary.mapping_table)
            dictionary.mapping_table.add(filename_strindex=string(binary))
        return mappings[binary]

    def location(frame):
        if frame in locations:
            return locations[frame]
        if isinstance(frame, int):
            dictionary.location_table.add(mapping_index=1, address=frame,
                                          attribute_indices=[native])
        else:
            name, file, binary = (*frame, "", "", "")[:3] if isinstance(frame, tuple) else (
                frame, "", "")
            dictionary.function_table.add(name_strindex=string(name),
                                          filename_strindex=string(file))
            made = dictionary.location_table.add(mapping_index=mapping(binary or path),
                                                 attribute_indices=[managed])
            made.lines.add(function_index=len(dictionary.function_table) - 1)
        locations[frame] = len(dictionary.location_table) - 1
        return locations[frame]

    build = message.attribute("process.executable.build_id.gnu", build_id)
    native = message.attribute("profile.frame.type", "native")
    managed = message.attribute("profile.frame.type", "go")
    dictionary.mapping_table.add(filename_strindex=string(path), attribute_indices=[build])
    profile = message.profile(CPU, {"host.name": node, "process.executable.name": comm,
                                    "process.executable.path": path, "service.name": comm},
                              period=PERIOD, time_unix_nano=at_ms * 1_000_000)
    for frames, ticks in stacks:
        indices = [location(frame) for frame in reversed(frames)]
        dictionary.stack_table.add(location_indices=indices)
        times = [(at_ms - i * apart_ms) * 1_000_000 for i in range(ticks)]
        profile.samples.add(stack_index=len(dictionary.stack_table) - 1,
                            timestamps_unix_nano=times)
    return message.data.SerializeToString()


# The call graph of a small web shop, for screenshots. A function is name or name@binary; its
# callees follow the `:`.
SHOP = {
    "shop": """
        runtime.main: main.main runtime.mcall
        main.main: net/http.(*Server).Serve
        net/http.(*Server).Serve: net/http.(*conn).serve
        net/http.(*conn).serve: net/http.serverHandler.ServeHTTP bufio.(*Writer).Flush
        net/http.serverHandler.ServeHTTP: shop/web.(*Router).ServeHTTP
        shop/web.(*Router).ServeHTTP: shop.(*API).Checkout shop.(*API).Search shop.(*API).Cart
        shop.(*API).Checkout: shop/price.(*Engine).Total database/sql.(*DB).Query
        shop/price.(*Engine).Total: shop/price.discounts math/big.(*Rat).Mul runtime.mallocgc
        shop.(*API).Search: shop/index.(*Index).Lookup encoding/json.Marshal regexp.doExecute
        shop/index.(*Index).Lookup: shop/index.intersect shop/index.(*Posting).decode sort.Slice
        shop.(*API).Cart: database/sql.(*DB).Query encoding/json.Unmarshal
        database/sql.(*DB).Query: lib/pq.(*conn).query database/sql.(*Rows).Scan
        lib/pq.(*conn).query: bufio.(*Writer).Flush lib/pq.(*readBuf).int32
        bufio.(*Writer).Flush: internal/poll.(*FD).Write
        internal/poll.(*FD).Write: syscall.Syscall
        syscall.Syscall: entry_SYSCALL_64@[kernel]
        entry_SYSCALL_64@[kernel]: do_syscall_64@[kernel]
        do_syscall_64@[kernel]: ksys_write@[kernel] ksys_read@[kernel]
        ksys_write@[kernel]: tcp_sendmsg@[kernel] fsnotify@[kernel]
        tcp_sendmsg@[kernel]: tcp_write_xmit@[kernel] copy_from_iter@[kernel]
        encoding/json.Marshal: encoding/json.structEncoder.encode runtime.mallocgc
        encoding/json.structEncoder.encode: encoding/json.stringEncoder reflect.Value.Field
        encoding/json.Unmarshal: encoding/json.(*decodeState).object
        runtime.mallocgc: runtime.(*mcache).nextFree runtime.gcAssistAlloc
        runtime.mcall: runtime.schedule runtime.gcBgMarkWorker
        runtime.gcBgMarkWorker: runtime.scanobject runtime.greyobject
        """,
    "postgres": """
        main: PostmasterMain
        PostmasterMain: BackendStartup
        BackendStartup: PostgresMain
        PostgresMain: exec_simple_query ReadCommand
        exec_simple_query: PortalRun pg_plan_queries pg_parse_query
        pg_plan_queries: standard_planner
        standard_planner: make_one_rel create_plan
        PortalRun: ExecutorRun
        ExecutorRun: ExecHashJoin ExecIndexScan ExecSort
        ExecHashJoin: ExecHashTableInsert ExecScanHashBucket hash_bytes
        ExecIndexScan: index_getnext_tid heapam_fetch
        index_getnext_tid: _bt_search _bt_checkkeys
        ExecSort: tuplesort_performsort
        tuplesort_performsort: qsort_tuple __memcmp_avx2@/lib/libc.so.6
        heapam_fetch: ReadBuffer heap_hot_search
        ReadBuffer: pread64@/lib/libc.so.6 hash_search
        pread64@/lib/libc.so.6: ksys_read@[kernel]
        ksys_read@[kernel]: ext4_file_read@[kernel]
        ext4_file_read@[kernel]: copy_page_to_iter@[kernel] filemap_get_pages@[kernel]
        """,
    "edge": """
        main: ngx_worker_process_cycle
        ngx_worker_process_cycle: ngx_epoll_process_events
        ngx_epoll_process_events: ngx_http_process_request ngx_ssl_handshake epoll_wait
        epoll_wait: do_epoll_wait@[kernel]
        ngx_http_process_request: ngx_http_upstream_send gzip_filter ngx_http_log_handler
        gzip_filter: deflate@/lib/libz.so.1
        deflate@/lib/libz.so.1: deflate_slow@/lib/libz.so.1 longest_match@/lib/libz.so.1
        ngx_ssl_handshake: SSL_do_handshake@/lib/libssl.so.3
        SSL_do_handshake@/lib/libssl.so.3: x25519@/lib/libcrypto.so.3 rsa_sign@/lib/libcrypto.so.3
        ngx_http_upstream_send: writev@/lib/libc.so.6
        writev@/lib/libc.so.6: tcp_sendmsg@[kernel]
        """}


def shop_stacks(service, count, seed):
    """{stack: ticks} of `count` random walks through the call graph; a seed repeats its walks."""
    chance, calls, found = random.Random(f"{service} {seed}"), {}, {}
    for line in SHOP[service].split("\n"):
        caller, _, callees = line.strip().partition(": ")
        if caller:
            calls[caller] = callees.split()
    for _ in range(count):
        at, stack = next(iter(calls)), []
        while at:
            name, _, binary = at.partition("@")
            stack.append((name, "", binary))
            below = calls.get(at, [])
            going = below and (len(stack) < 6 or chance.random() < 0.9)
            weights = [1 / (1 + i) for i in range(len(below))]
            at = chance.choices(below, weights)[0] if going else None
        found[tuple(stack)] = found.get(tuple(stack), 0) + 1
    return found


def shop_messages(protos, ends_ms, batches=360):
    """Messages of one hour of the shop, one every ten seconds, with a varying load."""
    for batch in range(batches):
        for at, service in enumerate(SHOP):
            share = (3, 2, 1)[at] * (2 + math.sin(batch / 48 + at)) * 9
            stacks = shop_stacks(service, round(share), batch)
            yield page_message(protos, service, list(stacks.items()), node=f"web-{batch % 2 + 1}",
                               path=f"/usr/bin/{service}", apart_ms=997,
                               at_ms=ends_ms - (batches - batch) * 10_000)
