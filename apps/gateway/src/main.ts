import { runService } from '@mailroom/hosting';
import { pino } from 'pino';
import { readConfig } from './config';
import { createGateway } from './create-gateway';

void runService('gateway', () => {
  const config = readConfig();
  return createGateway(config, pino({ level: config.logLevel, base: { host: config.node.host } }));
});
