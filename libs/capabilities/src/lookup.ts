import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { AppError } from '@mailroom/contracts';
import MiniSearch from 'minisearch';
import { z } from 'zod';
import { type Passage, passagesOf } from './document-passages';
import { indexTerms, isCjkTerm, queryTerms } from './search-terms';
import type { Tool } from './tool';

const parameters = z.object({
  query: z.string().trim().min(1).max(500).describe('What to look for: a few words in the language of the documents'),
});
const BEST = 3;

/**
 * The tool `lookup`: full text search over the `.md` and `.txt` files below a folder, which are read once, here. It
 * answers with the three best passages, each with its document and score. Files and folders that begin with a dot are
 * left out. Throws `misconfigured` when the folder cannot be read.
 */
export function createLookup(documentsDir: string): Tool<z.output<typeof parameters>> {
  const documents = readDocuments(documentsDir);
  const names = documents.map(({ name }) => name);
  const passages = documents.flatMap(({ name, content }) => passagesOf(name, content));
  const index = indexOf(passages);
  return {
    name: 'lookup',
    description: 'Searches the documents of this deployment and returns the best matching passages with their sources.',
    parameters,
    idempotent: true,
    execute: ({ query }) => {
      const found = index.search(query).slice(0, BEST);
      if (found.length > 0)
        return found.map((hit, rank) => show(passages[hit.id as number] as Passage, rank, hit.score)).join('\n\n');
      if (names.length === 0) return 'nothing found: there are no documents';
      const rest = names.length > 20 ? ` and ${names.length - 20} more` : '';
      return `nothing found for "${query}" in the documents ${names.slice(0, 20).join(', ')}${rest}; try other words`;
    },
  };
}

function show({ document, heading, text }: Passage, rank: number, score: number): string {
  const place = heading === '' ? document : `${document} › ${heading}`;
  return `${rank + 1}. ${place} (score ${score.toFixed(2)})\n${text}`;
}

function indexOf(passages: readonly Passage[]): MiniSearch {
  const index = new MiniSearch<Passage & { id: number }>({
    fields: ['document', 'heading', 'text'],
    tokenize: indexTerms,
    searchOptions: {
      tokenize: queryTerms,
      boost: { heading: 2 },
      // A single letter of a CJK script begins the pairs that hold it; of other scripts it says nothing.
      prefix: (term) => (isCjkTerm(term) ? [...term].length === 1 : term.length > 3),
      fuzzy: (term) => (!isCjkTerm(term) && term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll(passages.map((passage, id) => ({ ...passage, id })));
  return index;
}

function readDocuments(documentsDir: string): { name: string; content: string }[] {
  try {
    return filesBelow(documentsDir)
      .filter((path) => /\.(?:md|txt)$/i.test(path))
      .map((path) => ({
        name: relative(documentsDir, path).split(sep).join('/'),
        content: readFileSync(path, 'utf8'),
      }));
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'it cannot be read';
    throw new AppError(
      'misconfigured',
      `the documents folder "${documentsDir}" cannot be read (${reason}): create it or name another`,
      { cause },
    );
  }
}

/** In sorted order. A link to a file counts as a file (mounted configuration is links); a linked folder is not entered. */
function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  return entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(path);
      return statSync(path).isFile() ? [path] : [];
    });
}
