import { useMemo, useState } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import { LinkButton } from '../components/button.tsx';
import { Empty, Loading } from '../components/empty.tsx';
import { Page } from '../components/page.tsx';
import { Problem } from '../components/problem.tsx';
import { When } from '../components/time.tsx';
import { pageOf } from '../pages.ts';
import { usePlace } from '../router.ts';
import type { ScreenProps } from '../screen.ts';
import { showStudy, type WholeStudy } from '../screens/studies/calls.ts';
import { type InstanceRecord, instancesOf, stackMax } from './calls.ts';
import { instanceImage } from './frame-store.ts';
import { Stack } from './stack.ts';
import { useStore } from './store.ts';
import { Viewport } from './viewport.tsx';

/** The images of a series. */
export default function SeriesViewer({ parameters: { site = '', id = '', series = '' } }: ScreenProps) {
	const study = useAnswer((signal) => showStudy({ site, id }, signal), [site, id]);
	const uid = study.data?.study_uid;
	const instances = useAnswer(uid === undefined ? undefined : (signal) => instancesOf(site, uid, series, signal), [site, uid, series]);
	const up = { href: pageOf('study', { site, id }), title: 'Study' };
	const failure = study.failure ?? instances.failure;
	if (study.data === undefined || instances.data === undefined) {
		return (
			<Page title="Images" up={up}>
				{failure ? <Problem failure={failure} onRetry={study.failure ? study.reload : instances.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return <Shown key={series} {...{ site, series, up }} study={study.data} instances={instances.data} />;
}

interface ShownProps {
	site: string;
	series: string;
	up: { href: string; title: string };
	study: WholeStudy;
	instances: readonly InstanceRecord[];
}

function Shown({ site, series, up, study, instances }: ShownProps) {
	const store = useStore();
	const { query } = usePlace();
	const images = useMemo(
		() =>
			instances.map(({ sop_instance_uid: instance, frames }) => ({
				image: instanceImage({ site, study: study.study_uid, series, instance }),
				frames,
			})),
		[instances],
	);
	const stack = useMemo(() => new Stack(images), [images]);
	const [current, setCurrent] = useState<string>();
	const facts = study.series_list.find(({ series_uid: uid }) => uid === series);
	const title = [facts?.modality, facts?.description].filter(Boolean).join(' · ') || 'Images';
	if (stack.total === 0) {
		return (
			<Page title={title} up={up}>
				<Empty icon="studies" title="No images in this series" />
			</Page>
		);
	}
	const named = query.get('instance');
	return (
		<Page
			title={title}
			up={up}
			lead={`${study.patient_name || 'No patient'} · ${study.description || 'Study'}`}
			actions={
				current !== undefined && (
					<LinkButton href={pageOf('instance', { site, id: study.id, instance: current })} icon="reports">
						Tags
					</LinkButton>
				)
			}
		>
			{instances.length >= stackMax && <p class="note warning">Only the first {stackMax} images of the series are shown.</p>}
			<Viewport
				store={store}
				stack={stack}
				start={named === null ? 0 : stack.startOf(named)}
				ownsKeys
				onImage={setCurrent}
				left={
					<>
						<div>{study.patient_name || 'No patient'}</div>
						<div>{study.description}</div>
					</>
				}
				right={
					<>
						<div>
							{facts?.modality} {facts?.number ?? ''}
						</div>
						<div>
							<When stated={study.started} />
						</div>
					</>
				}
			/>
			<p class="note">
				Dragging uses the chosen tool; the right button zooms, the middle one moves, the wheel scrolls. Keys: arrows and page keys scroll, +
				and − zoom, 1 to 9 choose a window, i inverts, space plays, r resets. These pictures are for looking up, not for diagnosis.
			</p>
		</Page>
	);
}
