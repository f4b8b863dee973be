import { AppError } from '@mailroom/contracts';
import { InputFilters } from '@mailroom/runtime';
import { type AgentFileOptions, parseAgentFile } from './agent-file';

const PATH = 'agents/alice.md';

function fileWith(entries: string, body = 'You are Alice.'): string {
  return `---\n${entries}\n---\n${body}\n`;
}

function problemOf(content: Uint8Array | string, options?: AgentFileOptions): string {
  try {
    parseAgentFile(PATH, content, options);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(AppError);
    expect((thrown as AppError).code).toBe('misconfigured');
    return (thrown as AppError).message;
  }
  throw new Error('the file was read');
}

describe('an agent file', () => {
  it('gives a definition: fields from the front matter, the prompt from the body, the id from the file name', () => {
    const { definition, warnings } = parseAgentFile(
      PATH,
      fileWith(
        [
          'name: Alice the Analyst',
          'description: "Counts: and compares."',
          'model: vendor/model-x:free',
          'tools: [calculate, lookup]',
          'subAgents:',
          '  - bob',
          '  - { as: bob two, agent: bob }',
          'maxSteps: 12',
          'wakeOn: all',
          'modelSilenceMs: 20000',
          'status: INACTIVE',
        ].join('\n'),
        '# Alice\n\nYou count.',
      ),
    );
    expect(definition).toStrictEqual({
      id: 'alice',
      name: 'Alice the Analyst',
      description: 'Counts: and compares.',
      systemPrompt: '# Alice\n\nYou count.',
      model: 'vendor/model-x:free',
      tools: ['calculate', 'lookup'],
      subAgents: [
        { as: 'bob', agent: 'bob' },
        { as: 'bob two', agent: 'bob' },
      ],
      maxSteps: 12,
      wakeOn: 'all',
      collaboration: 'message',
      modelSilenceMs: 20_000,
      status: 'INACTIVE',
    });
    expect(warnings).toEqual([]);
  });

  it('has no more than what is written: no model, no tools, no team', () => {
    expect(parseAgentFile('x/规划.MD', fileWith('description: d')).definition).toStrictEqual({
      id: '规划',
      description: 'd',
      systemPrompt: 'You are Alice.',
      tools: [],
      subAgents: [],
      wakeOn: 'each',
      collaboration: 'message',
      status: 'ACTIVE',
    });
    expect(parseAgentFile(PATH, fileWith('id: Ann\ndescription: d')).definition.id).toBe('Ann');
  });
});

describe('bytes round the front matter', () => {
  it.each([
    ['a byte order mark', '\uFEFF---\nname: n\ndescription: d\n---\nOne.\nTwo.\n'],
    ['CRLF', '---\r\nname: n\r\ndescription: d\r\n---\r\nOne.\r\nTwo.\r\n'],
    ['both', '\uFEFF---\r\nname: n\r\ndescription: d\r\n---\r\nOne.\r\nTwo.'],
    ['CR alone', '---\rname: n\rdescription: d\r---\rOne.\rTwo.\r'],
    ['blanks after the fences', '---  \nname: n\ndescription: d\n---\t\nOne.\nTwo.\n'],
    ['a blank line first', '\n---\nname: n\ndescription: d\n---\n\nOne.\nTwo.\n'],
  ])('%s is invisible', (_name, source) => {
    for (const content of [source, Buffer.from(source)]) {
      const { definition, warnings } = parseAgentFile(PATH, content);
      expect(definition).toMatchObject({ name: 'n', description: 'd', systemPrompt: 'One.\nTwo.' });
      expect(warnings).toEqual([]);
    }
  });

  it('only the first pair of fences counts', () => {
    const body = 'First.\n\n---\n\nname: not-me\n\n---\nLast.';
    expect(parseAgentFile(PATH, fileWith('description: d', body)).definition).toMatchObject({
      id: 'alice',
      systemPrompt: body,
    });
  });

  it('an empty body is a warning', () => {
    expect(parseAgentFile(PATH, fileWith('description: d', '')).warnings).toEqual([
      'agents/alice.md:1: there is no system prompt; write it below the front matter',
    ]);
  });

  it.each([
    [
      'a fence that never closes',
      '\n---\ndescription: d\nBody?',
      'agents/alice.md:2: the front matter is not closed; add a line ---',
    ],
    ['no front matter', '# Notes\n', 'agents/alice.md:1: there is no front matter; begin the file with a line ---'],
    ['an empty file', '', 'agents/alice.md:1: there is no front matter'],
    ['an empty front matter', '---\n---\nBody.', 'agents/alice.md:1: "description" is missing'],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x2d, 0x00]), 'agents/alice.md:1: the file is not UTF-8'],
  ])('%s is told with its line', (_name, content, problem) => {
    expect(problemOf(content)).toContain(problem);
  });
});

