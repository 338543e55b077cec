import type { Annotation } from '#fhir/datatypes.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { joined } from '#fhir/mapping/text.ts';
import { toDateTime } from '#fhir/mapping/timestamp.ts';
import type { Segment } from '../message.ts';

/** NTE-3 (repetitions are lines), NTE-5 who, NTE-6 when. Undefined without text: a blank line says nothing. */
export function annotation(nte: Segment, zone: Zone): Annotation | undefined {
	const lines: string[] = [];
	const repetitions = nte.repetitions(3);
	for (let repetition = 0; repetition < repetitions; repetition++) lines.push(nte.display(3, repetition));
	const text = lines.join('\n').trim();
	if (text === '') return undefined;
	const note: Annotation = { text };
	const author = joined(nte.text(5, 3).trim(), nte.text(5, 2).trim()) || nte.text(5, 1).trim();
	const time = toDateTime(nte.text(6), zone);
	if (author !== '') note.authorString = author;
	if (time !== undefined) note.time = time;
	return note;
}
