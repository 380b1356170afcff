# A browser host: what it loads of the service, and the programs that run, keep in and record browsers.
# docs/deployment/renew-digests renews the digest.
FROM quayside AS service
USER root
RUN node --disable-warning=ExperimentalWarning tools/browser-host-files.ts /srv/browser-host
FROM node:24.20.0-bookworm-slim@sha256:ba849c60be29959425b8734d57b8b4b7d56f98edd9504c9af091d5281095a71e
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    bubblewrap ca-certificates chromium ffmpeg fonts-dejavu-core fonts-liberation fonts-noto-color-emoji socat \
  && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --home-dir /var/lib/quayside --create-home --shell /usr/sbin/nologin quayside
WORKDIR /srv/quayside
COPY --from=service /srv/browser-host ./
# Stored objects are in DATA_DIR, unless they are in S3; folders of browsers are in /tmp.
ENV NODE_ENV=production \
  HOST=0.0.0.0 \
  DATA_DIR=/var/lib/quayside \
  BROWSER_HOST_PORT=3001 \
  MALLOC_ARENA_MAX=2 \
  MALLOC_MMAP_THRESHOLD_=131072
USER 10001:10001
VOLUME /var/lib/quayside
VOLUME /tmp
EXPOSE 3001
HEALTHCHECK --interval=10s --start-period=20s CMD ["node", "-e", "require('net').connect(process.env.BROWSER_HOST_PORT).on('connect', () => process.exit()).on('error', () => process.exit(1))"]
CMD ["node", "--expose-gc", "--max-semi-space-size=16", "activities/browser-host/main.ts"]