describe('descriptions as people write them', () => {
  it.each([
    [
      'a colon',
      'description: Use it after a change. Examples:\\n user: "check it"',
      'Use it after a change. Examples:\\n user: "check it"',
    ],
    [
      'lines without indent',
      'description: Helps with tests. Examples:\n<example>\nuser: "write tests"\n</example>',
      'Helps with tests. Examples:\n<example>\nuser: "write tests"\n</example>',
    ],
    ['a next line with a colon', 'description:\n  Knows ships: size, crew.', 'Knows ships: size, crew.'],
  ])('with %s are read line by line, with a warning that names the line', (_name, entry, description) => {
    const { definition, warnings } = parseAgentFile(
      PATH,
      fileWith(`name: alice\n${entry}\ncolor: blue\nmodel: inherit\ntools: Read, Grep\nmaxSteps: 3`),
    );
    expect(definition).toMatchObject({ name: 'alice', description, tools: ['Read', 'Grep'], maxSteps: 3 });
    expect(warnings[0]).toMatch(
      /^agents\/alice\.md:3: read line by line, because YAML refuses it \(.*\); put such a text in quotes/,
    );
  });

  it('folded and quoted texts are what YAML says, also in the second reading', () => {
    const { definition } = parseAgentFile(
      PATH,
      fileWith('description: >\n  One.\n  Two.\nname: a: b\nmodel: "m:1" # why'),
    );
    expect(definition).toMatchObject({ description: 'One. Two.', name: 'a: b', model: 'm:1' });
  });

  it('a key without meaning never makes a file fail', () => {
    const { definition, warnings } = parseAgentFile(
      PATH,
      fileWith('description: d\nhooks: {a: [\ntools: Read\nfuture: [broken'),
    );
    expect(definition).toMatchObject({ description: 'd', tools: ['Read'] });
    expect(warnings).toContain('agents/alice.md:3: "hooks", "future" have no meaning here');
  });

  it.each([
    [
      'a list that never closes',
      'name: [broken\ndescription: "never closed',
      'agents/alice.md:2: "name" cannot be read (Flow sequence',
    ],
    [
      'a quote that never closes',
      'name: n\ndescription: "never: closed',
      'agents/alice.md:3: "description" cannot be read (Missing closing',
    ],
    ['a key twice', 'description: a\nname: n\nname: m', 'agents/alice.md:4: "name" is there twice; delete one'],
    ['text without a key', 'just text', 'agents/alice.md:2: no key begins this line'],
    ['an alias to nothing', 'description: d\ntools: *all', 'agents/alice.md:3: "tools" cannot be read'],
    ['no description', 'name: n\ndescription:', 'agents/alice.md:3: "description" is missing; say in a sentence'],
    ['a blank description', 'name: n\ndescription: "  "', 'agents/alice.md:3: "description" is missing'],
  ])('%s is a problem with its line', (_name, entries, problem) => {
    expect(problemOf(fileWith(entries))).toContain(problem);
  });
});

