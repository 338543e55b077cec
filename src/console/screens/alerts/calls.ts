import type { z } from 'zod';
import type { alertRecord } from '#administration/notifications.ts';
import { call } from '../../api.ts';

export type AlertRecord = z.output<typeof alertRecord>;

export const listAlerts = call<{ site?: string; ended?: boolean }, AlertRecord[]>('GET', '/alerts');
