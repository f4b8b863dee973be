export { freePort } from './free-port';
export { type ProcessExit, type ProcessOptions, type RunningProcess, startProcess } from './process-group';
export { type RedisOptions, type RunningRedis, startRedis } from './redis-launcher';
export { type EventsOptions, type OpenedSession, RefusedError, SessionClient } from './session-client';
export { type RunningServer, type Stack, type StackOptions, startStack } from './stack';
export { testRedis } from './test-redis';
