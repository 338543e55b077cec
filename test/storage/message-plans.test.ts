import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { actorsLike, beginningsOf, controlsLike, numbersLike, patientsLike, typesLike } from '#storage/statements/administrative/alike.ts';
import { listFailures, openMessages } from '#storage/statements/administrative/failures.ts';
import { findIds } from '#storage/statements/administrative/find-ids.ts';
import { auditHistogram, messageHistogram, studyHistogram, unmatchedHistogram } from '#storage/statements/administrative/histograms.ts';
import { listAlike, listOverlays, listSharing } from '#storage/statements/administrative/identity.ts';
import { listAuditEvents } from '#storage/statements/administrative/list-audit.ts';
import { searchReportRows } from '#storage/statements/administrative/read-reports.ts';
import { listSessions } from '#storage/statements/administrative/read-sessions.ts';
import { causeOf, firstIdOf, type MessageFilters, searchMessages } from '#storage/statements/administrative/search-messages.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { nodesOf, type PlanNode, readParents } from '#test/support/plan.ts';

const [siteId, otherSiteId] = [newId(), newId()];
const [clientId, rareClientId] = [newId(), newId()];
const startMs = Date.parse('2026-01-01T00:00:00Z');
let database: TestDatabase;
let client: pg.Client;

/** One message each second, numbered; a thirtieth was refused, a hundredth came by HTTP, a few of all are about two patients. */
const seed = `
insert into site (id, slug, name) values (:site, 'west', 'West'), (:other, 'east', 'East');
insert into integration_client (site_id, id, name, protocols, allowed_ips) values (:site, :client, 'ADT', '{hl7-mllp}', '{}');
insert into message_log (site_id, id, sequence, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome,
	failure_code, failure, flags, replay_of, patient, other_patient, bytes, ack)
select :site, (lpad(to_hex(:start + n * 1000), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid, n,
	case when n % 100 = 0 then 'hl7-http' else 'mllp' end, case when n % 100 = 0 then :nil when n % 400 = 1 then :rare else :client end, '10.0.0.1',
	to_timestamp((:start + n * 1000) / 1000.0), to_timestamp((:start + n * 1000 + 25) / 1000.0),
	case when n % 500 = 0 then 'ADT^A40' when n % 2 = 0 then 'ADT^A08' else 'ORU^R01' end, 'C' || n,
	case when n % 30 = 0 then 'refused' else 'accepted' end, case when n % 30 = 0 then 'required-missing' end,
	case when n % 30 = 0 then 'PID-3 of message ' || n || ' has no ''value''' end,
	case when n % 5000 = 0 then '[{"code":"possible-overlay","text":""}]'::jsonb end, null, 'P' || n % 2000,
	case when n % 500 = 0 then 'P' || n + 1 end, repeat('x', 400)::bytea, ''
from generate_series(1, 20000) n;
insert into message_log (site_id, id, sequence, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, bytes, ack)
select :other, (lpad(to_hex(:start + n * 1000), 12, '0') || '70008000000000010000')::uuid, n, 'mllp', :other, '10.0.0.2',
	to_timestamp((:start + n * 1000) / 1000.0), to_timestamp((:start + n * 1000) / 1000.0), 'ADT^A08', 'C' || n, 'accepted', '', ''
from generate_series(1, 50) n;
insert into patient (site_id, id, version, last_updated, resource, name, birth_date, birth_date_end, gender)
select :site, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, 1, now(), '{}', 'name ' || n % 4999, date '1930-01-01' + n % 9998,
	date '1930-01-02' + n % 9998, 'female'
from generate_series(1, 20000) n;
insert into patient_identifier (site_id, value, system, patient_id, old, rank)
select :site, (n % 15000)::text, 'urn:mrn:' || n % 2, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, false, 0 from generate_series(1, 20000) n;
insert into imaging_study (site_id, study_uid, id, patient_id, accession_number, modalities, series_count, instance_count, bytes, created_at, updated_at)
select :site, '1.2.' || n, ('00000000-0000-0000-0004-' || lpad(n::text, 12, '0'))::uuid, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid,
	'Acc-' || n, '{CT}', 1, 1, 1, now(), now()
from generate_series(1, 20000) n;
insert into diagnostic_report (site_id, id, version, last_updated, resource, patient_id, status, accession_number, filler_number)
select :site, ('00000000-0000-0000-0005-' || lpad(n::text, 12, '0'))::uuid, 1, now(), '{}', ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid,
	'final', 'Acc-' || n / 2, 'Fill-' || n
from generate_series(1, 20000) n;
insert into mpps_session (site_id, id, sop_instance_uid, study_uid, status, late, attributes, patient_id, accession_number, series_uids, reports, last_digest,
	last_message_id, created_at, updated_at)
select :site, ('00000000-0000-0000-0006-' || lpad(n::text, 12, '0'))::uuid, '1.3.' || n, '1.2.' || n, 'COMPLETED', false, '{}', 'P' || n, 'Acc-' || n, '{}', 1,
	'', :nil, now(), now()
from generate_series(1, 20000) n;
insert into audit_event (site_id, id, recorded_at, actor, action, subject, detail)
select :site, (lpad(to_hex(:start + n * 1000), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid, to_timestamp((:start + n * 1000) / 1000.0),
	case when n % 1000 = 0 then 'mia@example.org' else 'key:' || n % 300 end, case when n % 2000 = 5 then 'dicom.association' when n % 500 = 7 then 'client.set' else 'fhir.read' end, 'CT1',
	'{"failed":0,"end":"released"}'
from generate_series(1, 20000) n;
analyze;
`;

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	const values: Record<string, string> = {
		site: siteId,
		other: otherSiteId,
		client: clientId,
		rare: rareClientId,
		nil: '00000000-0000-0000-0000-000000000000',
	};
	const text = seed.replaceAll(':start', String(startMs));
	await client.query(text.replaceAll(/:(site|other|client|rare|nil)\b/g, (_, name: string) => `'${values[name]}'::uuid`));
	parents = await readParents(client);
});

