export type { BarrierState } from './barriers';
export type { ServedAnswer } from './chat-completions';
export { MODEL_ID } from './completion';
export { RulesError } from './rules-error';
export { SCRIPTED_NOTICE } from './scripted-notice';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelStats,
  startScriptedModel,
} from './start-scripted-model';
