import type { AgentMessage } from '@mailroom/contracts';
import { type MessageTree, replyTrees } from './reply-trees';

const message = (msgId: string, inReplyTo?: string): AgentMessage => ({
  msgId,
  from: 'a',
  to: 'b',
  type: 'task',
  content: '',
  ts: '',
  seq: 1,
  ...(inReplyTo && { inReplyTo }),
});
const shape = (trees: MessageTree[]): unknown[] => trees.map(({ msgId, replies }) => [msgId, shape(replies)]);

test('replies hang under what they answer, in order', () => {
  const trees = replyTrees([message('1'), message('2', '1'), message('3'), message('4', '2'), message('5', '1')]);
  expect(shape(trees)).toEqual([
    [
      '1',
      [
        ['2', [['4', []]]],
        ['5', []],
      ],
    ],
    ['3', []],
  ]);
});

test('a message that answers something unknown, or itself, is a root', () => {
  expect(shape(replyTrees([message('1', 'gone'), message('2', '2')]))).toEqual([
    ['1', []],
    ['2', []],
  ]);
});
