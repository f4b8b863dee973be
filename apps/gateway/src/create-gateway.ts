import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, LEAD_QUEUE, type Logger } from '@mailroom/contracts';
import { FrameworkLogger, HostNode, type Service, traceRequest, urlOf } from '@mailroom/hosting';
import { StandardSchemaValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { readAgentFolder } from './agents/agent-folder';
import { appModule } from './app.module';
import type { GatewayConfig } from './config';
import { BODY_LIMIT, JSON_TYPES, parseJsonBody } from './json-body';
import { InvalidRequest } from './problem';
import { ProblemFilter } from './problem.filter';
import { assignRequestId } from './request-id';
import { Shutdown } from './shutdown';

/**
 * Starts a gateway: publishes the agents of files, hosts lead agents, listens. Throws an `AppError` with the way out
 * when the store, the settings or an agent file are not right.
 */
export async function createGateway(config: GatewayConfig, logger: Logger): Promise<Service> {
  const node = await HostNode.start(config.node, LEAD_QUEUE, logger);
  const shutdown = new Shutdown();
  let app: NestExpressApplication | undefined;
  // In this order: red, no more requests, streams end, agents are handed over, consumers close, connections close.
  const close = async () => {
    shutdown.begin();
    app?.getHttpServer().close();
    await node.handOver();
    await app?.close();
    await node.close();
  };
  try {
    await publishAgents(config.agentsDir, node);
    app = await createApp(config, node, shutdown);
    await app.listen(config.port, config.address);
    const url = urlOf(app.getHttpServer());
    logger.info({ url }, 'gateway listens');
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createApp(config: GatewayConfig, node: HostNode, shutdown: Shutdown): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(appModule(node, config, shutdown), {
    logger: new FrameworkLogger(node.logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(assignRequestId);
  app.use(closeAfterAnswer(shutdown));
  app.use(passHttp(node));
  app.use(traceHttp(node));
  app.useBodyParser('text', { type: JSON_TYPES, limit: BODY_LIMIT });
  app.use(parseJsonBody);
  app.useGlobalPipes(new StandardSchemaValidationPipe({ exceptionFactory: (issues) => InvalidRequest.from(issues) }));
  app.useGlobalFilters(new ProblemFilter(node));
  return app;
}

/** Middleware: a connection that outlives its answer would keep a stopping server open. */
function closeAfterAnswer(shutdown: Shutdown) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    response.once('finish', () => {
      if (shutdown.isStopping) request.socket.destroySoon();
    });
    next();
  };
}

/** Middleware: the places at which tests of faults end a gateway, around a request of a person. */
function passHttp({ probe }: HostNode) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (request.method === 'POST') {
      probe.pass('before', 'http');
      response.once('finish', () => probe.pass('after', 'http'));
    }
    next();
  };
}

/** Middleware: a span for each request that may start or change something. */
function traceHttp({ tracer }: HostNode) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (request.method === 'POST') traceRequest(tracer, request, response);
    next();
  };
}

async function publishAgents(dir: string, node: HostNode): Promise<void> {
  const { definitions, warnings, problems } = await readAgentFolder(dir, node);
  for (const warning of warnings) node.logger.warn({}, warning);
  if (problems.length > 0) throw new AppError('misconfigured', problems.join('\n'));
  await node.requests.agents.publishFiles(definitions);
}
