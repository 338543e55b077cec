import { Failure, type FailureLocation } from '#core/failure.ts';
import type { Delimiters } from './delimiters.ts';
import { isSegmentId, packedId } from './segment-id.ts';

/** A message whose parts are joined, as Latin-1, or the reason why they cannot be. */
export type Joined = { text: string } | { fault: Failure };

interface Joining {
	lines: string[];
	/** DSC-1 of the segment read last: a header with this MSH-14 must follow. */
	awaited: string | undefined;
	/** ADD segments and further headers that were joined. */
	parts: number;
	sequences: Map<string, number>;
}

const lineEnds = /([\r\n]+)/;

/**
 * Joins what the protocol of continuation divides (v2.5.1 §2.10.2). ADD continues the segment before it, in its last field. DSC says that the
 * message continues under a header with its pointer in MSH-14; the segments behind that header belong to the first one.
 * `text` begins with MSH.
 */
export function joinParts(text: string, delimiters: Delimiters, partsMax: number): Joined {
	const joining: Joining = { lines: [], awaited: undefined, parts: 0, sequences: new Map() };
	const { lines } = joining;
	const endsInCr = /^[^\r\n]*\r(?!\n)/.test(text);
	// The line ends stand between the lines.
	const pieces = text.split(lineEnds);
	for (let index = 0; index < pieces.length; index += 2) {
		const [line = '', end = ''] = [pieces[index], pieces[index - 1]];
		const start = line.search(/[^\0-\x20]/);
		const isSegment = line.startsWith(delimiters.field, start + 3) && isSegmentId(packedId(line, start));
		// As in a message that is not divided, what stands behind an LF alone is text of the segment before it, unless it is a segment.
		if (endsInCr && joining.awaited === undefined && lines.length > 1 && /^\n+$/.test(end) && !isSegment) {
			lines.push(`${lines.pop() ?? ''}${end}${line}`);
			continue;
		}
		const fault = start === -1 ? undefined : take(joining, line.slice(start), delimiters);
		if (fault) return { fault };
		if (joining.parts > partsMax) return { fault: new Failure('value-too-long', `the message has more than ${partsMax} continuations`) };
	}
	if (joining.awaited !== undefined)
		return {
			fault: fault(joining, 'DSC', 'DSC-1 announces a continuation that does not follow: its MSH-14 must name DSC-1 in the same batch', 1),
		};
	return { text: joining.lines.join('\r') };
}

function take(joining: Joining, line: string, { field }: Delimiters): Failure | undefined {
	const { lines } = joining;
	const id = line.length === 3 || line.startsWith(field, 3) ? line.slice(0, 3) : '';
	joining.sequences.set(id, (joining.sequences.get(id) ?? 0) + 1);
	if (joining.awaited !== undefined) {
		if (id !== 'MSH' || line.split(field, 14)[13]?.trim() !== joining.awaited) {
			return fault(joining, 'DSC', 'DSC stands before other segments, and not before the header of its continuation', 1);
		}
		joining.awaited = undefined;
		joining.parts += 1;
	} else if (id === 'DSC') {
		joining.awaited = line.split(field, 2)[1]?.trim() || undefined;
	} else if (id === 'ADD') {
		if (lines.length <= 1) return fault(joining, 'ADD', 'ADD continues no segment');
		lines.push(`${lines.pop() ?? ''}${line.slice(4)}`);
		joining.parts += 1;
	} else {
		lines.push(line);
	}
	return undefined;
}

function fault({ sequences }: Joining, segment: string, text: string, field?: number): Failure {
	const location: FailureLocation = { segment, sequence: sequences.get(segment) ?? 1 };
	return new Failure('segment-sequence', text, { location: field === undefined ? location : { ...location, field } });
}

/** Returns the offsets at which the further headers of a joined message stand. */
export function continuationOffsets(text: string): number[] {
	const found: number[] = [];
	for (const match of text.matchAll(/[\r\n][\0-\x20]*DSC(?=[^A-Za-z0-9])[^\r\n]*[\r\n]+[\0-\x20]*(?=MSH)/g))
		found.push(match.index + match[0].length);
	return found;
}

/**
 * Tells whether the message that begins with `header` continues the one before it: that ends in DSC, and the header names the same sender and
 * DSC-1 in MSH-14.
 */
export function continues(before: string, header: string): boolean {
	const separator = header.charAt(3);
	const fields = header.split(/[\r\n]/, 1)[0]?.split(separator, 14) ?? [];
	const pointer = fields[13]?.trim() ?? '';
	if (pointer === '') return false;
	const last = before.trimEnd().split(lineEnds).at(-1)?.trimStart() ?? '';
	const first = before.split(/[\r\n]/, 1)[0]?.split(separator, 4) ?? [];
	const isSameSender = [1, 2, 3].every((index) => (first[index] ?? '') === (fields[index] ?? ''));
	return isSameSender && last.startsWith(`DSC${separator}`) && last.split(separator, 2)[1]?.trim() === pointer;
}
