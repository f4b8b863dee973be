import { HostNode } from '@mailroom/hosting';
import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { consumerClasses } from './consumers';
import { HealthController } from './health.controller';

@Module({})
class AppModule {}

/** The composition root. */
export function appModule(node: HostNode): DynamicModule {
  return {
    module: AppModule,
    imports: [
      BullModule.forRoot(node.bullmq),
      // The queues are the node's; without any, this brings only what starts the consumers.
      BullModule.registerQueue(),
    ],
    controllers: [HealthController],
    providers: [{ provide: HostNode, useValue: node }, ...consumerClasses(node)],
  };
}
