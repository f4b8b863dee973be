import type { AgentMessage, SessionEvent } from '@mailroom/contracts';
import { type Paint, paint } from './paint';

/** The text of one message takes at most this many lines of this many characters. */
const TEXT_LINES = 6;
const TEXT_WIDTH = 96;
const INDENT = ' '.repeat(9);

/** Messages and handoffs themselves show what these tools did. */
const SILENT_TOOLS = /^(send_message|wait_for_messages|answer_question|subagent_.+)$/;

const AGENT_COLORS: readonly Paint[] = ['green', 'yellow', 'magenta', 'blue', 'red'];

export interface DemoViewOptions {
  color: boolean;
}

/**
 * Turns a session's events, in order, into lines for a terminal: who writes to whom (type, thread, text), who loads
 * where and why they leave, tools, handoffs, run status. Events with nothing to see give no line.
 */
export function createDemoView({ color }: DemoViewOptions): (event: SessionEvent) => string[] {
  const colors = new Map<string, Paint>([['lead', 'cyan']]);
  let startedAt: number | undefined;

  const dim = (text: string) => paint(text, 'dim', color);
  const name = (agent: string) => {
    if (agent === 'user' || agent === 'system') return paint(agent, 'bold', color);
    const known = colors.get(agent);
    const chosen = known ?? AGENT_COLORS[(colors.size - 1) % AGENT_COLORS.length] ?? 'green';
    if (!known) colors.set(agent, chosen);
    return paint(agent, chosen, color);
  };
  const fact = (mark: string, text: string) => `${mark} ${text}`;

  const lines = (event: SessionEvent): string[] => {
    const { data } = event;
    const agent = event.agentId ?? 'lead';
    switch (event.event) {
      case 'am':
      case 'ar':
      case 'ap':
      case 'ac':
        return messageLines(data as Partial<AgentMessage>, name, dim);
      case 'as':
        return data.reload
          ? [fact('↻', `${name(agent)} is loaded again, with its memory, on ${data.host}`)]
          : [fact('▶', `${name(agent)} is loaded on ${data.host}`)];
      case 'ax':
        return [fact('■', `${name(agent)} leaves: ${data.reason}`)];
      case 'rs':
        return [
          fact('●', `the run is ${paint(String(data.status), 'bold', color)}${data.reason ? ` (${data.reason})` : ''}`),
        ];
      case 'ts':
        if (SILENT_TOOLS.test(String(data.name))) return [];
        return [dim(fact('·', `${agent} uses ${data.name} ${clip(argumentText(data.arguments), TEXT_WIDTH)}`))];
      case 'hs':
        return [fact('↳', `${name(agent)} calls ${name(String(data.to))} with ${data.tool}`)];
      case 'he':
        return [fact('↲', `the call of ${name(String(data.to))} by ${name(agent)} is ${outcomeOf(data)}`)];
      case 'w':
        return [dim(fact('…', `${agent} waits for the ${data.for}${data.seconds ? `, ${data.seconds} s` : ''}`))];
      case 'ae':
        return [fact('!', paint(`${agent}: a message was refused: ${data.code}: ${data.message}`, 'red', color))];
      case 'reset':
        return [fact('!', paint('earlier events are no longer kept', 'red', color))];
      default:
        return [];
    }
  };

  return (event) => {
    const at = Date.parse(event.at);
    startedAt ??= at;
    const [first, ...rest] = lines(event);
    if (first === undefined) return [];
    const clock = `${((at - startedAt) / 1000).toFixed(2).padStart(6)}s`;
    return [`${dim(clock)}  ${first}`, ...rest.map((line) => `${INDENT}${line}`)];
  };
}

/** `completed, 2 attempts, 1.2 s`: a handoff's end. */
function outcomeOf({ status, attempts, durationMs }: Record<string, unknown>): string {
  const tries = Number(attempts) > 1 ? `, ${attempts} attempts` : '';
  return `${status}${tries}, ${(Number(durationMs) / 1000).toFixed(1)} s`;
}

function messageLines(
  message: Partial<AgentMessage>,
  name: (agent: string) => string,
  dim: (text: string) => string,
): string[] {
  const { from = '?', to = '?', type = '?', msgId, inReplyTo, content = '', status, late } = message;
  const thread = `${shortId(msgId)}${inReplyTo ? ` ← ${shortId(inReplyTo)}` : ''}`;
  const notes = [type, status !== undefined && status !== 'ok' && status, late && 'late'].filter(Boolean).join(', ');
  const gap = ' '.repeat(Math.max(1, 18 - from.length - to.length));
  const head = `✉ ${name(from)} → ${name(to)}${gap}${notes.padEnd(13)} ${dim(thread)}`;
  return [head, ...wrap(content).map((line) => `  ${line}`)];
}

/** `msg_9f3c51aa07be` → `9f3c`. */
function shortId(msgId: string | undefined): string {
  return (msgId ?? '').replace(/^msg_/, '').slice(0, 4);
}

function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

function clip(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

/** Breaks a text at spaces; what does not fit in is counted in the last line. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const paragraph of text.trim().split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line && line.length + 1 + word.length > TEXT_WIDTH) {
        lines.push(line);
        line = '';
      }
      line += line ? ` ${word}` : word;
    }
    if (line.trim()) lines.push(line);
  }
  if (lines.length <= TEXT_LINES) return lines;
  return [...lines.slice(0, TEXT_LINES - 1), `… and ${lines.length - TEXT_LINES + 1} more lines`];
}
