import type { AgentMessage, JournalEntry } from '@mailroom/contracts';
import { HostNode } from '@mailroom/hosting';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { type PageQuery, pageOf, pageQuery } from './paging';
import { type MessageTree, replyTrees } from './reply-trees';
import { SessionService } from './session-service';
import { Space } from './space';

const CHUNK = 500;

/** What was said and thought in a session. */
@Controller('api/v1/sessions/:id')
export class RecordsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly node: HostNode,
  ) {}

  @Get('messages')
  async messages(
    @Space() space: string,
    @Param('id') id: string,
    @Query({ schema: pageQuery }) query: PageQuery,
  ): Promise<{ messages: AgentMessage[]; next?: string }> {
    await this.sessions.summary(space, id);
    const { items, ...next } = await pageOf(query, (offset, count) => this.read(space, id, offset, count));
    return { messages: items, ...next };
  }

  @Get('threads')
  async threads(@Space() space: string, @Param('id') id: string): Promise<{ threads: MessageTree[] }> {
    await this.sessions.summary(space, id);
    const messages: AgentMessage[] = [];
    for (;;) {
      const chunk = await this.read(space, id, messages.length, CHUNK);
      messages.push(...chunk);
      if (chunk.length < CHUNK) return { threads: replyTrees(messages) };
    }
  }

  @Get('agents/:agent/journal')
  async journal(
    @Space() space: string,
    @Param('id') id: string,
    @Param('agent') agent: string,
  ): Promise<{ entries: JournalEntry[] }> {
    const name = await this.sessions.memberOf(space, id, agent);
    return { entries: (await this.node.requests.sessions.journal(space, id, name)) ?? [] };
  }

  private async read(space: string, id: string, offset: number, count: number): Promise<AgentMessage[]> {
    return (await this.node.requests.sessions.ledger(space, id, offset, count)) ?? [];
  }
}
