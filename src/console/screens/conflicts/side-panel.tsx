import { Facts, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { bytes } from '../../format.ts';
import type { WholeConflict } from './calls.ts';

export type Side = WholeConflict['received'];

export function SidePanel({ title, side }: { title: string; side: Side }) {
	return (
		<Panel title={title}>
			<Facts
				facts={[
					['Received', <Time key="at" at={side.at} />],
					['Size', bytes(side.bytes)],
					['Calling AE', side.calling_ae && <code>{side.calling_ae}</code>],
					['From', <code key="source">{side.source}</code>],
					['SHA-256', <code key="digest">{side.digest.slice(0, 16)}…</code>],
				]}
			/>
		</Panel>
	);
}