after(async () => {
	await client.end();
	await database[Symbol.asyncDispose]();
});

/** The table or index itself for each partition of it. */
let parents: ReadonlyMap<string, string>;

/** The nodes of a plan by the names of whole tables and indexes, without those on partitions that hold nothing. */
function nodesOfWhole(plan: PlanNode): PlanNode[] {
	return nodesOf(plan)
		.filter((node) => !/_(default|\d{6})$/.test(node['Relation Name'] ?? '') || /_before_\d{6}$/.test(node['Relation Name'] ?? ''))
		.map((node) => {
			const [index, table] = [node['Index Name'], node['Relation Name']];
			return {
				...node,
				...(index !== undefined && { 'Index Name': parents.get(index) ?? index }),
				...(table !== undefined && { 'Relation Name': parents.get(table) ?? table }),
			};
		});
}

type Asked = Partial<MessageFilters>;

/** Control ids of the page, and how its rows were found. */
async function found(asked: Asked): Promise<{ page: string[]; nodes: PlanNode[] }> {
	const { statement, values } = searchMessages({ sites: ['west'], limit: 20, ...asked });
	const { rows } = await client.query<{ control_id: string }>(statement.text, values);
	const explained = await client.query(`explain (analyze, format json) ${statement.text}`, values);
	return { page: rows.map(({ control_id: id }) => id), nodes: nodesOfWhole(explained.rows[0]['QUERY PLAN'][0].Plan) };
}

const numbered = (numbers: number[]) => numbers.map((n) => `C${n}`);
const newest = (step: number, count = 20, from = 20_000) => numbered(Array.from({ length: count }, (_, index) => from - index * step));

