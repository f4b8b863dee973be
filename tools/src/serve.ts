import { once } from 'node:events';
import { environment } from './environment';
import { startStack } from './stack';

const WORKERS = 2;

async function main(): Promise<void> {
  const { port } = environment();
  console.log('Starting Redis, a gateway and two workers …');
  const stack = await startStack({ gateways: 1, workers: WORKERS, port });
  const servers = [...stack.gateways, ...stack.workers];
  const url = stack.gateways[0]?.url;
  console.log(`
  API         ${url}/api/v1
  Queues      ${url}/admin/queues
  Redis       ${stack.redis.url}
  Model       ${stack.model ? `${stack.model.url}/v1 (scripted; a real one: set OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL)` : environment().modelUrl}

Try it:
  curl -s '${url}/api/v1/sessions?wait=60' -H 'content-type: application/json' \\
    -d '{"leadAgentId": "coordinator", "input": "Make a Q2 competitive analysis report"}'
and watch it, with the session's id:
  curl -N ${url}/api/v1/sessions/<id>/events

Ctrl-C stops everything.`);

  const ended = servers.map(async ({ name, exited, output }) => {
    const { code, signal } = await exited;
    const lines = output().trim().split('\n').slice(-15).join('\n');
    return `${name} ended (${signal ?? `exit code ${code}`}):\n${lines}`;
  });
  const asked = ['SIGINT', 'SIGTERM'].map(async (name) => {
    await once(process, name);
    return undefined;
  });
  const failure = await Promise.race([...ended, ...asked]);
  console.log('\nStopping …');
  await stack.stop();
  if (failure) throw new Error(failure);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
