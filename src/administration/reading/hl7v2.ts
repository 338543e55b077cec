import type { Message, Segment } from '#hl7v2/message.ts';
import type { Hl7v2Names, NamedPart } from './hl7v2-names.ts';
import {
	Budget,
	type ComponentReading,
	type FieldReading,
	type Reading,
	type ReadingLimits,
	type RepetitionReading,
	type SegmentReading,
	type ValueReading,
} from './reading.ts';

/** Reads a message by segments, fields and components, with the names that HL7 v2.5.1 gives them. */
export function readHl7v2(message: Message, names: Hl7v2Names, limits: ReadingLimits): Reading {
	const budget = new Budget(limits);
	const segments: SegmentReading[] = [];
	for (const segment of message.segments) {
		if (!budget.spend()) break;
		segments.push(new SegmentView(segment, names, budget).read());
	}
	return { format: 'hl7v2', version: message.version, character_set: message.charset.name, segments, is_cut: budget.isCut };
}

class SegmentView {
	readonly #segment: Segment;
	readonly #names: Hl7v2Names;
	readonly #budget: Budget;

	constructor(segment: Segment, names: Hl7v2Names, budget: Budget) {
		this.#segment = segment;
		this.#names = names;
		this.#budget = budget;
	}

	read(): SegmentReading {
		const { id, sequence, line, delimiters } = this.#segment;
		const isHeader = id === 'MSH';
		const count = line.split(delimiters.field).length - (isHeader ? 0 : 1);
		const fields: FieldReading[] = [];
		for (let number = 1; number <= count && !this.#budget.isCut; number++) {
			if (this.#segment.isPresent(number) && this.#budget.spend()) fields.push(this.#field(number));
		}
		return { id, name: this.#names.segment(id), sequence, fields };
	}

	#field(number: number): FieldReading {
		const segment = this.#segment;
		const known = this.#names.field(segment.id, number);
		// OBX-2 names the datatype of OBX-5.
		const datatype = segment.id === 'OBX' && number === 5 ? segment.text(2) : (known?.datatype ?? '');
		const repetitions: RepetitionReading[] = [];
		// To count the repetitions is to walk over the whole field, so they are counted once.
		const count = segment.repetitions(number);
		for (let index = 0; index < count && this.#budget.spend(); index++) {
			repetitions.push(this.#repetition(number, index, { name: '', datatype, table: known?.table }));
		}
		return { number, name: known?.name ?? null, datatype: datatype || null, deletes: segment.isNull(number), repetitions };
	}

	#repetition(field: number, index: number, known: NamedPart): RepetitionReading {
		const segment = this.#segment;
		const components: ComponentReading[] = [];
		const count = segment.components(field, index);
		// A single value stands for the whole field; only one of several components gets a name of its own.
		const hasParts = count > 1 || segment.subcomponents(field, 1, index) > 1;
		for (let number = 1; hasParts && number <= count && this.#budget.spend(); number++) {
			const text = segment.text(field, number, index);
			if (text === '' && segment.subcomponents(field, number, index) < 2) continue;
			components.push(this.#component({ field, index, number }, this.#names.component(known.datatype, number)));
		}
		const whole = hasParts ? segment.display(field, index) : segment.text(field, 1, index);
		const table = known.table ?? (hasParts ? undefined : this.#names.component(known.datatype, 1)?.table);
		return { ...this.#budget.cut(whole), meaning: hasParts ? null : this.#names.meaning(table, whole), components };
	}

	#component({ field, index, number }: { field: number; index: number; number: number }, known: NamedPart | undefined): ComponentReading {
		const segment = this.#segment;
		const subcomponents: ValueReading[] = [];
		const count = segment.subcomponents(field, number, index);
		for (let part = 1; count > 1 && part <= count && this.#budget.spend(); part++) {
			const text = segment.text(field, number, index, part);
			if (text !== '') subcomponents.push(this.#value(part, text, known && this.#names.component(known.datatype, part)));
		}
		const parts = subcomponents.map(({ value }) => value).join(' & ');
		return { ...this.#value(number, count > 1 ? parts : segment.text(field, number, index), known), subcomponents };
	}

	#value(number: number, text: string, known: NamedPart | undefined): ValueReading {
		return { number, name: known?.name ?? null, ...this.#budget.cut(text), meaning: this.#names.meaning(known?.table, text) };
	}
}
