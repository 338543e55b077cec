import type { Line, Result } from './result.ts';

/** Peers' versions change; a ratio is about the peer. */
export const peerName = (subject: string) => subject.replace(/ v?\d[\d.]*$/, '');

/** The same work at the same load by the same driver. */
const placeOf = ({ section, work, connections, duePerSecond, driver }: Line) =>
	[section, work, connections, duePerSecond === undefined, driver].join('\t');

/** A line of the product is measured against these in its own run: peers that did the same work, and the answer from memory for reads. */
export function ratiosOf(line: Line, { lines }: Pick<Result, 'lines'>): { other: string; ratio: number }[] {
	if (line.kind !== 'product' || line.duePerSecond !== undefined) return [];
	const beside = lines.filter((other) => other.kind !== 'product' && other.failed === 0 && placeOf(other) === placeOf(line));
	const fromMemory =
		line.work === 'FHIR read' ? lines.filter((other) => placeOf(other) === placeOf({ ...line, work: 'the same answer from memory' })) : [];
	const sameRows =
		line.section === 'mllp' && line.connections === 64 && line.work === 'HL7 v2 over MLLP'
			? lines.filter(({ subject }) => subject === 'bare PostgreSQL')
			: [];
	return [...beside, ...fromMemory, ...sameRows].map((other) => ({
		other: peerName(other.subject),
		ratio: line.perSecond / other.perSecond,
	}));
}

/** All ratios of a run by name. They differ less between machines than the figures that they are made of. */
export function allRatios(result: Pick<Result, 'lines' | 'comparisons'>): Record<string, number> {
	const found: Record<string, number> = {};
	for (const line of result.lines) {
		for (const { other, ratio } of ratiosOf(line, result)) {
			const load = line.connections === undefined ? '' : `, ${line.connections}`;
			found[`${line.work}${load} (${line.driver}) ÷ ${other}`] = Number(ratio.toPrecision(3));
		}
	}
	for (const { work, base, ratio } of result.comparisons) found[`${work} ÷ ${peerName(base)}`] = Number(ratio.median.toPrecision(3));
	return found;
}
