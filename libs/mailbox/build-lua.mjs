// Writes src/scripts.generated.ts from src/lua: each fragment once, each command as its parts in order.
// `node build-lua.mjs` after every change of a .lua file; a test fails when that was forgotten.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, 'src');
const read = (folder) =>
  readdirSync(path.join(root, folder))
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => ({ name: file.slice(0, -4), source: readFileSync(path.join(root, folder, file), 'utf8') }));

/** The TypeScript module of all commands, as text. */
export function renderScripts() {
  const fragments = read('lua/include').map(({ name, source }) => `const ${name} = ${JSON.stringify(source)};\n`);
  const commands = read('lua').map(({ name, source }) => {
    const parts = source.split(/^-- @include (\S+)\n/m);
    const joined = parts
      .map((part, index) => (index % 2 ? part : JSON.stringify(part)))
      .filter((part) => part !== '""');
    return `  '${name}': ${joined.join(' + ')},\n`;
  });
  return `// Made by build-lua.mjs from src/lua. Do not edit.\n${fragments.join('')}export const SCRIPTS = {\n${commands.join('')}};\n`;
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(path.join(root, 'scripts.generated.ts'), renderScripts());
}
