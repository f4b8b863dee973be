import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };

/** A span as it was exported, with the service that it came from. */
export interface CollectedSpan {
  service: string | undefined;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  failed: boolean;
}

/** The part of OTLP that is looked at. */
interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Omit<CollectedSpan, 'service' | 'attributes' | 'links' | 'failed'> & {
        attributes: Attribute[];
        links?: { traceId: string; spanId: string }[];
        status: { code?: number };
      })[];
    }[];
  }[];
}

/** A collector that takes OTLP as JSON over HTTP on loopback and keeps all. */
export class TraceCollector {
  /** The bodies as they came. */
  readonly bodies: string[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const collector = new TraceCollector(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      collector.bodies.push(`${request.url}\n${Buffer.concat(parts).toString('utf8')}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    return collector;
  }

  get spans(): CollectedSpan[] {
    return this.bodies.flatMap((body) => {
      const { resourceSpans } = JSON.parse(body.slice(body.indexOf('\n'))) as Export;
      return resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map((span) => ({
            ...span,
            service: record(resource.attributes)['service.name'] as string | undefined,
            attributes: record(span.attributes),
            links: span.links ?? [],
            failed: span.status.code === 2,
          })),
        ),
      );
    });
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

function record(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
