import type { AgentMessage } from '@mailroom/contracts';

/** A message and the answers to it, in the order in which they were accepted. */
export type MessageTree = AgentMessage & { replies: MessageTree[] };

/** Builds the trees of `inReplyTo`; a message that answers nothing, or something that is not here, is a root. */
export function replyTrees(messages: readonly AgentMessage[]): MessageTree[] {
  const roots: MessageTree[] = [];
  const seen = new Map<string, MessageTree>();
  for (const message of messages) {
    const tree: MessageTree = { ...message, replies: [] };
    const parent = message.inReplyTo === undefined ? undefined : seen.get(message.inReplyTo);
    (parent?.replies ?? roots).push(tree);
    seen.set(message.msgId, tree);
  }
  return roots;
}
