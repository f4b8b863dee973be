// Writes src/scripts.generated.ts from src/lua: each fragment once, each command as its parts in order. What follows a
// fragment is a function of its own: Lua makes all functions anew at each call, and looks for the locals that they use
// from the last one of the enclosing function on, so a flat script of a hundred locals takes twice as long to begin.
// `node build-lua.mjs` after every change of a .lua file; a test fails when that was forgotten.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, 'src');
const read = (folder) =>
  readdirSync(path.join(root, folder))
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => ({ name: file.slice(0, -4), source: readFileSync(path.join(root, folder, file), 'utf8') }));

const REST = 'return (function()\n';

/** The TypeScript module of all commands, as text. */
export function renderScripts() {
  const fragments = read('lua/include').map(({ name, source }) => `const ${name} = ${JSON.stringify(source)};\n`);
  const commands = read('lua').map(({ name, source }) => {
    const parts = source.split(/^-- @include (\S+)\n/m);
    const joined = parts
      .map((part, index) => (index % 2 ? `${part} + REST` : JSON.stringify(part)))
      .filter((part) => part !== '""');
    const ends = 'end)()\n'.repeat((parts.length - 1) / 2);
    return `  '${name}': ${[...joined, ...(ends ? [JSON.stringify(ends)] : [])].join(' + ')},\n`;
  });
  return `// Made by build-lua.mjs from src/lua. Do not edit.\nconst REST = ${JSON.stringify(REST)};\n${fragments.join('')}export const SCRIPTS = {\n${commands.join('')}};\n`;
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(path.join(root, 'scripts.generated.ts'), renderScripts());
}
