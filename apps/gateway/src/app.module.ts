import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { BullBoardModule } from '@bull-board/nestjs';
import { HostNode } from '@mailroom/hosting';
import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { AgentsController } from './agents.controller';
import type { GatewayConfig } from './config';
import { consumerClasses } from './consumers';
import { EventStream } from './event-stream';
import { EventsController } from './events.controller';
import { HealthController } from './health.controller';
import { RecordsController } from './records.controller';
import { RunWaiter } from './run-waiter';
import { SessionService } from './session-service';
import { SessionsController } from './sessions.controller';
import { Shutdown } from './shutdown';
import { TraceController } from './trace.controller';
import { UsageController } from './usage.controller';

@Module({})
class AppModule {}

/** The composition root. */
export function appModule(node: HostNode, config: GatewayConfig, shutdown: Shutdown): DynamicModule {
  return {
    module: AppModule,
    imports: [
      BullModule.forRoot(node.bullmq),
      // The queues are the node's; without any, this brings only what starts the consumers.
      BullModule.registerQueue(),
      BullBoardModule.forRoot({ route: '/admin/queues', adapter: ExpressAdapter }),
      BullBoardModule.forFeature(
        ...node.queues.map((queue) => ({ queue, adapter: BullMQAdapter, options: { readOnlyMode: true } })),
      ),
    ],
    controllers: [
      SessionsController,
      RecordsController,
      UsageController,
      TraceController,
      EventsController,
      AgentsController,
      HealthController,
    ],
    providers: [
      { provide: HostNode, useValue: node },
      { provide: Shutdown, useValue: shutdown },
      { provide: SessionService, useValue: new SessionService(node, config.sessions) },
      { provide: RunWaiter, useValue: new RunWaiter(node, shutdown) },
      { provide: EventStream, useValue: new EventStream(node, shutdown, config.ssePingMs) },
      ...consumerClasses(node),
    ],
  };
}
