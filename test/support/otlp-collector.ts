import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A span as the collector was told of it. Times are nanoseconds since 1970. */
export interface ReceivedSpan {
	traceId: string;
	spanId: string;
	/** Empty without a parent. */
	parentSpanId: string;
	traceState: string;
	name: string;
	/** `Span.SpanKind`: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
	kind: number;
	start: bigint;
	end: bigint;
	attributes: Record<string, string | number>;
	resource: Record<string, string | number>;
	/** `Status.StatusCode`: 2 is an error. */
	status: number;
}

/** An OpenTelemetry collector that takes traces by OTLP over HTTP, in protobuf, and keeps them. */
export interface OtlpCollector extends AsyncDisposable {
	/** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
	url: string;
	/** All bytes that were posted, as they came. */
	bodies: Buffer[];
	headers: IncomingMessage['headers'][];
	paths: (string | undefined)[];
	spans(): ReceivedSpan[];
	/** Says how a post is answered from now on; `hang` never answers. */
	answers: 'take' | 'refuse' | 'hang';
}

type Field = { number: number; value: bigint | Buffer };

/** Reads the fields of a protobuf message. */
function* fieldsOf(bytes: Buffer): Generator<Field> {
	let at = 0;
	const varint = () => {
		let value = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = bytes.readUInt8(at++);
			value |= BigInt(byte & 0x7f) << shift;
			if (byte < 0x80) return value;
		}
	};
	while (at < bytes.length) {
		const key = Number(varint());
		const wire = key & 7;
		if (wire === 0) yield { number: key >> 3, value: varint() };
		else {
			const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
			yield { number: key >> 3, value: bytes.subarray(at, at + length) };
			at += length;
		}
	}
}

function parts(bytes: Buffer, number: number): Buffer[] {
	return [...fieldsOf(bytes)].flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []));
}

const text = (bytes: Buffer, number: number) => parts(bytes, number)[0]?.toString('utf8') ?? '';
const hex = (bytes: Buffer, number: number) => parts(bytes, number)[0]?.toString('hex') ?? '';
const nanoseconds = (bytes: Buffer, number: number) => parts(bytes, number)[0]?.readBigUInt64LE() ?? 0n;

function number(bytes: Buffer, wanted: number): number {
	const field = [...fieldsOf(bytes)].find((each) => each.number === wanted);
	return typeof field?.value === 'bigint' ? Number(field.value) : 0;
}

function attributesOf(bytes: Buffer, at: number): Record<string, string | number> {
	return Object.fromEntries(
		parts(bytes, at).map((pair) => {
			const [value = Buffer.alloc(0)] = parts(pair, 2);
			return [text(pair, 1), parts(value, 1)[0]?.toString('utf8') ?? number(value, 3)];
		}),
	);
}

/** `opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest` */
function spansOf(body: Buffer): ReceivedSpan[] {
	return parts(body, 1).flatMap((ofResource) => {
		const resource = attributesOf(parts(ofResource, 1)[0] ?? Buffer.alloc(0), 1);
		return parts(ofResource, 2).flatMap((ofScope) =>
			parts(ofScope, 2).map((span) => ({
				traceId: hex(span, 1),
				spanId: hex(span, 2),
				traceState: text(span, 3),
				parentSpanId: hex(span, 4),
				name: text(span, 5),
				kind: number(span, 6),
				start: nanoseconds(span, 7),
				end: nanoseconds(span, 8),
				attributes: attributesOf(span, 9),
				resource,
				status: number(parts(span, 15)[0] ?? Buffer.alloc(0), 3),
			})),
		);
	});
}

export async function otlpCollector(): Promise<OtlpCollector> {
	const server = createServer((request, response) => void receive(request, response));
	const receive = async (request: IncomingMessage, response: ServerResponse) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		if (collector.answers === 'hang') return;
		if (collector.answers === 'refuse') {
			response.writeHead(400).end();
			return;
		}
		const body = Buffer.concat(chunks);
		collector.paths.push(request.url);
		collector.headers.push(request.headers);
		collector.bodies.push(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
		response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
	};
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const collector: OtlpCollector = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		bodies: [],
		headers: [],
		paths: [],
		answers: 'take',
		spans: () => collector.bodies.flatMap(spansOf),
		[Symbol.asyncDispose]: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	return collector;
}
