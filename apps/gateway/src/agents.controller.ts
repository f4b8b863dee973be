import type { ServerResponse } from 'node:http';
import { type AgentDefinition, AppError, agentDefinition, foldName } from '@mailroom/contracts';
import { HostNode } from '@mailroom/hosting';
import type { ListedAgent } from '@mailroom/mailbox';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Res } from '@nestjs/common';
import { handoffFaults } from './agents/handoff-check';
import { InvalidRequest } from './problem';
import { Space } from './space';

/** A definition, and whether it comes from a file. */
type AgentView = AgentDefinition & { readOnly: boolean };

/** Agent definitions of a space, and those that come from files. */
@Controller('api/v1/agents')
export class AgentsController {
  constructor(private readonly node: HostNode) {}

  @Get()
  async list(@Space() space: string): Promise<{ agents: AgentView[] }> {
    return { agents: (await this.node.requests.agents.list(space)).map(toView) };
  }

  @Post()
  async create(
    @Space() space: string,
    @Body({ schema: agentDefinition }) definition: AgentDefinition,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<AgentView> {
    this.check(definition);
    if (!(await this.node.requests.agents.create(space, definition)))
      throw new AppError('agent_exists', `the agent "${definition.id}" exists already: PUT replaces it`);
    response.setHeader('location', `/api/v1/agents/${encodeURIComponent(definition.id)}`);
    return { ...definition, readOnly: false };
  }

  @Get(':id')
  async read(@Space() space: string, @Param('id') id: string): Promise<AgentView> {
    const agents = await this.node.requests.agents.list(space);
    const agent = agents.find(({ definition }) => foldName(definition.id) === foldName(id));
    if (!agent) throw new AppError('agent_not_found', `there is no agent "${id}"`);
    return toView(agent);
  }

  @Put(':id')
  async replace(@Space() space: string, @Param('id') id: string, @Body() body: unknown): Promise<AgentView> {
    const parsed = agentDefinition.safeParse(typeof body === 'object' && body ? { id, ...body } : body);
    if (!parsed.success) throw InvalidRequest.from(parsed.error.issues);
    if (foldName(parsed.data.id) !== foldName(id))
      throw new InvalidRequest([{ path: 'id', message: `differs from "${id}" in the address` }]);
    this.check(parsed.data);
    await this.node.requests.agents.replace(space, parsed.data);
    return { ...parsed.data, readOnly: false };
  }

  @Delete(':id')
  @HttpCode(204)
  async remove(@Space() space: string, @Param('id') id: string): Promise<void> {
    await this.node.requests.agents.remove(space, id);
  }

  private check(definition: AgentDefinition): void {
    const faults = handoffFaults(definition, this.node);
    if (faults.length > 0) throw InvalidRequest.from(faults);
  }
}

function toView({ definition, readOnly }: ListedAgent): AgentView {
  return { ...definition, readOnly };
}
