import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '@mailroom/contracts';
import { startTelemetry, type Telemetry } from './telemetry';

// The exporter tries again for so long, also after its test.
process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '2000';

let collector: Server | undefined;

afterEach(() => {
  collector?.closeAllConnections();
  collector?.close();
  collector = undefined;
});

/** `told`: what it logs. */
async function exporting(answer: RequestListener): Promise<Telemetry & { told: unknown[][] }> {
  const told: unknown[][] = [];
  const note = (...line: unknown[]) => {
    told.push(line);
  };
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const server = createServer(answer);
  collector = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tracesUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return { ...(await startTelemetry({ serviceName: 'mailroom-test', tracesUrl }, 'test@here', logger)), told };
}

test('what is left is sent when the process stops', async () => {
  let body = '';
  const telemetry = await exporting((request, response) => {
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => response.end('{}'));
  });
  telemetry.tracer.startSpan('last').end();
  await telemetry.stop();
  expect(body).toContain('"name":"last"');
  expect(body).toContain('mailroom-test');
  expect(telemetry.told).toEqual([]);
});

test('a collector that does not answer holds nobody up', async () => {
  let answers = 0;
  const telemetry = await exporting((_request, response) => response.on('close', () => answers++));
  const asked = once(collector as Server, 'request');
  telemetry.tracer.startSpan('last').end();
  await Promise.all([telemetry.stop(), asked]);
  expect(answers).toBe(0);
});

test('a refused export is told without what the collector said', async () => {
  const telemetry = await exporting((request, response) => {
    request.resume().on('end', () => response.writeHead(400).end('tenant key 4711 is wrong'));
  });
  telemetry.tracer.startSpan('first').end();
  await telemetry.stop();
  expect(telemetry.told).toEqual([[{ spans: 1 }, 'traces are not exported']]);
});
