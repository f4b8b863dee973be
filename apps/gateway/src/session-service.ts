import { hash, randomUUID } from 'node:crypto';
import {
  type AgentDefinition,
  AppError,
  type Budget,
  foldName,
  LEAD,
  type OpenSessionBody,
  type PostMessageBody,
  type SessionDetail,
  type SessionSummary,
  type UsageRow,
} from '@mailroom/contracts';
import type { HostNode, RequestDoor } from '@mailroom/hosting';
import { derivedMessageId, type SendReceipt, type SessionSettings } from '@mailroom/mailbox';

/** A session that was opened, or had been by the same request; `runId` when it began with an input. */
export interface OpenedSession {
  id: string;
  status: 'open' | 'closed';
  leadAgentId: string;
  runId?: string;
}

/** What a request says beside its body. */
export interface RequestHead {
  readonly idempotencyKey: string | undefined;
  /** Where the message that it sends comes from in a distributed trace. */
  readonly traceparent: string | undefined;
}

/** What people do with sessions. Every method throws `not_found` for a session of another space, as for none. */
export class SessionService {
  private readonly door: RequestDoor;

  constructor(
    node: HostNode,
    private readonly settings: Partial<SessionSettings>,
  ) {
    this.door = node.requests;
  }

  /**
   * Opens a session; with a key the same request opens it once. Throws `agent_not_found`, `agent_unavailable` or
   * `idempotency_conflict`.
   */
  async open(space: string, body: OpenSessionBody, head: RequestHead): Promise<OpenedSession> {
    const { idempotencyKey: key, traceparent } = head;
    const lead = await this.leadOf(space, body.leadAgentId);
    const id = `ses_${key === undefined ? randomUUID().replaceAll('-', '') : digest([space, key]).slice(0, 32)}`;
    const status = await this.door.mailbox.openSession({
      id,
      space,
      leadAgentId: lead.id,
      roster: lead.subAgents,
      metadata: body.metadata,
      fingerprint: digest(body),
      settings: {
        ...this.settings,
        wakeOn: lead.wakeOn,
        ...limitsOf(body.budget),
      },
    });
    await this.door.sessions.register(space, id);
    if (body.input === undefined) return { id, status, leadAgentId: lead.id };
    const { runId } = await this.door.mailbox.send(id, {
      from: 'user',
      to: LEAD,
      type: 'task',
      content: body.input,
      msgId: derivedMessageId(id, 'input'),
      ...(traceparent !== undefined && { traceparent }),
    });
    return { id, status, leadAgentId: lead.id, runId };
  }

  /** A user's message. Throws the refusals of R4, R18 and R21. */
  async post(space: string, sessionId: string, body: PostMessageBody, head: RequestHead): Promise<SendReceipt> {
    const { idempotencyKey: key, traceparent } = head;
    await this.summary(space, sessionId);
    return this.door.mailbox.send(sessionId, {
      from: 'user',
      to: LEAD,
      type: 'task',
      ...body,
      ...(key !== undefined && { msgId: derivedMessageId(sessionId, 'key', key) }),
      ...(traceparent !== undefined && { traceparent }),
    });
  }

  async cancel(space: string, sessionId: string, reason: string | undefined): Promise<string | undefined> {
    await this.summary(space, sessionId);
    return this.door.mailbox.cancelRun(sessionId, reason ?? 'cancel_requested');
  }

  async cancelAgent(space: string, sessionId: string, agent: string, reason: string | undefined): Promise<void> {
    const name = await this.memberOf(space, sessionId, agent);
    await this.door.mailbox.cancelAgent(sessionId, name, reason ?? 'cancel_requested');
  }

  /** Ends a session; one that has ended stays so. */
  async close(space: string, sessionId: string): Promise<void> {
    await this.summary(space, sessionId);
    await this.door.mailbox.closeSession(sessionId);
  }

  async summary(space: string, sessionId: string): Promise<SessionSummary> {
    return found(isSessionId(sessionId) && (await this.door.sessions.summary(space, sessionId)), sessionId);
  }

  /** The session's account, which stays readable for longer than the session. */
  async account(space: string, sessionId: string): Promise<UsageRow[]> {
    return found(isSessionId(sessionId) && (await this.door.accounts.ofSession(space, sessionId)), sessionId);
  }

  async detail(space: string, sessionId: string): Promise<SessionDetail> {
    return found(isSessionId(sessionId) && (await this.door.sessions.detail(space, sessionId)), sessionId);
  }

  /** The address of a member as the session writes it. Throws `not_found`. */
  async memberOf(space: string, sessionId: string, agent: string): Promise<string> {
    const { agents } = await this.detail(space, sessionId);
    const member = agents.find(({ id }) => foldName(id) === foldName(agent));
    if (!member) throw new AppError('not_found', `the session has no agent "${agent}"`);
    return member.id;
  }

  private async leadOf(space: string, id: string): Promise<AgentDefinition> {
    const definitions = await this.door.agents.current();
    const [lead] = await definitions.find(space, [id]);
    if (!lead) throw new AppError('agent_not_found', `there is no agent "${id}": GET /api/v1/agents lists them`);
    if (lead.status !== 'ACTIVE') throw new AppError('agent_unavailable', `the agent "${id}" is not ACTIVE`);
    return lead;
  }
}

/** A budget as the session keeps it; `budgeted`: the session as a whole has one, which deeper layers ask for (R20). */
function limitsOf({ calls, tokens, cost, run = {} }: Budget): Partial<SessionSettings> {
  return {
    budgeted: (calls ?? tokens ?? cost) ? 1 : 0,
    ...(calls !== undefined && { callLimit: calls }),
    ...(tokens !== undefined && { tokenLimit: tokens }),
    ...(cost !== undefined && { costLimit: cost }),
    ...(run.calls !== undefined && { runCallLimit: run.calls }),
    ...(run.tokens !== undefined && { runTokenLimit: run.tokens }),
    ...(run.cost !== undefined && { runCostLimit: run.cost }),
  };
}

function isSessionId(id: string): boolean {
  return /^ses_[0-9a-f]{32}$/.test(id);
}

function found<T>(value: T | false | undefined, sessionId: string): T {
  if (value) return value;
  throw new AppError('not_found', `there is no session "${sessionId}"`);
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value));
}
