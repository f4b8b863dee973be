/** One thing that happened to the agent that asks. Absent fields are empty strings, so that templates can use them. */
export interface Item {
  kind: 'got' | 'sent' | 'used' | 'said' | 'engine';
  /** Index of the chat message that holds it. */
  at: number;
  /** The message type of `got` and `sent`; the tool of `used`; `final` or `interim` of `said`. */
  name: string;
  /** The body of a message, the result of a tool, the text that was said. */
  content: string;
  context: string;
  from: string;
  to: string;
  /** Empty on a `sent` that was refused. */
  msgId: string;
  inReplyTo: string;
  status: string;
  late: boolean;
  /** What the tool `send_message` answered. */
  outcome: string;
}

type Known = Pick<Item, 'kind' | 'at' | 'name'> & Partial<Item>;

/** An item with the fields that are known; the others are empty. */
export function timelineItem(known: Known): Item {
  const empty = { content: '', context: '', from: '', to: '', msgId: '', inReplyTo: '', status: '', outcome: '' };
  return { ...empty, late: false, ...known };
}
