/** A piece of a document that stands for itself in a search result. */
export interface Passage {
  /** The document's path below its folder, with `/`. */
  document: string;
  /** The headings above the passage, outermost first; empty in plain text. */
  heading: string;
  text: string;
}

const HEADING = /^(#{1,6})[ \t]+(.+?)[ \t]*#*$/;
const FENCE = /^\s*(?:```|~~~)/;
/** Paragraphs of one section are joined up to this many letters. */
const PASSAGE_LENGTH = 800;

/** Splits a document into passages: never across a heading, short paragraphs of a section together. */
export function passagesOf(document: string, content: string): Passage[] {
  const passages: Passage[] = [];
  for (const section of sectionsOf(content.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'))) {
    let text = '';
    for (const paragraph of section.text.split(/\n[ \t]*\n/)) {
      if (text !== '' && text.length + paragraph.length > PASSAGE_LENGTH) {
        passages.push({ document, heading: section.heading, text: text.trim() });
        text = '';
      }
      text += `${paragraph}\n\n`;
    }
    if (text.trim() !== '') passages.push({ document, heading: section.heading, text: text.trim() });
  }
  return passages;
}

function sectionsOf(content: string): { heading: string; text: string }[] {
  const sections = [{ heading: '', text: '' }];
  const trail: string[] = [];
  let inFence = false;
  for (const line of content.split('\n')) {
    if (FENCE.test(line)) inFence = !inFence;
    const [, marks, title] = (inFence ? null : HEADING.exec(line)) ?? [];
    if (marks !== undefined && title !== undefined) {
      trail.length = Math.min(trail.length, marks.length - 1);
      trail[marks.length - 1] = title;
      sections.push({ heading: trail.filter(Boolean).join(' › '), text: '' });
    } else {
      const section = sections.at(-1);
      if (section) section.text += `${line}\n`;
    }
  }
  return sections;
}
