import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { Reference } from '#fhir/datatypes.ts';
import type { DiagnosticReportChange } from '#record/kinds/diagnostic-report.ts';
import type { ObservationChange } from '#record/kinds/observation.ts';
import type { Segment } from '../message.ts';
import { type Context, nameOf } from './context.ts';
import { addInterpretations, interpretations } from './interpretation-codes.ts';
import { annotation } from './nte.ts';
import { type GroupOwner, noOrder, type OrderContext } from './obr.ts';
import { type Observed, readObx } from './obx.ts';
import { joinedText } from './obx-value.ts';
import { numbered } from './ordinals.ts';
import type { ReportReading } from './report.ts';

/** The observations of one order (or of a patient, before the first order), with their dependent segments. */
export class ObservationGroup {
	readonly #order: OrderContext;
	readonly #context: Context;
	readonly #report: ReportReading | undefined;
	readonly #observed: Observed[] = [];
	/** NTE after ORC or OBR belong to the first observation. */
	#orderNotes: JsonObject[] = [];
	#lastOrderNote: Segment | undefined;
	#specimen: Reference | undefined;
	/** The last OBX was a text line that the next one may continue. */
	#open: Observed | undefined;
	#skipped = false;

	/** `report` holds the facts of the OBR, if there is one. */
	constructor(order: OrderContext, context: Context, report?: ReportReading) {
		this.#order = order;
		this.#context = context;
		this.#report = report;
	}

