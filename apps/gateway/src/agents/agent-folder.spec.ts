import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@mailroom/contracts';
import { readAgentFolder } from './agent-folder';

describe('a folder of agent files', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'agents-'));
  });

  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const write = (name: string, entries = 'description: d') =>
    writeFileSync(join(dir, name), `---\n${entries}\n---\nBody.\n`);
  const ids = async () => (await readAgentFolder(dir)).definitions.map(({ id }) => id);

  it('is read in sorted order, top level and Markdown only; links to files count', async () => {
    for (const name of ['b.md', 'a.md', 'C.MD', '.hidden.md', 'notes.txt']) write(name);
    mkdirSync(join(dir, 'sub.md'));
    write('sub.md/deeper.md');
    writeFileSync(join(dir, 'README.md'), '# For people\n\n---\n');
    mkdirSync(join(dir, '..data'));
    write('..data/linked.md');
    symlinkSync('..data/linked.md', join(dir, 'linked.md'));
    const { definitions, warnings, problems } = await readAgentFolder(dir);
    expect(definitions.map(({ id }) => id)).toEqual(['C', 'a', 'b', 'linked']);
    expect({ warnings, problems }).toEqual({ warnings: [], problems: [] });
  });

  it('a README with a front matter is an agent', async () => {
    write('README.md');
    expect(await ids()).toEqual(['README']);
  });

  it('a bad file hides no other, and all problems are told at once', async () => {
    write('a-broken.md', 'name: [broken\ndescription: "never closed');
    writeFileSync(join(dir, 'b-plain.md'), 'no front matter');
    write('c-good.md');
    write('d-many.md', 'tools: 7\nmaxSteps: 0\ndescription: d');
    symlinkSync('nowhere.md', join(dir, 'e-dangling.md'));
    const { definitions, problems } = await readAgentFolder(dir);
    expect(definitions.map(({ id }) => id)).toEqual(['c-good']);
    expect(problems.map((problem) => problem.slice(dir.length + 1).replace(/: .*/s, ''))).toEqual([
      'a-broken.md:2',
      'b-plain.md:1',
      'd-many.md:2',
      'd-many.md:3',
      'e-dangling.md:1',
    ]);
    expect(problems.at(-1)).toContain('the file cannot be read (ENOENT)');
  });

  it.each([
    ['another case of the file name', 'Zoe.md', 'description: d', 'zoe.md', 'description: d'],
    ['another composition of the file name', 'Zo\u00eb.md', 'description: d', 'zoe\u0308.md', 'description: d'],
    ['the same name', 'a.md', 'name: Zo\u00eb\ndescription: d', 'b.md', 'name: "zoe\u0308 "\ndescription: d'],
    ['a name that is the id of the other', 'a.md', 'description: d', 'b.md', 'name: A\ndescription: d'],
    ['the same id', 'a.md', 'id: zoe\ndescription: d', 'b.md', 'id: ZOE\ndescription: d'],
  ])('of two files with %s the first in sorted order holds; the problem names both', async (_name, ...files) => {
    const [one, entries, other, otherEntries] = files as [string, string, string, string];
    write(other, otherEntries);
    write(one, entries);
    const [winner, loser] = [one, other].sort() as [string, string];
    const { definitions, problems } = await readAgentFolder(dir);
    expect(definitions).toHaveLength(1);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(
      new RegExp(`^${join(dir, loser)}:1: ".*" is defined in ${join(dir, winner)} too; rename one`),
    );
  });

  it('an agent with a reserved address is a problem', async () => {
    write('lead.md');
    expect((await readAgentFolder(dir)).problems).toEqual([
      `${join(dir, 'lead.md')}:1: "id": lead, user, system are reserved addresses`,
    ]);
  });

  it('a member of a team that nobody defines is a warning with its line', async () => {
    write('bob.md');
    write('boss.md', 'description: d\nsubAgents:\n  - BOB\n  - alise\n  - as: bob-2\n    agent: zzzzzz');
    write('alice.md');
    const path = join(dir, 'boss.md');
    const { warnings, problems } = await readAgentFolder(dir);
    expect(warnings).toEqual([
      `${path}:5: no agent "alise" is defined; did you mean "alice"?`,
      `${path}:6: no agent "zzzzzz" is defined; add zzzzzz.md or create it over REST`,
    ]);
    expect(problems).toEqual([]);
  });

  it('the warnings of the files are handed on', async () => {
    write('a.md', 'description: d\ncolor: blue');
    expect((await readAgentFolder(dir)).warnings).toEqual([`${join(dir, 'a.md')}:3: "color" has no meaning here`]);
  });

  it('that is missing is an error with the way out', async () => {
    const missing = join(dir, 'missing');
    await expect(readAgentFolder(missing)).rejects.toThrow(AppError);
    await expect(readAgentFolder(missing)).rejects.toThrow(
      `"${missing}" cannot be read (ENOENT): create it or set AGENTS_DIR`,
    );
  });
});
