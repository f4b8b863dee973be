import { runService } from '@mailroom/hosting';
import { pino } from 'pino';
import { readConfig } from './config';
import { createWorker } from './create-worker';

void runService('worker', () => {
  const config = readConfig();
  return createWorker(config, pino({ level: config.logLevel, base: { host: config.node.host } }));
});
