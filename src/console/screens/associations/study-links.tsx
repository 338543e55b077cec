import { pageOf } from '../../pages.ts';
import type { AssociationRecord } from './calls.ts';

/** Links the studies of an association. */
export function StudyLinks({ of: { site, studies }, most }: { of: AssociationRecord; most: number }) {
	if (studies.length === 0) return <span class="muted">–</span>;
	return (
		<>
			{studies.slice(0, most).map((uid) => (
				<div key={uid}>
					<a href={pageOf('study', { site, id: uid })}>{most === 1 ? 'Open the study' : <code>{uid}</code>}</a>
				</div>
			))}
			{studies.length > most && <span class="sub">and {studies.length - most} more</span>}
		</>
	);
}
