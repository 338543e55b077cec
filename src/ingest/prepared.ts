import { hash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import { isAppliedAlone, needsLookup as isLookupNeeded, nameKeys, patientsOf as patientsNamed } from '#record/apply/apply.ts';
import { SiteKeys } from '#record/apply/site-keys.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import { identifierLengthMax } from '#record/holdings/patient-identifiers.ts';
import { uuidOfDigest } from '#record/key-digest.ts';
import type { StepReportResult } from '#record/procedure-step.ts';
import type { LogForm, MessageKey } from '#storage/message-log.ts';
import type { Interpretation, PartedInterpretation } from './interpretation.ts';

/** A delivery on its way through a batch. */
export interface Prepared {
	delivery: Delivery;
	/** The delivery's place in the batch. */
	index: number;
	/** The digest by which a repetition is recognised, beside its control id; empty without one. */
	digest: string;
	interpretation: Interpretation;
	/** The delivery of which this is a part. Its parts are adjacent. */
	whole: PartedInterpretation | undefined;
	/**
	 * Set when the database refused the message's rows, or its object was not placed. It is then logged as refused, whatever its
	 * interpretation.
	 */
	poison: Failure | undefined;
	/** Shorter where the message log did not take the message before. */
	loggedAs: LogForm;
	/** Set when its transaction is committed. */
	reply: Reply | undefined;
	/** Resolves when the interpretation's `place` has ended; the message is poisoned then if it failed. */
	placing: Promise<void> | undefined;
}

/** Returns the first 16 bytes of a message's SHA-256, by which it is recognised. */
export function digestOf(bytes: Uint8Array): string {
	return uuidOfDigest(hash('sha256', bytes));
}

/** Places the objects of a segment's messages, each once, however often the batch is tried. Never rejects. */
export async function placeAll(segment: readonly Prepared[]): Promise<void> {
	await Promise.all(segment.map((message) => (message.placing ??= place(message))));
}

async function place(message: Prepared): Promise<void> {
	const { interpretation } = message;
	if (interpretation.place === undefined || changeSetOf(message) === undefined) return;
	try {
		await interpretation.place();
	} catch (error) {
		message.poison = error instanceof Failure ? error : new Failure('internal', 'the object could not be stored', { cause: error });
	}
}

export function changeSetOf(message: Prepared): ChangeSet | undefined {
	const { verdict } = message.interpretation;
	return message.poison === undefined && verdict.kind === 'apply' ? verdict.changeSet : undefined;
}

/**
 * Returns the business identifier values of the message's patients, by which the message log is searched: that of the (first) patient, and
 * that of
 * the patient merged into or separated from it.
 */
export function patientsOf({ interpretation }: Prepared, stepReports: readonly StepReportResult[] = []): readonly string[] {
	const { verdict } = interpretation;
	const named = verdict.kind === 'apply' ? patientsNamed(verdict.changeSet) : [];
	const performed = stepReports.flatMap(({ step }) => step.facts?.patientId ?? []);
	const stated = named.length === 0 ? (interpretation.patients ?? performed) : named;
	const distinct = [...new Set(stated)].filter((value) => value !== '' && value.length <= identifierLengthMax);
	return distinct.slice(0, 2);
}

/** Tells whether a message needs a search that only the site's turn can carry out. */
export function needsLookup(message: Prepared): boolean {
	const changeSet = changeSetOf(message);
	return changeSet !== undefined && isLookupNeeded(changeSet);
}

/**
 * Divides a batch at each message that moves rows by statement, is a document, or needs a lookup. That message is applied alone, between
 * those
 * before and after it.
 */
export function segmentsOf(batch: readonly Prepared[]): Prepared[][] {
	const segments: Prepared[][] = [];
	let open: Prepared[] = [];
	for (const message of batch) {
		const changeSet = changeSetOf(message);
		if ((changeSet && isAppliedAlone(changeSet)) || needsLookup(message)) {
			if (open.length > 0) segments.push(open);
			segments.push([message]);
			open = [];
		} else {
			open.push(message);
		}
	}
	if (open.length > 0) segments.push(open);
	return segments;
}

/** One reply for each delivery: those of its parts become one. Undefined where it was not carried out, or not all of it. */
export function repliesOf(batch: readonly Prepared[]): (Reply | undefined)[] {
	const replies: (Reply | undefined)[] = [];
	for (let index = 0; index < batch.length; ) {
		const { whole, reply } = batch[index] as Prepared;
		if (whole === undefined) {
			replies.push(reply);
			index++;
			continue;
		}
		const end = index + whole.parts.length;
		const parts = batch.slice(index, end).map((part) => part.reply);
		replies.push(parts.includes(undefined) ? undefined : whole.join(parts as Reply[]));
		index = end;
	}
	return replies;
}

/** Returns the keys that a segment names of each of its sites. */
export function keysOf(segment: readonly Prepared[]): Map<string, SiteKeys> {
	const keys = new Map<string, SiteKeys>();
	for (const message of segment) {
		const { siteId } = message.delivery;
		let site = keys.get(siteId);
		if (site === undefined) {
			site = new SiteKeys();
			keys.set(siteId, site);
		}
		const changeSet = changeSetOf(message);
		if (changeSet) nameKeys(changeSet, site);
	}
	return keys;
}

/** Tells whether the message can be recognised when it comes again. A message that is logged only in part is not looked up. */
export function isNamed({ interpretation, loggedAs }: Prepared): boolean {
	return interpretation.controlId !== '' && loggedAs === 'whole';
}

export function keyOf({ delivery, interpretation, digest }: Prepared): MessageKey {
	return { siteId: delivery.siteId, clientId: delivery.clientId, controlId: interpretation.controlId, digest };
}
