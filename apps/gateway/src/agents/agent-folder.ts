import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentDefinition, AppError, foldName, nearestName, toAppError } from '@mailroom/contracts';
import { type AgentFile, type AgentFileOptions, hasFrontMatter, parseAgentFile } from './agent-file';

export interface AgentFolder {
  /** In the order of the sorted file names. */
  definitions: AgentDefinition[];
  /** `path:line: text`, one each: read otherwise than written, or a team with a missing member. */
  warnings: string[];
  /** `path:line: text`, one each: a file that gave no definition. */
  problems: string[];
}

/**
 * Reads the `*.md` files of a folder, not of its subfolders; a README without front matter is no agent. A file that
 * cannot be read is a problem and hides no other. Of two files with one id, or one name, compared as addresses are,
 * the first in sorted order holds and the other is a problem that names both.
 * Throws `misconfigured` when the folder itself cannot be read.
 */
export async function readAgentFolder(dir: string, options: AgentFileOptions = {}): Promise<AgentFolder> {
  const taken = new Map<string, { path: string; file: AgentFile }>();
  const files: { path: string; file: AgentFile }[] = [];
  const problems: string[] = [];
  for (const path of await agentPaths(dir)) {
    try {
      const content = await readFile(path);
      if (/[\\/]readme\.md$/i.test(path) && !hasFrontMatter(content)) continue;
      const file = parseAgentFile(path, content, options);
      const names = namesOf(file.definition);
      const rival = names.map((name) => taken.get(name)).find(Boolean);
      if (rival) {
        const wayOut = `rename one; the definition of ${rival.path} is kept`;
        problems.push(
          `${path}:1: "${file.definition.name ?? file.definition.id}" is defined in ${rival.path} too; ${wayOut}`,
        );
        continue;
      }
      for (const name of names) taken.set(name, { path, file });
      files.push({ path, file });
    } catch (thrown) {
      problems.push(...problemsOf(path, thrown));
    }
  }
  return {
    definitions: files.map(({ file }) => file.definition),
    warnings: files.flatMap(({ path, file }) => [...file.warnings, ...missingMembers(path, file, files)]),
    problems,
  };
}

async function agentPaths(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries
      .filter((entry) => /^[^.].*\.md$/i.test(entry.name) && !entry.isDirectory())
      .map(({ name }) => join(dir, name))
      .sort();
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'it cannot be read';
    throw new AppError(
      'misconfigured',
      `the agents folder "${dir}" cannot be read (${reason}): create it or set AGENTS_DIR`,
      { cause },
    );
  }
}

function namesOf({ id, name }: AgentDefinition): string[] {
  return [...new Set([foldName(id), foldName(name ?? id)])];
}

function missingMembers(path: string, file: AgentFile, files: readonly { file: AgentFile }[]): string[] {
  const ids = files.map((other) => other.file.definition.id);
  const known = new Set(ids.map(foldName));
  return file.definition.subAgents.flatMap(({ agent }, item) => {
    if (known.has(foldName(agent))) return [];
    const near = nearestName(agent, ids);
    const wayOut = near === undefined ? `add ${agent}.md or create it over REST` : `did you mean "${near}"?`;
    return [`${path}:${file.lineOf('subAgents', item)}: no agent "${agent}" is defined; ${wayOut}`];
  });
}

function problemsOf(path: string, thrown: unknown): string[] {
  const code = (thrown as NodeJS.ErrnoException).code;
  if (thrown instanceof AppError) return thrown.message.split('\n');
  return [`${path}:1: ${typeof code === 'string' ? `the file cannot be read (${code})` : toAppError(thrown).message}`];
}
