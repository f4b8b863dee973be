import 'reflect-metadata';
import { type Logger, SUB_AGENT_QUEUE } from '@mailroom/contracts';
import { FrameworkLogger, HostNode, type Service, urlOf } from '@mailroom/hosting';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { appModule } from './app.module';
import type { WorkerConfig } from './config';

/**
 * Starts a worker: hosts sub-agents, and answers health checks. Throws an `AppError` with the way out when the store
 * or the settings are not right.
 */
export async function createWorker(config: WorkerConfig, logger: Logger): Promise<Service> {
  const node = await HostNode.start(config.node, SUB_AGENT_QUEUE, logger);
  let app: INestApplication | undefined;
  // In this order: agents are handed over, consumers close, connections close.
  const close = async () => {
    await node.handOver();
    await app?.close();
    await node.close();
  };
  try {
    app = await NestFactory.create(appModule(node), { logger: new FrameworkLogger(logger), abortOnError: false });
    await app.listen(config.port, config.address);
    const url = urlOf(app.getHttpServer());
    logger.info({ url }, 'worker listens');
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
