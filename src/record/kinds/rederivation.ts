import { canonical, type JsonObject, parseExact } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { revise } from '../apply/revise.ts';
import { type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import {
	type NamedVersion,
	type ReadAnew,
	type RetimedLinkName,
	type RetimedStudy,
	rederivations,
	retimedLinkNames,
	type StandingVersion,
	type StepTimes,
} from '../holdings/rederivations.ts';
import type { RederivationProgress } from '../rederivation.ts';
import { hasBecome, type Places, placesIn, type Retimed, type RetimedTexts, retime } from '../retimed.ts';

/** A message whose times were read anew. */
interface RederivedTimes extends Omit<ReadAnew, 'changed'> {
	/** Versions that the message wrote, as its entry in the log names them. */
	changed: readonly string[];
	/** The newest of these versions for each resource that may have its times. */
	versions: readonly NamedVersion[];
	retimed: Retimed;
	/** Ids of the procedure steps on which it reported. */
	steps: readonly string[];
	/** Reads the times of a step by the zone of before, and by that of now. */
	stepTimes(attributes: string): { before: StepTimes; after: StepTimes };
}

/** A step of a run that reads the local times of stored messages by another zone. It holds functions and so never leaves its thread. */
export interface RederivationChange {
	kind: 'rederivation';
	runId: string;
	isPreview: boolean;
	messages: readonly RederivedTimes[];
	studies: readonly (RetimedStudy & { id: string })[];
	/** Where the run stands after this step. */
	progress: RederivationProgress;
}

export const rederivationKind = defineChange<RederivationChange>({
	kind: 'rederivation',
	/** It changes rows by statement too. */
	alone: true,
	keys({ messages }, keys) {
		for (const { versions, steps } of messages) {
			for (const version of versions) {
				keys.addRow(version.resourceType, version.rowId);
				keys.of(rederivations).versions.push(version);
			}
			for (const id of steps) keys.of(rederivations).steps.add(id);
		}
	},
	apply(context, change) {
		for (const message of change.messages) applyMessage(context, change, message);
		for (const study of change.studies) applyStudy(context, change, study);
		context.set.of(rederivations).advance({ runId: change.runId, progress: change.progress });
	},
});

function applyStudy(
	{ set }: ApplyContext,
	{ runId, isPreview }: RederivationChange,
	{ id, ...study }: RetimedStudy & { id: string },
): void {
	const held = set.of(rederivations);
	const isChanged = [study.offset, ...study.series].some(({ before, after }) => before !== after);
	if (isChanged) held.meet(runId, { resourceType: 'ImagingStudy', rowId: id, isChanged });
	if (!isPreview) held.study(study);
}

/**
 * Gives the times of a message to the resources that still have them as it wrote them. The log then says by which zone the message was
 * read, and names the new versions beside the old ones.
 */
function applyMessage(context: ApplyContext, change: RederivationChange, message: RederivedTimes): void {
	const { versions, changed, retimed, steps, stepTimes, ...logged } = message;
	for (const id of steps) applyStep(context, change, id, stepTimes);
	const standing = versions.flatMap((version) => applyVersion(context, change, version, retimed) ?? []);
	if (change.isPreview) return;
	const added = standing.map((row) => `${referenceTo(row)}/_history/${row.version}`).filter((name) => !changed.includes(name));
	context.set.of(rederivations).readAgain({ ...logged, changed: [...changed, ...added] });
}

/** The times of a procedure step are those of all its reports together, read by the zone of the last one. */
function applyStep({ set }: ApplyContext, { runId, isPreview }: RederivationChange, id: string, read: RederivedTimes['stepTimes']): void {
	const held = set.of(rederivations);
	const step = held.step(id);
	if (step === undefined) return;
	const { before, after } = read(step.attributes);
	const isAs = (times: StepTimes) => step.started === times.started && step.ended === times.ended;
	if (isAs(after)) return;
	const isChanged = isAs(before);
	held.meet(runId, { resourceType: 'mpps', rowId: id, isChanged });
	if (isChanged && !isPreview) held.putStep(id, after);
}

/** Returns the row that has the times of the message as they are read now; undefined when none has. */
function applyVersion(
	context: ApplyContext,
	change: RederivationChange,
	named: NamedVersion,
	{ texts, entries }: Retimed,
): Row | undefined {
	const { set } = context;
	const { resourceType, rowId } = named;
	const [row, those] = [set.row(resourceType, rowId), texts.get(resourceType)];
	if (row === undefined || those === undefined) return undefined;
	const held = set.of(rederivations);
	const resource = resourceOf(row);
	const { places, isLeft } = standingPlaces(resource, held.versionsOf(named, row), those);
	const isRead = places !== undefined && hasBecome(resource, places.written);
	const isChanged = places !== undefined && retime(resource, places.standing);
	if (isChanged || isLeft) held.meet(change.runId, { resourceType, rowId, isChanged });
	if (change.isPreview || places === undefined) return undefined;
	const links = retimedLinks(row, those);
	if (resourceType === 'DocumentReference') enterEntries(context, row, those, entries);
	if (isChanged) {
		// What it says still came with the message.
		const next = revise({ ...context, source: row.source ?? context.source }, row, JSON.stringify(resource), resource, {
			...row.links,
			...links,
		});
		set.put(next);
		return next;
	}
	for (const link of retimedLinkNames) {
		const [before, after] = [row.links[link], links[link]];
		if (typeof before === 'string' && after !== undefined) held.link({ resourceType, rowId, link, before, after });
	}
	return isRead ? row : undefined;
}

interface StandingPlaces {
	/** The message wrote this, and this becomes of it; undefined when somebody else has written the resource since. */
	places: { written: Places; standing: Places } | undefined;
	/** A time of the message is no longer as the message wrote it. */
	isLeft: boolean;
}

/** Finds the times that a message wrote and that every version since then has kept. The last version is the current one. */
function standingPlaces(resource: JsonObject, versions: readonly StandingVersion[], texts: RetimedTexts): StandingPlaces {
	const [first, ...later] = versions;
	const written = first === undefined ? new Map<string, string | null>() : placesIn(parseExact(first.text), texts);
	if (isWrittenElsewhere(versions)) return { places: undefined, isLeft: written.size > 0 };
	const standing: Places = new Map(written);
	const keep = (kept: Places) => {
		for (const place of standing.keys()) if (!kept.has(place)) standing.delete(place);
	};
	for (const { text } of later.slice(0, -1)) keep(placesIn(parseExact(text), texts));
	if (later.length > 0) keep(placesIn(resource, texts));
	const isUnsure = [...standing.values()].includes(null);
	return { places: { written, standing }, isLeft: standing.size < written.size || isUnsure };
}

/**
 * Tells whether somebody else than a message wrote a version after the first. FHIR clients, people and imports state a resource as a whole,
 * so its times are theirs from then on.
 */
function isWrittenElsewhere(versions: readonly StandingVersion[]): boolean {
	return versions.some(({ isOfMessage, text }, index) => {
		const before = versions[index - 1];
		return before !== undefined && !isOfMessage && ownContent(before.text) !== ownContent(text);
	});
}

/** A merge and the arrival of a study do not change these. */
function ownContent(text: string): string {
	const { subject: _subject, patient: _patient, imagingStudy: _studies, ...content } = parseExact(text);
	return canonical(content);
}

/** The elements of changes that become links. */
const elementOf: Readonly<Record<RetimedLinkName, string>> = { sent_at: 'sent', stated_at: 'statedAt', item_key: 'item' };

function retimedLinks({ links }: Row, texts: RetimedTexts): Partial<Record<RetimedLinkName, string>> {
	const found: Partial<Record<RetimedLinkName, string>> = {};
	for (const link of retimedLinkNames) {
		const before = links[link];
		const after = typeof before === 'string' ? texts.after(elementOf[link], before) : undefined;
		if (typeof after === 'string' && after !== before) found[link] = after;
	}
	return found;
}

function enterEntries({ set }: ApplyContext, row: Row, texts: RetimedTexts, items: Retimed['entries']): void {
	const before = row.links['stated_at'];
	const after = typeof before === 'string' ? texts.after('statedAt', before) : undefined;
	const statedAt = typeof before === 'string' && typeof after === 'string' ? { before, after } : undefined;
	if (statedAt !== undefined || items.length > 0) set.of(rederivations).enter({ documentId: row.id, statedAt, items });
}
