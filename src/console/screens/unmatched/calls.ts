import type { z } from 'zod';
import type { listUnmatchedInput, replayedUnmatched, ShownUnmatched, UnmatchedRecord } from '#administration/feeds/unmatched.ts';
import type { histogram, histogramInput } from '#administration/histograms.ts';
import { call } from '../../api.ts';

export type { ShownUnmatched, UnmatchedRecord };

export const listUnmatched = call<z.input<typeof listUnmatchedInput>, UnmatchedRecord[]>('GET', '/unmatched');
export const showUnmatched = call<{ id: string }, ShownUnmatched>('GET', '/unmatched/{id}');
export const replayUnmatched = call<{ id: string }, z.output<typeof replayedUnmatched>>('POST', '/unmatched/{id}/replay');
export const countUnmatched = call<z.input<typeof histogramInput>, z.output<typeof histogram>>('GET', '/unmatched/histogram');
