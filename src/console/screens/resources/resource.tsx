import { useRef } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { Difference } from '../../components/difference.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { pageOfResource } from '../../pages.ts';
import { saveFile } from '../../save-file.ts';
import type { ScreenProps } from '../../screen.ts';
import { Origin } from '../patients/sections.tsx';
import { type ResourceHistory, showHistory } from './calls.ts';

type Version = ResourceHistory['versions'][number];

/** A resource as JSON, with its versions and what each of them changed. */
export function Resource({ parameters: { site = '', type = '', id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showHistory({ site, type, id }, signal), [site, type, id]);
	const up = pageOfResource(site, type, id) ?? { href: '/messages', title: 'Messages' };
	return (
		<Page title={type} up={up} lead={<code>{`${type}/${id}`}</code>}>
			{answer.failure ? (
				<Problem failure={answer.failure} onRetry={answer.reload} />
			) : answer.data === undefined ? (
				<Loading lines={8} />
			) : (
				<Shown history={answer.data} />
			)}
		</Page>
	);
}

function Shown({ history }: { history: ResourceHistory }) {
	const [{ version }, setChosen] = useFilters({ version: '' });
	const chosen = version === '' ? history.versions[0] : history.versions.find((each) => String(each.version) === version);
	const columns: readonly Column<Version>[] = [
		{ name: 'version', title: 'Version', tight: true, cell: (each) => String(each.version) },
		{ name: 'at', title: 'When', tight: true, cell: ({ at }) => <Time at={at} /> },
		{ name: 'origin', title: 'From', cell: (each) => <Origin origin={each} /> },
		{ name: 'state', title: 'State', tight: true, cell: ({ json }) => (json === null ? 'deleted' : '') },
	];
	return (
		<>
			<Panel title="Versions">
				<Table
					caption="Versions, newest first"
					columns={columns}
					rows={history.versions}
					identify={(each) => String(each.version)}
					open={(each) => setChosen({ version: String(each.version) })}
				/>
				{history.more && (
					<p class="note">Only the newest {history.versions.length} versions are shown. The FHIR surface has the others (_history).</p>
				)}
			</Panel>
			{chosen === undefined && (
				<p class="note warning">Version {version} is not among these. The FHIR surface has older versions (_history).</p>
			)}
			{chosen?.differs && (
				<Panel title={`Changes in version ${chosen.version}`}>
					<Difference lines={chosen.differs} />
				</Panel>
			)}
			{chosen && <Content history={history} version={chosen} />}
		</>
	);
}

function Content({ history: { type, id }, version: { version, json } }: { history: ResourceHistory; version: Version }) {
	const shown = useRef<HTMLPreElement>(null);
	const save = () => saveFile(`${type}-${id}-${version}.json`, 'application/fhir+json', json ?? '');
	return (
		<Panel
			title={`JSON of version ${version}`}
			actions={
				json !== null && (
					<>
						<Copy text={json} from={shown} />
						<Button icon="download" onClick={save}>
							Download
						</Button>
					</>
				)
			}
		>
			{json === null ? (
				<Empty icon="close" title="This version deleted the resource" />
			) : (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
				<pre class="raw" ref={shown} tabIndex={0}>
					{json}
				</pre>
			)}
		</Panel>
	);
}
