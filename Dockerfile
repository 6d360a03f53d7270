# syntax=docker/dockerfile:1

# The image has Node.js 24 itself, so neither the launcher nor the optional packages with a Node.js are needed.
# For builds that can be repeated, give it by its digest: --build-arg NODE_IMAGE=node:24-slim@sha256:…
ARG NODE_IMAGE=node:24-slim
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM ${NODE_IMAGE} AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
COPY scripts ./scripts
COPY console ./console
COPY docs ./docs
RUN node scripts/console.ts

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
COPY migrate ./migrate
COPY samples ./samples
COPY --from=console /app/console/built ./console/built
# The commands, with the settings of the container: `docker exec <container> crosswalk keys create …`
# The flags are those of bin/entry.js, with a small young generation in a container of less than 512 MB.
RUN printf '%s\n' '#!/bin/sh' \
      'young=16; limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null)' \
      'case $limit in [0-9]*) [ "$limit" -ge $((536870912 * ${WORKERS:-1})) ] || young=4 ;; esac' \
      'exec node --max-semi-space-size=$young --no-maglev /app/src/main.ts "$@"' > /usr/local/bin/crosswalk \
    && chmod 755 /usr/local/bin/crosswalk \
    && mkdir /data && chown node:node /data
USER node
VOLUME /data

# Messages come from outside of the container. The admin port stays within it, and endpoints can be managed from
# outside only once MANAGEMENT_AUTH is set.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=1 \
    HOST=0.0.0.0 \
    DATABASE_URL=sqlite:/data/crosswalk.db
EXPOSE 3003

HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3004/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# SIGTERM goes to the service itself: it finishes the messages under way (SHUTDOWN_TIMEOUT_MS, 30 s), so give it
# longer than that before it is killed: `docker stop --time 35`.
CMD ["crosswalk"]
