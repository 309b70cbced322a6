# The fleet's images, one target each: agent, ingester, symbolizer, debuginfo, querier, and front, the
# reverse proxy. compose.yaml builds and runs all of them. To build one image:
#
#     docker build --target querier -t decima-querier .
#
# It works with any builder: no syntax line, no here-documents, no mounts.

# The web page, built with the Node version that Debian has.
FROM node:18-bookworm-slim AS page
WORKDIR /page
COPY services/querier/web/package.json services/querier/web/package-lock.json services/querier/web/.npmrc ./
RUN npm ci --loglevel=error
COPY services/querier/web ./
RUN npm run build --silent

FROM debian:bookworm-slim AS build
WORKDIR /src
COPY tools/deps.sh tools/
RUN tools/deps.sh building && rm -rf /var/lib/apt/lists/*
COPY . .
COPY --from=page /page/dist services/querier/web/dist
RUN meson setup build --prefix=/usr -Dtests=false -Dpage=built \
	&& ninja -C build && DESTDIR=/out meson install -C build --no-rebuild

# The base of all services: libraries and a user.
FROM debian:bookworm-slim AS service
RUN apt-get -q update && apt-get -q -y install --no-install-recommends libmicrohttpd12 \
	&& rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin \
	&& groupadd -g 10001 decima && useradd -u 10001 -g decima -M -d /nonexistent -s /usr/sbin/nologin decima

FROM service AS agent
RUN apt-get -q update && apt-get -q -y install --no-install-recommends \
		ca-certificates libbpf1 libcurl4 libelf1 libjansson4 libprotobuf-c1 librdkafka1 libseccomp2 \
	&& rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin && install -d -m 750 /var/lib/decima-agent
COPY --from=build /out/usr/bin/decima-agent* /usr/bin/
RUN decima-agent --version
VOLUME /var/lib/decima-agent
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["decima-agent", "--healthcheck"]
ENTRYPOINT ["decima-agent"]

FROM service AS ingester
RUN apt-get -q update && apt-get -q -y install --no-install-recommends libpq5 libprotobuf-c1 librdkafka1 \
	&& rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
COPY --from=build /out/usr/bin/decima-ingester /usr/bin/
RUN decima-ingester --version
USER decima
ENV DECIMA_HTTP_ADDRESS=:7072
EXPOSE 7072
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["decima-ingester", "--healthcheck"]
ENTRYPOINT ["decima-ingester"]

FROM service AS symbolizer
RUN apt-get -q update && apt-get -q -y install --no-install-recommends \
		ca-certificates libcurl4 libdebuginfod1 libhiredis0.14 libjansson4 libprotobuf-c1 libseccomp2 \
	&& rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin \
	&& install -d -o decima -g decima -m 750 /var/lib/decima-symbolizer
COPY --from=build /out/usr/bin/decima-symbolizer* /usr/bin/
RUN decima-symbolizer --version
USER decima
VOLUME /var/lib/decima-symbolizer
ENV DECIMA_HTTP_ADDRESS=:7073
EXPOSE 7073
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["decima-symbolizer", "--healthcheck"]
ENTRYPOINT ["decima-symbolizer"]

FROM service AS debuginfo
RUN apt-get -q update && apt-get -q -y install --no-install-recommends \
		ca-certificates libcurl4 libjansson4 libssl3 \
	&& rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin \
	&& install -d -o decima -g decima -m 750 /var/lib/decima-debuginfo
COPY --from=build /out/usr/bin/decima-debuginfo /usr/bin/
RUN decima-debuginfo --version
USER decima
VOLUME /var/lib/decima-debuginfo
ENV DECIMA_HTTP_ADDRESS=:8002
EXPOSE 8002
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["decima-debuginfo", "--healthcheck"]
ENTRYPOINT ["decima-debuginfo"]

FROM service AS querier
RUN apt-get -q update && apt-get -q -y install --no-install-recommends \
		ca-certificates libcurl4 libjansson4 libpq5 libprotobuf-c1 \
	&& rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
COPY --from=build /out/usr/bin/decima-querier /usr/bin/
RUN decima-querier --version
USER decima
ENV DECIMA_HTTP_ADDRESS=:7070
EXPOSE 7070
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["decima-querier", "--healthcheck"]
ENTRYPOINT ["decima-querier"]

FROM haproxy:2.6 AS front
COPY deploy/compose/haproxy.cfg /usr/local/etc/haproxy/haproxy.cfg
RUN haproxy -c -f /usr/local/etc/haproxy/haproxy.cfg
