import { Failure } from '#core/failure.ts';
import { nilId } from '#core/id.ts';
import { type JsonObject, parseExact } from '#core/json.ts';
import { LocalZone, offsetAt, type SenderZone } from '#fhir/mapping/local-zone.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { factsOf } from '#mpps/facts.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { Hl7v2Delivery, Hl7v3Delivery, RederivationDelivery } from '#record/delivery.ts';
import type { NamedVersion, RetimedStudy, StepTimes } from '#record/holdings/rederivations.ts';
import type { RederivationChange } from '#record/kinds/rederivation.ts';
import {
	type RederivationAnswer,
	type RederivationStep,
	type RederivationZone,
	type RederivedMessage,
	type RederivedStudy,
	unpackStep,
} from '#record/rederivation.ts';
import { type Retimed, statesTimes } from '#record/retimed.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { Settings } from '#record/settings/settings.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { retimed } from '../compare-readings.ts';
import type { Interpretation } from '../interpretation.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';
import { hl7v2 } from './hl7v2.ts';
import { hl7v3 } from './hl7v3.ts';

/**
 * A step of a run that reads the local times of stored messages by another zone. A message is read twice, as it was read before and as it
 * is read now; the two readings differ in their local times and nothing else.
 */
export const rederivation = defineDelivery<'rederivation'>({ kind: 'rederivation', interpret, sourceName: () => 'times' });

function interpret(delivery: RederivationDelivery, context: InterpretContext): Interpretation<RederivationAnswer> {
	const { step, messages } = unpackStep(delivery.bytes);
	const change = delivery.withheld ? undefined : changeOf(step, messages, context);
	return {
		messageType: 'TIMES REDERIVE',
		// Nothing recognises a step: what it has done, it finds done.
		controlId: '',
		verdict:
			change === undefined
				? { kind: 'refuse', failure: new Failure('internal', 'the messages could not be read anew') }
				: { kind: 'apply', changeSet: { changes: [change], flags: [] } },
		logged: 'never',
		answer: (_outcome, failure) =>
			failure === undefined && change !== undefined
				? { kind: 'done', progress: change.progress }
				: { kind: 'refused', diagnostics: failure?.diagnostics ?? '' },
	};
}

function changeOf(step: RederivationStep, bytes: readonly Uint8Array[], context: InterpretContext): RederivationChange {
	const { runId, isPreview, zone, before, reached } = step;
	const counts = { ownOffset: before.ownOffset, bytesGone: before.bytesGone, unreadable: before.unreadable };
	const zones: Record<string, number> = { ...before.zones };
	const messages: RederivationChange['messages'][number][] = [];
	for (const [index, message] of step.messages.entries()) {
		const read = readAnew(message, bytes[index] ?? new Uint8Array(0), zone, context);
		if (typeof read === 'string') {
			// What can not be read anew was counted before; a message of the last moment can.
			if (read !== 'nothing' && before.phase === 'messages') counts[read]++;
			continue;
		}
		const { from, ...times } = read;
		zones[from] = (zones[from] ?? 0) + 1;
		messages.push(times);
	}
	const done = before.done + (before.phase === 'studies' ? 0 : step.messages.length);
	const studiesStated = before.studiesStated + step.studiesStated;
	const studies = step.studies.map((study) => studyAnew(study, zone.name));
	return {
		kind: 'rederivation',
		runId,
		isPreview,
		messages,
		studies,
		progress: { ...before, ...counts, ...reached, zones, done, studiesStated },
	};
}

/** Of a message of which the log does not say by which zone it was read, an earlier release called the local times UTC. */
const unsaid = 'UTC';

type Read = RederivationChange['messages'][number] & { from: string };
type Unread = 'ownOffset' | 'bytesGone' | 'unreadable' | 'nothing';

