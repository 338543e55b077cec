import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { corpusDirectory, without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

interface Counts {
	patients: Set<string>;
	/** Those whose PD1 came behind the message that created them: a second version. */
	completed: Set<string>;
	visits: Set<string>;
	observations: Set<string>;
	allergies: Set<string>;
	refused: number;
}

/** The stream read by hand, without the product's parser: what it must leave behind. */
function independentCounts(messages: readonly string[]): Counts {
	const counts: Counts = {
		patients: new Set(),
		completed: new Set(),
		visits: new Set(),
		observations: new Set(),
		allergies: new Set(),
		refused: 0,
	};
	for (const message of messages) {
		const segments = message.split('\r').map((segment) => segment.split('|'));
		if (!/^(ADT\^A01|ORU\^R01)/.test(segments[0]?.[8] ?? '')) {
			counts.refused++;
			continue;
		}
		const patient =
			segments
				.find(([id]) => id === 'PID')?.[3]
				?.split('~')[0]
				?.split('^')[0] ?? '';
		if (counts.patients.has(patient) && segments.some(([id]) => id === 'PD1')) counts.completed.add(patient);
		counts.patients.add(patient);
		let order = '';
		for (const segment of segments) {
			if (segment[0] === 'PV1') counts.visits.add(`${patient} ${segment[19]}`);
			if (segment[0] === 'AL1') counts.allergies.add(`${patient} ${segment[3]}`);
			if (segment[0] === 'OBR') order = segment[3] || segment[2] || '';
			if (segment[0] === 'OBX') counts.observations.add(`${patient} ${order} ${segment[3]} ${segment[4]}`);
		}
	}
	return counts;
}

async function stored(service: TestService): Promise<Record<string, unknown>> {
	const tables = [
		'patient',
		'patient_identifier',
		'encounter',
		'observation',
		'allergy_intolerance',
		'resource_history',
		'accepted_message',
	];
	const found: Record<string, unknown> = {};
	for (const table of tables) {
		const digest =
			table === 'patient_identifier' || table === 'accepted_message' ? `count(*)::text` : `count(*) || ' ' || coalesce(sum(version), 0)`;
		const [row] = await service.rows<{ counted: string }>(`select ${digest} as counted from ${table}`);
		found[table] = row?.counted;
	}
	return found;
}

async function replay(service: TestService, messages: readonly string[]): Promise<string[]> {
	const client = await MllpClient.connect(service.port('mllp'));
	const answers = await Promise.all(messages.map((message) => client.send(Buffer.from(message, 'latin1'))));
	client.close();
	return answers;
}

describe('a stream of 1,013 messages', { skip: without('corpus') }, () => {
	test('replays through one MLLP connection in order; replayed again it changes no row', async () => {
		const path = join(corpusDirectory, 'hl7v2/google_simhospital/docs/artifacts/messages.out');
		const messages = readFileSync(path, 'latin1')
			.split(/\n+/)
			.filter((message) => message.startsWith('MSH'));
		assert.equal(messages.length, 1013);
		await using service = await testService();
		await service.addSite('stream', { processing_ids: ['P', 'T', 'D'] });
		const answers = await replay(service, messages);
		const counts = independentCounts(messages);
		const controlIds = messages.map((message) => message.split('|')[9]);
		assert.deepEqual(
			answers.map((answer) => msa(answer).controlId),
			controlIds,
		);
		const refused = answers.filter((answer) => msa(answer).code !== 'AA');
		assert.equal(refused.length, counts.refused, refused.map((answer) => msa(answer).text).join('\n'));
		const after = await stored(service);
		assert.deepEqual(after, {
			patient: `${counts.patients.size} ${counts.patients.size + counts.completed.size}`,
			patient_identifier: '802',
			encounter: `${counts.visits.size} ${counts.visits.size}`,
			observation: `${counts.observations.size} ${counts.observations.size}`,
			allergy_intolerance: `${counts.allergies.size} ${counts.allergies.size}`,
			resource_history: `${counts.completed.size} ${counts.completed.size}`,
			accepted_message: String(messages.length - counts.refused),
		});
		assert.deepEqual(
			(await replay(service, messages)).map((answer) => msa(answer).code),
			answers.map((answer) => msa(answer).code),
		);
		assert.deepEqual(await stored(service), after);
	});
});
