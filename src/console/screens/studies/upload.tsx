import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import { sendFile } from '../../api.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Progress } from '../../components/empty.tsx';
import { Panel } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { count } from '../../format.ts';
import { pageOf } from '../../pages.ts';

interface Uploaded {
	outcome: 'stored' | 'kept-aside' | 'failed';
	reason: string;
	study_uid?: string;
}

interface Row extends Uploaded {
	number: number;
	name: string;
}

interface State {
	total: number;
	rows: readonly Row[];
	isRunning: boolean;
}

const tones: Readonly<Record<Uploaded['outcome'], Tone>> = { stored: 'good', 'kept-aside': 'warning', failed: 'danger' };
const idle: State = { total: 0, rows: [], isRunning: false };

/** Takes DICOM files that are dropped or chosen, and sends one after the other. */
export function Upload({ site }: { site: string }) {
	const [isOpen, setOpen] = useState(false);
	if (!isOpen) {
		return (
			<p>
				<Button onClick={() => setOpen(true)}>Upload images…</Button>
			</p>
		);
	}
	return (
		<Panel title="Upload images" actions={<Button onClick={() => setOpen(false)}>Close</Button>}>
			<Drop site={site} />
		</Panel>
	);
}

function Drop({ site }: { site: string }) {
	const [state, setState] = useState(idle);
	const [isOver, setOver] = useState(false);
	const input = useRef<HTMLInputElement>(null);
	const stop = useRef(new AbortController());
	useEffect(() => () => stop.current.abort(), []);
	const send = async (files: readonly File[]) => {
		if (files.length === 0) return;
		stop.current = new AbortController();
		const { signal } = stop.current;
		const rows: Row[] = [];
		setState({ total: files.length, rows, isRunning: true });
		for (const [index, file] of files.entries()) {
			const sent = await upload(site, file, signal);
			if (signal.aborted) break;
			rows.push({ number: index + 1, name: file.name, ...sent });
			setState({ total: files.length, rows: [...rows], isRunning: true });
		}
		setState((now) => ({ ...now, isRunning: false }));
	};
	const take = useRef(send);
	take.current = async (files) => {
		if (!state.isRunning) await send(files);
	};
	useEffect(() => listen(setOver, (files) => void take.current(files)), []);
	return (
		<>
			<div class={isOver ? 'drop over' : 'drop'}>
				<p class="prose">
					Drop DICOM files here. They become images of the site <code>{site}</code>, as if a modality had sent them.
				</p>
				<input
					ref={input}
					class="visually-hidden"
					type="file"
					multiple
					aria-label="DICOM files"
					onChange={(event) => void send([...(event.currentTarget.files ?? [])])}
				/>
				{state.isRunning ? (
					<Button onClick={() => stop.current.abort()}>Stop</Button>
				) : (
					<Button onClick={() => input.current?.click()}>Choose files…</Button>
				)}
			</div>
			{state.total > 0 && <Progress label="Files" done={state.rows.length} total={state.total} />}
			{state.rows.length > 0 && <Outcomes site={site} state={state} />}
		</>
	);
}

/** Follows what is dragged over the page: a browser leaves the page for a file that is dropped beside its place. */
function listen(setOver: (isOver: boolean) => void, take: (files: readonly File[]) => void): () => void {
	// A text that is dragged to a field stays a matter of the browser.
	const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
	const over = (event: DragEvent) => {
		if (!hasFiles(event)) return;
		event.preventDefault();
		setOver(true);
	};
	// It leaves one element for another as well, which is told as the related one.
	const leave = (event: DragEvent) => {
		if (event.relatedTarget === null) setOver(false);
	};
	const drop = (event: DragEvent) => {
		if (!hasFiles(event)) return;
		event.preventDefault();
		setOver(false);
		take([...(event.dataTransfer?.files ?? [])]);
	};
	addEventListener('dragover', over);
	addEventListener('dragleave', leave);
	addEventListener('drop', drop);
	return () => {
		removeEventListener('dragover', over);
		removeEventListener('dragleave', leave);
		removeEventListener('drop', drop);
	};
}

async function upload(site: string, file: File, signal: AbortSignal): Promise<Uploaded> {
	try {
		return await sendFile<Uploaded>(`/sites/${encodeURIComponent(site)}/uploads`, file, signal);
	} catch (error) {
		return { outcome: 'failed', reason: signal.aborted ? 'stopped' : asFailure(error).message };
	}
}

/** Rows that are drawn; those that were not stored come first. */
const drawnMax = 200;

function Outcomes({ site, state: { rows, total, isRunning } }: { site: string; state: State }) {
	const stored = rows.filter(({ outcome }) => outcome === 'stored').length;
	const order = (row: Row) => ['failed', 'kept-aside', 'stored'].indexOf(row.outcome);
	const sorted = [...rows].sort((a, b) => order(a) - order(b) || a.number - b.number);
	return (
		<>
			<p class="note" role="status">
				{count(stored, 'file')} of {total} stored{isRunning ? ' so far' : ''}.
			</p>
			<Table
				caption="Files"
				columns={[
					{ name: 'name', title: 'File', cell: ({ name }) => name },
					{
						name: 'outcome',
						title: 'Outcome',
						tight: true,
						cell: ({ outcome }) => <Badge tone={tones[outcome]}>{outcome === 'kept-aside' ? 'kept aside' : outcome}</Badge>,
					},
					{ name: 'reason', title: 'Why', cell: ({ reason }) => reason || '–' },
					{
						name: 'study',
						title: 'Study',
						cell: ({ study_uid: study }) => (study === undefined ? '–' : <a href={pageOf('study', { site, id: study })}>Open</a>),
					},
				]}
				rows={sorted.slice(0, drawnMax)}
				identify={({ number }) => String(number)}
			/>
			{rows.length > drawnMax && <p class="note">Only {drawnMax} files are listed, those that were not stored first.</p>}
		</>
	);
}
