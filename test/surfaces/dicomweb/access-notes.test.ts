import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteAuditEvent } from '#access/audit.ts';
import { AccessNotes, type NotedAccess } from '#surfaces/dicomweb/access-notes.ts';

test('the same access is written once a minute, another one at once', () => {
	let nowMs = 0;
	const events: SiteAuditEvent[] = [];
	const notes = new AccessNotes((event) => events.push(event), { nowMs: () => nowMs });
	const access: NotedAccess = { grant: { siteId: 's', keyId: 'k' }, action: 'dicomweb.retrieve', subject: '1.2', source: '::1' };
	for (; nowMs < 60_000; nowMs += 1000) notes.note(access);
	assert.deepEqual(events, [{ siteId: 's', actor: 'key:k', action: 'dicomweb.retrieve', subject: '1.2', source: '::1', detail: {} }]);
	notes.note(access);
	assert.equal(events.length, 2);
	const others: Partial<NotedAccess>[] = [
		{ grant: { siteId: 't', keyId: 'k' } },
		{ grant: { siteId: 's', keyId: 'l' } },
		{ action: 'dicomweb.search' },
		{ subject: '1.3' },
		{ source: '::2' },
	];
	for (const other of others) notes.note({ ...access, ...other });
	assert.equal(events.length, 7);
	for (let study = 0; study < 25_000; study++) notes.note({ ...access, subject: `2.${study}` });
	assert.equal(events.length, 25_007);
});
