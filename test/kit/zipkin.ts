/** A real OpenTelemetry collector, and Zipkin behind it, which stores and shows the traces. */
import { spawn } from 'node:child_process';
import { z } from 'zod';
import { until } from './harness.ts';
import { accepts, freePort } from '../../engines/ports.ts';

const span = z.object({
  traceId: z.string(),
  id: z.string(),
  parentId: z.string().optional(),
  /** Zipkin stores names in lower case. */
  name: z.string(),
  localEndpoint: z.object({ serviceName: z.string() }),
});
export type Span = z.infer<typeof span>;

export type Zipkin = {
  /** The URL at which the collector accepts OTLP over HTTP. */
  endpoint: string;
  /** The URL of Zipkin's page. */
  url: string;
  /** The spans of a trace that have arrived so far. */
  spansOf(traceId: string): Promise<Span[]>;
  close(): void;
};

/** `programs`: the paths of Zipkin's jar and of the collector. */
export async function startZipkin(
  programs = { zipkin: process.env['TEST_ZIPKIN']!, collector: process.env['TEST_COLLECTOR']! },
): Promise<Zipkin> {
  const [port, otlpPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}/zipkin`;
  const listen = { ip: '127.0.0.1', port, 'protocols[0]': 'http' };
  const children = [
    spawn(
      'java',
      [
        '-Xmx256m',
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        '-jar',
        programs.zipkin,
        ...Object.entries(listen).map(([name, value]) => `--armeria.ports[0].${name}=${value}`),
      ],
      { stdio: 'ignore' },
    ),
    spawn(programs.collector, ['--config', `yaml:${JSON.stringify(pipeline(otlpPort, port))}`], { stdio: 'ignore' }),
  ];
  const close = (): void => children.forEach((child) => child.kill('SIGKILL'));
  process.once('exit', close);
  await until(async () => (await accepts(port)) && accepts(otlpPort), 'the collector and Zipkin to listen');
  return {
    endpoint: `http://127.0.0.1:${otlpPort}`,
    url,
    async spansOf(traceId) {
      const reply = await fetch(`http://127.0.0.1:${port}/api/v2/trace/${traceId}`);
      return reply.status === 404 ? [] : z.array(span).parse(await reply.json());
    },
    close() {
      process.off('exit', close);
      close();
    },
  };
}

const pipeline = (otlpPort: number, zipkinPort: number) => ({
  receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${otlpPort}` } } } },
  exporters: { zipkin: { endpoint: `http://127.0.0.1:${zipkinPort}/api/v2/spans` } },
  service: {
    pipelines: { traces: { receivers: ['otlp'], exporters: ['zipkin'] } },
    telemetry: { metrics: { level: 'none' } },
  },
});
