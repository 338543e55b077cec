import { useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form, text } from '../../components/form.tsx';
import { Problem } from '../../components/problem.tsx';
import { say } from '../../components/toast.tsx';
import { may } from '../../session.ts';
import type { ReplayRun } from '../failures/calls.ts';
import { Run } from '../failures/run.tsx';

interface Asked {
	time_zone: string;
	rederive: true;
	preview: boolean;
}

export interface StoredTimesProps {
	/** The zone that the site or sender itself has; empty without one. */
	timeZone: string;
	/** Sets the zone, or shows what that would change. */
	set(asked: Asked): Promise<{ rederivation?: ReplayRun | undefined }>;
	/** The zone was set. */
	onSet(): void;
}

/** Lets a person read the stored times of a site or sender by another zone. */
export function StoredTimes(props: StoredTimesProps) {
	const [isOpen, setOpen] = useState(false);
	if (!may('manager')) return null;
	return (
		<>
			<p class="muted">
				A saved time zone applies from the next message on. Stored messages and images keep the times by which they were read, until you
				have them read anew.
			</p>
			<Button onClick={() => setOpen(true)}>Read stored times anew…</Button>
			{isOpen && <ReadAnew {...props} onClose={() => setOpen(false)} />}
		</>
	);
}

function ReadAnew({ timeZone, set, onSet, onClose }: StoredTimesProps & { onClose(): void }) {
	const [zone, setZone] = useState(timeZone);
	const [run, setRun] = useState<ReplayRun>();
	const [isPreviewed, setPreviewed] = useState(false);
	const [failure, setFailure] = useState<ApiFailure>();
	const ask = async (timeZoneThen: string, preview: boolean) => {
		const { rederivation } = await set({ time_zone: timeZoneThen, rederive: true, preview });
		setZone(timeZoneThen);
		setPreviewed(preview);
		setRun(rederivation);
	};
	const carryOut = async () => {
		setFailure(undefined);
		try {
			await ask(zone, false);
			say('The time zone is saved. The stored times are read anew in the background.');
			onSet();
		} catch (error) {
			setFailure(asFailure(error));
		}
	};
	return (
		<Dialog title="Read stored times anew" onClose={onClose} size="medium">
			<div class="prose">
				<p>
					Local times of stored messages and images are read by this zone. What a later message, a FHIR client or a person has written since
					stays as it is. Reading them by the former zone restores the former times.
				</p>
			</div>
			<Form
				groups={[
					{
						fields: [
							{
								kind: 'text',
								name: 'time_zone',
								label: 'Time zone',
								code: true,
								maxLength: 250,
								placeholder: 'Europe/Berlin',
								hint: 'Write an IANA name. If it is empty, the zone of the site holds, or else that of the host.',
							},
						],
					},
				]}
				initial={{ time_zone: timeZone }}
				action="Preview"
				onSubmit={(values) => ask(text(values, 'time_zone'), true)}
			/>
			{run && <Run run={run} onEnd={() => undefined} />}
			{failure && <Problem failure={failure} />}
			{run && isPreviewed && (
				<div class="actions">
					<Button kind="primary" onClick={() => void carryOut()}>
						Save {zone === '' ? 'no zone' : zone} and read anew
					</Button>
				</div>
			)}
		</Dialog>
	);
}
