import { readConfig } from './config';
import { startScriptedModel } from './start-scripted-model';

async function main(): Promise<void> {
  const model = await startScriptedModel(readConfig());
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void model.close().then(() => process.exit(0)));
  process.stdout.write(`${model.url}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`scripted model: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
