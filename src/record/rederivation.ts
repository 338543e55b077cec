import type { Flag } from './flag.ts';
import type { Settings } from './settings/settings.ts';

/** The zone by which local times are read anew. */
export interface RederivationZone {
	name: string;
	/** Nobody has set it: it is that of the host. */
	isAssumed: boolean;
}

/** A logged message whose local times may be read anew. */
export interface RederivedMessage {
	id: string;
	kind: 'hl7v2' | 'hl7v3' | 'mpps';
	/** The settings by which it was read, as the log has them. */
	settings: Settings | null;
	/** The settings of its sender, for a message of which the log does not say by which it was read. */
	senderSettings: Settings;
	flags: readonly Flag[];
	/** The versions that hold what it wrote. */
	changed: readonly string[];
	/** Length of its bytes, which follow the step in the order of the messages. Zero when the log does not have them. */
	bytes: number;
	/** It could not be processed before, so it is only counted. */
	isSkipped?: true;
}

/** A study whose times are local times of its sender. */
export interface RederivedStudy {
	id: string;
	studyUid: string;
	/** The local time of the index, and how far it was from UTC. */
	started: string;
	offset: string;
	zone: string;
	series: readonly { seriesUid: string; started: string; offset: string }[];
}

/**
 * How far a rederivation has come. `late` looks once more at the messages of the moment in which the setting changed: some may have been
 * read before that and stored after it.
 */
export interface RederivationProgress {
	phase: 'messages' | 'late' | 'studies';
	/** The last message or study that was looked at. */
	cursor: string;
	/** Messages that were looked at. */
	done: number;
	/** Messages whose times are read anew, by the zone by which they were read before. */
	zones: Readonly<Record<string, number>>;
	/** Messages whose times have offsets of their own. */
	ownOffset: number;
	/** Messages whose bytes the log no longer has. */
	bytesGone: number;
	/** Messages that can no longer be interpreted. */
	unreadable: number;
	/** Studies whose files state their offset, or of which nobody knows it. */
	studiesStated: number;
}

/** One step of a rederivation: a few messages or studies. */
export interface RederivationStep {
	runId: string;
	/** It counts and changes nothing. */
	isPreview: boolean;
	zone: RederivationZone;
	/** How far the run had come before this step. */
	before: RederivationProgress;
	/** Where it stands after it. */
	reached: Pick<RederivationProgress, 'phase' | 'cursor'>;
	messages: readonly RederivedMessage[];
	studies: readonly RederivedStudy[];
	/** Studies of the step that are left as they are. */
	studiesStated: number;
}

export type RederivationAnswer = { kind: 'done'; progress: RederivationProgress } | { kind: 'refused'; diagnostics: string };

export const begun: RederivationProgress = {
	phase: 'messages',
	cursor: '00000000-0000-0000-0000-000000000000',
	done: 0,
	zones: {},
	ownOffset: 0,
	bytesGone: 0,
	unreadable: 0,
	studiesStated: 0,
};

/** A part of the layout between the threads of one process. */
const lengthBytes = 4;

/** Packs a step: its length in JSON (UInt32LE), the step, and the bytes of its messages. */
export function packStep(step: RederivationStep, messages: readonly Uint8Array[]): Uint8Array {
	const json = Buffer.from(JSON.stringify(step));
	const length = Buffer.allocUnsafe(lengthBytes);
	length.writeUInt32LE(json.length, 0);
	return Buffer.concat([length, json, ...messages]);
}

/** Returns a step with the bytes of each of its messages. */
export function unpackStep(bytes: Uint8Array): { step: RederivationStep; messages: Uint8Array[] } {
	const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	let at = lengthBytes + all.readUInt32LE(0);
	const step = JSON.parse(all.toString('utf8', lengthBytes, at)) as RederivationStep;
	const messages = step.messages.map((message) => {
		const start = at;
		at += message.bytes;
		return all.subarray(start, at);
	});
	return { step, messages };
}
