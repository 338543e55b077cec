import { z } from 'zod';
import { type JsonObject, parseExact } from '#core/json.ts';
import type { ChartRow } from '#fhir/chart.ts';
import { flags, measuredValues } from '#fhir/measured.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { conceptText } from '#fhir/summaries.ts';
import {
	sharedNumbers,
	timelineIdentities,
	timelineMessages,
	timelineReports,
	timelineResults,
	timelineSteps,
	timelineStudies,
	timelineVisits,
} from '#storage/statements/administrative/read-timeline.ts';
import { firstIdOf } from '#storage/statements/administrative/search-messages.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { identityChange } from './identity-change.ts';
import { stateOf } from './reports.ts';
import { instant, time } from './schemas.ts';
import { SiteRecord, versionOf } from './site-record.ts';
import { siteBySlug } from './sites.ts';

export const timelineKinds = ['visit', 'message', 'step', 'study', 'result', 'report', 'identity'] as const;
type Kind = (typeof timelineKinds)[number];

/** `2026-01-05T07:30:00.000Z/result/<id>` */
const position = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\/([a-z]+)\/([0-9a-f-]+)$/;

/** `result,report` */
const listed = new RegExp(`^(${timelineKinds.join('|')})(,(${timelineKinds.join('|')}))*$`);

export const patientTimelineInput = z.strictObject({
	site: z.string(),
	id: z.string(),
	kind: z
		.string()
		.regex(listed, `must be of ${timelineKinds.join(', ')}, separated by commas`)
		.optional()
		.describe(`only entries of these kinds, separated by commas: ${timelineKinds.join(', ')}`),
	since: time.optional(),
	until: time.optional(),
	before: z.string().regex(position, 'must be the key of an entry').optional().describe('key of the last entry on the previous page'),
	limit: z.coerce.number().int().min(1).max(200).default(50),
});
type Input = z.output<typeof patientTimelineInput>;

const entry = z.strictObject({
	key: z.string().describe('the place of the entry, newest first'),
	kind: z.enum(timelineKinds),
	at: instant.describe('when it happened, in UTC'),
	stated: z.string().nullable().describe('the time as it was stated, with its own offset; null where it is the time of recording'),
	title: z.string(),
	detail: z.string(),
	status: z.string().describe('that of a report is the one of `report list`'),
	flag: z.enum(flags).nullable().describe("the sender's own flag of a result"),
	derived: z.enum(['low', 'high']).nullable().describe('what follows from the reference range of a result'),
	id: z.string().describe('id of the message, procedure step, study, report or other resource; of another patient for a merge'),
	message: z.string().nullable().describe('id of the logged message that it came with'),
	study: z.string().nullable().describe('id of the stored study of a procedure step'),
});
type Entry = z.output<typeof entry>;

export const patientTimeline = z.strictObject({
	entries: z.array(entry),
	more: z.boolean().describe('true if there are older entries'),
	shared: z
		.array(z.string())
		.describe('numbers that other patients of the site have as well; messages and procedure steps under these alone are left out'),
});

/** Lists what is known of a patient in one order, newest first. The audit trail records that it was viewed. */
export async function showTimeline(context: OperationContext, input: Input): Promise<z.output<typeof patientTimeline>> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const patient = await record.one('Patient', input.id);
	if (patient === undefined) throw new AdministrationError(`there is no patient '${input.id}'`, 'not-found', 'id');
	await note(context, { action: 'patient.read', subject: patient.id, siteId, patients: [patient.rowId] });
	const wanted = input.kind?.split(',');
	const asked = timelineKinds.filter((kind) => wanted === undefined || wanted.includes(kind));
	const by = { context, record, input, siteId, patientId: patient.rowId };
	const [shared, ...lists] = await Promise.all([
		context.database.rows<{ value: string }>(sharedNumbers, [siteId, patient.rowId]),
		...asked.map((kind) => readers[kind](by)),
	]);
	const entries = lists.flat().sort((left, right) => (left.key < right.key ? 1 : -1));
	return { entries: entries.slice(0, input.limit), more: entries.length > input.limit, shared: shared.map(({ value }) => value) };
}

