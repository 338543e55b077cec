import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { fileAddress } from '../../api.ts';
import { LinkButton } from '../../components/button.tsx';
import { CsvButton } from '../../components/csv-button.tsx';
import { Loading } from '../../components/empty.tsx';
import { Icon } from '../../components/icon.tsx';
import { Problem } from '../../components/problem.tsx';
import { OrderedTable, Table } from '../../components/table.tsx';
import { When } from '../../components/time.tsx';
import { count } from '../../format.ts';
import { type InstanceRecord, instancePath, instancesOf } from '../../images/calls.ts';
import { pageOf } from '../../pages.ts';
import type { WholeStudy } from './calls.ts';

type SeriesRecord = WholeStudy['series_list'][number];

/** The address of a study, or of one of its series, as a ZIP archive. */
export function studyArchive(site: string, study: string, series?: string): string {
	const query = series === undefined ? '' : `?${new URLSearchParams({ series })}`;
	return fileAddress(`/sites/${encodeURIComponent(site)}/study-archives/${encodeURIComponent(study)}${query}`);
}

/** The series of a study; one that is opened lists its instances. */
export function SeriesTable({ site, study }: { site: string; study: WholeStudy }) {
	const [opened, setOpened] = useState<string>();
	const chosen = study.series_list.find(({ series_uid: uid }) => uid === opened);
	const images = (uid: string) => pageOf('series', { site, id: study.id, series: uid });
	return (
		<>
			<OrderedTable
				caption="Series"
				columns={[
					{ name: 'number', title: 'No.', by: ({ number }) => number, tight: true, cell: ({ number }) => number ?? '–' },
					{
						name: 'picture',
						title: 'Image',
						tight: true,
						cell: (series) => <Thumbnail site={site} study={study.study_uid} series={series} href={images(series.series_uid)} />,
					},
					{ name: 'modality', title: 'Modality', by: ({ modality }) => modality, tight: true, cell: ({ modality }) => modality },
					{
						name: 'description',
						title: 'Description',
						by: ({ description }) => description || null,
						cell: ({ description, body_part: part }) => [description, part].filter((text) => text !== '').join(', ') || '–',
					},
					{
						name: 'started',
						title: 'When',
						by: ({ started }) => started,
						tight: true,
						spare: true,
						cell: ({ started }) => <When stated={started} />,
					},
					{
						name: 'instances',
						title: 'Instances',
						by: ({ instances }) => instances,
						align: 'end',
						tight: true,
						cell: ({ instances }) => instances,
					},
					{
						name: 'actions',
						title: '',
						tight: true,
						cell: ({ series_uid: uid }) => (
							<div class="row-actions">
								<LinkButton href={images(uid)}>View</LinkButton>
								<LinkButton href={studyArchive(site, study.study_uid, uid)} icon="download" download>
									ZIP
								</LinkButton>
							</div>
						),
					},
				]}
				rows={study.series_list}
				identify={({ series_uid: uid }) => uid}
				open={({ series_uid: uid }) => setOpened(uid === opened ? undefined : uid)}
			/>
			{chosen && <Instances key={chosen.series_uid} {...{ site, study }} series={chosen} />}
		</>
	);
}

/** The image in the middle of a series, which shows more of it than the first one; of a long series, of the images that the page has. */
function middleOf({ instance_list: images }: SeriesRecord): string | undefined {
	const ordered = images.toSorted((one, other) => (one.number ?? 0) - (other.number ?? 0));
	return ordered[Math.floor(ordered.length / 2)]?.sop_instance_uid;
}

/**
 * An image of a series, as the service draws it: that in its middle, or, where it has no picture, the first one that has. Where there is none, a
 * sign stands instead.
 */
function Thumbnail({ site, study, series, href }: { site: string; study: string; series: SeriesRecord; href: string }) {
	const { modality, description, series_uid: uid } = series;
	const path = `/sites/${encodeURIComponent(site)}/studies/${study}/series/${uid}`;
	const middle = middleOf(series);
	const pictures = [...(middle === undefined ? [] : [`${path}/instances/${middle}/thumbnail`]), `${path}/thumbnail`];
	const [tried, setTried] = useState(0);
	const picture = pictures[tried];
	return (
		<a class="thumbnail" href={href} aria-label={`View ${[modality, description].filter(Boolean).join(' ') || 'the series'}`}>
			{picture === undefined ? (
				<Icon name="studies" />
			) : (
				<img key={picture} src={fileAddress(picture)} alt="" loading="lazy" onError={() => setTried(tried + 1)} />
			)}
		</a>
	);
}

/** Rows that are drawn at a time. */
const drawnMax = 100;

function Instances({ site, study, series }: { site: string; study: WholeStudy; series: SeriesRecord }) {
	const { series_uid: uid, number } = series;
	const answer = useAnswer((signal) => instancesOf(site, study.study_uid, uid, signal), [site, study.study_uid, uid]);
	const [drawn, setDrawn] = useState(drawnMax);
	const rows = answer.data ?? [];
	return (
		<>
			<div class="run-head">
				<h3 class="sub-title">Instances of series {number ?? uid}</h3>
				{rows.length > 0 && <CsvButton name="instances" rows={rows} />}
			</div>
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{answer.loading && rows.length === 0 ? (
				<Loading lines={4} />
			) : (
				<Table
					caption="Instances"
					columns={[
						{ name: 'number', title: 'No.', tight: true, cell: (instance) => instance.number ?? '–' },
						{ name: 'uid', title: 'SOP Instance UID', cell: ({ sop_instance_uid: instance }) => <code>{instance}</code> },
						{ name: 'size', title: 'Size', tight: true, cell: sizeOf },
						{ name: 'class', title: 'SOP class', spare: true, cell: ({ sop_class_uid: sopClass }) => <code>{sopClass}</code> },
						{
							name: 'actions',
							title: '',
							tight: true,
							cell: ({ sop_instance_uid: instance }) => (
								<div class="row-actions">
									<LinkButton href={fileAddress(instancePath(site, instance, 'file'))} icon="download" download>
										DICOM
									</LinkButton>
								</div>
							),
						},
					]}
					rows={rows.slice(0, drawn)}
					identify={({ sop_instance_uid: instance }) => instance}
					href={({ sop_instance_uid: instance }) => pageOf('instance', { site, id: study.id, instance })}
				/>
			)}
			{drawn < rows.length && (
				<p class="note">
					{drawn} of {rows.length} are shown.{' '}
					<button type="button" class="button plain" onClick={() => setDrawn(drawn + drawnMax)}>
						<span>Show more</span>
					</button>
				</p>
			)}
		</>
	);
}

function sizeOf({ rows, columns, frames }: InstanceRecord): string {
	const size = rows === null || columns === null ? '' : `${columns} × ${rows}`;
	return frames > 1 ? `${size} · ${count(frames, 'frame')}` : size || '–';
}