function readAnew(message: RederivedMessage, bytes: Uint8Array, zone: RederivationZone, context: InterpretContext): Read | Unread {
	if (message.isSkipped) return 'unreadable';
	const { kind } = message;
	if (kind === 'mpps') return reportAnew(message, bytes, zone, context);
	if (bytes.length === 0) return 'bytesGone';
	const read = (settings: Settings) => readBy({ id: message.id, kind }, bytes, settings, context);
	const { time_zone: said, ...settings } = message.settings ?? message.senderSettings;
	const from = (message.settings === null ? undefined : said) ?? unsaid;
	const before = read({ ...settings, time_zone: from });
	const after = read(zone.isAssumed ? settings : { ...settings, time_zone: zone.name });
	if (before === undefined || after === undefined) return 'unreadable';
	if (before.readBy?.time_zone === undefined) return statesTimes(before.changes) ? 'ownOffset' : 'nothing';
	const differing = retimed(before, after);
	return {
		from,
		id: message.id,
		settings: after.readBy ?? null,
		flags: [...message.flags.filter(({ code }) => !ofZone.has(code)), ...after.flags.filter(({ code }) => ofZone.has(code))],
		changed: message.changed,
		versions: versionsOf(message.changed, differing),
		retimed: differing,
		steps: [],
		stepTimes: noTimes,
	};
}

const noTimes = (): never => {
	throw new Error('a message of HL7 reports on no procedure step');
};

/** A report about a procedure step is read together with the others of its step. */
function reportAnew(
	{ id, settings, flags, changed }: RederivedMessage,
	bytes: Uint8Array,
	{ name, isAssumed }: RederivationZone,
	{ hostTimeZone, limits }: InterpretContext,
): Read | Unread {
	const from = settings?.time_zone;
	if (from === undefined) return 'nothing';
	const zone = isAssumed ? { name: hostTimeZone, isAssumed } : { name, isAssumed };
	const own = new LocalZone(zone);
	if (bytes.length > 0) {
		const { attributes }: { attributes?: JsonObject } = parseResourceJson(bytes, { depthMax: limits.jsonDepthMax });
		factsOf(attributes ?? {}, own);
	}
	const read = (attributes: string, by: SenderZone): StepTimes => {
		const { started, ended } = factsOf(parseExact(attributes), new LocalZone(by));
		return { started, ended };
	};
	return {
		...{ from, id, settings: { ...settings, time_zone: zone.name }, changed, versions: [] },
		flags: [...flags.filter(({ code }) => !ofZone.has(code)), ...own.flags()],
		retimed: { texts: new Map(), entries: [] },
		steps: changed.flatMap((version) => /^mpps\/([^/]+)\/\d+$/.exec(version)?.[1] ?? []),
		stepTimes: (attributes) => ({ before: read(attributes, { name: from, isAssumed: false }), after: read(attributes, zone) }),
	};
}

/** Flags that say something of the zone by which a message was read. */
const ofZone: ReadonlySet<string> = new Set(['time-zone-assumed', 'uncertain-time']);

function readBy(
	{ id, kind }: { id: string; kind: 'hl7v2' | 'hl7v3' },
	bytes: Uint8Array,
	settings: Settings,
	context: InterpretContext,
): ChangeSet | undefined {
	const common = { id, siteId: nilId, clientId: nilId, surface: 'replay', source: '', receivedAtMs: 0, settings, bytes } as const;
	const delivery: Hl7v2Delivery | Hl7v3Delivery = { ...common, kind };
	const read = delivery.kind === 'hl7v2' ? hl7v2.interpret(delivery, context) : hl7v3.interpret(delivery, context);
	return 'verdict' in read && read.verdict.kind === 'apply' ? read.verdict.changeSet : undefined;
}

/** The newest version of each resource that has what the message wrote, if it may have one of the times. */
function versionsOf(changed: readonly string[], { texts }: Retimed): NamedVersion[] {
	const newest = new Map<string, NamedVersion>();
	for (const name of changed) {
		const [, type, id, number] = /^(\w+)\/([^/]+)\/_history\/(\d+)$/.exec(name) ?? [];
		if (type === undefined || id === undefined || texts.get(type as ResourceType)?.isEmpty !== false) continue;
		const [key, version] = [`${type}/${id}`, Number(number)];
		if (version < (newest.get(key)?.version ?? 0)) continue;
		newest.set(key, { resourceType: type as ResourceType, rowId: rowIdOf(id), version });
	}
	return [...newest.values()];
}

function studyAnew({ id, studyUid, started, offset, zone, series }: RederivedStudy, name: string): RetimedStudy & { id: string } {
	return {
		id,
		studyUid,
		zone: { before: zone, after: name },
		offset: { before: offset, after: offsetAt(name, started) },
		// A series whose file states another offset than its study keeps that.
		series: series
			.filter((one) => one.offset === offsetAt(zone, one.started))
			.map((one) => ({ seriesUid: one.seriesUid, before: one.offset, after: offsetAt(name, one.started) })),
	};
}