describe('tools and model', () => {
  const toolsOf = (entry: string, options?: AgentFileOptions) => {
    const { definition, warnings } = parseAgentFile(PATH, fileWith(`description: d\n${entry}`), options);
    return [definition.tools, warnings];
  };

  it.each([
    ['comma text', 'tools: Read, Grep , Bash'],
    ['quoted text', 'tools: "Read, Grep, Bash"'],
    ['text in brackets', 'tools: "[Read, Grep, Bash]"'],
    ['blanks', 'tools: Read Grep Bash'],
    ['a flow list', 'tools: [Read, Grep, Bash]'],
    ['a block list', 'tools:\n  - Read\n  - Grep\n  - Bash'],
  ])('%s names three tools', (_name, entry) => {
    expect(toolsOf(entry)).toEqual([['Read', 'Grep', 'Bash'], []]);
  });

  it('commas inside parentheses divide nothing', () => {
    expect(toolsOf('tools: Read, Bash(git diff:*, git log:*), Agent(a, b)')[0]).toEqual([
      'Read',
      'Bash(git diff:*, git log:*)',
      'Agent(a, b)',
    ]);
  });

  it('a tool named twice is one, in any case', () => {
    expect(toolsOf('tools: Read, read, Read')).toEqual([['Read'], []]);
  });

  it.each(['tools:', 'tools: ""'])('%s counts as absent, with a warning: no tools', (entry) => {
    expect(toolsOf(entry)).toEqual([[], ['agents/alice.md:3: "tools" is empty and counts as absent']]);
  });

  it('an empty list is no tools', () => {
    expect(toolsOf('tools: []')).toEqual([[], []]);
  });

  it('a tool that is not offered is a warning that names it', () => {
    expect(toolsOf('tools: Read, Teleport', { toolNames: ['Read', 'Grep'] })).toEqual([
      ['Read', 'Teleport'],
      ['agents/alice.md:3: the tool "Teleport" is not offered here; there are Read, Grep'],
    ]);
  });

  it('a star is all tools that are offered, and a problem where nobody knows them', () => {
    expect(toolsOf("tools: '*'", { toolNames: ['Read', 'Grep'] })).toEqual([['Read', 'Grep'], []]);
    expect(problemOf(fileWith("description: d\ntools: '*'"))).toContain(
      'agents/alice.md:3: "tools": "*" is not known here',
    );
  });

  it('denied tools are taken away', () => {
    expect(toolsOf("disallowedTools: grep\ntools: '*'", { toolNames: ['Read', 'Grep'] })).toEqual([['Read'], []]);
    expect(toolsOf('disallowedTools: Bash')).toEqual([[], []]);
  });

  it.each(['tools:\n  Read: true', 'tools: 7', 'tools: true', 'tools: [Read, 7]', 'disallowedTools: {Read: true}'])(
    'what cannot be read as names is a problem and opens nothing: %s',
    (entry) => {
      expect(problemOf(fileWith(`description: d\n${entry}`), { toolNames: ['Read'] })).toMatch(
        /^agents\/alice\.md:3: "(?:tools|disallowedTools)" has to be a list of names/,
      );
    },
  );

  it.each([
    ['model: inherit', undefined],
    ['model:', undefined],
    ['model: Inherit', undefined],
    ['model: sonnet', undefined],
    ['model: Opus', undefined],
    ['model: 4', '4'],
    ['model: 4.10', '4.10'],
    ['model: gpt-99-ultra', 'gpt-99-ultra'],
    ['model: vendor/model-x:free', 'vendor/model-x:free'],
  ])('%s asks for the model %p', (entry, model) => {
    expect(parseAgentFile(PATH, fileWith(`description: d\n${entry}`)).definition.model).toBe(model);
  });

  it("a model by another product's short name is a warning", () => {
    expect(parseAgentFile(PATH, fileWith('description: d\nmodel: sonnet')).warnings).toEqual([
      'agents/alice.md:3: the model "sonnet" is another product\'s short name; the default model is used',
    ]);
  });
});

