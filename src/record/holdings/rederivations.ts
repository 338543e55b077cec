import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import { type Row, referenceTo } from '../apply/rows.ts';
import type { Flag } from '../flag.ts';
import type { RederivationProgress } from '../rederivation.ts';
import type { Settings } from '../settings/settings.ts';
import type { ResourceType } from '../table-shape.ts';

/** A version that a message wrote. Later ones are read with it. */
export interface NamedVersion {
	resourceType: ResourceType;
	rowId: string;
	version: number;
}

export interface KeptVersion extends NamedVersion {
	text: string;
	source: string | null;
}

export interface StandingVersion extends Pick<KeptVersion, 'version' | 'text' | 'source'> {
	/** Only the log tells: `meta.source` may have been stated by a FHIR client. */
	isOfMessage: boolean;
}

/** The message log says this of a message that was read anew. */
export interface ReadAnew {
	id: string;
	settings: Settings | null;
	flags: readonly Flag[];
	changed: readonly string[];
}

/** A link of a row that is made of times and shows nowhere, so that it makes no version. */
export interface RetimedLink {
	resourceType: ResourceType;
	rowId: string;
	link: RetimedLinkName;
	before: string;
	after: string;
}

export const retimedLinkNames = ['sent_at', 'stated_at', 'item_key'] as const;
export type RetimedLinkName = (typeof retimedLinkNames)[number];

/** Entries of a document that are found by other keys. */
export interface RetimedEntries {
	documentId: string;
	statedAt: { before: string; after: string } | undefined;
	items: readonly { resourceType: ResourceType; before: string; after: string }[];
}

export interface RetimedStudy {
	studyUid: string;
	zone: { before: string; after: string };
	offset: { before: string; after: string };
	series: readonly { seriesUid: string; before: string; after: string }[];
}

/** The times of a procedure step, as its columns have them. */
export interface StepTimes {
	started: string | null;
	ended: string | null;
}

export interface HeldStepTimes extends StepTimes {
	/** JSON text of all reports combined. */
	attributes: string;
}

/** A resource that a run has met: its times change, or stay although a message wrote them. */
export interface MetResource {
	/** `mpps` for a procedure step, as the log calls it. */
	resourceType: ResourceType | 'mpps';
	rowId: string;
	isChanged: boolean;
}

interface RunProgress {
	runId: string;
	progress: RederivationProgress;
}

/** A batch knows and writes this of rederivations. */
export class Rederivations {
	readonly #rows: HeldRows;
	readonly #versions = new Map<string, KeptVersion[]>();
	/** Versions that a message wrote, as the log names them. */
	readonly #ofMessages = new Set<string>();
	readonly readAnew: ReadAnew[] = [];
	readonly links: RetimedLink[] = [];
	readonly entries: RetimedEntries[] = [];
	readonly studies: RetimedStudy[] = [];
	/** Procedure steps by id, as they were read. */
	readonly #steps = new Map<string, HeldStepTimes>();
	readonly steps = new Map<string, StepTimes>();
	readonly progress: RunProgress[] = [];
	/** The key names run, type and row. */
	readonly met = new Map<string, MetResource & { runId: string }>();

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addVersion(kept: KeptVersion): void {
		const name = nameOf(kept);
		this.#versions.set(name, [...(this.#versions.get(name) ?? []), kept]);
	}

	/** `name` is that of the log: `Observation/1/_history/2`. */
	addVersionOfMessage(name: string): void {
		this.#ofMessages.add(name);
	}

	/** Returns the versions of a resource from the named one to the current one, in their order. */
	versionsOf(named: NamedVersion, current: Row): readonly StandingVersion[] {
		const rows: Row[] = [];
		for (let row: Row | undefined = current; row !== undefined; row = row.supersedes) rows.unshift(row);
		const kept = this.versionsKept(named).filter(({ version }) => version < (rows[0] ?? current).version);
		return [
			...kept.map(({ version, text, source }) => ({ version, text, source, isOfMessage: this.#isOfMessage(current, version) })),
			// What this batch has made, it has made of what messages wrote.
			...rows.map(({ version, text, source, stored }) => {
				return { version, text, source, isOfMessage: !stored || this.#isOfMessage(current, version) };
			}),
		].filter(({ version }) => version >= named.version);
	}

	/** Returns the versions that were read of a resource, in their order; the current one is not among them. */
	versionsKept(named: Pick<NamedVersion, 'resourceType' | 'rowId'>): readonly KeptVersion[] {
		return (this.#versions.get(nameOf(named)) ?? []).toSorted((left, right) => left.version - right.version);
	}

	#isOfMessage(row: Row, version: number): boolean {
		return this.#ofMessages.has(`${referenceTo(row)}/_history/${version}`);
	}

	addStep(id: string, held: HeldStepTimes): void {
		this.#steps.set(id, held);
	}

	/** Returns a procedure step, with the times that this batch has given it. */
	step(id: string): HeldStepTimes | undefined {
		const held = this.#steps.get(id);
		return held && { ...held, ...this.steps.get(id) };
	}

	putStep(id: string, times: StepTimes): void {
		this.#rows.undo.put(this.steps, id, times);
	}

	readAgain(message: ReadAnew): void {
		this.#rows.undo.push(this.readAnew, message);
	}

	link(link: RetimedLink): void {
		this.#rows.undo.push(this.links, link);
	}

	enter(entries: RetimedEntries): void {
		this.#rows.undo.push(this.entries, entries);
	}

	study(study: RetimedStudy): void {
		this.#rows.undo.push(this.studies, study);
	}

	/** A resource whose times change counts as changed, whatever else was met of it. */
	meet(runId: string, met: MetResource): void {
		const name = `${runId} ${nameOf(met)}`;
		const isChanged = met.isChanged || this.met.get(name)?.isChanged === true;
		this.#rows.undo.put(this.met, name, { ...met, isChanged, runId });
	}

	advance(run: RunProgress): void {
		this.#rows.undo.push(this.progress, run);
	}
}

function nameOf({ resourceType, rowId }: Pick<MetResource, 'resourceType' | 'rowId'>): string {
	return `${resourceType} ${rowId}`;
}

export interface RederivationKeys {
	versions: NamedVersion[];
	/** Ids of procedure steps. */
	steps: Set<string>;
}

export const rederivations: Holding<RederivationKeys, Rederivations> = {
	name: 'rederivations',
	keys: () => ({ versions: [], steps: new Set() }),
	held: (rows) => new Rederivations(rows),
};
