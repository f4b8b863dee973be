import { SseReader } from './sse-reader';

function read(text: string, step: number): { payloads: string[]; stray: string } {
  const payloads: string[] = [];
  const reader = new SseReader((data, event) => payloads.push(event === '' ? data : `${event}=${data}`));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step));
  reader.end();
  return { payloads, stray: reader.stray };
}

describe.each([1, 7, 100_000])('an event stream in pieces of %p bytes', (step) => {
  it.each([
    ['line feeds', 'data: {"a":"Zoë 🦉"}\n\ndata: [DONE]\n\n'],
    ['carriage returns with line feeds', 'data: {"a":"Zoë 🦉"}\r\n\r\ndata: [DONE]\r\n\r\n'],
    ['carriage returns alone', 'data: {"a":"Zoë 🦉"}\r\rdata: [DONE]\r\r'],
    ['no blank after the colon', 'data:{"a":"Zoë 🦉"}\n\ndata:[DONE]\n\n'],
    ['a byte order mark', '\uFEFFdata: {"a":"Zoë 🦉"}\n\ndata: [DONE]\n\n'],
    ['no line end at the end', 'data: {"a":"Zoë 🦉"}\n\ndata: [DONE]'],
    ['other fields', 'id: 7\nretry: 10\ndata: {"a":"Zoë 🦉"}\n\ndata: [DONE]\n\n'],
  ])('is read with %s', (_, text) => {
    expect(read(text, step)).toEqual({ payloads: ['{"a":"Zoë 🦉"}', '[DONE]'], stray: '' });
  });

  it('drops comments and keep-alives that a gateway wrapped as data', () => {
    const text =
      ': hi\n\ndata: : PROCESSING\n\ndata: {}\n\n:\n\nevent: ping\ndata: \n\ndata\n\n: bye\ndata: [DONE]\n\n';
    expect(read(text, step).payloads).toEqual(['{}', '[DONE]']);
  });

  it('joins the data lines of one event and names the event', () => {
    expect(read('event: error\ndata: {\ndata: "a":1}\n\ndata: {}\n\n', step).payloads).toEqual([
      'error={\n"a":1}',
      '{}',
    ]);
  });

  it('keeps what is no event stream, and drops an event that was cut off', () => {
    expect(read('<!doctype html>\n<p>a: b</p>', step)).toEqual({
      payloads: [],
      stray: '<!doctype html>\n<p>a: b</p>\n',
    });
    expect(read('{"error":{"message":"x"}}', step).stray).toBe('{"error":{"message":"x"}}\n');
    expect(read('data: {"a":"b', step).payloads).toEqual([]);
  });
});