describe('limits and names in an agent file', () => {
  const members = (count: number) => Array.from({ length: count }, (_, index) => `  - agent-${index + 1}`).join('\n');

  it('eight sub-agents are a team, the ninth is a problem with its line', () => {
    expect(
      parseAgentFile(PATH, fileWith(`description: d\nsubAgents:\n${members(8)}`)).definition.subAgents,
    ).toHaveLength(8);
    expect(problemOf(fileWith(`description: d\nsubAgents:\n${members(9)}`))).toBe(
      'agents/alice.md:12: "subAgents": a lead has at most 8 sub-agents',
    );
  });

  it('a team may be text with commas; names keep their inner blanks', () => {
    expect(parseAgentFile(PATH, fileWith('description: d\nsubAgents: Sales EU, 规划')).definition.subAgents).toEqual([
      { as: 'Sales EU', agent: 'Sales EU' },
      { as: '规划', agent: '规划' },
    ]);
  });

  it.each([
    [
      'a reserved address in the team',
      'subAgents:\n  - bob\n  - lead',
      ':5: "subAgents": lead, user, system are reserved addresses',
    ],
    [
      'a member twice',
      'subAgents: [bob, Bob]',
      ':3: "subAgents": "Bob" is in the team twice; give one of them another "as"',
    ],
    [
      'a member of another shape',
      'subAgents:\n  - {name: bob}',
      ':4: "subAgents": a member is the id of an agent, or has',
    ],
    ['a reserved id', 'id: User', ':3: "id": lead, user, system are reserved addresses'],
    ['an illegal id', 'id: a{b}', ':3: "id": a name has letters and digits'],
    ['a wrong wakeOn', 'wakeOn: some', ':3: "wakeOn": Invalid option: expected one of "each"|"all"'],
    ['a word for a number', 'maxSteps: many', ':3: "maxSteps": Invalid input: expected number'],
  ])('%s is a problem with its line', (_name, entry, problem) => {
    expect(problemOf(fileWith(`description: d\n${entry}`))).toContain(`agents/alice.md${problem}`);
  });

  it('all problems of a file are told at once', () => {
    expect(problemOf(fileWith('tools: 7\nmaxSteps: 0\nwakeOn: x')).split('\n')).toHaveLength(4);
  });
});

describe('a team that is called as tools, in an agent file', () => {
  const deployment = {
    toolNames: ['lookup'],
    filters: new InputFilters(),
    reservedToolNames: ['send_message'],
  };

  it.each([
    [
      'a tool of the agent',
      'tools: [lookup]\nsubAgents:\n  - ann\n  - { agent: bob, toolName: lookup }',
      ':6: "subAgents": "lookup" is one of the agent\'s own tools; set another "toolName"',
    ],
    [
      'a tool of the runtime',
      'subAgents: [{ agent: bob, toolName: send_message }]',
      ':3: "subAgents": the runtime has a tool "send_message"',
    ],
    [
      'an unknown input filter',
      'subAgents: [bob]\nhandoff:\n  inputFilter: [truncat]',
      ':4: "handoff": there is no input filter "truncat"; did you mean "truncate"?',
    ],
    [
      'an option that an input filter does not take',
      'subAgents: [bob]\nhandoff:\n  inputFilter: [{ truncate: { maxChars: 0 } }]',
      ':4: "handoff": the input filter "truncate" does not take these options: maxChars: Too small',
    ],
  ])('contract 4: %s is a problem with its line', (_name, entries, problem) => {
    const file = fileWith(`description: d\n${entries}`);
    expect(problemOf(file, deployment)).toContain(`agents/alice.md${problem}`);
  });

  it('a policy that names no tool of the team is a warning', () => {
    const entries = 'subAgents: [bob]\nhandoff:\n  allowedTools: [subagent_bob]\n  deniedTools: [subagent_bop]';
    expect(parseAgentFile(PATH, fileWith(`description: d\n${entries}`), deployment).warnings).toEqual([
      'agents/alice.md:4: "deniedTools" names "subagent_bop", which is no handoff tool of this team; did you mean "subagent_bob"?',
    ]);
  });
});
