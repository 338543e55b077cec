import assert from 'node:assert/strict';
import type { TestService } from './service.ts';

export type SendHl7 = (type: string, ...segments: string[]) => Promise<void>;

/** Returns a sender of HL7 v2 messages over HTTP, each with a control id of its own. Every one has to be taken. */
export function hl7Sender(service: TestService, key: string): SendHl7 {
	let messages = 0;
	return async (type, ...segments) => {
		const text = [`MSH|^~\\&|ADT|W|||20260105101500||${type}|${++messages}|P|2.5.1`, 'EVN||20260105', ...segments].join('\r');
		const { status } = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
			body: text,
		});
		assert.equal(status, 200, type);
	};
}
