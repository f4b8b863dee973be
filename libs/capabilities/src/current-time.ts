import { z } from 'zod';
import type { Tool } from './tool';

const parameters = z.object({
  timezone: z.string().min(1).max(64).optional().describe('IANA time zone such as "Europe/Berlin"; UTC when absent'),
});

/** The tool `current_time`: date, time and weekday in a time zone. `clock` is the process's own when absent. */
export function createCurrentTime(clock: () => Date = () => new Date()): Tool<z.output<typeof parameters>> {
  return {
    name: 'current_time',
    description: 'Tells the current date, time and weekday in a time zone.',
    parameters,
    idempotent: true,
    execute: ({ timezone = 'UTC' }) => {
      const now = clock();
      const parts = new Map(
        formatIn(timezone)
          .formatToParts(now)
          .map(({ type, value }) => [type, value]),
      );
      const date = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
      const time = `${parts.get('hour')}:${parts.get('minute')}:${parts.get('second')}`;
      const offset = parts.get('timeZoneName')?.slice('GMT'.length) || '+00:00';
      return `${date}T${time}${offset} (${parts.get('weekday')}, ${timezone})`;
    },
  };
}

function formatIn(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      weekday: 'long',
      timeZoneName: 'longOffset',
    });
  } catch {
    throw new RangeError(
      `there is no time zone "${timeZone}"; use an IANA name such as "Europe/Berlin", or leave it out for UTC`,
    );
  }
}
