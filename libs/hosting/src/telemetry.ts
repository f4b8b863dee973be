import type { Logger } from '@mailroom/contracts';
import type { Tracer } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

/** Where spans go; without these settings no SDK is loaded and nothing is measured. */
export interface TelemetrySettings {
  /** `service.name`, unless OTEL_SERVICE_NAME says otherwise. */
  serviceName: string;
  /** Takes OTLP as JSON over HTTP: `http://127.0.0.1:4318/v1/traces`. */
  tracesUrl: string;
}

export interface Telemetry {
  tracer: Tracer;
  /** Sends what is left, for a second at most: a collector that is away must not hold up the end of a process. */
  stop(): Promise<void>;
}

const FLUSH_MS = 1_000;

/**
 * Loads the OpenTelemetry SDK. Batch, sampler, headers and timeouts follow the standard OTEL_* variables, which the SDK
 * reads itself. Failed exports are told once, without what the collector said. No global is set.
 */
export async function startTelemetry(settings: TelemetrySettings, host: string, logger: Logger): Promise<Telemetry> {
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': settings.serviceName, 'service.instance.id': host }))
    .merge(detectResources({ detectors: [envDetector] }));
  const exporter = told(new OTLPTraceExporter({ url: settings.tracesUrl }), logger);
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  return {
    tracer: provider.getTracer('mailroom'),
    stop: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, FLUSH_MS);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

/** An exporter whose failures are logged, once until it works again. */
function told(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed && !isFailing) logger.warn({ spans: spans.length }, 'traces are not exported');
        isFailing = hasFailed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
