import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { may } from '../../session.ts';
import type { WholeConflict } from './calls.ts';
import { ConflictState } from './conflicts.tsx';
import { ConflictImages } from './images.ts';
import { Settle } from './settle.tsx';
import { SidePanel } from './side-panel.tsx';

const decisions = {
	received: {
		title: 'Take the image into its study?',
		action: 'Take it into the study',
		text: 'From now on the image belongs to the patient of the study, whatever patient it names itself.',
	},
	split: {
		title: 'Make it a study of its own?',
		action: 'Make a study of its own',
		text: 'The image becomes part of a new study of the patient that it names.',
	},
	stored: { title: 'Leave the image aside?', action: 'Leave it aside', text: 'Readers do not see the image. It stays in quarantine.' },
} as const;

/** Shows an image that was kept aside because it names another patient than its study. */
export function Aside({ conflict, up, reload }: { conflict: WholeConflict; up: { href: string; title: string }; reload(): void }) {
	const [keep, setKeep] = useState<keyof typeof decisions>();
	const isTaken = conflict.settled_at !== null && conflict.settlement === 'received';
	return (
		<Page
			title="Image of another patient"
			up={up}
			marks={<ConflictState conflict={conflict} />}
			lead={<code>{conflict.sop_instance_uid}</code>}
			actions={
				may('manager') &&
				!isTaken && (
					<>
						{conflict.settled_at === null && <Button onClick={() => setKeep('stored')}>Leave it aside…</Button>}
						<Button onClick={() => setKeep('received')}>Take it into the study…</Button>
						<Button onClick={() => setKeep('split')}>Make a study of its own…</Button>
					</>
				)
			}
		>
			<Panel title="What the image names">
				<Facts
					facts={[
						['Patient ID', conflict.stated_patient_id],
						['Name', conflict.stated_patient_name],
						['Study', <code key="study">{conflict.study_uid}</code>],
					]}
				/>
			</Panel>
			<Panel title="Image">
				<ConflictImages id={conflict.id} hasStored={false} />
			</Panel>
			<SidePanel title="Received (in quarantine)" side={conflict.received} />
			{keep && <Settle id={conflict.id} keep={keep} decision={decisions[keep]} onClose={() => setKeep(undefined)} reload={reload} />}
		</Page>
	);
}
