export { dataOf, handoffTo, resultsIn, startHandoffTeam } from './handoff';
export { type Latch, latch } from './latch';
export { askerOf, type ModelRequestBody, ModelServer, type ScriptedAnswer } from './model-server';
export { mailId, send, story, textOf, wait } from './story';
export { type HarnessOptions, TeamHarness } from './team-harness';
