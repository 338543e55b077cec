import { useEffect, useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { SiteNeeded } from '../../components/site-needed.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { may } from '../../session.ts';
import { surfaceNames } from '../messages/outcome.tsx';
import type { PatientRecord } from '../patients/calls.ts';
import { Identifiers } from '../patients/patients.tsx';
import { Authorities } from './authorities.tsx';
import { acceptMismatch, dismissIdentity, type IdentityPage, listIdentity } from './calls.ts';

type Kind = 'doubt' | 'overlay' | 'alike' | 'sharing';

const leads: Readonly<Record<Kind, string>> = {
	doubt:
		'These are questions about a patient that a message, an image or a request left open. Each is listed once, however often it occurs.',
	overlay: 'A message changed both name and birth date of a known patient. It may be about another person.',
	alike: 'These patients have the same name, birth date and gender, but different identifiers.',
	sharing:
		'These patients have the same number from one authority, or the same number from different ones and the same name or birth date.',
};

export function Identity() {
	const [{ tab: chosen }, setFilters] = useFilters({ tab: 'doubt' });
	const tab = (name: Kind, title: string, site: string) => ({
		name,
		title,
		content: () => <Work key={`${site} ${name}`} site={site} kind={name} />,
	});
	return (
		<Page title="Identity" lead="These patients may have been mixed up, or may be the same person. Reviewed cases are not listed again.">
			<SiteNeeded icon="identity">
				{(site) => (
					<Tabs
						label="Worklists"
						chosen={chosen}
						onChoose={(name) => setFilters({ tab: name })}
						tabs={[
							tab('doubt', 'Doubts', site),
							tab('overlay', 'Possible overlays', site),
							tab('alike', 'Same name and birth date', site),
							tab('sharing', 'Same number', site),
							{ name: 'authorities', title: 'Authorities', content: () => <Authorities key={site} site={site} /> },
						]}
					/>
				)}
			</SiteNeeded>
		</Page>
	);
}

interface Found {
	overlays: IdentityPage['overlays'];
	groups: IdentityPage['groups'];
	doubts: IdentityPage['doubts'];
	next: string | null;
}

const nothing: Found = { overlays: [], groups: [], doubts: [], next: null };
const wanted = 10;

/** Reads further pages until there is something to show or the list ends. */
function Work({ site, kind }: { site: string; kind: Kind }) {
	const [found, setFound] = useState<Found>(nothing);
	const [loading, setLoading] = useState(true);
	const [failure, setFailure] = useState<ApiFailure>();
	const walk = async (from: Found, signal: AbortSignal) => {
		let held = from;
		setLoading(true);
		setFailure(undefined);
		try {
			let added = 0;
			do {
				const page = await listIdentity({ site, kind, ...(held.next === null ? {} : { after: held.next }) }, signal);
				added += page.overlays.length + page.groups.length + page.doubts.length;
				held = {
					overlays: [...held.overlays, ...page.overlays],
					groups: [...held.groups, ...page.groups],
					doubts: [...held.doubts, ...page.doubts],
					next: page.next,
				};
				setFound(held);
			} while (held.next !== null && added < wanted);
		} catch (error) {
			if (signal.aborted) return;
			setFailure(asFailure(error));
		}
		setLoading(false);
	};
	useEffect(() => {
		const stop = new AbortController();
		void walk(nothing, stop.signal);
		return () => stop.abort();
	}, [site, kind]);
	const dismissed = (left: Partial<Found>) => setFound({ ...found, ...left });
	const isEmpty = found.overlays.length + found.groups.length + found.doubts.length === 0;
	return (
		<>
			<p class="lead">{leads[kind]}</p>
			{found.doubts.map((doubt) => (
				<DoubtCase
					key={doubt.id}
					site={site}
					doubt={doubt}
					onDismissed={() => dismissed({ doubts: found.doubts.filter(({ id }) => id !== doubt.id) })}
				/>
			))}
			{found.overlays.map((overlay) => (
				<Overlay
					key={overlay.message}
					site={site}
					overlay={overlay}
					onDismissed={() => dismissed({ overlays: found.overlays.filter(({ message }) => message !== overlay.message) })}
				/>
			))}
			{found.groups.map((group) => (
				<Group
					key={group.patients.map(({ id }) => id).join(' ')}
					site={site}
					patients={group.patients}
					onDismissed={() => dismissed({ groups: found.groups.filter((other) => other !== group) })}
				/>
			))}
			{failure && <Problem failure={failure} onRetry={() => void walk(found, new AbortController().signal)} />}
			{loading && <Loading lines={4} label="Searching the patients" />}
			{!loading && failure === undefined && isEmpty && (
				<Empty icon="check" title="Nothing to review">
					<p>This site has no patients to review in this list.</p>
				</Empty>
			)}
			{!loading && found.next !== null && <Button onClick={() => void walk(found, new AbortController().signal)}>Search further</Button>}
		</>
	);
}

function PatientCard({ site, patient, title }: { site: string; patient: PatientRecord; title?: string }) {
	return (
		<div class="patient-card">
			{title && <span class="muted">{title}</span>}
			<a href={pageOf('patient', { site, id: patient.id })}>{patient.name || 'no name'}</a>
			<span class="muted">{[patient.birth_date, patient.gender].filter(Boolean).join(', ') || '–'}</span>
			<Identifiers patient={patient} />
		</div>
	);
}

type Doubt = IdentityPage['doubts'][number];

function DoubtCase({ site, doubt, onDismissed }: { site: string; doubt: Doubt; onDismissed(): void }) {
	const [asking, setAsking] = useState(false);
	const { patient, other_patient: other, first, last } = doubt;
	return (
		<section class="case" aria-label="Doubt">
			<p>{doubt.text}</p>
			{doubt.study_uid !== null && <a href={pageOf('study', { site, id: doubt.study_uid })}>The study</a>}
			<div class="case-patients">
				{patient && <PatientCard site={site} patient={patient} title="Recorded under" />}
				{other && <PatientCard site={site} patient={other} title="Also possible" />}
			</div>
			<div class="case-foot">
				<span class="muted">
					{surfaceNames[last.surface] ?? last.surface}, <Time at={last.at} />
					{doubt.count > 1 && (
						<>
							, {doubt.count} times since <Time at={first.at} />
						</>
					)}
				</span>
				{patient && other && may('manager') && (
					<LinkButton href={pageOf('mergeWith', { site, survivor: patient.id, prior: other.id })} icon="identity">
						Merge…
					</LinkButton>
				)}
				{doubt.held && may('manager') && <Button onClick={() => setAsking(true)}>Accept and apply…</Button>}
				<Dismiss words="Needs nothing" site={site} doubts={[doubt.id]} patients={[]} onDismissed={onDismissed} />
			</div>
			{asking && <Accept message={last.message} onDone={onDismissed} onClose={() => setAsking(false)} />}
		</section>
	);
}

/** Applies a message that waits, because the person whom it names is the one of the record all the same. */
function Accept({ message, onDone, onClose }: { message: string; onDone(): void; onClose(): void }) {
	const accept = async () => {
		const { outcome, failure } = await acceptMismatch({ id: message, accept_mismatch: true });
		if (outcome === 'accepted') {
			say('The message is applied.');
			onDone();
			return;
		}
		say(failure ?? 'The message was not applied. Read it in the message log.', 'danger');
		onClose();
	};
	return (
		<Confirm title="Accept this person?" action="Accept and apply" onConfirm={accept} onClose={onClose}>
			<p>
				The last message that waits is applied to the patient it is recorded under, as if name, birth date and sex agreed.{' '}
				<a href={pageOf('message', { id: message })}>Read the message</a> first.
			</p>
		</Confirm>
	);
}

function Overlay({ site, overlay, onDismissed }: { site: string; overlay: IdentityPage['overlays'][number]; onDismissed(): void }) {
	return (
		<section class="case" aria-label="Possible overlay">
			<div class="case-patients">
				{overlay.before && <PatientCard site={site} patient={overlay.before} title="Before" />}
				{overlay.after && <PatientCard site={site} patient={overlay.after} title="After" />}
			</div>
			<div class="case-foot">
				<span class="muted">
					{overlay.message_type} {overlay.client && `from ${overlay.client}`}, <Time at={overlay.at} />
				</span>
				<LinkButton href={pageOf('message', { id: overlay.message })} icon="messages">
					The message
				</LinkButton>
				<Dismiss words="The same person" site={site} message={overlay.message} patients={[]} onDismissed={onDismissed} />
			</div>
		</section>
	);
}

function Group({ site, patients, onDismissed }: { site: string; patients: PatientRecord[]; onDismissed(): void }) {
	const [first, second] = patients;
	return (
		<section class="case" aria-label="Possible duplicate">
			<div class="case-patients">
				{patients.map((patient) => (
					<PatientCard key={patient.id} site={site} patient={patient} />
				))}
			</div>
			<div class="case-foot">
				{first && second && may('manager') && (
					<LinkButton href={pageOf('mergeWith', { site, survivor: first.id, prior: second.id })} icon="identity">
						Merge…
					</LinkButton>
				)}
				<Dismiss words="Not the same" site={site} patients={patients.map(({ id }) => id)} onDismissed={onDismissed} />
			</div>
		</section>
	);
}

interface DismissProps {
	words: string;
	site: string;
	patients: string[];
	message?: string;
	doubts?: string[];
	onDismissed(): void;
}

function Dismiss({ words, site, patients, message, doubts = [], onDismissed }: DismissProps) {
	const [busy, setBusy] = useState(false);
	if (!may('manager')) return null;
	const dismiss = async () => {
		setBusy(true);
		try {
			await dismissIdentity({ site, patients, doubts, ...(message === undefined ? {} : { message }) });
			say('Recorded. It will not be listed again.');
			onDismissed();
		} catch (error) {
			say(asFailure(error).message, 'danger');
			setBusy(false);
		}
	};
	return (
		<Button onClick={() => void dismiss()} busy={busy}>
			{words}
		</Button>
	);
}
