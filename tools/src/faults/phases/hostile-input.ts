import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Phase } from '../phase';

const FLOOD = 10_000;
/** As many as a mailbox holds, and large enough that a reader who does not read is noticed. */
const LARGE = 50;

export const hostileInput: Phase = {
  name: 'hostile-input',
  about: 'a message of 1 MB, JSON 200,000 levels deep, 10,000 messages at once, a reader that does not read',
  lenient: true,
  async run(site) {
    const url = site.stand.gateways[0]?.url ?? '';
    const load = site.load({ sessions: 1, overMs: 0, input: () => 'Do it flood-me.', steering: 0, wandering: 0 });
    await load.accepted();
    const session = `${url}/api/v1/sessions/${load.ids[0]}`;
    const stalled = connect(Number(new URL(url).port), '127.0.0.1').pause();
    await once(stalled, 'connect');
    stalled.write(`GET ${new URL(session).pathname}/events HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n`);
    const post = (body: string) => answered(`${session}/messages`, body);
    const note = (what: string, status: number, expected: readonly number[]) =>
      site.history.write('answered', { what, status, expected });

    note('a message of 1 MB', await post(JSON.stringify({ content: 'x'.repeat(1_048_576) })), [413]);
    note('a message above the limit', await post(JSON.stringify({ content: 'x'.repeat(70_000) })), [400, 413]);
    note('JSON 100,000 levels deep', await post(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), [400, 413]);
    note('JSON 200,000 levels deep', await post(`${'['.repeat(200_000)}${']'.repeat(200_000)}`), [400, 413]);
    note('JSON that ends early', await post('{"content": "'), [400]);
    const statuses = new Map<number, number>();
    let sent = 0;
    const flood = async () => {
      while (sent < FLOOD) {
        const content = sent++ < LARGE ? 'x'.repeat(60_000) : 'Answer me!';
        const status = await post(JSON.stringify({ content }));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 16 }, flood));
    for (const [status, times] of statuses) {
      note('the flood', status, [202, 409, 429]);
      site.count(`answers ${status}`, times);
    }
    if (!statuses.has(429)) note('a full mailbox', 0, [429]);
    await sleep(500);
    stalled.destroy();
  },
};

/** The status of the answer. */
async function answered(url: string, body: string): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await response.arrayBuffer();
  return response.status;
}
