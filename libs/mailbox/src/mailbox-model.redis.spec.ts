import { testRedis } from '@mailroom/tools';
import fc from 'fast-check';
import { MailboxModel } from './testing/mailbox-model';
import { endOfSession, modelCommands } from './testing/model-commands';
import { ModelSession } from './testing/model-session';

const redis = testRedis();

/** The same histories in every run; a failure prints this seed, its path, and the shortest history that fails. */
const SEED = 20_261_130;

test('any history of commands, resends, losses and races leaves Redis as the model says, and keeps the rules', async () => {
  const history = fc.commands(modelCommands, { maxCommands: 100, size: 'max' });
  await fc.assert(
    fc.asyncProperty(history, async (commands) => {
      const real = await ModelSession.open(redis);
      try {
        const model = new MailboxModel(real.bench.id, ['alice', 'bob']);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        for (const command of endOfSession) await command.run(model, real);
      } finally {
        await real.close();
      }
    }),
    { numRuns: 150, seed: SEED, endOnFailure: false },
  );
}, 240_000);
