# One image for every app; docker-compose.yml chooses by its command.
FROM node:20-slim AS build
WORKDIR /app
COPY . .
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
RUN npx nx run-many -t build --outputStyle=static -p @mailroom/gateway @mailroom/worker @mailroom/scripted-model
RUN npm prune --omit=dev --no-audit --no-fund && rm -rf apps/*/src libs/*/src

FROM node:20-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/libs ./libs
COPY --from=build /app/apps ./apps
COPY --from=build /app/agents ./agents
USER node
CMD ["node", "apps/gateway/dist/main.js"]
