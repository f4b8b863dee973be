import { TraceFlags, trace } from '@opentelemetry/api';
import { spanContextOf, traceparentOf } from './traceparent';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('a traceparent names a span, and a span its traceparent', () => {
  const context = spanContextOf(`00-${TRACE}-${SPAN}-01`);
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  if (context) expect(traceparentOf(trace.wrapSpanContext(context))).toBe(`00-${TRACE}-${SPAN}-01`);
  expect(spanContextOf(`00-${TRACE}-${SPAN}-00`)?.traceFlags).toBe(TraceFlags.NONE);
});

test.each([
  undefined,
  '',
  'nonsense',
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
])('%j names none', (text) => {
  expect(spanContextOf(text)).toBeUndefined();
});
