import { calculate } from './calculate';
import { createCurrentTime } from './current-time';
import { createLookup } from './lookup';
import type { Tool } from './tool';

export interface SampleToolsOptions {
  /** The folder that `lookup` searches; without one there is no `lookup`. */
  documentsDir?: string;
}

/** The tools that come with the platform. Throws `misconfigured` when the documents folder cannot be read. */
export function sampleTools({ documentsDir }: SampleToolsOptions = {}): Tool[] {
  const tools: Tool[] = [createCurrentTime(), calculate];
  if (documentsDir !== undefined) tools.push(createLookup(documentsDir));
  return tools;
}
