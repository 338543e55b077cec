import { useMemo, useState } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import { Loading } from '../components/empty.tsx';
import { Problem } from '../components/problem.tsx';
import { conflictImage, type FrameStore, type ImageAddress } from './frame-store.ts';
import { Stack } from './stack.ts';
import { useStore } from './store.ts';
import { firstView, type View } from './view.ts';
import { Viewport } from './viewport.tsx';

interface ConflictImagesProps {
	id: string;
	/** An image that was kept aside has nothing beside it. */
	hasStored: boolean;
}

/** The images of a conflict side by side. They are windowed, zoomed and moved together. */
export default function ConflictImages({ id, hasStored }: ConflictImagesProps) {
	const store = useStore();
	const shared = useState(firstView);
	const stored = useMemo(() => conflictImage(id, 'stored'), [id]);
	const received = useMemo(() => conflictImage(id, 'received'), [id]);
	return (
		<div class="columns">
			{hasStored && <Side store={store} image={stored} title="Stored" shared={shared} />}
			<Side store={store} image={received} title="Received" shared={shared} />
		</div>
	);
}

interface SideProps {
	store: FrameStore;
	image: ImageAddress;
	title: string;
	shared: readonly [View, (view: View) => void];
}

function Side({ store, image, title, shared }: SideProps) {
	const answer = useAnswer(() => store.describe(image), [image.key]);
	const frames = answer.data?.frames;
	const stack = useMemo(() => (frames === undefined ? undefined : new Stack([{ image, frames }])), [image, frames]);
	if (stack === undefined) return answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />;
	return <Viewport store={store} stack={stack} shared={shared} left={title} right={null} />;
}
