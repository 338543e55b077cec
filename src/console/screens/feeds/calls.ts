import type { z } from 'zod';
import type { pausedFeed } from '#administration/feeds/pause-feed.ts';
import type { FeedRecord, FeedState, NetworkRecord, ShownFeed } from '#administration/feeds/records.ts';
import type { TestedFeed } from '#administration/feeds/test-feed.ts';
import { call } from '../../api.ts';

export type { FeedRecord, FeedState, NetworkRecord, ShownFeed, TestedFeed };

type Paused = z.output<typeof pausedFeed>;

export const listFeeds = call<{ site?: string | undefined }, FeedRecord[]>('GET', '/feeds');
export const showNetwork = call<{ site?: string | undefined; days: number }, NetworkRecord>('GET', '/feeds/network');
export const showFeed = call<{ id: string }, ShownFeed>('GET', '/feeds/{id}');
export const pauseFeed = call<{ id: string; reason?: string }, Paused>('POST', '/feeds/{id}/pause');
export const resumeFeed = call<{ id: string }, Paused>('POST', '/feeds/{id}/resume');
export const testFeed = call<{ id: string }, TestedFeed>('POST', '/feeds/{id}/test');