interface Asked {
	context: OperationContext;
	record: SiteRecord;
	input: Input;
	siteId: string;
	patientId: string;
}

/** Keys sort as the statements do: by time, kind and id. */
function keyOf(kind: Kind, at: Date, id: string): string {
	return `${at.toISOString()}/${kind}/${id}`;
}

const plain = { detail: '', status: '', flag: null, derived: null, message: null, study: null, stated: null };

/** One row more than the page has says whether there are more. */
function rowsOf<Row>({ context, input, siteId, patientId }: Asked, statement: { text: string }): Promise<Row[]> {
	const [, at = null, kind = null, id = null] = position.exec(input.before ?? '') ?? [];
	const values = [siteId, patientId, at, kind, id, input.since ?? null, input.until ?? null, input.limit + 1];
	return context.database.rows<Row>(statement, values);
}

interface ResourceRow {
	id: string;
	row_id: string;
	at: Date;
	stated: boolean;
	version: number;
	source: string | null;
	resource: string;
}

type ClinicalKind = 'visit' | 'result' | 'report';
const clinical = {
	visit: { type: 'Encounter', statement: timelineVisits, describe: visitOf },
	result: { type: 'Observation', statement: timelineResults, describe: resultOf },
	report: { type: 'DiagnosticReport', statement: timelineReports, describe: reportOf },
} as const;

async function resources(kind: ClinicalKind, asked: Asked): Promise<Entry[]> {
	const { type, statement, describe } = clinical[kind];
	const rows = await rowsOf<ResourceRow>(asked, statement);
	const sources = await asked.record.sources(
		rows.map((row) => ({ type, id: row.id, rowId: row.row_id, version: row.version, lastUpdated: '', source: row.source, resource: {} })),
	);
	return rows.map((row) => {
		const resource = parseExact(row.resource);
		const chartRow = definitionOf(type)?.chart?.row(resource);
		const message = sources.get(versionOf({ type, id: row.id, version: row.version })) ?? null;
		const stated = row.stated ? (chartRow?.at ?? null) : null;
		const common = { ...plain, status: chartRow?.status ?? '', id: row.id, message, stated };
		return { key: keyOf(kind, row.at, row.row_id), kind, at: row.at.toISOString(), ...common, ...describe(resource, chartRow) };
	});
}

function reportOf(resource: JsonObject, row: ChartRow | undefined) {
	return { title: row?.text || 'Report', status: stateOf(String(resource['status'])) };
}

function visitOf(_resource: JsonObject, row: ChartRow | undefined) {
	return { title: row?.text || 'Visit', detail: row?.detail ?? '' };
}

function resultOf(resource: JsonObject, row: ChartRow | undefined) {
	const values = measuredValues(resource);
	const marked = values.find(({ flag, derived }) => derived !== null || (flag !== null && flag !== 'normal')) ?? values[0];
	const isOne = values.length === 1;
	return {
		title: row?.text || conceptText(resource['code']) || 'Result',
		detail: values.map((value) => (isOne ? value.value : `${value.text} ${value.value}`)).join('; '),
		flag: marked?.flag ?? null,
		derived: marked?.derived ?? null,
	};
}

interface StudyRow {
	id: string;
	started: string | null;
	description: string | null;
	accession_number: string | null;
	modalities: string[];
	series_count: number;
	instance_count: number;
	stated: boolean;
	at: Date;
}

async function studies(asked: Asked): Promise<Entry[]> {
	const rows = await rowsOf<StudyRow>(asked, timelineStudies);
	return rows.map((row) => ({
		...plain,
		key: keyOf('study', row.at, row.id),
		kind: 'study',
		at: row.at.toISOString(),
		stated: row.stated ? row.started : null,
		title: row.description || row.accession_number || 'Study',
		detail: `${row.modalities.join(', ')} · series ${row.series_count}, instances ${row.instance_count}`,
		id: row.id,
	}));
}

