# SPDX-License-Identifier: Apache-2.0
"""fake_symbolizer - a symbolizer in this process, written with protoc's classes. It fails as its
`mood` requires:

    with FakeSymbolizer(protos) as fake:
        fake.names["aa" * 20, 0x1000] = [("main", "/src/a.c", 3)]     # innermost first
        fake.mood = "hangs"
"""
import contextlib
import http.server
import threading
import time

MOODS = ("well", "hangs", "garbage", "fewer", "fewer_binaries", "error", "slow_bytes", "nothing")
NO_DEBUG_INFO, NO_SYMBOL = 1, 2


class FakeSymbolizer:
    def __init__(self, protos):
        self.protos = protos.symbolize
        self.names = {}        # (build id, address) -> lines: (function, file, line)
        self.generations = {}  # build id -> its generation; without one there is no debug file
        self.mood = "well"
        self.questions = []    # the requests: [{build id: addresses}]
        self.waiting = 0       # requests without a response
        self._go_on = threading.Event()
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fake.waiting += 1
                with contextlib.suppress(OSError):
                    fake.answer(self, body)
                fake.waiting -= 1

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._go_on.set()
        self.server.shutdown()
        self.server.server_close()

    def name(self, build_id, address, *lines, generation=1):
        self.names[build_id, address] = lines
        self.generations[build_id] = generation

    def answer(self, handler, body):
        request = self.protos.SymbolizeRequest.FromString(body)
        self.questions.append({b.build_id.decode(): list(b.addresses) for b in request.requests})
        reply = self.reply(request)
        if self.mood == "hangs":
            self._go_on.wait(120)
        if self.mood == "nothing":
            handler.close_connection = True
            return
        if self.mood == "garbage":
            reply = b"\xff" * 100
        handler.send_response(500 if self.mood == "error" else 200)
        handler.send_header("Content-Length", str(len(reply)))
        handler.end_headers()
        if self.mood == "slow_bytes":
            for i in range(len(reply)):
                handler.wfile.write(reply[i:i + 1])
                time.sleep(0.2)
        else:
            handler.wfile.write(reply)

    def reply(self, request):
        response = self.protos.SymbolizeResponse(strings=[b""])
        numbers = {}

        def text(value):
            if value not in numbers:
                numbers[value] = len(response.strings)
                response.strings.append(value.encode())
            return numbers[value]

        for one in request.requests:
            build_id = one.build_id.decode()
            result = response.responses.add(generation=self.generations.get(build_id, 0))
            if build_id not in self.generations:
                result.reason = NO_DEBUG_INFO
            for address in one.addresses:
                location = result.locations.add()
                for function, file, line in self.names.get((build_id, address), ()):
                    location.lines.add(function=text(function), system_name=text(f"_{function}"),
                                       file=text(file), line=line, start_line=1)
                if not location.lines:
                    location.reason = result.reason or NO_SYMBOL
            if self.mood == "fewer" and result.locations:
                del result.locations[-1]
        if self.mood == "fewer_binaries":
            del response.responses[-1]
        return response.SerializeToString()
