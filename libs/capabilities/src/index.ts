export { type ReadArguments, readArguments } from './argument-reader';
export { calculate } from './calculate';
export { createCurrentTime } from './current-time';
export { createLookup } from './lookup';
export { type SampleToolsOptions, sampleTools } from './sample-tools';
export type { Tool, ToolContext, ToolOutcome } from './tool';
export { executeTool, type ToolExecutionOptions } from './tool-execution';
export { RESERVED_TOOL_NAMES, ToolRegistry } from './tool-registry';
