import { Badge } from '../../components/badge.tsx';
import type { PatientResult } from './calls.ts';

type Marked = Pick<PatientResult, 'flag' | 'derived' | 'interpretation'>;

const arrows = { low: '▽', high: '△' } as const;

/** Shows the sender's own mark of a value, and apart from it the mark that follows from the reference range. */
export function MarkText({ result: { flag, derived, interpretation } }: { result: Marked }) {
	const stated = interpretation !== '' && (
		<Badge tone={flag === 'normal' || flag === null ? 'neutral' : 'warning'}>
			{flag === 'high' ? '▲ ' : flag === 'low' ? '▼ ' : ''}
			{interpretation}
		</Badge>
	);
	// A sender that says the same needs no second mark.
	const further = derived !== null && flag !== derived && (
		<span title="This follows from the reference range. The sender did not state it.">
			<Badge tone="warning">
				{arrows[derived]} {derived === 'low' ? 'below range' : 'above range'}
			</Badge>
		</span>
	);
	return (
		<>
			{stated} {further}
		</>
	);
}
