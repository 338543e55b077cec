import type { LastHour, Overview, OverviewPoint, OverviewState } from '#administration/overview.ts';
import { call } from '../../api.ts';

export type { LastHour, OverviewPoint, OverviewState };
export type Alert = OverviewState['alerts'][number];

export const readOverview = call<object, Overview>('GET', '/overview');
export const livePath = '/api/v1/overview/live';
