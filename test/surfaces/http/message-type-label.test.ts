import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events } from '#hl7v2/events/index.ts';
import { interactions } from '#hl7v3/interactions/index.ts';
import { messageTypeLabel } from '#surfaces/http/message-type-label.ts';

test('every event and interaction that is understood is counted under its name', () => {
	for (const { messageType } of events) assert.equal(messageTypeLabel(messageType), messageType);
	for (const { name } of interactions) assert.equal(messageTypeLabel(name), name);
});

test('documents are counted together, and all that a sender may write besides as other', () => {
	const labels = ['CDA 34133-9', 'CDA', 'DOE^JOHN', 'ADT^A60', 'ADT', 'HL7v3', ''].map(messageTypeLabel);
	assert.deepEqual(labels, ['CDA', 'other', 'other', 'other', 'other', 'other', 'other']);
});
