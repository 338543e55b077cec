import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteAccess } from '#access/gathered-accesses.ts';
import { noSettings } from '#record/settings/settings.ts';
import { recorded } from '#surfaces/http/accesses.ts';
import type { HttpRequest } from '#surfaces/http/message.ts';

for (const context of ['Patient/secured', 'Patient/secured/_history/2', 'http://localhost/fhir/Patient/secured']) {
	test(`reading the bytes of a Binary is recorded for the patient of its security context: ${context}`, async () => {
		const accesses: SiteAccess[] = [];
		const request: HttpRequest = {
			...{ method: 'GET', path: '/fhir/Binary/x', query: '', params: { type: 'Binary', id: 'x' }, body: new Uint8Array(0) },
			...{ header: () => undefined, source: '127.0.0.1', secure: false, origin: '', requestId: 'r' },
			caller: { grant: { keyId: 'k', siteId: 's', siteSlug: 'north', settings: noSettings } },
		};
		const headers = { 'Content-Type': 'application/pdf', 'X-Security-Context': context };
		const handle = () => ({ status: 200, headers, body: new Uint8Array(8) });
		const route = recorded(
			{ audit: { recordAccess: (access) => accesses.push(access) } },
			{ method: 'GET', pattern: '/fhir/Binary/:id', handle },
			{ action: 'fhir.read', isRead: true },
		);
		await route.handle(request);
		assert.deepEqual(
			accesses.map(({ subject, patients }) => [subject, [...patients]]),
			[['Binary/x', ['secured']]],
		);
	});
}