describe('a page of the message log is read from an index in its order, and no more than the page', () => {
	const cases: [string, Asked, string, string[]][] = [
		['no filter', {}, 'message_log_pkey', newest(1)],
		['a control id', { controlIds: ['C4711'] }, 'message_log_control', ['C4711']],
		['a type', { messageTypes: ['ADT^A40'] }, 'message_log_type', newest(500)],
		['a client', { clientId: rareClientId }, 'message_log_client', newest(400, 20, 19_601)],
		['a surface', { surface: 'hl7-http' }, 'message_log_surface', newest(100)],
		['MLLP', { surface: 'mllp' }, 'message_log_client', numbered(Array.from({ length: 20 }, (_, index) => 19_999 - index))],
		['refused', { outcome: 'refused' }, 'message_log_outcome', newest(30, 20, 19_980)],
		['ignored, of which there are none', { outcome: 'ignored' }, 'message_log_outcome', []],
		['accepted', { outcome: 'accepted', limit: 2 }, 'message_log_pkey', ['C20000', 'C19999']],
		['a patient', { patients: ['P7'] }, 'message_log_patient', newest(2000, 10, 18_007)],
		['the other patient of a merge', { patients: ['P20001'] }, 'message_log_other_patient', ['C20000']],
		['identifiers of one patient', { patients: ['P7', 'P501'], limit: 3 }, 'message_log_patient', ['C18501', 'C18007', 'C16501']],
		['until', { untilMs: startMs + 5_000_000, limit: 3 }, 'message_log_pkey', ['C4999', 'C4998', 'C4997']],
		['since', { sinceMs: startMs + 19_998_000 }, 'message_log_pkey', newest(1, 3)],
		['a page further on', { before: firstIdOf(startMs + 100_000), limit: 2 }, 'message_log_pkey', ['C99', 'C98']],
		['two filters', { messageTypes: ['ADT^A40'], outcome: 'refused' }, 'message_log_type', newest(1500, 13, 19_500)],
	];
	for (const [name, asked, index, page] of cases) {
		test(name, async () => {
			const result = await found(asked);
			assert.deepEqual(result.page, page);
			const reads = result.nodes.filter((node) => node['Index Name'] !== undefined || node['Relation Name'] === 'message_log');
			assert.ok(reads.some((node) => node['Index Name'] === index) || index === 'message_log_type', JSON.stringify(reads, null, 1));
			assert.deepEqual(
				result.nodes.filter((node) => node['Relation Name'] === 'message_log' && node['Node Type'] === 'Seq Scan'),
				[],
			);
			// Until reaches back by the hour that an id may lag.
			const most = asked.untilMs === undefined ? 800 : 5000;
			const touched = reads.map(
				(node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
			);
			assert.ok(Math.max(...touched) <= most, `${Math.max(...touched)} rows were read`);
		});
	}

	test('all sites together', async () => {
		const { statement, values } = searchMessages({ sites: undefined, messageTypes: ['ADT^A08'], untilMs: startMs + 3500, limit: 10 });
		const { rows } = await client.query(statement.text, values);
		assert.deepEqual(
			rows.map(({ site, control_id: id }) => `${site} ${id}`),
			['east C3', 'east C2', 'west C2', 'east C1'],
		);
	});

	test('a cause is one whatever numbers and quoted values the texts have', async () => {
		const { rows } = await client.query(
			`select ${causeOf('m')} as cause, count(*)::integer as count from message_log m where m.outcome = 'refused' group by 1 order by 2 desc`,
		);
		assert.equal(rows.length, 3);
		assert.equal(rows[0].count, 600);
		const { page } = await found({ cause: rows[0].cause, limit: 2 });
		assert.equal(page.length, 2);
	});
});

describe('what is grouped and walked through reads an index', () => {
	async function indexes(text: string, values: readonly unknown[]): Promise<string[]> {
		const explained = await client.query(`explain (analyze, format json) ${text}`, [...values]);
		const nodes = nodesOfWhole(explained.rows[0]['QUERY PLAN'][0].Plan);
		const whole = nodes.filter(
			(node) => node['Node Type'] === 'Seq Scan' && (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) > 100,
		);
		assert.deepEqual(whole, []);
		return [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))];
	}

	test('failures, and whether they are mended', async () => {
		const used = await indexes(listFailures.text, [['west'], 500, null]);
		for (const index of ['message_log_outcome', 'message_log_control']) assert.ok(used.includes(index), used.join(', '));
		const { rows } = await client.query(listFailures.text, [['west'], 500, null]);
		assert.equal(
			rows.reduce((sum, { messages }) => sum + messages, 0),
			500,
		);
		assert.ok(rows.every(({ looked_back_to: back }) => back instanceof Date));
		const open = await client.query(openMessages.text, [siteId, 500, null, rows[0].id, 3]);
		assert.equal(open.rows.length, 3);
		await indexes(openMessages.text, [siteId, 500, null, rows[0].id, 3]);
	});

	test('possible overlays', async () => {
		assert.ok((await indexes(listOverlays.text, [siteId, null, 10])).includes('message_log_overlay'));
	});

	test('patients who are alike, or share a number', async () => {
		const alike = await indexes(listAlike.text, [siteId, '1950-01-01', 300]);
		assert.ok(alike.includes('patient_birth_date'), alike.join(', '));
		const sharing = await indexes(listSharing.text, [siteId, '500', 300]);
		assert.ok(sharing.includes('patient_identifier_pkey'), sharing.join(', '));
		const { rows } = await client.query(listAlike.text, [siteId, null, 100]);
		const walked = rows.filter(({ ids }) => ids === null);
		assert.equal(walked.length, 1, 'a walk that ends early says where');
	});

	test('types and control ids by their beginning, and who acted by a part', async () => {
		const types = await client.query(typesLike.text, [[siteId], 'adt']);
		assert.deepEqual(types.rows.map(({ message_type: type }) => type).sort(), ['ADT^A08', 'ADT^A40']);
		assert.deepEqual(await indexes(typesLike.text, [[siteId], 'adt']), ['message_log_type']);
		const controls = await client.query(controlsLike.text, [[siteId], beginningsOf('c471'), 100]);
		assert.equal(controls.rows.length, 11);
		assert.ok((await indexes(controlsLike.text, [[siteId], beginningsOf('c471'), 100])).includes('message_log_control'));
		const actors = await client.query(actorsLike.text, [[siteId], 'MIA']);
		assert.deepEqual(actors.rows, [{ site_id: siteId, actor: 'mia@example.org' }]);
		assert.ok((await indexes(actorsLike.text, [[siteId], 'MIA'])).includes('audit_event_actor'));
		assert.ok((await indexes(actorsLike.text, [null, 'MIA'])).includes('audit_event_actor'));
	});

	test('studies, reports, patients, messages and procedure steps by the beginning of a number', async () => {
		const cases = [
			['study', '1.2.471', 'imaging_study_pkey', 11],
			['accession', 'acc-471', 'imaging_study_accession', 11],
			['reportAccession', 'ACC-471', 'diagnostic_report_accession', 11],
			['reportFiller', 'Fill-471', 'diagnostic_report_filler', 11],
			['messagePatient', 'p71', 'message_log_patient', 11],
			['messageOtherPatient', 'p1000', 'message_log_other_patient', 1],
			['stepPatient', 'p471', 'mpps_session_patient', 11],
			['stepAccession', 'acc-471', 'mpps_session_accession', 11],
		] as const;
		for (const [kind, text, index, count] of cases) {
			const { rows } = await client.query(numbersLike[kind].text, [[siteId], beginningsOf(text), 100]);
			assert.equal(rows.length, count, `${kind} ${text}`);
			const used = await indexes(numbersLike[kind].text, [[siteId], beginningsOf(text), 100]);
			assert.ok(used.includes(index), used.join(', '));
		}
		const few = await client.query(numbersLike.accession.text, [null, beginningsOf('acc-47'), 3]);
		assert.deepEqual(
			few.rows.map(({ value }) => value),
			['Acc-47', 'Acc-470', 'Acc-4700'],
		);
		const patients = await client.query(patientsLike.text, [[siteId], beginningsOf('471'), 100]);
		assert.equal(patients.rows.length, 22);
		assert.ok((await indexes(patientsLike.text, [null, beginningsOf('471'), 100])).includes('patient_identifier_pkey'));
		const page = [[siteId], null, null, null, 20, null, false];
		const patient = '00000000-0000-0000-0000-000000000007';
		const numbers = [[siteId], [patient], ['Acc-10', 'Acc-11'], ['Fill-99']];
		const reports = await client.query(searchReportRows.text, [...page, ...numbers]);
		assert.equal(reports.rows.length, 6);
		const used = await indexes(searchReportRows.text, [...page, ...numbers]);
		for (const index of ['diagnostic_report_patient', 'diagnostic_report_accession', 'diagnostic_report_filler'])
			assert.ok(used.includes(index), used.join(', '));
	});

	test('procedure steps that have one of some numbers', async () => {
		const page = (patients: string[] | null, accessions: string[] | null) => [[siteId], null, null, patients, accessions, null, 20];
		assert.ok((await indexes(listSessions.text, page(['P471', 'P4710'], null))).includes('mpps_session_patient'));
		assert.ok((await indexes(listSessions.text, page(null, ['Acc-471', 'Acc-4710']))).includes('mpps_session_accession'));
		assert.equal((await client.query(listSessions.text, page(['P471'], ['Acc-471']))).rows.length, 1);
	});

	test('a page of the audit trail by who acted, of associations and of changes', async () => {
		const page = (sites: unknown, actors: unknown, action: string | null) => [
			sites,
			actors,
			action,
			null,
			null,
			null,
			20,
			...[null, null, null, null, null, null],
		];
		const byActor = page([siteId], ['mia@example.org'], null);
		assert.ok((await indexes(listAuditEvents({ byActor: true, part: undefined }).text, byActor)).includes('audit_event_actor'));
		const { rows } = await client.query(listAuditEvents({ byActor: true, part: undefined }).text, byActor);
		assert.equal(rows.length, 20);
		for (const [part, index, number] of [
			['associations', 'audit_event_association', 10],
			['changes', 'audit_event_changes', 20],
		] as const) {
			const { text } = listAuditEvents({ byActor: false, part });
			for (const sites of [[siteId], null]) {
				assert.ok((await indexes(text, page(sites, null, null))).includes(index), `${part} of ${sites}`);
				assert.equal((await client.query(text, page(sites, null, null))).rows.length, number);
			}
		}
		const narrowed = listAuditEvents({ byActor: false, part: 'associations' }).text;
		const byAe = [...page([siteId], null, null).slice(0, 11), 'ct', 'complete'];
		assert.equal((await client.query(narrowed, byAe)).rows.length, 10);
		assert.equal((await client.query(narrowed, [...byAe.slice(0, 12), 'failed'])).rows.length, 0);
	});

	test('what an id belongs to', async () => {
		const used = await indexes(findIds.text, [[siteId], beginningsOf('471'), '471', null]);
		for (const index of ['message_log_control', 'patient_identifier_pkey']) assert.ok(used.includes(index), used.join(', '));
	});

	test('a histogram reads the ranges of its parts', async () => {
		const starts = Array.from({ length: 10 }, (_, index) => startMs + 10_000_000 + index * 100_000);
		const [lows, highs] = [starts.map(firstIdOf), starts.map((each) => firstIdOf(each + 100_000))];
		const cases: [Partial<MessageFilters>, string, number][] = [
			[{}, 'message_log_pkey', 1000],
			[{ messageTypes: ['ADT^A40'] }, 'message_log_type', 2],
			[{ outcome: 'refused' }, 'message_log_outcome', 33],
			[{ clientId: rareClientId }, 'message_log_client', 3],
		];
		for (const [filters, index, total] of cases) {
			const { text, values } = messageHistogram({ sites: ['west'], limit: 1, ...filters }, lows, highs);
			const { rows } = await client.query(text, values);
			assert.equal(
				rows.reduce((sum, { count }) => sum + count, 0),
				total,
			);
			const used = await indexes(text, values);
			assert.ok(used.includes(index), used.join(', '));
		}
		const ofAudit = [lows, highs, [siteId], null, null, null, null, null];
		const audit = await indexes(auditHistogram(undefined).text, ofAudit);
		assert.ok(audit.includes('audit_event_pkey') || audit.includes('audit_event_all'), audit.join(', '));
		assert.ok((await indexes(auditHistogram('associations').text, ofAudit)).includes('audit_event_association'));
		assert.ok((await indexes(auditHistogram('changes').text, ofAudit)).includes('audit_event_changes'));
		await indexes(unmatchedHistogram.text, [lows, highs]);
		const moments = [starts, starts].map((each) => each.map((at) => new Date(at).toISOString()));
		await indexes(studyHistogram.text, [...moments, [siteId]]);
	});
});