	/** ZDS and IPC name the study. */
	addStudy(segment: Segment): void {
		if (this.#report) this.#report.addStudy(segment);
		else this.#context.flag('segment-skipped', `${nameOf(segment)} stands behind no OBR and was left out`);
	}

	/**
	 * SPM follows the observations of its order (v2.5.1 §7.3.1), and may be followed by observations of its own. The first one applies to
	 * the
	 * observations before it, each one to those after it.
	 */
	setSpecimen(specimen: Reference | undefined): void {
		this.#open = undefined;
		if (specimen === undefined) return;
		if (this.#specimen === undefined) for (const { resource } of this.#observed) resource['specimen'] = specimen;
		this.#specimen = specimen;
	}

	addObx(obx: Segment): void {
		if (this.#context.orLeaveOut(() => this.#read(obx))) return;
		this.#skipped = true;
		this.#open = undefined;
	}

	#read(obx: Segment): void {
		if (this.#continues(obx)) return;
		const observed = readObx(obx, this.#order, this.#specimen, this.#context);
		this.#skipped = observed === undefined;
		this.#open = observed !== undefined && isLine(observed.type) ? observed : undefined;
		if (observed) this.#observed.push(observed);
	}

	/**
	 * TX and FT lines of one OBX-3, OBX-4 and OBX-11 are one text (v2.5.1 §7.4.2); a line may leave OBX-3 empty. What was observed at another time, or by
	 * another person, is another observation.
	 */
	#continues(obx: Segment): boolean {
		const open = this.#open;
		// A number with a unit is no line of a text.
		if (open === undefined || open.resource['valueQuantity'] !== undefined || obx.text(2).trim().toUpperCase() !== open.type) return false;
		const sameCode = !obx.isPresent(3) || obx.raw(3) === open.obx.raw(3);
		if (!sameCode || obx.text(4).trim() !== open.subId || obx.text(11).trim() !== open.status) return false;
		if ([14, 16].some((field) => obx.isPresent(field) && open.obx.isPresent(field) && obx.raw(field) !== open.obx.raw(field))) return false;
		const line = joinedText(obx);
		const held = open.resource['valueString'];
		open.resource['valueString'] = typeof held === 'string' ? `${held}\n${line}` : line;
		open.statusOnly = open.statusOnly && line === '';
		addInterpretations(open.resource, interpretations(obx) ?? []);
		return true;
	}

	addNote(nte: Segment): void {
		const note = annotation(nte, this.#context.zone);
		if (note === undefined || this.#skipped) return;
		const last = this.#observed.at(-1);
		if (last) addNotes(last.resource, [note]);
		else {
			this.#orderNotes.push(note);
			this.#lastOrderNote = nte;
		}
	}

	/** Returns the group's changes. */
	changes({ patient, encounter, ordinals }: GroupOwner): (ObservationChange | DiagnosticReportChange)[] {
		this.#giveNotesToFirst();
		const { order, parent, numbered: numberedAt } = this.#order;
		const { sent } = this.#context;
		const items = this.#observed.map(({ item }) => numbered(item, order ? `${order.system}|${order.value}` : '', ordinals));
		this.#flagRepeated(items);
		const members = membersOf(this.#observed, items);
		const changes = this.#observed.map(({ obx, resource, statusOnly }, index): ObservationChange => {
			const listed = members.get(index);
			return {
				kind: 'observation',
				patient,
				...(encounter === undefined ? {} : { encounter }),
				...(order === undefined ? {} : { order }),
				item: items[index] ?? '',
				sent,
				resource: blankless(resource),
				...(listed === undefined ? {} : { members: listed }),
				...(parent === undefined ? {} : { parent }),
				...(statusOnly ? { statusOnly } : {}),
				...(numberedAt === undefined ? {} : { numberedAt }),
				sequence: obx.sequence,
			};
		});
		const report = this.#report?.change({ observed: this.#observed, items, patient, encounter, ordinals });
		return report ? [...changes, report] : changes;
	}

	/** Results of one OBX-3 need an OBX-4 each (v2.5.1 §7.4.2.4): without it a later message about one of them may be taken for another. */
	#flagRepeated(items: readonly string[]): void {
		const repeated = this.#observed.find(({ item }, index) => item !== items[index]);
		if (repeated === undefined) return;
		this.#context.flag(
			'repeated-observation',
			`${nameOf(repeated.obx)} has the OBX-3 and OBX-4 of an earlier result of its order; they are told apart by their order alone`,
		);
	}

	#giveNotesToFirst(): void {
		if (this.#lastOrderNote === undefined) return;
		const first = this.#observed[0];
		const where = this.#order === noOrder ? 'stands behind PID, is about no result' : 'belongs to an order without observations';
		if (first) first.resource['note'] = [...this.#orderNotes, ...((first.resource['note'] ?? []) as JsonObject[])];
		else this.#context.flag('segment-skipped', `${nameOf(this.#lastOrderNote)} ${where} and was left out`);
		this.#orderNotes = [];
	}
}

function isLine(type: string): boolean {
	return type === 'TX' || type === 'FT';
}

function addNotes(resource: JsonObject, notes: JsonObject[]): void {
	const held = resource['note'] as JsonObject[] | undefined;
	if (held === undefined) resource['note'] = [...notes];
	else for (const note of notes) held.push(note);
}

/** A text of empty lines is no value, because FHIR strings are not blank. */
function blankless(resource: JsonObject): JsonObject {
	const value = resource['valueString'];
	if (typeof value === 'string' && value.trim() === '') delete resource['valueString'];
	return resource;
}

const dotted = /^\d+(?:\.\d+)*$/;

/** Returns a dotted sub-id without the zeros with which IHE PCD pads it: `1.1.0.0` stands for the whole of `1.1`. */
function pathOf(subId: string): string | undefined {
	return dotted.test(subId) ? subId.replace(/(?:\.0+)+$/, '') : undefined;
}

/**
 * Builds the containment tree of dotted sub-ids (IHE PCD TF-2 §B.8): an observation lists as members those whose nearest ancestor it is, by
 * index of
 * the head. Sub-ids without dots name no head, so they form no panel.
 */
function membersOf(observed: readonly Observed[], items: readonly string[]): Map<number, string[]> {
	const members = new Map<number, string[]>();
	if (!observed.some(({ subId }) => subId.includes('.'))) return members;
	const paths = observed.map(({ subId }) => pathOf(subId));
	const heads = new Map<string, number>();
	paths.forEach((path, index) => {
		if (path !== undefined && !heads.has(path)) heads.set(path, index);
	});
	paths.forEach((path, index) => {
		const head = path === undefined ? undefined : nearestHead(path, heads);
		if (head === undefined) return;
		const list = members.get(head);
		if (list) list.push(items[index] ?? '');
		else members.set(head, [items[index] ?? '']);
	});
	return members;
}

function nearestHead(path: string, heads: ReadonlyMap<string, number>): number | undefined {
	for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
		const head = heads.get(path.slice(0, dot));
		if (head !== undefined) return head;
	}
	return undefined;
}

/** @throws Failure `segment-sequence` */
export function outOfOrder(segment: Segment, before: string): Failure {
	return new Failure('segment-sequence', `${nameOf(segment)} stands before any ${before}`, {
		location: { segment: segment.id, sequence: segment.sequence },
	});
}
