import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteAccess } from '#access/gathered-accesses.ts';
import { noSettings } from '#record/settings/settings.ts';
import { AccessNotes, type NotedAccess } from '#surfaces/dicomweb/access-notes.ts';

test('the same retrieval is written once a minute, another one and every search at once', () => {
	let nowMs = 0;
	const events: SiteAccess[] = [];
	const notes = new AccessNotes((event) => events.push(event), { nowMs: () => nowMs });
	const grant = { siteId: 's', keyId: 'k', settings: noSettings };
	const retrieval = { grant, action: 'dicomweb.retrieve', subject: '1.2', studies: ['1.2'], source: '::1', requestId: 'r' } as const;
	const access: NotedAccess = retrieval;
	for (; nowMs < 60_000; nowMs += 1000) notes.note(access);
	assert.equal(events.length, 1);
	const { studies, ...first } = events[0] ?? assert.fail();
	assert.deepEqual([...studies], ['1.2']);
	const who = { siteId: 's', actor: 'key:k', source: '::1', requestId: 'r', patients: [] };
	assert.deepEqual(first, {
		...who,
		action: retrieval.action,
		subject: '1.2',
		kind: retrieval.action,
		detail: { status: 200, studies: 1 },
	});
	notes.note(access);
	assert.equal(events.length, 2);
	const others: Partial<NotedAccess>[] = [
		{ grant: { ...grant, siteId: 't' } },
		{ grant: { ...grant, keyId: 'l' } },
		{ action: 'dicomweb.search' },
		{ action: 'dicomweb.search' },
		{ subject: '1.3' },
		{ source: '::2' },
	];
	for (const other of others) notes.note({ ...access, ...other });
	assert.equal(events.length, 8);
	for (let study = 0; study < 25_000; study++) notes.note({ ...access, subject: `2.${study}` });
	assert.equal(events.length, 25_008);
	notes.note({ ...access, subject: '3', grant: { ...grant, settings: { ...noSettings, recorded_reads: 'none' } } });
	assert.equal(events.length, 25_008, 'a site that records no reads');
});
