import type { MetricSnapshot } from '#core/metric-snapshot.ts';
import type { Reading } from '#core/node-line.ts';
import type { Place } from '#core/place.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { Config } from '../config.ts';
import type { LineMessage } from './line.ts';

/** A process that has not drained by this time after DRAIN_MS_MAX hangs. */
export const closeMsMax = 30_000;

/** The messages from the parent of a node to a process. */
export type ToProcess =
	| { kind: 'open'; config: Config; place: Place; databaseUrl: string }
	/** The process ends when what is under way is answered. `isRolled`: other processes of the node go on. */
	| { kind: 'drain'; isRolled: boolean }
	| { kind: 'figures'; reading: Reading }
	| LineMessage;

/** The messages from a process to the parent of its node. */
export type ToParent =
	| ({ kind: 'ready' } & Opened)
	/** The process could not open, and ends. */
	| { kind: 'failed'; reason: string }
	/** The process tells what it has counted before it ends. */
	| { kind: 'counted'; metrics: readonly MetricSnapshot[] }
	| { kind: 'given'; quota: string }
	| LineMessage;

export interface Opened {
	surfaces: Record<string, SurfaceAddress>;
	consoleLogin: { email: string; password: string } | undefined;
	/** The HTTP server library that this machine could load, with its version. */
	httpServer: string;
}

/** The history of live figures. After an upgrade a roll has processes of two releases side by side for a moment. */
export interface KeptFigures {
	version: string;
	kept: unknown;
}

/** The questions that processes ask the parent. */
export type ParentQuestions = {
	/** The metrics of the node. */
	metrics: { given: undefined; answer: readonly MetricSnapshot[] };
	/** The history of the live figures of a process that has one. */
	history: { given: undefined; answer: KeptFigures | undefined };
	/** One of `most` by this name. */
	quota: { given: { name: string; most: number }; answer: boolean };
};

/** The questions that the parent asks a process. */
export type ProcessQuestions = {
	metrics: { given: undefined; answer: readonly MetricSnapshot[] };
	/** The live figures of the process; undefined before it keeps them. */
	figures: { given: undefined; answer: Reading | undefined };
	history: { given: undefined; answer: KeptFigures | undefined };
};
