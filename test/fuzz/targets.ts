import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { DataSetError } from '#dicom/fault.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { DataSetScanner } from '#dicom/scanner.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { encodeRequest } from '#fhir/write/request.ts';
import { countMessages, splitMessages } from '#hl7v2/batch.ts';
import { readHead } from '#hl7v2/head.ts';
import { readXml } from '#hl7v3/read.ts';
import type { InterpretContext } from '#ingest/kinds/definition.ts';
import { interpretDelivery } from '#ingest/kinds/index.ts';
import type { Delivery } from '#record/delivery.ts';
import { MultipartParser } from '#surfaces/dicomweb/multipart-reader.ts';
import { AssociateRequestError, readAssociateRequest } from '#surfaces/dimse/associate-request.ts';
import { readCommandSet } from '#surfaces/dimse/command-set.ts';
import { PduReader } from '#surfaces/dimse/pdu-reader.ts';
import { FrameReader } from '#surfaces/mllp/frame.ts';
import { interpretContext } from '#test/support/interpretation.ts';
import { defaultLimits } from '../../src/limits.ts';
import type { Format } from './seeds.ts';

/** A fault of the product, which shows in its log alone: the delivery is refused like any other. */
class Bug extends Error {}

const context: InterpretContext = {
	...interpretContext,
	log: Object.assign(Object.create(silentLog), {
		error: (given: { err?: unknown }, text: string) => {
			throw new Bug(text, { cause: given.err });
		},
	}),
};

const nowMs = Date.UTC(2026, 0, 31);
const carried = {
	id: newId(nowMs),
	siteId: newId(nowMs),
	clientId: nilId,
	source: '192.0.2.1',
	receivedAtMs: nowMs,
	settings: { time_zone: 'UTC' },
};

/** Reads a delivery as a worker does, and makes both of its answers. */
function deliver(delivery: Delivery): void {
	const read = interpretDelivery(delivery, context);
	for (const part of 'parts' in read ? read.parts : [read]) void part.verdict;
}

/** A reader may throw a Failure or one of these kinds; everything else is a finding. */
function refusing(read: () => void, ...kinds: (new (...given: never[]) => Error)[]): void {
	try {
		read();
	} catch (error) {
		if (!(error instanceof Failure) && !kinds.some((kind) => error instanceof kind)) throw error;
	}
}

function inPieces(bytes: Buffer, take: (piece: Buffer) => boolean | undefined): void {
	// Cut in places that depend on the case alone.
	const size = 1 + ((bytes.length * 31 + (bytes[0] ?? 0)) % Math.max(1, bytes.length));
	for (let at = 0; at < bytes.length; at += size) if (take(Buffer.from(bytes.subarray(at, at + size))) === false) return;
}

export const targets: Record<Format, (bytes: Buffer) => void> = {
	hl7v2: (bytes) => {
		readHead(bytes);
		countMessages(bytes);
		refusing(() => splitMessages(bytes));
		deliver({ ...carried, kind: 'hl7v2', surface: 'mllp', bytes });
	},
	xml: (bytes) => refusing(() => readXml(bytes, defaultLimits)),
	hl7v3: (bytes) => deliver({ ...carried, kind: 'hl7v3', surface: 'hl7-http', bytes }),
	cda: (bytes) => deliver({ ...carried, kind: 'hl7v3', surface: 'hl7-http', bytes }),
	json: (bytes) => refusing(() => void validateResource(parseResourceJson(bytes, { depthMax: 100 }))),
	fhir: (body) => {
		const type = /"resourceType"\s*:\s*"([A-Za-z]+)"/.exec(body.toString('latin1'))?.[1] ?? 'Patient';
		const request = { method: 'POST', url: type === 'Bundle' ? '' : type, headers: { 'content-type': 'application/fhir+json' }, body };
		deliver({ ...carried, kind: 'fhir', surface: 'fhir', bytes: encodeRequest(request) });
	},
	mpps: (bytes) => deliver({ ...carried, kind: 'mpps', surface: 'mpps', operation: 'report', bytes }),
	dicom: (bytes) => {
		refusing(() => void readFileMeta(bytes), DataSetError);
		for (const syntax of [explicitLittleEndian, implicitLittleEndian]) {
			const scanner = new DataSetScanner(syntax, { headerBytesMax: 1024 * 1024 });
			inPieces(bytes, (piece) => scanner.feed(piece));
			scanner.end();
		}
	},
	pdu: (bytes) => {
		const reader = new PduReader({ dataBytesMax: 16_384, associateBytesMax: 65_536 });
		inPieces(bytes, (piece) => {
			reader.feed(piece);
			for (let event = reader.next(); event !== undefined; event = reader.next()) {
				if (event.kind === 'invalid') return false;
				if (event.kind !== 'associate') continue;
				const { body } = event;
				refusing(() => void readAssociateRequest(body), AssociateRequestError);
			}
			return true;
		});
		refusing(() => void readCommandSet(bytes));
	},
	mllp: (bytes) => {
		const reader = new FrameReader(32_768);
		inPieces(bytes, (piece) => {
			reader.push(piece);
			return true;
		});
		reader.settle();
	},
	multipart: (bytes) => {
		const parser = new MultipartParser('a-boundary');
		refusing(() => {
			inPieces(bytes, (piece) => {
				for (const event of parser.push(piece)) void event.kind;
				return true;
			});
			parser.end();
		});
	},
};

export const formats = Object.keys(targets) as Format[];
