import type { RenderingResult, RenderingTask } from '#rendering/task.ts';

/** Stands for a rendering thread: a frame that never ends, one that breaks its decoder, and those that can be shown. */
export default async function run({ frame }: RenderingTask): Promise<RenderingResult> {
	while (frame === 13);
	if (frame === 14) throw new Error('the decoder is broken');
	return { kind: 'rendered', bytes: new Uint8Array([frame]) };
}
