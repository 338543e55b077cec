import { IndependentDocument } from './hl7v3.ts';
import type { TestService } from './service.ts';

/** Sends a body to POST /v3/ingest, as `application/xml` unless the headers say otherwise. */
export async function postV3(service: TestService, key: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
	const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v3/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'application/xml', ...headers },
		body,
	});
	return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

/** What an acknowledgement says, read by another library. */
export function ackOf(text: string) {
	const document = new IndependentDocument(text);
	return {
		document,
		code: document.values('//v3:acknowledgement/v3:typeCode/@code')[0],
		target: document.values('//v3:targetMessage/v3:id/@extension')[0],
		detail: document.values('//v3:acknowledgementDetail/v3:text')[0],
		location: document.values('//v3:acknowledgementDetail/v3:location')[0],
		detailCode: document.values('//v3:acknowledgementDetail/v3:code/@code')[0],
	};
}
