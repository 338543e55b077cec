import { z } from 'zod';

export const shownLine = z.strictObject({
	mark: z.enum(['same', 'removed', 'added', 'left-out']).describe('left-out: lines between that do not differ'),
	text: z.string(),
});
type ShownLine = z.output<typeof shownLine>;

/** Lines around a difference that are shown with it. */
const around = 2;
/** Longer middles are told as a whole, so that comparing stays quick. */
const comparedMax = 2000;

/** Compares two texts line by line, and returns the lines that differ with those around them. */
export function linesThatDiffer(before: string, after: string): ShownLine[] {
	const left = before.split(/\r\n|\r|\n/);
	const right = after.split(/\r\n|\r|\n/);
	let start = 0;
	while (start < left.length && start < right.length && left[start] === right[start]) start++;
	let end = 0;
	while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end++;
	const same = (texts: readonly string[]) => texts.map((text): ShownLine => ({ mark: 'same', text }));
	const middle = compared(left.slice(start, left.length - end), right.slice(start, right.length - end));
	return shortened([...same(left.slice(0, start)), ...middle, ...same(left.slice(left.length - end))]);
}

/** The longest common sequence of lines stays; the others are removed or added. */
function compared(left: readonly string[], right: readonly string[]): ShownLine[] {
	const lines: ShownLine[] = [];
	const isLong = left.length > comparedMax || right.length > comparedMax;
	const common = isLong ? undefined : commonLengths(left, right);
	const width = right.length + 1;
	let [i, j] = [0, 0];
	while (i < left.length || j < right.length) {
		const [one, other] = [left[i], right[j]];
		if (one !== undefined && one === other && common !== undefined) {
			lines.push({ mark: 'same', text: one });
			i++;
			j++;
		} else if (one !== undefined && (other === undefined || (common?.[(i + 1) * width + j] ?? 1) >= (common?.[i * width + j + 1] ?? 0))) {
			lines.push({ mark: 'removed', text: one });
			i++;
		} else {
			lines.push({ mark: 'added', text: other ?? '' });
			j++;
		}
	}
	return lines;
}

/** `[i * width + j]` is the length of the longest common sequence of the lines from `i` and from `j` on. */
function commonLengths(left: readonly string[], right: readonly string[]): Uint16Array {
	const width = right.length + 1;
	const lengths = new Uint16Array((left.length + 1) * width);
	for (let i = left.length - 1; i >= 0; i--) {
		for (let j = right.length - 1; j >= 0; j--) {
			const at = i * width + j;
			lengths[at] = left[i] === right[j] ? (lengths[at + width + 1] ?? 0) + 1 : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
		}
	}
	return lengths;
}

function shortened(lines: readonly ShownLine[]): ShownLine[] {
	const near = lines.map((_, index) => lines.slice(Math.max(0, index - around), index + around + 1).some(({ mark }) => mark !== 'same'));
	const shown: ShownLine[] = [];
	for (const [index, line] of lines.entries()) {
		if (near[index]) shown.push(line);
		else if (index === 0 || near[index - 1]) shown.push({ mark: 'left-out', text: '' });
	}
	return shown;
}
