import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { guardFolder } from '../orphan-guard';

const PROJECT = resolve(__dirname, '../../..');

/** One change of a built file: `from` stands in it exactly once. */
export interface Patch {
  /** The path in the project. */
  file: string;
  from: string;
  to: string;
}

/** A copy of the built apps and libraries that can be changed; everything else is linked. It goes with this process. */
export function copyPlatform(): string {
  const root = mkdtempSync(join(tmpdir(), 'mailroom-mutant-'));
  guardFolder(root);
  const modules = join(root, 'node_modules');
  mkdirSync(join(modules, '@mailroom'), { recursive: true });
  for (const name of readdirSync(join(PROJECT, 'node_modules')))
    if (name !== '@mailroom' && !name.startsWith('.'))
      symlinkSync(join(PROJECT, 'node_modules', name), join(modules, name));
  for (const group of ['apps', 'libs'])
    for (const name of readdirSync(join(PROJECT, group))) {
      const [from, to] = [join(PROJECT, group, name), join(root, group, name)];
      if (!existsSync(join(from, 'dist'))) continue;
      cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true });
      cpSync(join(from, 'package.json'), join(to, 'package.json'));
      symlinkSync(to, join(modules, '@mailroom', name));
    }
  return root;
}

/** Changes one file of a copy. Throws when the place is not there, or not the only one: the product has changed. */
export function applyPatch(root: string, { file, from, to }: Patch): void {
  const path = join(root, file);
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`"${from}" stands ${parts.length - 1} times in ${file}: adapt the mutation`);
  writeFileSync(path, parts.join(to));
}
