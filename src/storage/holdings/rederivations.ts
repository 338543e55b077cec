import { referenceTo } from '#record/apply/rows.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import {
	type MetResource,
	type NamedVersion,
	type ReadAnew,
	type RetimedEntries,
	type RetimedLink,
	type RetimedStudy,
	rederivations,
	retimedLinkNames,
	type StepTimes,
} from '#record/holdings/rederivations.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { cellAt, columnsOf, textAt } from '../columns.ts';
import type { ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import { wholeText } from '../statements/stored-text.ts';
import type { StoredHolding } from '../stored-holding.ts';
import type { Writing } from '../writing.ts';

/** The text follows them. */
const kept = columnsOf({ h: ['site_id', 'resource_type', 'id', 'version', 'source'] });

/** Reads the versions of resources from a given one on; the current one is not among them. */
export const findVersionsSince: Statement = {
	name: 'find_versions_since',
	text: `
select ${kept.list}, ${wholeText('h.resource')}
from unnest($1::uuid[], $2::text[], $3::uuid[], $4::integer[]) as k (site_id, resource_type, id, version)
join resource_history h on h.site_id = k.site_id and h.resource_type = k.resource_type and h.id = k.id and h.version >= k.version`,
};

const logged = columnsOf({ k: ['site_id', 'name'] });

/** Finds the versions that a logged message wrote, by its control id and the time of its commit. */
export const findVersionsOfMessages: Statement = {
	name: 'find_versions_of_messages',
	text: `
select ${logged.list}
from unnest($1::uuid[], $2::text[], $3::text[]) as k (site_id, control_id, name)
where exists (
	select from message_log m
	where m.site_id = k.site_id and m.control_id = k.control_id and m.control_id <> '' and m.changed ? k.name)`,
};

const { list: stepColumns, at: stepAt } = columnsOf({ s: ['site_id', 'id', 'attributes', 'started', 'ended'] });

export const findStepTimes: Statement = {
	name: 'find_step_times',
	text: `
select ${stepColumns}
from unnest($1::uuid[], $2::uuid[]) as k (site_id, id)
join mpps_session s on s.site_id = k.site_id and s.id = k.id`,
};

const retimeSteps: Statement = {
	name: 'retime_steps',
	text: `
update mpps_session s set started = k.started, ended = k.ended
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as k (site_id, id, started, ended)
where s.site_id = k.site_id and s.id = k.id`,
};

const updateMessages: Statement = {
	name: 'update_messages_read_anew',
	text: `
update message_log m set settings = k.settings::jsonb, flags = k.flags::jsonb, changed = k.changed::jsonb
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[]) as k (site_id, id, settings, flags, changed)
where m.site_id = k.site_id and m.id = k.id`,
};

const advanceRun: Statement = {
	name: 'advance_rederivation',
	text: `
update replay_run set progress = $3::jsonb, done = $4, seen_at = now()
where site_id = $1 and id = $2 and kind = 'rederivation' and state = 'running'`,
};

const meetResources: Statement = {
	name: 'meet_rederived_resources',
	text: `
insert into rederived_resource as r (site_id, run_id, resource_type, id, is_changed)
select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::boolean[])
on conflict (site_id, run_id, resource_type, id) do update set is_changed = r.is_changed or excluded.is_changed`,
};

const moveEntriesTime: Statement = {
	name: 'retime_document_entries',
	text: `update document_entry set stated_at = $4 where site_id = $1 and document_id = $2 and stated_at = $3`,
};

const moveEntries: Statement = {
	name: 'rekey_document_entries',
	text: `
update document_entry e set item_key = k.after
from unnest($3::text[], $4::uuid[], $5::uuid[]) as k (resource_type, before, after)
where e.site_id = $1 and e.document_id = $2 and e.resource_type = k.resource_type and e.item_key = k.before`,
};

/** A study that was stored anew meanwhile has its times from there. Only a time that looks different makes a version. */
const retimeStudy: Statement = {
	name: 'retime_study',
	text: `
update imaging_study set started_zone = $4, started_offset = $6, version = version + case when $8::boolean then 1 else 0 end,
	updated_at = case when $8::boolean then $7::timestamptz else updated_at end
where site_id = $1 and study_uid = $2 and started_zone = $3 and started_offset = $5`,
};

const retimeSeries: Statement = {
	name: 'retime_series',
	text: `
update imaging_series s set started_offset = k.after
from unnest($3::text[], $4::text[], $5::text[]) as k (series_uid, before, after)
where s.site_id = $1 and s.study_uid = $2 and s.series_uid = k.series_uid and s.started_offset = k.before`,
};

/** Statements that replace one link of rows of a type. They make no version. */
function linkStatements(tables: ResourceTables): Map<string, Statement> {
	return new Map(
		tables.all().flatMap(({ shape: { resourceType, table, links } }) =>
			retimedLinkNames.flatMap((link): [string, Statement][] => {
				const column = links.find(({ name }) => name === link);
				if (column === undefined) return [];
				const text = `
update ${table} r set ${link} = k.after
from unnest($1::uuid[], $2::uuid[], $3::${column.sqlType}[], $4::${column.sqlType}[]) as k (site_id, id, before, after)
where r.site_id = k.site_id and r.id = k.id and r.${link} = k.before`;
				return [[`${resourceType} ${link}`, { name: `retime_${table}_${link}`, text }]];
			}),
		),
	);
}

/** Reads and writes what a run does that reads times anew. A batch without such a step sends nothing. */
export function storedRederivations(tables: ResourceTables): StoredHolding {
	const links = linkStatements(tables);
	return {
		async read(reading) {
			const naming = reading.naming(rederivations);
			if (naming.length === 0) return;
			const ids = reading.named(rederivations, (keys) => keys.steps);
			for (const cells of await reading.run(findStepTimes, ids)) {
				const [started, ended] = [cellAt(cells, stepAt.started), cellAt(cells, stepAt.ended)];
				const attributes = textAt(cells, stepAt.attributes);
				reading.setOf(cells).of(rederivations).addStep(textAt(cells, stepAt.id), { attributes, started, ended });
			}
			const named = naming.flatMap(({ siteId, keys }) => earliest(keys.versions).map((version) => ({ siteId, ...version })));
			if (named.length === 0) return;
			const values = [
				plainArray(named.map(({ siteId }) => siteId)),
				textArray(named.map(({ resourceType }) => resourceType)),
				plainArray(named.map(({ rowId }) => rowId)),
				plainArray(named.map(({ version }) => version)),
			];
			for (const cells of await reading.run(findVersionsSince, values)) {
				const [resourceType, rowId] = [textAt(cells, kept.at.resource_type) as ResourceType, textAt(cells, kept.at.id)];
				const version = Number(textAt(cells, kept.at.version));
				const text = textAt(cells, kept.width);
				reading
					.setOf(cells)
					.of(rederivations)
					.addVersion({ resourceType, rowId, version, text, source: cellAt(cells, kept.at.source) });
			}
		},
		async readBehind(reading) {
			const named = reading.naming(rederivations).flatMap(({ siteId, set, keys }) => laterVersions(siteId, set, keys.versions));
			if (named.length === 0) return;
			const values = [
				plainArray(named.map(({ siteId }) => siteId)),
				textArray(named.map(({ controlId }) => controlId)),
				textArray(named.map(({ name }) => name)),
			];
			for (const cells of await reading.run(findVersionsOfMessages, values)) {
				reading.setOf(cells).of(rederivations).addVersionOfMessage(textAt(cells, logged.at.name));
			}
		},
		write(writing) {
			for (const [siteId, set] of writing.sets) {
				const held = set.held(rederivations);
				if (held === undefined) continue;
				sendMessages(writing, siteId, held.readAnew);
				sendLinks(writing, siteId, held.links, links);
				for (const entries of held.entries) sendEntries(writing, siteId, entries);
				sendSteps(writing, siteId, [...held.steps]);
				for (const study of held.studies) sendStudy(writing, siteId, study);
				sendMet(writing, siteId, [...held.met.values()]);
				for (const { runId, progress } of held.progress) {
					writing.send(advanceRun, [siteId, runId, JSON.stringify(progress), progress.done]);
				}
			}
		},
	};
}

/** Returns the earliest of the named versions of each resource. */
function earliest(named: readonly NamedVersion[]): NamedVersion[] {
	const found = new Map<string, NamedVersion>();
	for (const one of named) {
		const key = `${one.resourceType} ${one.rowId}`;
		if (one.version < (found.get(key)?.version ?? Number.POSITIVE_INFINITY)) found.set(key, one);
	}
	return [...found.values()];
}

/** Names the versions after those that messages wrote, with the control ids that their sources have. */
function laterVersions(siteId: string, set: WorkingSet, named: readonly NamedVersion[]) {
	return earliest(named).flatMap((first) => {
		const row = set.row(first.resourceType, first.rowId);
		if (row === undefined) return [];
		const later = [...set.of(rederivations).versionsKept(first), row].filter(({ version }) => version > first.version);
		return later.flatMap(({ version, source }) => {
			const controlId = controlIdOf(source);
			return controlId === undefined ? [] : [{ siteId, controlId, name: `${referenceTo(row)}/_history/${version}` }];
		});
	});
}

/** Reads `urn:tributary:<surface>:<control id>` (ingest/settlement). */
function controlIdOf(source: string | null): string | undefined {
	const [, name = ''] = /^urn:tributary:[^:]+:(.+)$/s.exec(source ?? '') ?? [];
	try {
		return name === '' ? undefined : decodeURIComponent(name);
	} catch (error) {
		// A client may have stated it.
		if (error instanceof URIError) return undefined;
		throw error;
	}
}

function sendMessages(writing: Writing, siteId: string, messages: readonly ReadAnew[]): void {
	if (messages.length === 0) return;
	const json = (value: readonly unknown[] | object | null) =>
		value === null || (Array.isArray(value) && value.length === 0) ? null : JSON.stringify(value);
	writing.send(updateMessages, [
		plainArray(messages.map(() => siteId)),
		plainArray(messages.map(({ id }) => id)),
		textArray(messages.map(({ settings }) => json(settings))),
		textArray(messages.map(({ flags }) => json(flags))),
		textArray(messages.map(({ changed }) => json(changed))),
	]);
}

function sendLinks(writing: Writing, siteId: string, links: readonly RetimedLink[], statements: ReadonlyMap<string, Statement>): void {
	for (const [name, those] of Map.groupBy(links, ({ resourceType, link }) => `${resourceType} ${link}`)) {
		const statement = statements.get(name);
		if (statement === undefined) throw new Error(`no statement is defined for ${name}`);
		writing.send(statement, [
			plainArray(those.map(() => siteId)),
			plainArray(those.map(({ rowId }) => rowId)),
			textArray(those.map(({ before }) => before)),
			textArray(those.map(({ after }) => after)),
		]);
	}
}

function sendEntries(writing: Writing, siteId: string, { documentId, statedAt, items }: RetimedEntries): void {
	if (statedAt) writing.send(moveEntriesTime, [siteId, documentId, statedAt.before, statedAt.after]);
	if (items.length === 0) return;
	const types = textArray(items.map(({ resourceType }) => resourceType));
	const [before, after] = [plainArray(items.map((item) => item.before)), plainArray(items.map((item) => item.after))];
	writing.send(moveEntries, [siteId, documentId, types, before, after]);
}

function sendSteps(writing: Writing, siteId: string, steps: readonly (readonly [id: string, times: StepTimes])[]): void {
	if (steps.length === 0) return;
	writing.send(retimeSteps, [
		plainArray(steps.map(() => siteId)),
		plainArray(steps.map(([id]) => id)),
		textArray(steps.map(([, { started }]) => started)),
		textArray(steps.map(([, { ended }]) => ended)),
	]);
}

function sendStudy(writing: Writing, siteId: string, { studyUid, zone, offset, series }: RetimedStudy): void {
	const isChanged = [offset, ...series].some(({ before, after }) => before !== after);
	writing.send(retimeStudy, [siteId, studyUid, zone.before, zone.after, offset.before, offset.after, writing.lastUpdated, isChanged]);
	if (series.length === 0) return;
	const of = (text: (one: RetimedStudy['series'][number]) => string) => textArray(series.map(text));
	writing.send(retimeSeries, [siteId, studyUid, of(({ seriesUid }) => seriesUid), of(({ before }) => before), of(({ after }) => after)]);
}

function sendMet(writing: Writing, siteId: string, met: readonly (MetResource & { runId: string })[]): void {
	if (met.length === 0) return;
	writing.send(meetResources, [
		plainArray(met.map(() => siteId)),
		plainArray(met.map(({ runId }) => runId)),
		textArray(met.map(({ resourceType }) => resourceType)),
		plainArray(met.map(({ rowId }) => rowId)),
		plainArray(met.map(({ isChanged }) => isChanged)),
	]);
}
