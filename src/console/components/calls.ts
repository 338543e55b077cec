import type { z } from 'zod';
import type { listFiltersInput, savedFilter, saveFilterInput } from '#administration/saved-filters.ts';
import { call } from '../api.ts';

export type SavedFilter = z.output<typeof savedFilter>;

export const listFilters = call<z.input<typeof listFiltersInput>, SavedFilter[]>('GET', '/filters');
export const saveFilter = call<z.input<typeof saveFilterInput>, SavedFilter>('POST', '/filters');
export const removeFilter = call<{ id: string }, SavedFilter>('DELETE', '/filters/{id}');
