import type { z } from 'zod';
import type { findInput, foundThing } from '#administration/find.ts';
import { call } from '../api.ts';

export type Found = z.output<typeof foundThing>;

export const findThings = call<z.input<typeof findInput>, Found[]>('POST', '/find');