interface StepRow {
	id: string;
	status: string;
	modality: string | null;
	station_ae: string | null;
	station_name: string | null;
	started: string | null;
	accession_number: string | null;
	message: string;
	study: string | null;
	at: Date;
}

async function steps(asked: Asked): Promise<Entry[]> {
	const rows = await rowsOf<StepRow>(asked, timelineSteps);
	return rows.map((row) => ({
		...plain,
		key: keyOf('step', row.at, row.id),
		kind: 'step',
		at: row.at.toISOString(),
		stated: row.started,
		title: `Procedure step${row.modality === null ? '' : ` (${row.modality})`}`,
		detail: [row.station_name ?? row.station_ae, row.accession_number].filter(Boolean).join(' · '),
		status: row.status.toLowerCase(),
		id: row.id,
		message: row.message,
		study: row.study,
	}));
}

interface MessageRow {
	id: string;
	message_type: string;
	control_id: string;
	outcome: string;
	failure: string | null;
	surface: string;
	client: string | null;
}

async function messages({ context, input, siteId, patientId }: Asked): Promise<Entry[]> {
	const idAt = (moment: string | undefined) => (moment === undefined ? null : firstIdOf(Date.parse(moment)));
	const until = idAt(input.until);
	const below = messageBound(input.before);
	const values = [siteId, patientId, below, idAt(input.since), until, input.limit + 1];
	const rows = await context.database.rows<MessageRow>(timelineMessages, values);
	return rows.map((row) => {
		const at = new Date(Number.parseInt(row.id.replace('-', '').slice(0, 12), 16));
		return {
			...plain,
			key: keyOf('message', at, row.id),
			kind: 'message',
			at: at.toISOString(),
			title: row.message_type || row.surface,
			detail: [row.client ?? '', row.control_id, row.failure ?? ''].filter((part) => part !== '').join(' · '),
			status: row.outcome,
			id: row.id,
			message: row.id,
		};
	});
}

/** The id below which the messages of a page lie: ids begin with their millisecond, and kinds of one millisecond stand in the order of their names. */
export function messageBound(before: string | undefined): string | null {
	const [, at, kind = '', id = ''] = position.exec(before ?? '') ?? [];
	if (at === undefined) return null;
	if (kind === 'message') return id;
	return firstIdOf(Date.parse(at) + (kind > 'message' ? 1 : 0));
}

interface IdentityRow {
	version: number;
	at: Date;
	id: string;
	source: string | null;
	facts: JsonObject;
	before: JsonObject | null;
}

async function identities(asked: Asked): Promise<Entry[]> {
	const patientId = asked.input.id;
	const rows = await rowsOf<IdentityRow>(asked, timelineIdentities);
	const sources = await asked.record.sources(
		rows.map(({ version, source }) => ({
			...{ type: 'Patient' as const, id: patientId, rowId: asked.patientId, version, lastUpdated: '', source, resource: {} },
		})),
	);
	return rows.map((row) => {
		const { title, detail, other } = identityChange(row.before, row.facts);
		return {
			...plain,
			key: keyOf('identity', row.at, row.id),
			kind: 'identity',
			at: row.at.toISOString(),
			...{ title, detail },
			id: other ?? patientId,
			message: sources.get(versionOf({ type: 'Patient', id: patientId, version: row.version })) ?? null,
		};
	});
}

const readers: Readonly<Record<Kind, (asked: Asked) => Promise<Entry[]>>> = {
	visit: (asked) => resources('visit', asked),
	message: messages,
	step: steps,
	study: studies,
	result: (asked) => resources('result', asked),
	report: (asked) => resources('report', asked),
	identity: identities,
};
