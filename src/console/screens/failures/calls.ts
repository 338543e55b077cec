import type { z } from 'zod';
import type { failureRecord, listFailuresInput, listReplaysInput, replayRunRecord, startReplayInput } from '#administration/failures.ts';
import type { listSetAsideInput, setAsideRecord } from '#administration/set-aside.ts';
import { call } from '../../api.ts';

export type FailureRecord = z.output<typeof failureRecord>;
export type ReplayRun = z.output<typeof replayRunRecord>;

export const listFailures = call<z.input<typeof listFailuresInput>, FailureRecord[]>('GET', '/failures');
export const startReplay = call<z.input<typeof startReplayInput>, ReplayRun>('POST', '/replays');
export const listReplays = call<z.input<typeof listReplaysInput>, ReplayRun[]>('GET', '/replays');
export const showReplay = call<{ id: string }, ReplayRun>('GET', '/replays/{id}');
export const cancelReplay = call<{ id: string }, ReplayRun>('POST', '/replays/{id}/cancel');
export const dismissReplay = call<{ id: string }, ReplayRun>('POST', '/replays/{id}/dismiss');

export type SetAsideRecord = z.output<typeof setAsideRecord>;
export const listSetAside = call<z.input<typeof listSetAsideInput>, SetAsideRecord[]>('GET', '/set-aside');
