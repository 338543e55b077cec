import { Dialog } from '../../components/dialog.tsx';
import { Facts } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { bytes, milliseconds } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import type { AssociationRecord } from './calls.ts';
import { endWords } from './end-words.ts';
import { StudyLinks } from './study-links.tsx';

/** Studies that the dialog links; an association rarely has more than one. */
const studiesMax = 20;

/** All that is known of one association. */
export function Association({ association, onClose }: { association: AssociationRecord; onClose(): void }) {
	const { started_at: from, ended_at: to, calling_ae, called_ae, source, client_id: client, site } = association;
	const { instances, warnings, failed, requests, end } = association;
	return (
		<Dialog title={`Association of ${calling_ae}`} onClose={onClose}>
			<Facts
				facts={[
					['Started', <Time key="from" at={from} />],
					['Lasted', milliseconds(Math.max(0, Date.parse(to) - Date.parse(from)))],
					['From', <code key="source">{source}</code>],
					['Calling AE title', client === null ? calling_ae : <a href={pageOf('client', { id: client })}>{calling_ae}</a>],
					['Called AE title', called_ae],
					['Site', site],
					['Stored', `${instances}, ${bytes(association.bytes)} received`],
					['With a warning', String(warnings)],
					['Failed', String(failed)],
					['Requests', requests],
					['Ended', endWords[end] ?? end],
					['Studies', <StudyLinks key="studies" of={association} most={studiesMax} />],
				]}
			/>
		</Dialog>
	);
}
