import type { z } from 'zod';
import type { resourceHistory, resourceHistoryInput } from '#administration/resource-history.ts';
import { call } from '../../api.ts';

export type ResourceHistory = z.output<typeof resourceHistory>;

export const showHistory = call<z.input<typeof resourceHistoryInput>, ResourceHistory>('GET', '/sites/{site}/resources/{type}/{id}');
